"""Surfaces to rows, compared with a plain reference."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from builders.clustering import in_full
from vocabgap.clustering.vectorizing import (
    co_occurrence,
    largest,
    vectorize,
    word_rows,
)
from vocabgap.linkage import FloatArray, Rows

Corpus = list[tuple[str, float]]

# So few words that no row is long enough to be shortened.
corpora = st.lists(
    st.tuples(
        st.lists(
            st.sampled_from(["fog", "foggy", "mask", "grain", "x", "über", "4k", "!"]), min_size=1
        ).map(" ".join),
        st.sampled_from([0.0, 0.3, 1.0]),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda entry: entry[0],
)


def vectorized(corpus: Corpus) -> Rows:
    contents, sentences = zip(*corpus, strict=True)
    return vectorize(contents, np.array(sentences, np.float64))


def unit(rows: FloatArray) -> FloatArray:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1.0)


def texts(corpus: Corpus) -> list[str]:
    return [text for text, _ in corpus]


def tfidf(corpus: Corpus, pairs: int) -> FloatArray:
    """TF-IDF of words (1) or of pairs of words (2)."""
    vectorizer = TfidfVectorizer(
        tokenizer=str.split, token_pattern=None, lowercase=False, ngram_range=(pairs, pairs), binary=True,
        norm=None,
    )  # fmt: skip
    try:
        rows = vectorizer.fit_transform(texts(corpus))
    except ValueError:  # not a single pair
        return np.zeros((len(corpus), 0))
    return np.asarray(rows.toarray(), np.float64)


def word_reference(corpus: Corpus, pair_weight: float) -> FloatArray:
    """Words and pairs alone, from dense matrices."""
    return unit(np.hstack([tfidf(corpus, 1), pair_weight * tfidf(corpus, 2)]))


def lexical_reference(corpus: Corpus) -> FloatArray:
    """The word part of each row, from dense matrices."""
    words, pairs = tfidf(corpus, 1), tfidf(corpus, 2)
    own = word_reference(corpus, 0.3)
    single = unit(words)
    company = (single.T @ single) * single.sum(axis=0) ** -0.4
    weak, strong = 0.35, 1.0
    strength = np.array([weak + (strong - weak) * sentence for _, sentence in corpus])
    topics = unit(single @ company) * strength[:, None]
    return unit(own + np.hstack([topics, np.zeros(pairs.shape)]))


@given(corpora)
def test_word_part_is_that_of_the_reference(corpus: Corpus) -> None:
    rows = vectorized(corpus)

    own = rows.term_weights[:, : rows.n_unspelt]
    expected = lexical_reference(corpus)
    assume(max(np.count_nonzero(expected, axis=1)) <= 15)
    np.testing.assert_allclose((own @ own.T).toarray(), 0.65 * expected @ expected.T, atol=1e-12)


@given(corpora)
def test_word_rows_are_those_of_scikit_learn(corpus: Corpus) -> None:
    rows = word_rows(texts(corpus))

    expected = word_reference(corpus, 0.0)
    np.testing.assert_allclose((rows @ rows.T).toarray(), expected @ expected.T, atol=1e-12)


@given(corpora)
def test_trigram_part_is_that_of_scikit_learn(corpus: Corpus) -> None:
    vectorizer = TfidfVectorizer(analyzer="char_wb", lowercase=False, ngram_range=(3, 3))
    expected = vectorizer.fit_transform(texts(corpus))

    rows = vectorized(corpus)

    spelt = in_full(rows)[:, rows.n_unspelt :]
    cosines = (expected @ expected.T).toarray()
    np.testing.assert_allclose((spelt @ spelt.T).toarray(), 0.35 * cosines, atol=1e-12)


@given(corpora)
def test_rows_have_unit_length_and_no_negative_value(corpus: Corpus) -> None:
    rows = in_full(vectorized(corpus))

    np.testing.assert_allclose(rows.multiply(rows).sum(axis=1), 1.0, atol=1e-12)
    assert rows.data.min() >= 0.0


def test_a_long_surface_keeps_its_heaviest_terms() -> None:
    words = [f"w{number}" for number in range(40)]

    rows = vectorize([" ".join(words), "w1", "w2"], np.zeros(3))

    assert (rows.term_weights[:, : rows.n_unspelt] > 0).sum(axis=1)[0] == 15


def test_words_that_keep_company_bring_surfaces_together() -> None:
    contents = ["dark shadow lift", "dark shadow black", "lift black", "crop grid", "black", "lift"]

    rows = in_full(vectorize(contents, np.ones(6)))

    cosines = (rows @ rows.T).toarray()
    assert cosines[4, 5] > 0.1  # they share no letter sequence, but stand in the same places
    assert cosines[4, 3] == 0.0


@pytest.mark.parametrize("contents", [[], ["fog mask"], ["fog"], ["?", "x"]])
def test_few_surfaces_can_be_vectorized(contents: list[str]) -> None:
    rows = vectorize(contents, np.zeros(len(contents)))

    assert in_full(rows).shape[0] == len(contents)
    assert word_rows(contents).shape[0] == len(contents)


def test_the_largest_entries_of_a_row_are_kept_and_the_first_of_equal_ones() -> None:
    rows = sparse.csr_array(
        [[0.0, 3.0, 1.0, 3.0, 2.0], [5.0, 0.0, 0.0, 0.0, 0.0], [0.0] * 5, [1.0] * 5]
    )

    kept = largest(rows, 2).toarray()

    assert kept.tolist() == [[0, 3, 0, 3, 0], [5, 0, 0, 0, 0], [0] * 5, [1, 1, 0, 0, 0]]


def test_a_word_co_occurs_with_those_it_is_seen_with_most() -> None:
    words = sparse.csr_array(np.eye(15) + np.triu(np.full((15,) * 2, 0.1), 1))

    kept = co_occurrence(words)

    assert set(np.diff(kept.indptr)) == {10}
    assert kept.diagonal().min() > 0


def test_only_the_heaviest_words_of_a_surface_keep_co_occurrence() -> None:
    row = np.linspace(0.1, 1.0, 67)

    found = co_occurrence(sparse.csr_array(row[None, :] / np.linalg.norm(row)))

    assert np.flatnonzero(np.diff(found.indptr)).tolist() == list(range(3, 67))
