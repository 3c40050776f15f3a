"""Rows of what needs mean: sentence embeddings beside words and contrasts; how they are made, and searched.

All texts of a corpus speak of one trade, so all of their embeddings point the same way, and the share of that
way that a pair has in common says nothing. It is taken off, the more of it the more texts there are to know
it by. What is left of a short text is noisy; with its nearest neighbours, weighted by a power of their cosine
similarity, it is less so: alpha query expansion (Radenović, Tolias & Chum 2018, arXiv 1711.02512), applied to
every row. Each surface counts once here, however often it was mentioned.

A dense row is near to every other by a little, so an inverted index would list them all. They are searched by
blocks of products: in float32, which is fast and a little off, and tells most rows apart from the nearest;
the few that it cannot tell are worked out in float64.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from vocabgap.clustering.contrasts import pole_rows, poles_of
from vocabgap.clustering.vectorizing import FloatArray, IntArray, Rows, on_grid, word_rows
from vocabgap.clustering.wordings import Points
from vocabgap.errors import InvalidInputError, unusable

# Chosen on four labelled gap logs and eight sets of public phrases; flat around these values.
MEANING: Final = 2.0  # weight of the embeddings ...
CONTRASTS: Final = 0.35  # ... of the poles at which a need stands, beside them ...
WORDS: Final = 0.4  # ... and of the words
WORD_PART: Final = WORDS / (MEANING + CONTRASTS + WORDS)  # of the square of a row
SHRINKAGE: Final = 5.0  # texts at which half of their mean is taken off
EXPANSION: Final = 6  # nearest texts that a text is augmented by
ALPHA: Final = 3  # power of the cosine that a neighbour counts with
PRIOR: Final = 0.2  # added to the sum of these weights: few and far neighbours count for less
LISTED: Final = 16  # nearest clusters kept of each cluster
DEPTH: Final = 0.85  # a search goes down to this share of the nearest similarity, so that its list lasts
_CANDIDATES: Final = 2 * LISTED  # similarities worked out of a cluster, unless more are too near to tell
_BLOCK_CELLS: Final = 2**23  # scores held at once
_PAIRS_AT_ONCE: Final = 2**14
_ROUNDING: Final = 2.0**-23  # what a float32 product of unit rows is off for each of its parts, at most
_STRIPS: Final = 8  # strips that scores are looked at in, for each one that is wanted

Scores = npt.NDArray[np.float32]


class TextEmbedder(Protocol):
    """What turns texts into vectors."""

    @property
    def name(self) -> str:
        """What the model is called."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """A vector of each text, shape (n, dimensions)."""


def blended_rows(points: Points, embedder: TextEmbedder, copies: IntArray | None = None) -> Rows:
    """Rows of unit length: what a need and its record mean, the poles at which it stands, and their words.

    A wording is embedded as it was said, and once more without its frame and with what its records say of it:
    the shorter the wording, the more of the second is the record. The embeddings see to the spelling, so no
    character trigrams are needed.

    Args:
        points: The surfaces, with their texts.
        embedder: What gives the embeddings.
        copies: How many surfaces each of them stands for, shape (n,); one by default.
    """
    count = len(points.contents)
    embeddings = embedded(embedder, [*points.spoken, *points.texts])
    meaning = _unit(centred(embeddings[:count], copies) + centred(embeddings[count:], copies))
    poles = pole_rows(list(map(poles_of, points.need_stems)))
    dense = expanded(_unit(np.hstack([meaning * np.sqrt(MEANING), poles * np.sqrt(CONTRASTS)])), copies)
    words = word_rows(points.text_contents, points.weights)
    scales = np.sqrt([WORD_PART, 1.0 - WORD_PART])
    return Rows(sparse.csr_array(words * scales[0]), sparse.csr_array((0, 0)), dense * scales[1])


def embedded(embedder: TextEmbedder, texts: Sequence[str]) -> FloatArray:
    """The vectors of some texts, scaled to unit length, shape (n, dimensions)."""
    if not (callable(getattr(embedder, "embed", None)) and isinstance(getattr(embedder, "name", None), str)):
        hint = "see vocabgap.Embedder.load"
        raise unusable("embedder", "an object with a name and embed(texts)", embedder, hint=hint)
    if not texts:
        return np.zeros((0, 0))
    try:
        vectors = np.ascontiguousarray(embedder.embed(texts), np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"embedder '{embedder.name}' gave no array of numbers: {error}", hint="expected one row a text"
        ) from error
    if vectors.ndim != 2 or len(vectors) != len(texts):  # noqa: PLR2004
        raise InvalidInputError(
            f"embedder '{embedder.name}' gave an array of shape {vectors.shape} for {len(texts)} texts",
            hint="expected one row a text",
        )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths) & (lengths > 0.0)).all():
        raise InvalidInputError(
            f"embedder '{embedder.name}' gave a vector that is zero or not finite", hint="check the model"
        )
    return np.asarray(vectors / lengths)


def centred(embeddings: FloatArray, copies: IntArray | None = None) -> FloatArray:
    """Embeddings without the way that all texts of this corpus point, as rows of unit length."""
    if len(embeddings) < 2:  # noqa: PLR2004
        return embeddings
    copies = np.ones(len(embeddings), np.int64) if copies is None else copies
    total = np.add.reduce(embeddings * copies[:, None], axis=0)
    return _unit(embeddings - total / (copies.sum() + SHRINKAGE))


def expanded(rows: FloatArray, copies: IntArray | None = None) -> FloatArray:
    """Rows of unit length, so many copies of each, drawn to their nearest ones; of the same shape."""
    if len(rows) < 2:  # noqa: PLR2004
        return rows
    # All texts in a script that the model does not know have one embedding, and each is near all others.
    numbers: dict[bytes, int] = {}
    number = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rows])
    distinct = rows[np.unique(number, return_index=True)[1]]
    copies = np.bincount(number, copies).astype(np.int64)
    drawn = np.empty_like(distinct)
    for start, near, similarity in _nearest(distinct, EXPANSION):
        part = slice(start, start + len(near))
        own = copies[part, None] - 1
        # Of the nearest texts, copies of its own come first, then as many of each as there is room for.
        before = np.cumsum(np.concatenate([own, copies[near]], axis=1), axis=1)[:, :-1]
        taken = np.clip(EXPANSION - before, 0, copies[near])
        weights = taken * np.maximum(similarity, 0.0) ** ALPHA
        kept = np.minimum(own, EXPANSION)
        total = PRIOR + kept + weights.sum(axis=1, keepdims=True)
        near_sum = kept * distinct[part] + (weights[:, :, None] * distinct[near]).sum(axis=1)
        drawn[part] = distinct[part] + near_sum / total
    return np.asarray(_unit(drawn)[number])


def _unit(rows: FloatArray) -> FloatArray:
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    lengths[lengths == 0.0] = 1.0
    return np.asarray(rows / lengths)


def _nearest(rows: FloatArray, count: int) -> Iterator[tuple[int, IntArray, FloatArray]]:
    """By blocks, the nearest other rows of each and their cosines: first row, shapes (block, count).

    Of equally near ones the first; of a row alone none.
    """
    count = min(count, len(rows) - 1)
    rough = rows.astype(np.float32)
    off = slack(rows.shape[1])
    step = rows_of_a_block(len(rows))
    for start in range(0, len(rows), step):
        own = np.arange(start, min(start + step, len(rows)))
        scores = rough[own] @ rough.T
        scores[own - start, own] = -np.inf
        if not count:
            yield start, np.zeros((len(own), 0), np.int64), np.zeros((len(own), 0))
            continue
        # Whatever is among the nearest is no further below the bound than both scores may be off.
        bound = least_of_largest(scores, count) - 2.0 * off
        row, place = np.nonzero(scores >= bound[:, None])
        exact = on_grid(products(rows, own[row], place))
        order = np.lexsort((place, -exact, row))
        row, place, exact = row[order], place[order], exact[order]
        first = np.searchsorted(row, own - start)[:, None] + np.arange(count)
        yield start, place[first], exact[first]


@dataclass
class Nearest:
    """What is known of the neighbours of some clusters."""

    listed: npt.NDArray[
        np.int32
    ]  # shape (m, LISTED): places by falling similarity; -1 where there are no more
    similarity: FloatArray  # shape (m,): to the first listed one
    bound: FloatArray  # shape (m,): no cluster that is not listed is more similar
    limits: npt.NDArray[np.float32]  # shape (m, LISTED), falling: nor is one that is listed than this

    @classmethod
    def unknown(cls, count: int) -> "Nearest":
        """Nothing known of `count` clusters."""
        return cls(
            np.full((count, LISTED), -1, dtype=np.int32),
            np.zeros(count),
            np.full(count, np.inf),
            np.full((count, LISTED), np.inf, dtype=np.float32),
        )


def merged_rows(sums: sparse.csr_array, kept: IntArray, partner: IntArray) -> sparse.csr_array:
    """Some rows, in the given order, each with that of its partner added unless that is negative."""
    two = np.flatnonzero(partner >= 0)
    places = np.concatenate([np.arange(len(kept)), two]), np.concatenate([kept, partner[two]])
    together = sparse.csr_array((np.ones(len(places[0])), places), shape=(len(kept), sums.shape[0]))
    merged = sparse.csr_array(together @ sums)
    merged.sort_indices()
    return merged


class BlendedNeighbours:
    """The clusters of a round, as sums of rows with a dense part, and the search for the nearest."""

    def __init__(self, rows: Rows, chosen: IntArray, weights: FloatArray, floor: float) -> None:
        """Clusters of one chosen row each, with its weight; similarities up to `floor` do not matter."""
        self._floor = floor
        self._sparse = sparse.csr_array(sparse.diags_array(weights) @ rows.plain_terms(chosen))
        dense = np.zeros((rows.term_weights.shape[0], 0)) if rows.dense is None else rows.dense
        self._dense: FloatArray = dense[chosen] * weights[:, None]
        self.weights = weights
        self.order = chosen

    def search(
        self,
        queries: IntArray,
        known: npt.NDArray[np.int32],
        bounds: FloatArray,
        limits: npt.NDArray[np.float32] | None = None,  # noqa: ARG002 - all that is known is compared
    ) -> Nearest:
        """See `Neighbours`; all clusters are looked at only where what is known does not do."""
        row, column = np.nonzero((known >= 0) & (known != queries[:, None]))
        pairs = np.unique(row * len(self.weights) + known[row, column])
        found = self._nearest(queries, *np.divmod(pairs, len(self.weights)), bounds)
        unsure = (found.bound > self._floor) & (found.similarity <= found.bound)
        asked = np.flatnonzero(unsure)
        for part, row, place, wanted in self._candidates(queries[asked]):
            sought = asked[part]
            near = self._nearest(queries[sought], row, place, wanted)
            found.listed[sought] = near.listed
            found.similarity[sought] = near.similarity
            found.bound[sought] = near.bound
        return found

    def merge(self, kept: IntArray, partner: IntArray) -> None:
        """See `Neighbours`."""
        self._sparse = merged_rows(self._sparse, kept, partner)
        two = np.flatnonzero(partner >= 0)
        other = partner[two]
        dense, weights, order = self._dense[kept], self.weights[kept], self.order[kept]
        dense[two] += self._dense[other]
        weights[two] += self.weights[other]
        order[two] = np.minimum(order[two], self.order[other])
        self._dense, self.weights, self.order = dense, weights, order

    def _candidates(self, queries: IntArray) -> Iterator[tuple[slice, IntArray, IntArray, FloatArray]]:
        """By blocks of queries, every cluster that may be near enough, and how near that is.

        Yields:
            Which of the queries, the number in the block and the place of each candidate, and for each query
            the similarity from which on no cluster is missing.
        """
        if not len(queries):
            return
        count = len(self.weights)
        dense = (self._dense / self.weights[:, None]).astype(np.float32)
        terms = sparse.csr_array(sparse.diags_array(1.0 / self.weights) @ self._sparse).astype(np.float32)
        by_term = sparse.csr_array(terms.T)
        off = slack(dense.shape[1] + int(np.diff(terms.indptr).max()))
        step = rows_of_a_block(count)
        for start in range(0, len(queries), step):
            part = slice(start, start + step)
            asked = queries[part]
            scores = dense[asked] @ dense.T
            shared = sparse.coo_array(terms[asked] @ by_term)
            scores[shared.row, shared.col] += shared.data
            scores[np.arange(len(asked)), asked] = -np.inf
            best = scores.max(axis=1).astype(np.float64)
            # Below the best by more than both of them may be off, so that it stays the best.
            wanted = np.minimum(DEPTH * best, best - 2.0 * off)
            crowded = np.flatnonzero((scores >= (wanted - off)[:, None]).sum(axis=1) > _CANDIDATES)
            if len(crowded):
                last = np.partition(scores[crowded], count - _CANDIDATES, axis=1)[:, count - _CANDIDATES]
                wanted[crowded] = np.clip(last, wanted[crowded], best[crowded] - 2.0 * off)
            wanted = np.maximum(wanted, self._floor)
            row, place = np.nonzero(scores >= (wanted - off)[:, None])
            yield part, row, place, wanted

    def _nearest(self, queries: IntArray, row: IntArray, place: IntArray, bounds: FloatArray) -> Nearest:
        """The nearest of some candidates, each with its place and the number of its query."""
        found = Nearest.unknown(len(queries))
        found.similarity[:] = self._floor
        found.bound[:] = bounds
        similarity = self._similarity(queries[row], place)
        near = np.flatnonzero(similarity > self._floor)
        # By falling similarity; of equally near ones that which holds the smallest row.
        near = near[np.lexsort((self.order[place[near]], -similarity[near], row[near]))]
        row, place, similarity = row[near], place[near], similarity[near]
        rank = np.arange(len(row)) - np.searchsorted(row, row)
        listed = rank < LISTED
        found.listed[row[listed], rank[listed]] = place[listed]
        found.similarity[row[rank == 0]] = similarity[rank == 0]
        left = rank == LISTED
        found.bound[row[left]] = np.maximum(found.bound[row[left]], similarity[left])
        return found

    def _similarity(self, one: IntArray, other: IntArray) -> FloatArray:
        """Cosine similarity of pairs of clusters, averaged over their rows, shape (pairs,)."""
        terms = self._sparse[one].multiply(self._sparse[other]).sum(axis=1)
        total = products(self._dense, one, other) + terms
        similarity = total / (self.weights[one] * self.weights[other])
        return on_grid(similarity)


def slack(parts: int) -> float:
    """What the product of two rows of unit length in float32 is off, at most, for so many parts."""
    return _ROUNDING * (parts + 2)


def rows_of_a_block(columns: int) -> int:
    """How many rows are compared with so many others at once."""
    return max(1, _BLOCK_CELLS // columns)


def least_of_largest(scores: Scores, count: int) -> Scores:
    """A lower bound, for each row of scores, of its `count`-th largest one, shape (rows,)."""
    strips = min(scores.shape[1], _STRIPS * count)
    width = scores.shape[1] // strips
    # The largest of each strip: a pass that costs much less than sorting out all scores. A strip takes every
    # so manyth column, for neighbours in the alphabet are often near, and would hide behind one another.
    peaks = scores[:, : strips * width].reshape(len(scores), width, strips).max(axis=1)
    return np.asarray(np.partition(peaks, strips - count, axis=1)[:, strips - count])


def products(rows: FloatArray, one: IntArray, other: IntArray) -> FloatArray:
    """Dot products of pairs of rows, shape (pairs,); each the same whatever the others are."""
    dots = np.empty(len(one))
    for start in range(0, len(one), _PAIRS_AT_ONCE):
        part = slice(start, start + _PAIRS_AT_ONCE)
        np.einsum("pd,pd->p", rows[one[part]], rows[other[part]], out=dots[part])
    return dots
