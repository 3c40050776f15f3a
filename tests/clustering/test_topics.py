"""The limits of topic words. `test_vectorizing` compares the words themselves with a reference."""

import numpy as np
from scipy import sparse

from vocabgap.clustering.vectorizing import (
    CO_OCCURRING,
    TOPIC_WORDS,
    co_occurrence,
    largest,
)


def test_the_largest_entries_of_a_row_are_kept_and_the_first_of_equal_ones() -> None:
    rows = sparse.csr_array(
        [[0.0, 3.0, 1.0, 3.0, 2.0], [5.0, 0.0, 0.0, 0.0, 0.0], [0.0] * 5, [1.0] * 5]
    )

    kept = largest(rows, 2).toarray()

    assert kept.tolist() == [[0, 3, 0, 3, 0], [5, 0, 0, 0, 0], [0] * 5, [1, 1, 0, 0, 0]]


def test_a_word_co_occurs_with_those_it_is_seen_with_most() -> None:
    words = sparse.csr_array(
        np.eye(TOPIC_WORDS + 5) + np.triu(np.full((TOPIC_WORDS + 5,) * 2, 0.1), 1)
    )

    kept = co_occurrence(words, np.ones(TOPIC_WORDS + 5))

    assert set(np.diff(kept.indptr)) == {TOPIC_WORDS}
    assert kept.diagonal().min() > 0


def test_only_the_heaviest_words_of_a_surface_keep_co_occurrence() -> None:
    row = np.linspace(0.1, 1.0, CO_OCCURRING + 3)

    found = co_occurrence(sparse.csr_array(row[None, :] / np.linalg.norm(row)), np.ones(1))

    assert np.flatnonzero(np.diff(found.indptr)).tolist() == list(range(3, CO_OCCURRING + 3))
