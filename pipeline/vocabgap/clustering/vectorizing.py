"""Turn surfaces into vectors: TF-IDF of words, word pairs, topic words and character trigrams.

Words carry the meaning. Trigrams match words that still differ after stemming ("denoise", "de-noising").
Trigrams are counted once per word. Document frequencies count each surface once, however often it was
mentioned: votes rank needs, but do not change which wordings are one need.

Two wordings of one need may share no word ("too dark shadows", "lift the blacks") but occur with the same
words. So each word adds the words that it co-occurs with most, as topic words.

A million surfaces share few words, and the trigrams of a surface are those of its words. So a row is kept as
a combination of terms. A term is a dimension of its own, or the trigrams of a word.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from vocabgap.linkage import FloatArray, IntArray, Rows
from vocabgap.text import trigrams

WORD_SHARE: Final = 0.65
PAIR_WEIGHT: Final = 0.3  # of a pair of neighbouring words, relative to a word
LONGEST_ROW: Final = 15  # heaviest words, pairs and topic words kept of a surface
TOPIC_WORDS: Final = 10  # of a word
CO_OCCURRING: Final = 64  # heaviest words of a surface that are paired; thousands need too much memory
DAMPING: Final = 0.4  # a word is divided by this power of its mass: frequent words co-occur with all
STRENGTH: Final = (0.35, 1.0)  # of topic words beside the surface's own, for noun phrases and for sentences
_ROWS_AT_ONCE: Final = 65_536
_CELLS: Final = 1 << 20  # of the rows that are sorted at once


def vectorize(contents: Sequence[str], sentences: FloatArray) -> Rows:
    """Turn surfaces into rows of unit length, so that dot products are cosine similarities.

    `contents` are the content words of each surface, joined by spaces. `sentences` is the degree to which
    each surface is a sentence rather than a noun phrase, 0 to 1.
    """
    if not contents:
        return Rows(sparse.csr_array((0, 0)))
    numbered = _Words.of(contents)
    words, neighbours = numbered.counts(), numbered.pair_counts()
    lexical = _lexical(words, neighbours, sentences)
    in_words = _Words.of(numbered.vocabulary, trigrams).counts()
    trigram_part, of_words = _trigram_part(words, in_words)
    scales = np.sqrt([WORD_SHARE, 1.0 - WORD_SHARE])
    term_weights = sparse.hstack([lexical * scales[0], trigram_part * scales[1]], format="csr")
    return Rows(sparse.csr_array(term_weights), of_words)


def word_rows(contents: Sequence[str]) -> sparse.csr_array:
    """Return TF-IDF of words alone as rows of unit length, shape (n, words); see `vectorize`."""
    if not contents:
        return sparse.csr_array((0, 0))
    return unit_rows(_weighted(_Words.of(contents).counts()))


def _lexical(words: sparse.csr_array, pairs: sparse.csr_array, sentences: FloatArray) -> sparse.csr_array:
    weighted = _weighted(words)
    both = sparse.hstack([weighted, PAIR_WEIGHT * _weighted(pairs)], format="csr")
    own, single = unit_rows(sparse.csr_array(both)), unit_rows(weighted)
    near = co_occurrence(single)
    shortened = []
    # The rows are several times as long before they are shortened, so only some are held at once.
    for start in range(0, words.shape[0], _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        topics = topic_words(single[part], near, sentences[part])
        topics.resize(own[part].shape)
        shortened.append(largest(sparse.csr_array(own[part] + topics), LONGEST_ROW))
    return unit_rows(sparse.csr_array(sparse.vstack(shortened, format="csr")))


def co_occurrence(words: sparse.csr_array) -> sparse.csr_array:
    """Return the words that each word co-occurs with most, itself included, shape (words, words).

    `words` are rows of unit length, shape (n, words), without an empty column.
    """
    words = largest(words, CO_OCCURRING)
    mass = words.T @ np.ones(words.shape[0])
    together = words.T @ words
    taken = np.where(mass > 0.0, mass, 1.0) ** -DAMPING
    return largest(sparse.csr_array(together @ sparse.diags_array(taken)), TOPIC_WORDS)


def topic_words(words: sparse.csr_array, near: sparse.csr_array, sentences: FloatArray) -> sparse.csr_array:
    """Return the topic words of surfaces, shape (n, words); rows of sentences are longer."""
    topics = words @ near
    length = np.sqrt(topics.multiply(topics).sum(axis=1))
    length[length == 0.0] = 1.0
    weak, strong = STRENGTH
    strength = weak + (strong - weak) * sentences
    return sparse.csr_array(sparse.diags_array(strength / length) @ topics)


def _trigram_part(
    words: sparse.csr_array, grams: sparse.csr_array
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return TF-IDF of trigrams as two factors: weights of words, and rows of unit length for words."""
    frequency = np.zeros(grams.shape[1])
    for product in _products(words, grams):
        frequency += np.bincount(product.indices, minlength=grams.shape[1])
    weighted = sparse.csr_array(grams @ sparse.diags_array(_idf(frequency, words.shape[0])))
    squares = np.concatenate([part.multiply(part).sum(axis=1) for part in _products(words, weighted)])
    lengths = np.sqrt(weighted.multiply(weighted).sum(axis=1))
    part = sparse.csr_array(sparse.diags_array(1.0 / np.sqrt(squares)) @ words @ sparse.diags_array(lengths))
    part.sort_indices()
    return part, unit_rows(weighted)


