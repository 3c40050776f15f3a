"""The nearest clusters of rows that are part sparse and part dense, found exactly by blocks of products.

A dense row is near to every other by a little, so an inverted index would list them all. Products in float32
tell all but a few clusters apart from the nearest; those few are worked out in float64.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from vocabgap.clustering.arrays import FloatArray, IntArray, on_grid
from vocabgap.clustering.block_search import products, rows_of_a_block, slack
from vocabgap.clustering.nearest_list import DEPTH
from vocabgap.clustering.neighbours import LISTED, Nearest
from vocabgap.clustering.vectorizing import Rows

_CANDIDATES: Final = 2 * LISTED  # similarities worked out of a cluster, unless more are too near to tell


class BlendedNeighbours:
    """The clusters of a round: sums of rows, and the search for the nearest.

    Clusters stand in places 0 to m - 1; `order` says which of several equally near ones is taken.
    """

    def __init__(self, rows: Rows, chosen: IntArray, weights: FloatArray, floor: float) -> None:
        """Clusters of one row each.

        Args:
            rows: The rows, with a dense part.
            chosen: Which of them.
            weights: Their weights, shape (m,).
            floor: Similarities up to here do not matter.
        """
        self._floor = floor
        self._sparse = sparse.csr_array(sparse.diags_array(weights) @ rows.plain_terms(chosen))
        dense = np.zeros((rows.loads.shape[0], 0)) if rows.dense is None else rows.dense
        self._dense: FloatArray = dense[chosen] * weights[:, None]
        self.weights = weights
        self.order = chosen

    def search(self, queries: IntArray, known: npt.NDArray[np.int32], bounds: FloatArray) -> Nearest:
        """The nearest clusters of some, exactly; all are looked at only where what is known does not do.

        Args:
            queries: Places of the clusters to search for, shape (q,).
            known: Places of likely neighbours, shape (q, any number); negative where there are none.
            bounds: No cluster that is not among those is more similar, shape (q,).
        """
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
        """Keep some clusters, in the given order of places, each merged with its partner unless negative."""
        two = np.flatnonzero(partner >= 0)
        other = partner[two]
        places = np.concatenate([np.arange(len(kept)), two]), np.concatenate([kept, other])
        together = sparse.csr_array((np.ones(len(places[0])), places), shape=(len(kept), len(self.weights)))
        self._sparse = sparse.csr_array(together @ self._sparse)
        self._sparse.sort_indices()
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
        """The nearest of some candidates.

        Args:
            queries: Places of the clusters to search for, shape (q,).
            row: Of each candidate, for which of these it is one.
            place: Its place.
            bounds: No cluster that is no candidate is more similar, shape (q,).
        """
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
