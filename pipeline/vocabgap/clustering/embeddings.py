"""Sentence embeddings to dense rows: centred on the corpus, and each drawn towards those nearest to it.

All texts of a corpus speak of one trade, so all of their embeddings point the same way, and the share of
that way that a pair has in common says nothing. It is taken off, the more of it the more texts there are to
know it by ("all but the top", Mu & Viswanath 2018, without the components). What is left of a short text is
noisy; the mean of its nearest neighbours, as far as they are near, is less so.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from vocabgap.arguments import unusable
from vocabgap.clustering.arrays import FloatArray, IntArray
from vocabgap.clustering.points import Points
from vocabgap.clustering.vectorizing import Rows, word_rows
from vocabgap.errors import InvalidInputError

PAIR_WEIGHT: Final = 1.0  # of a pair of neighbouring words beside a word: there are no trigrams to it
EMBEDDING_SHARE: Final = 0.5  # of the embedding beside the words
SHRINKAGE: Final = 5.0  # texts at which half of their mean is taken off
NEIGHBOURS: Final = 10
POWER: Final = 3  # of the similarity, for the weight of a neighbour
CALM: Final = 0.2  # weight that neighbours must have together to count for half
BLOCK_CELLS: Final = 2**23  # similarities held at once
_SPARE: Final = 8  # candidates more than are wanted, for products in float32 are not exact
_STRIPS: Final = 8  # strips a row is looked at in, for each value that is wanted
_PAIRS_AT_ONCE: Final = 2**14
_DIGITS: Final = 12


class Embedder(Protocol):
    """What turns texts into vectors."""

    @property
    def name(self) -> str:
        """What the model is called."""

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of everything that the vectors depend on but the text."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """A vector of each text, shape (n, dimensions)."""


def blended_rows(points: Points, embedder: Embedder) -> Rows:
    """Rows of unit length: half TF-IDF of words and pairs of words, half embeddings.

    The embeddings see to the spelling, so no character trigrams are needed.

    Raises:
        InvalidInputError: The embedder gives something else than a finite vector, not zero, a text.
    """
    words = word_rows(points.contents, points.weights, PAIR_WEIGHT)
    dense = dense_rows(embedded(embedder, points.spoken))
    scales = np.sqrt([1.0 - EMBEDDING_SHARE, EMBEDDING_SHARE])
    return Rows(sparse.csr_array(words * scales[0]), sparse.csr_array((0, 0)), dense * scales[1])


def embedded(embedder: Embedder, texts: Sequence[str]) -> FloatArray:
    """The vectors of some texts, scaled to unit length, shape (n, dimensions).

    Raises:
        InvalidInputError: It is no embedder, or gives something else than a finite vector, not zero, a text.
    """
    if not callable(getattr(embedder, "embed", None)):
        raise unusable("embedder", "an object with embed(texts)", embedder, hint="see vocabgap.Embedder.load")
    vectors = np.asarray(embedder.embed(texts), np.float64)
    if vectors.ndim != 2 or len(vectors) != len(texts):  # noqa: PLR2004
        raise InvalidInputError(
            f"embedder '{embedder.name}' gave an array of shape {vectors.shape} for {len(texts)} texts",
            hint="expected one row a text",
        )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths) & (lengths > 0.0)).all():
        raise InvalidInputError(
            f"embedder '{embedder.name}' gave a vector that is zero or not finite",
            hint="check the model",
        )
    return np.asarray(vectors / lengths)


def dense_rows(embeddings: FloatArray) -> FloatArray:
    """Rows of unit length whose dot product says how near two texts are among the texts of this corpus.

    Args:
        embeddings: Rows of unit length, shape (n, dimensions).

    Returns:
        Shape (n, dimensions).
    """
    count = len(embeddings)
    if count < 2:  # noqa: PLR2004
        return embeddings
    # Row by row, for a sum along the other axis would depend on how the memory lies.
    mean = np.add.reduce(embeddings, axis=0) / (count + SHRINKAGE)
    centred = _unit(embeddings - mean)
    smooth = np.empty_like(centred)
    for start, near, similarity in _nearest(centred, NEIGHBOURS):
        weights = np.maximum(similarity, 0.0) ** POWER
        weights /= CALM + weights.sum(axis=1, keepdims=True)
        part = slice(start, start + len(near))
        smooth[part] = centred[part] + (weights[:, :, None] * centred[near]).sum(axis=1)
    return _unit(smooth)


def _unit(rows: FloatArray) -> FloatArray:
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    lengths[lengths == 0.0] = 1.0
    return np.asarray(rows / lengths)


def _nearest(rows: FloatArray, count: int) -> Iterator[tuple[int, IntArray, FloatArray]]:
    """By blocks, the nearest other rows of each and their cosines: first row, shapes (block, count)."""
    count = min(count, len(rows) - 1)
    rough = rows.astype(np.float32)
    step = max(1, BLOCK_CELLS // len(rows))
    for start in range(0, len(rows), step):
        own = np.arange(start, min(start + step, len(rows)))
        cosines = rough[own] @ rough.T
        cosines[own - start, own] = -np.inf
        enough = _least_of_largest(cosines, min(count + _SPARE, len(rows) - 1))
        row, place = np.nonzero(cosines >= enough[:, None])
        exact = np.round(products(rows, own[row], place), _DIGITS)
        order = np.lexsort((place, -exact, row))  # of equally near ones the first
        row, place, exact = row[order], place[order], exact[order]
        first = np.searchsorted(row, own - start)[:, None] + np.arange(count)
        yield start, place[first], exact[first]


def _least_of_largest(values: npt.NDArray[np.float32], count: int) -> npt.NDArray[np.float32]:
    """A number of each row that at least `count` of its values reach, and few more."""
    width = max(1, values.shape[1] // (_STRIPS * count))
    strips = values.shape[1] // width
    # The largest value of each strip: a pass over all values that is much faster than sorting them out.
    peaks = values[:, : strips * width].reshape(len(values), strips, width).max(axis=2)
    return np.asarray(np.partition(peaks, strips - count, axis=1)[:, strips - count])


def products(rows: FloatArray, one: IntArray, other: IntArray) -> FloatArray:
    """Dot products of pairs of rows, shape (pairs,); each the same whatever the others are."""
    found = np.empty(len(one))
    for start in range(0, len(one), _PAIRS_AT_ONCE):
        part = slice(start, start + _PAIRS_AT_ONCE)
        np.einsum("pd,pd->p", rows[one[part]], rows[other[part]], out=found[part])
    return found
