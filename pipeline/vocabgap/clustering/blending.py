"""Rows by meaning: sentence embeddings, contrasts and words; and the search for their neighbours.

All texts of a corpus are about one field, so their embeddings share a direction without information. It is
subtracted, and more of it if there are more texts. The embedding of a short text is noisy. So each row is
averaged with its nearest neighbours, weighted by a power of their cosine similarity. This is alpha query
expansion (Radenović, Tolias & Chum 2018, arXiv 1711.02512). Each surface counts once here.

A dense row is a little similar to every other, so an inverted index would list them all. The search computes
blocks of products in float32, which rules most rows out, and the remaining ones in float64.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from vocabgap.clustering.contrasts import pole_rows, poles_of
from vocabgap.clustering.scripts import in_unknown_script
from vocabgap.clustering.vectorizing import FloatArray, IntArray, Rows, on_grid, vectorize, word_rows
from vocabgap.clustering.wordings import Points
from vocabgap.errors import InvalidInputError, unusable
from vocabgap.text import without_message

# Chosen on four labelled gap logs and eight sets of public phrases; similar values give similar results.
MEANING: Final = 2.0  # weight of the embeddings ...
CONTRASTS: Final = 0.35  # ... of the poles of a need ...
WORDS: Final = 0.4  # ... and of the words
WORD_PART: Final = WORDS / (MEANING + CONTRASTS + WORDS)  # of the square of a row
SHRINKAGE: Final = 5.0  # number of texts for which half of their mean is subtracted
EXPANSION: Final = 6  # nearest texts that are averaged into a text
ALPHA: Final = 3  # power of the cosine that weights a neighbour
PRIOR: Final = 0.2  # added to the sum of the weights, so that few and far neighbours count less
LISTED: Final = 16  # nearest clusters kept of each cluster
DEPTH: Final = 0.85  # share of the highest similarity down to which neighbours are listed
_CANDIDATES: Final = 2 * LISTED  # exact similarities per cluster, unless more are too close to decide
_BLOCK_CELLS: Final = 2**23  # scores held at once
_PAIRS_AT_ONCE: Final = 2**14
_ROUNDING: Final = 2.0**-23  # error of a float32 product of unit rows per part, at most
_STRIPS: Final = 8  # strips of scores per wanted score

Scores = npt.NDArray[np.float32]


class TextEmbedder(Protocol):
    """A model that turns texts into vectors. It may have `scripts`: those that it knows, see `scripts.py`."""

    @property
    def name(self) -> str:
        """The name of the model."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """Return a vector for each text, shape (n, dimensions)."""


def blended_rows(points: Points, embedder: TextEmbedder, copies: IntArray | None = None) -> Rows:
    """Make rows of unit length from the meaning of needs and records, their poles, and their words.

    Each wording is embedded as it is, and again without its frame but with the details of its record.
    Embeddings cover the spelling, so there are no character trigrams. A row may represent several surfaces
    (`copies`, shape (n,)). Wordings in a script that the model does not know have rows of `vectorize`.
    """
    read = ~unread(points, embedder)
    wordings, texts = list(compress(points.most_used, read)), list(compress(points.texts, read))
    others = list(compress(points.contents, ~read))
    copies = None if copies is None else copies[read]
    embeddings = embedded(embedder, [*map(without_message, wordings), *texts])
    meaning = _unit(centred(embeddings[: len(texts)], copies) + centred(embeddings[len(texts) :], copies))
    poles = pole_rows(list(map(poles_of, compress(points.need_stems(), read))))
    dense = drawn_nearer(_unit(np.hstack([meaning * np.sqrt(MEANING), poles * np.sqrt(CONTRASTS)])), copies)
    words = word_rows(points.text_contents, points.weights)[read]
    by_words = vectorize(others, points.weights[~read], points.sentence_shares[~read]).plain_terms()
    scales = np.sqrt([WORD_PART, 1.0 - WORD_PART])
    order = np.argsort(np.argsort(~read, kind="stable"))
    return Rows(
        sparse.csr_array(sparse.block_diag([words * scales[0], by_words], format="csr")[order]),
        sparse.csr_array((0, 0)),
        np.pad(dense * scales[1], ((0, len(others)), (0, 0)))[order],
    )


def unread(points: Points, embedder: TextEmbedder) -> npt.NDArray[np.bool_]:
    """Tell, for each surface, whether it is in a script that the model does not know."""
    names = points.surfaces["surface"].to_list()
    if all(map(str.isascii, names)) or not hasattr(embedder, "scripts"):
        return np.zeros(len(names), np.bool_)
    return in_unknown_script(names, embedder.scripts)


def embedded(embedder: TextEmbedder, texts: Sequence[str]) -> FloatArray:
    """Embed some texts as rows of unit length, shape (n, dimensions)."""
    if not (callable(getattr(embedder, "embed", None)) and isinstance(getattr(embedder, "name", None), str)):
        hint = "see vocabgap.Embedder.load"
        raise unusable("embedder", "an object with a name and embed(texts)", embedder, hint=hint)
    if not texts:
        return np.zeros((0, 0))
    vectors = np.ascontiguousarray(embedder.embed(texts), np.float64)
    if vectors.ndim != 2 or len(vectors) != len(texts):  # noqa: PLR2004
        raise InvalidInputError(
            f"embedder '{embedder.name}' gave an array of shape {vectors.shape} for {len(texts)} texts",
            hint="return one row per text",
        )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths) & (lengths > 0.0)).all():
        raise InvalidInputError(
            f"embedder '{embedder.name}' gave a vector that is zero or not finite", hint="check the model"
        )
    return np.asarray(vectors / lengths)


def centred(embeddings: FloatArray, copies: IntArray | None = None) -> FloatArray:
    """Subtract the direction that all texts share; return rows of unit length."""
    if len(embeddings) < 2:  # noqa: PLR2004
        return embeddings
    copies = np.ones(len(embeddings), np.int64) if copies is None else copies
    total = np.add.reduce(embeddings * copies[:, None], axis=0)
    return _unit(embeddings - total / (copies.sum() + SHRINKAGE))


def drawn_nearer(rows: FloatArray, copies: IntArray | None = None) -> FloatArray:
    """Average rows of unit length with their nearest rows; each row counts as often as `copies`."""
    if len(rows) < 2:  # noqa: PLR2004
        return rows
    # All texts in a script that the model does not know have the same embedding.
    numbers: dict[bytes, int] = {}
    number = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rows])
    distinct = rows[np.unique(number, return_index=True)[1]]
    copies = np.bincount(number, copies).astype(np.int64)
    drawn = np.empty_like(distinct)
    for start, near, similarity in _nearest(distinct, EXPANSION):
        part = slice(start, start + len(near))
        own = copies[part, None] - 1
        # The row's own copies come first, then copies of each neighbour up to the limit.
        before = np.cumsum(np.concatenate([own, copies[near]], axis=1), axis=1)[:, :-1]
        taken = np.clip(EXPANSION - before, 0, copies[near])
        weights = taken * np.maximum(similarity, 0.0) ** ALPHA
        kept = np.minimum(own, EXPANSION)
        total = PRIOR + kept + weights.sum(axis=1, keepdims=True)
        near_sum = kept * distinct[part] + (weights[:, :, None] * distinct[near]).sum(axis=1)
        drawn[part] = distinct[part] + near_sum / total
    return np.asarray(_unit(drawn)[number])


def _unit(rows: FloatArray) -> FloatArray:
    from sklearn.preprocessing import normalize  # noqa: PLC0415 - takes a second to load

    return np.asarray(normalize(rows)) if rows.size else rows


def _nearest(rows: FloatArray, count: int) -> Iterator[tuple[int, IntArray, FloatArray]]:
    """Yield for each block its first row, and the nearest other rows of each row with their cosines.

    Both arrays have the shape (block, count). Of equally near rows the first rows are taken.
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
        # Two scores may have an error, so a near row may score that much below the bound.
        bound = least_of_largest(scores, count) - 2.0 * off
        row, place = np.nonzero(scores >= bound[:, None])
        exact = on_grid(products(rows, own[row], place))
        order = np.lexsort((place, -exact, row))
        row, place, exact = row[order], place[order], exact[order]
        first = np.searchsorted(row, own - start)[:, None] + np.arange(count)
        yield start, place[first], exact[first]


