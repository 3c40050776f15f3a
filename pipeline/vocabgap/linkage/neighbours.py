"""The clusters of a round as sums of their rows, and what a search for their neighbours returns."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from vocabgap.linkage.rows import FloatArray, IntArray

LISTED: Final = 16  # nearest clusters kept of each cluster
DEPTH: Final = 0.85  # share of the highest similarity down to which neighbours are listed

Places = npt.NDArray[np.int32]
Limits = npt.NDArray[np.float32]


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
