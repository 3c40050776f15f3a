"""Nearest clusters of sparse rows, found exactly through an inverted index over terms.

A row is a combination of terms (`Rows`): x = loads, and the similarity of two clusters is x' G y, with G the
cosines between terms. For a query, t = G x is what each term would add for a unit of load. Then

* the terms U whose lists are not read add at most |t_U| |y_U| <= |t_U|: neither loads nor G are negative and
  the diagonal of G is 1, so that |y|^2 <= y' G y <= 1 (Cauchy-Schwarz), and
* terms with t <= eta together add at most eta times the largest sum of spelling loads.

So the lists of the terms are read from the one that takes most off that bound for its length, until what is
left cannot reach the wanted similarity (Bayardo et al. 2007; Anastasiu & Karypis 2014, "L2AP", are the same
thought for a plain dot product). What the lists brought up is then worked out in float64.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import get_num_threads
from scipy import sparse

from vocabgap.clustering.arrays import FloatArray, IntArray
from vocabgap.clustering.kernels import index, largest_sum, merged, search
from vocabgap.clustering.vectorizing import Rows

LISTED = 16  # nearest clusters kept of each cluster


@dataclass
class Nearest:
    """What is known of the neighbours of some clusters.

    Attributes:
        listed: Shape (m, LISTED): positions by falling similarity; -1 where there are no more.
        similarity: Shape (m,): to the first listed one.
        bound: Shape (m,): no cluster that is not listed is more similar.
    """

    listed: npt.NDArray[np.int32]
    similarity: FloatArray
    bound: FloatArray

    @classmethod
    def unknown(cls, count: int) -> "Nearest":
        """Nothing known of `count` clusters."""
        return cls(np.full((count, LISTED), -1, dtype=np.int32), np.zeros(count), np.full(count, np.inf))


class SparseNeighbours:
    """The clusters of a round: sums of rows, their index, and the search for the nearest.

    Clusters stand in places 0 to m - 1; `order` says which of several equally near ones is taken.
    """

    def __init__(self, rows: Rows, chosen: IntArray, weights: FloatArray, floor: float) -> None:
        """Clusters of one row each.

        Args:
            rows: The rows.
            chosen: Which of them.
            weights: Their weights, shape (m,).
            floor: Similarities up to here do not matter.
        """
        loads = rows.loads[chosen]
        # A dimension that only one row has takes no part in any similarity.
        used = np.flatnonzero(np.bincount(loads.indices, minlength=loads.shape[1])[: rows.own] > 1)
        self._own = len(used)
        loads = sparse.csr_array(sparse.hstack([loads[:, used], loads[:, rows.own :]], format="csr"))
        loads.eliminate_zeros()  # the loops take what is not zero for seen
        loads.sort_indices()
        self._columns = loads.shape[1]
        self._floor = floor
        self._gram = _gram(rows, self._own)
        self._start = loads.indptr.astype(np.int64)
        self._terms = loads.indices.astype(np.int32)
        self._sums = np.asarray(loads.data, dtype=np.float64) * np.repeat(weights, np.diff(self._start))
        self.weights = weights
        self.order = chosen

    def search(self, queries: IntArray, known: npt.NDArray[np.int32], bounds: FloatArray) -> Nearest:
        """The nearest clusters of some, exactly; the index is only read where what is known does not do.

        Args:
            queries: Places of the clusters to search for, shape (q,).
            known: Places of likely neighbours, shape (q, any number); negative where there are none.
            bounds: No cluster that is not among those is more similar, shape (q,).
        """
        found = Nearest.unknown(len(queries))
        loads = self._sums / np.repeat(self.weights, np.diff(self._start))
        lists = index(self._start, self._terms, loads, self._columns)
        spelt = largest_sum(self._start, self._terms, loads, self._own)
        search(
            queries,
            known,
            bounds,
            self.order,
            self._start,
            self._terms,
            loads,
            self._own,
            spelt,
            *self._gram,
            *lists,
            self._floor,
            get_num_threads(),
            found.listed,
            found.similarity,
            found.bound,
        )
        return found

    def merge(self, kept: IntArray, partner: IntArray) -> None:
        """Keep some clusters, in the given order of places, each merged with its partner unless negative."""
        self._start, self._terms, self._sums = merged(kept, partner, self._start, self._terms, self._sums)
        self.weights = self.weights[kept] + np.where(partner >= 0, self.weights[partner], 0.0)
        self.order = np.where(
            partner >= 0, np.minimum(self.order[kept], self.order[partner]), self.order[kept]
        )


def _gram(rows: Rows, own: int) -> tuple[IntArray, npt.NDArray[np.int32], FloatArray]:
    """Cosines between the spelt terms, as the three arrays of a CSR matrix with the columns of the loads."""
    gram = sparse.csr_array(rows.grams @ rows.grams.T)
    gram.eliminate_zeros()
    return gram.indptr.astype(np.int64), (gram.indices + own).astype(np.int32), gram.data