@dataclass
class Nearest:
    """The neighbours of some clusters that a search has found."""

    listed: npt.NDArray[np.int32]  # shape (m, LISTED): places by falling similarity; -1 if there are no more
    similarity: FloatArray  # shape (m,): to the first listed one
    bound: FloatArray  # shape (m,): a bound on the similarity of unlisted clusters
    limits: npt.NDArray[np.float32]  # shape (m, LISTED), falling: bounds on the listed ones

    @classmethod
    def unknown(cls, count: int) -> "Nearest":
        """Make the result of no search for `count` clusters."""
        return cls(
            np.full((count, LISTED), -1, dtype=np.int32),
            np.zeros(count),
            np.full(count, np.inf),
            np.full((count, LISTED), np.inf, dtype=np.float32),
        )


def merged_rows(sums: sparse.csr_array, kept: IntArray, partner: IntArray) -> sparse.csr_array:
    """Return the rows `kept`, each plus the row of its partner unless that is negative."""
    two = np.flatnonzero(partner >= 0)
    places = np.concatenate([np.arange(len(kept)), two]), np.concatenate([kept, partner[two]])
    together = sparse.csr_array((np.ones(len(places[0])), places), shape=(len(kept), sums.shape[0]))
    merged = sparse.csr_array(together @ sums)
    merged.sort_indices()
    return merged


