"""Topic words: what else is said where a word is said, learnt from the corpus itself.

Two wordings of one need may share no word ("too dark shadows", "lift the blacks") and still keep the same
company. So each word brings along those that it is seen with most, and a surface is compared by these, too.
"""

from typing import Final

import numpy as np
from scipy import sparse

from vocabgap.clustering.arrays import FloatArray

NEIGHBOURS: Final = 10  # topic words of a word
COMPANIONS: Final = 64  # words of one surface that keep company: the pairs of thousands would fill any memory
DAMPING: Final = 0.4  # the power of its mass that is taken off a word: frequent ones are everybody's company
STRENGTH: Final = (
    0.35,
    1.0,
)  # of the topic words beside the surface's own, for noun phrases and for sentences


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
    number = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    order = np.lexsort((rows.indices, -rows.data, number))
    kept = order[np.arange(len(order)) - rows.indptr[number] < count]
    return sparse.csr_array((rows.data[kept], (number[kept], rows.indices[kept])), shape=rows.shape)
