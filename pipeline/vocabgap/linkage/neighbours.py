"""The clusters of a round, and an exact search for the nearest rows with a dense part, by blocks of products.

Products in float32 rule most rows out. The similarity of the others is computed in float64.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from vocabgap.linkage.rows import FloatArray, IntArray, Rows, on_grid, pair_products

LISTED: Final = 16  # nearest clusters kept of each cluster
DEPTH: Final = 0.85  # share of the highest similarity down to which neighbours are listed
BLOCK_CELLS: Final = 2**23  # scores held at once

Places = npt.NDArray[np.int32]
Limits = npt.NDArray[np.float32]
Scores = npt.NDArray[np.float32]


@dataclass
class Nearest:
    """The neighbours of some clusters that a search has found."""

    listed: Places  # shape (m, LISTED): places by falling similarity; -1 if there are no more
    similarity: FloatArray  # shape (m,): to the first listed one
    bound: FloatArray  # shape (m,): a bound on the similarity of unlisted clusters
    limits: Limits  # shape (m, LISTED), falling: bounds on the listed ones

    @classmethod
    def unknown(cls, count: int) -> "Nearest":
        """Make the result of no search for `count` clusters."""
        return cls(
            np.full((count, LISTED), -1, dtype=np.int32),
            np.zeros(count),
            np.full(count, np.inf),
            np.full((count, LISTED), np.inf, dtype=np.float32),
        )


class Neighbours(ABC):
    """The clusters of a round, and the search for the nearest.

    Similarities up to `floor` do not matter. Of equally near clusters the one with the smallest `order` comes
    first.

    Attributes:
        weights: The weight of each cluster, shape (clusters,).
        order: The smallest row of each cluster, shape (clusters,).
    """

    def __init__(
        self, sums: sparse.csr_array, dense: FloatArray, weights: FloatArray, order: IntArray, floor: float
    ) -> None:
        self._sums = sums  # of the weighted rows of each cluster, and ...
        self._dense = dense  # ... of their dense parts, shape (clusters, dimensions)
        self._floor = floor
        self.weights = weights
        self.order = order

    @abstractmethod
    def search(self, queries: IntArray, candidates: Places, bounds: FloatArray, limits: Limits) -> Nearest:
        """Find the nearest clusters, exactly; search all clusters only if the candidates are not enough.

        Args:
            queries: Distinct places of the clusters to search for, shape (q,).
            candidates: Places of likely neighbours, shape (q, any number); negative for none.
            bounds: Bounds on the similarity of all clusters that are no candidates, shape (q,).
            limits: Bounds on the similarity of each candidate, shape (q, any number); overwritten.
        """

    def merge(self, kept: IntArray, partner: IntArray) -> None:
        """Keep some clusters in the given order, each merged with its partner unless that is negative."""
        two = np.flatnonzero(partner >= 0)
        other = partner[two]
        places = np.concatenate([np.arange(len(kept)), two]), np.concatenate([kept, other])
        together = sparse.csr_array((np.ones(len(places[0])), places), shape=(len(kept), len(self.weights)))
        self._sums = sparse.csr_array(together @ self._sums)
        self._sums.sort_indices()
        dense, weights, order = self._dense[kept], self.weights[kept], self.order[kept]
        dense[two] += self._dense[other]
        weights[two] += self.weights[other]
        order[two] = np.minimum(order[two], self.order[other])
        self._dense, self.weights, self.order = dense, weights, order


def nearest_rows(rows: FloatArray, count: int) -> Iterator[tuple[int, IntArray, FloatArray]]:
    """Yield for each block its first row, and the nearest other rows of each row with their cosines.

    There are two rows at least. Both arrays have the shape (block, count). Of equally near rows the first
    rows are taken.
    """
    count = min(count, len(rows) - 1)
    rough = rows.astype(np.float32)
    off = _slack(rows.shape[1])
    step = _rows_of_a_block(len(rows))
    for start in range(0, len(rows), step):
        own = np.arange(start, min(start + step, len(rows)))
        scores = rough[own] @ rough.T
        scores[own - start, own] = -np.inf
        # Two scores may have an error, so a near row may score that much below the bound.
        bound = _least_of_largest(scores, count) - 2.0 * off
        row, place = np.nonzero(scores >= bound[:, None])
        exact = on_grid(pair_products(rows, own[row], place))
        order = np.lexsort((place, -exact, row))
        row, place, exact = row[order], place[order], exact[order]
        first = np.searchsorted(row, own - start)[:, None] + np.arange(count)
        yield start, place[first], exact[first]


class DenseNeighbours(Neighbours):
    """Clusters of rows with a dense part; `limits` do not matter, because all candidates are compared."""

    def __init__(self, rows: Rows, chosen: IntArray, weights: FloatArray, floor: float) -> None:
        terms = sparse.csr_array(sparse.diags_array(weights) @ rows.plain_terms(chosen))
        dense = np.zeros((len(weights), 0)) if rows.dense is None else rows.dense[chosen] * weights[:, None]
        super().__init__(terms, dense, weights, chosen, floor)

    def search(self, queries: IntArray, candidates: Places, bounds: FloatArray, limits: Limits) -> Nearest:  # noqa: ARG002
        """See `Neighbours`."""
        row, column = np.nonzero((candidates >= 0) & (candidates != queries[:, None]))
        pairs = np.unique(row * len(self.weights) + candidates[row, column])
        result = self._nearest(queries, *np.divmod(pairs, len(self.weights)), bounds)
        unsure = np.flatnonzero((result.bound > self._floor) & (result.similarity <= result.bound))
        for part, row, place, wanted in self._candidates(queries[unsure]):
            sought = unsure[part]
            near = self._nearest(queries[sought], row, place, wanted)
            result.listed[sought] = near.listed
            result.similarity[sought] = near.similarity
            result.bound[sought] = near.bound
        return result

    def _candidates(self, queries: IntArray) -> Iterator[tuple[slice, IntArray, IntArray, FloatArray]]:
        """Yield blocks of queries: their slice, the query and place of each candidate, and the bounds.

        No cluster above the bound of a query is missing.
        """
        if not len(queries):
            return
        most = 2 * LISTED  # exact similarities per cluster, unless more are too close to decide
        count = len(self.weights)
        dense = (self._dense / self.weights[:, None]).astype(np.float32)
        terms = sparse.csr_array(sparse.diags_array(1.0 / self.weights) @ self._sums).astype(np.float32)
        by_term = sparse.csr_array(terms.T)
        off = _slack(dense.shape[1] + int(np.diff(terms.indptr).max()))
        step = _rows_of_a_block(count)
        for start in range(0, len(queries), step):
            part = slice(start, start + step)
            block = queries[part]
            scores = dense[block] @ dense.T
            shared = sparse.coo_array(terms[block] @ by_term)
            scores[shared.row, shared.col] += shared.data
            scores[np.arange(len(block)), block] = -np.inf
            best = scores.max(axis=1).astype(np.float64)
            # Two scores may be off: stay that much below the best one.
            wanted = np.minimum(DEPTH * best, best - 2.0 * off)
            crowded = np.flatnonzero((scores >= (wanted - off)[:, None]).sum(axis=1) > most)
            if len(crowded):
                last = np.partition(scores[crowded], count - most, axis=1)[:, count - most]
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
        terms = self._sums[one].multiply(self._sums[other]).sum(axis=1)
        total = pair_products(self._dense, one, other) + terms
        return on_grid(total / (self.weights[one] * self.weights[other]))


def _slack(parts: int) -> float:
    """Return an upper bound of the error of a float32 dot product of unit rows with `parts` terms."""
    return 2.0**-23 * (parts + 2)


def _rows_of_a_block(columns: int) -> int:
    """Return how many rows to compare with `columns` others at once."""
    return max(1, BLOCK_CELLS // columns)


def _least_of_largest(scores: Scores, count: int) -> Scores:
    """Return a lower bound of the `count`-th largest score of each row, shape (rows,)."""
    strips = min(scores.shape[1], 8 * count)
    width = scores.shape[1] // strips
    # The largest score of each strip: a pass that costs much less than sorting. A strip takes columns at
    # equal steps, because neighbours in the alphabet are often similar.
    peaks = scores[:, : strips * width].reshape(len(scores), width, strips).max(axis=1)
    return np.asarray(np.partition(peaks, strips - count, axis=1)[:, strips - count])