class BlendedNeighbours:
    """The clusters of a round as sums of rows with a dense part, and their search: see `SparseNeighbours`."""

    def __init__(self, rows: Rows, chosen: IntArray, weights: FloatArray, floor: float) -> None:
        self._floor = floor
        self._sparse = sparse.csr_array(sparse.diags_array(weights) @ rows.plain_terms(chosen))
        dense = np.zeros((rows.term_weights.shape[0], 0)) if rows.dense is None else rows.dense
        self._dense: FloatArray = dense[chosen] * weights[:, None]
        self.weights = weights
        self.order = chosen

    def search(
        self,
        queries: IntArray,
        candidates: npt.NDArray[np.int32],
        bounds: FloatArray,
        limits: npt.NDArray[np.float32] | None = None,  # noqa: ARG002 - all candidates are compared
    ) -> Nearest:
        """Search as `SparseNeighbours` does; compare all only if the candidates are not enough."""
        row, column = np.nonzero((candidates >= 0) & (candidates != queries[:, None]))
        pairs = np.unique(row * len(self.weights) + candidates[row, column])
        result = self._nearest(queries, *np.divmod(pairs, len(self.weights)), bounds)
        unsure = (result.bound > self._floor) & (result.similarity <= result.bound)
        asked = np.flatnonzero(unsure)
        for part, row, place, wanted in self._candidates(queries[asked]):
            sought = asked[part]
            near = self._nearest(queries[sought], row, place, wanted)
            result.listed[sought] = near.listed
            result.similarity[sought] = near.similarity
            result.bound[sought] = near.bound
        return result

    def merge(self, kept: IntArray, partner: IntArray) -> None:
        """See `SparseNeighbours`."""
        self._sparse = merged_rows(self._sparse, kept, partner)
        two = np.flatnonzero(partner >= 0)
        other = partner[two]
        dense, weights, order = self._dense[kept], self.weights[kept], self.order[kept]
        dense[two] += self._dense[other]
        weights[two] += self.weights[other]
        order[two] = np.minimum(order[two], self.order[other])
        self._dense, self.weights, self.order = dense, weights, order

    def _candidates(self, queries: IntArray) -> Iterator[tuple[slice, IntArray, IntArray, FloatArray]]:
        """Yield blocks of queries: their slice, the query and place of each candidate, and the bounds.

        No cluster above the bound of a query is missing.
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
            # Two scores may be off: stay that much below the best one.
            wanted = np.minimum(DEPTH * best, best - 2.0 * off)
            crowded = np.flatnonzero((scores >= (wanted - off)[:, None]).sum(axis=1) > _CANDIDATES)
            if len(crowded):
                last = np.partition(scores[crowded], count - _CANDIDATES, axis=1)[:, count - _CANDIDATES]
                wanted[crowded] = np.clip(last, wanted[crowded], best[crowded] - 2.0 * off)
            wanted = np.maximum(wanted, self._floor)
            row, place = np.nonzero(scores >= (wanted - off)[:, None])
            yield part, row, place, wanted

    def _nearest(self, queries: IntArray, row: IntArray, place: IntArray, bounds: FloatArray) -> Nearest:
        """List the nearest of some candidates, given by the number of their query and their place."""
        result = Nearest.unknown(len(queries))
        result.similarity[:] = self._floor
        result.bound[:] = bounds
        similarity = self._similarity(queries[row], place)
        near = np.flatnonzero(similarity > self._floor)
        # By falling similarity; of equally near clusters the one with the smallest row.
        near = near[np.lexsort((self.order[place[near]], -similarity[near], row[near]))]
        row, place, similarity = row[near], place[near], similarity[near]
        rank = np.arange(len(row)) - np.searchsorted(row, row)
        listed = rank < LISTED
        result.listed[row[listed], rank[listed]] = place[listed]
        result.similarity[row[rank == 0]] = similarity[rank == 0]
        left = rank == LISTED
        result.bound[row[left]] = np.maximum(result.bound[row[left]], similarity[left])
        return result

    def _similarity(self, one: IntArray, other: IntArray) -> FloatArray:
        """Compute the mean cosine similarity between the rows of pairs of clusters, shape (pairs,)."""
        terms = self._sparse[one].multiply(self._sparse[other]).sum(axis=1)
        total = products(self._dense, one, other) + terms
        similarity = total / (self.weights[one] * self.weights[other])
        return on_grid(similarity)


def slack(parts: int) -> float:
    """Return an upper bound of the error of a float32 dot product of unit rows with `parts` terms."""
    return _ROUNDING * (parts + 2)


def rows_of_a_block(columns: int) -> int:
    """Return how many rows to compare with `columns` others at once."""
    return max(1, _BLOCK_CELLS // columns)


def least_of_largest(scores: Scores, count: int) -> Scores:
    """Return a lower bound of the `count`-th largest score of each row, shape (rows,)."""
    strips = min(scores.shape[1], _STRIPS * count)
    width = scores.shape[1] // strips
    # The largest score of each strip: a pass that costs much less than sorting. A strip takes columns at
    # equal steps, because neighbours in the alphabet are often similar.
    peaks = scores[:, : strips * width].reshape(len(scores), width, strips).max(axis=1)
    return np.asarray(np.partition(peaks, strips - count, axis=1)[:, strips - count])


def products(rows: FloatArray, one: IntArray, other: IntArray) -> FloatArray:
    """Compute the dot product of each pair of rows, shape (pairs,), independently of the other pairs."""
    dots = np.empty(len(one))
    for start in range(0, len(one), _PAIRS_AT_ONCE):
        part = slice(start, start + _PAIRS_AT_ONCE)
        np.einsum("pd,pd->p", rows[one[part]], rows[other[part]], out=dots[part])
    return dots
