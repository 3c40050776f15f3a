"""The words that co-occur, and the topic words that they bring to a surface."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

from vocabgap.clustering.vectorizing import (
    CO_OCCURRING,
    DAMPING,
    STRENGTH,
    TOPIC_WORDS,
    co_occurrence,
    largest,
    topic_words,
)
from vocabgap.linkage import FloatArray

WEAK, STRONG = STRENGTH
matrices = st.tuples(st.integers(1, 6), st.integers(1, 8)).flatmap(
    lambda shape: arrays.arrays(
        np.float64, shape, elements=st.sampled_from([0.0, 0.0, 0.25, 0.5, 1.0])
    )
)


def lengths(rows: sparse.csr_array) -> FloatArray:
    return np.asarray(np.linalg.norm(rows.toarray(), axis=1), np.float64)


def test_the_largest_entries_of_a_row_are_kept_and_the_first_of_equal_ones() -> None:
    rows = sparse.csr_array(
        [[0.0, 3.0, 1.0, 3.0, 2.0], [5.0, 0.0, 0.0, 0.0, 0.0], [0.0] * 5, [1.0] * 5]
    )

    kept = largest(rows, 2).toarray()

    assert kept.tolist() == [[0, 3, 0, 3, 0], [5, 0, 0, 0, 0], [0] * 5, [1, 1, 0, 0, 0]]


@given(matrices, st.integers(1, 9))
def test_what_is_kept_of_a_row_is_no_smaller_than_what_is_not(
    values: FloatArray, count: int
) -> None:
    kept = largest(sparse.csr_array(values), count).toarray()

    for row, left in zip(values, kept, strict=True):
        assert sorted(left[left > 0], reverse=True) == sorted(row[row > 0], reverse=True)[:count]
        assert np.isin(left[left != row], 0.0).all()


def test_a_word_co_occurs_with_those_it_is_seen_with_most() -> None:
    words = sparse.csr_array(
        np.eye(TOPIC_WORDS + 5) + np.triu(np.full((TOPIC_WORDS + 5,) * 2, 0.1), 1)
    )

    kept = co_occurrence(words, np.ones(TOPIC_WORDS + 5))

    assert set(np.diff(kept.indptr)) == {TOPIC_WORDS}
    assert kept.diagonal().min() > 0


def test_co_occurrence_is_what_is_said_together_less_what_is_said_everywhere() -> None:
    words = sparse.csr_array([[0.6, 0.8], [1.0, 0.0]])

    found = co_occurrence(words, np.array([2.0, 1.0])).toarray()

    together = [[2 * 0.36 + 1.0, 2 * 0.48], [2 * 0.48, 2 * 0.64]]
    mass = np.array([2 * 0.6 + 1.0, 2 * 0.8])
    np.testing.assert_allclose(found, together / mass**DAMPING)


@given(matrices, st.data())
def test_mentions_stand_for_repeated_surfaces(values: FloatArray, data: st.DataObject) -> None:
    mentions = np.array(
        data.draw(st.lists(st.integers(1, 4), min_size=len(values), max_size=len(values)))
    )

    found = co_occurrence(sparse.csr_array(values), mentions.astype(np.float64))

    repeated = sparse.csr_array(np.repeat(values, mentions, axis=0))
    expected = co_occurrence(repeated, np.ones(mentions.sum()))
    np.testing.assert_allclose(found.toarray(), expected.toarray(), atol=1e-12)


def test_only_the_heaviest_words_of_a_surface_keep_co_occurrence() -> None:
    row = np.linspace(0.1, 1.0, CO_OCCURRING + 3)

    found = co_occurrence(sparse.csr_array(row[None, :] / np.linalg.norm(row)), np.ones(1))

    assert np.flatnonzero(np.diff(found.indptr)).tolist() == list(range(3, CO_OCCURRING + 3))


def test_one_surface_of_thousands_of_words_takes_no_matrix_of_their_pairs() -> None:
    words = sparse.csr_array(np.ones((1, 5_000)) / np.sqrt(5_000))

    assert co_occurrence(words, np.ones(1)).nnz == CO_OCCURRING * TOPIC_WORDS


@pytest.mark.parametrize(
    ("sentence", "strength"), [(0.0, WEAK), (0.5, (WEAK + STRONG) / 2), (1.0, STRONG)]
)
def test_topic_words_are_as_strong_as_a_surface_is_a_sentence(
    sentence: float, strength: float
) -> None:
    words = sparse.csr_array([[0.6, 0.8], [1.0, 0.0]])

    found = topic_words(words, sparse.csr_array([[1.0, 2.0], [2.0, 3.0]]), np.full(2, sentence))

    np.testing.assert_allclose(lengths(found), strength)


def test_topic_words_are_the_company_of_all_words_of_a_surface() -> None:
    words = sparse.csr_array([[0.6, 0.8, 0.0]])
    keeps = sparse.csr_array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])

    found = topic_words(words, keeps, np.ones(1)).toarray()[0]

    expected = np.array([0.6, 0.8, 0.6 * 2.0 + 0.8])
    np.testing.assert_allclose(found, STRONG * expected / np.linalg.norm(expected))


def test_a_surface_whose_words_keep_no_company_has_no_topic_words() -> None:
    words = sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])

    found = topic_words(words, sparse.csr_array([[1.0, 0.0], [0.0, 0.0]]), np.ones(2))

    assert found.toarray().tolist() == [[0.0, 0.0], [STRONG, 0.0]]