class _Words(NamedTuple):
    """The words of surfaces as numbers: their places in the vocabulary."""

    vocabulary: list[str]  # in the order of their first use
    numbers: npt.NDArray[np.int32]  # of the words of all surfaces, in order
    start: npt.NDArray[Any]  # shape (surfaces + 1,): surface i has the words `start[i]` to `start[i + 1]`

    @classmethod
    def of(cls, contents: Sequence[str], split: Callable[[str], list[str]] = str.split) -> "_Words":
        """Give a number to each word of some surfaces."""
        places: defaultdict[str, int] = defaultdict()
        places.default_factory = places.__len__
        every = chain.from_iterable(map(split, contents))
        numbers = np.fromiter(map(places.__getitem__, every), np.int32)
        lengths = np.fromiter(map(len, map(split, contents)), np.int64, len(contents))
        return cls(list(places), numbers, starts_of(lengths))

    def counts(self) -> sparse.csr_array:
        """Count the words of each surface, shape (surfaces, words)."""
        shape = len(self.start) - 1, len(self.vocabulary)
        ones = np.ones(len(self.numbers))
        counts = sparse.csr_array((ones, self.numbers, self.start), shape=shape, copy=True)
        counts.sum_duplicates()
        return counts

    def pair_counts(self) -> sparse.csr_array:
        """Count the pairs of neighbouring words of each surface, ordered by the numbers of their words."""
        surfaces = len(self.start) - 1
        surface = np.repeat(np.arange(surfaces), np.diff(self.start))
        first = np.flatnonzero(surface[1:] == surface[:-1])
        pairs = self.numbers[first].astype(np.int64) * len(self.vocabulary) + self.numbers[first + 1]
        distinct, column = np.unique(pairs, return_inverse=True)
        column, start = column.astype(np.int32), np.searchsorted(first, self.start).astype(np.int32)
        shape = surfaces, len(distinct)
        counts = sparse.csr_array((np.ones(len(first)), column, start), shape=shape)
        counts.sum_duplicates()
        return counts


def _products(rows: sparse.csr_array, columns: sparse.csr_array) -> Iterator[sparse.csr_array]:
    for start in range(0, rows.shape[0], _ROWS_AT_ONCE):
        yield sparse.csr_array(rows[start : start + _ROWS_AT_ONCE] @ columns)


def _weighted(counts: sparse.csr_array) -> sparse.csr_array:
    """Replace counts by the smoothed IDF of each term."""
    idf = _idf(np.bincount(counts.indices, minlength=counts.shape[1]), counts.shape[0])
    return sparse.csr_array((idf[counts.indices], counts.indices, counts.indptr), shape=counts.shape)


def _idf(frequency: npt.NDArray[Any], rows: float) -> FloatArray:
    return np.asarray(np.log((1.0 + rows) / (1.0 + frequency)) + 1.0)


def largest(rows: sparse.csr_array, count: int) -> sparse.csr_array:
    """Keep the largest entries of each row; of equal entries, those in the first columns."""
    rows.sort_indices()
    lengths = np.diff(rows.indptr)
    kept = np.ones(len(rows.data), dtype=bool)
    kept[_behind(rows, lengths, count)] = False
    starts = starts_of(np.minimum(lengths, count))
    return sparse.csr_array((rows.data[kept], rows.indices[kept], starts), shape=rows.shape)


def starts_of(lengths: IntArray) -> npt.NDArray[Any]:
    """Return the starts of rows of some lengths, in 32 bits if possible, as SciPy's columns then are."""
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return starts.astype(sparse.get_index_dtype(maxval=int(starts[-1])))


def _behind(rows: sparse.csr_array, lengths: IntArray, count: int) -> IntArray:
    """Return the positions of all entries but the largest ones of each row.

    Long rows are padded to a matrix, ordered by length, and sorted row by row.
    """
    longer = np.flatnonzero(lengths > count)
    if not len(longer):
        return longer
    longer = longer[np.argsort(lengths[longer], kind="stable")]
    at_once = max(1, _CELLS // int(lengths[longer[-1]]))
    behind = []
    for start in range(0, len(longer), at_once):
        part = longer[start : start + at_once]
        columns = np.arange(lengths[part[-1]])
        positions = rows.indptr[part][:, np.newaxis] + columns
        is_entry = columns < lengths[part][:, np.newaxis]
        values = np.where(is_entry, rows.data.take(positions, mode="clip"), -np.inf)
        order = np.argsort(-values, axis=1, kind="stable")[:, count:]
        behind.append(np.take_along_axis(positions, order, 1)[np.take_along_axis(is_entry, order, 1)])
    return np.concatenate(behind)


def unit_rows(rows: sparse.csr_array) -> sparse.csr_array:
    """Scale rows to unit length; an empty one stays empty. The squares are added in order."""
    squares = sparse.csr_array((rows.data**2, rows.indices, rows.indptr), shape=rows.shape)
    lengths = np.sqrt(squares @ np.ones(rows.shape[1]))
    lengths[lengths == 0.0] = 1.0
    scaled = rows.data / np.repeat(lengths, np.diff(rows.indptr))
    return sparse.csr_array((scaled, rows.indices, rows.indptr), shape=rows.shape)
