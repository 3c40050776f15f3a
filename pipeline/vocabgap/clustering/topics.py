"""Topic words: what else is said where a word is said, learnt from the corpus itself.

Two wordings of one need may share no word ("too dark shadows", "lift the blacks") and still keep the same
company. So each word brings along those that it is seen with most, and a surface is compared by these, too.
"""

from typing import Final

import numpy as np
from scipy import sparse

from vocabgap.clustering.arrays import FloatArray, IntArray

NEIGHBOURS: Final = 10  # topic words of a word
COMPANIONS: Final = 64  # words of one surface that keep company: the pairs of thousands would fill any memory
DAMPING: Final = 0.4  # the power of its mass that is taken off a word: frequent ones are everybody's company
STRENGTH: Final = (
    0.35,
    1.0,
)  # of the topic words beside the surface's own, for noun phrases and for sentences
_CELLS: Final = 1 << 20  # of rows that are sorted at once


def company(words: sparse.csr_array, mentions: FloatArray) -> sparse.csr_array:
    """The words that each word is seen with most, itself among them, shape (words, words).

    Args:
        words: TF-IDF of single words, rows of unit length, shape (n, words). No column is empty.
        mentions: How often each surface was mentioned, shape (n,).
    """
    words = largest(words, COMPANIONS)
    mass = words.T @ mentions
    together = words.T @ (sparse.diags_array(mentions) @ words)
    taken = np.where(mass > 0.0, mass, 1.0) ** -DAMPING
    return largest(sparse.csr_array(together @ sparse.diags_array(taken)), NEIGHBOURS)


def topic_words(
    words: sparse.csr_array, company: sparse.csr_array, sentences: FloatArray
) -> sparse.csr_array:
    """The topic words of some surfaces, weighted by how far each is a sentence.

    Args:
        words: TF-IDF of single words, rows of unit length, shape (n, words).
        company: The words that each word is seen with, shape (words, words).
        sentences: How far each surface is a sentence rather than a noun phrase, 0 to 1, shape (n,).

    Returns:
        Shape (n, words): rows as long as the strength says.
    """
    topics = words @ company
    length = np.sqrt(topics.multiply(topics).sum(axis=1))
    length[length == 0.0] = 1.0
    weak, strong = STRENGTH
    strength = weak + (strong - weak) * sentences
    return sparse.csr_array(sparse.diags_array(strength / length) @ topics)


def largest(rows: sparse.csr_array, count: int) -> sparse.csr_array:
    """The largest entries of each row; of equal ones those of the first columns."""
    rows.sort_indices()
    lengths = np.diff(rows.indptr)
    kept = np.ones(len(rows.data), dtype=bool)
    kept[_behind(rows, lengths, count)] = False
    starts = np.concatenate([[0], np.cumsum(np.minimum(lengths, count))])
    return sparse.csr_array((rows.data[kept], rows.indices[kept], starts), shape=rows.shape)


def _behind(rows: sparse.csr_array, lengths: IntArray, count: int) -> IntArray:
    """Positions of the entries of each row that come behind its largest ones.

    The longer rows are laid beside each other, ordered by length so that little room stays empty, and sorted
    one by one: several times as fast as sorting the entries of all of them at once.
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
