"""Average linkage on cosine distance, weighted by mentions, over the full distance matrix.

The nearest-neighbour chain (Murtagh 1983; Müllner 2011, arXiv 1109.2378, figure 3) needs n merges of O(n)
each. Average linkage is reducible, so the order in which the chain finds merges does not change the
dendrogram. A surface that was mentioned w times weighs as much as w equal points, whose merges at height
zero are left out; SciPy's linkage takes no such weights.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl
from scipy import sparse

from vocabgap.clustering.arrays import FloatArray, on_grid
from vocabgap.clustering.dendrogram import in_order_of_height

_BLOCK_ROWS: Final = 512


def cosine_distances(rows: sparse.csr_array, dense: FloatArray | None = None) -> FloatArray:
    """All pairwise cosine distances of rows of unit length, shape (n, n), with an infinite diagonal.

    Args:
        rows: Shape (n, terms).
        dense: Further dimensions of the rows, shape (n, dimensions).
    """
    count = rows.shape[0]
    distances = np.empty((count, count))
    # By blocks: the sparse product of all rows would take more than the dense matrix.
    for start in range(0, count, _BLOCK_ROWS):
        part = slice(start, start + _BLOCK_ROWS)
        np.subtract(1.0, (rows[part] @ rows.T).toarray(), out=distances[part])
        if dense is not None:
            distances[part] -= dense[part] @ dense.T
        distances[part] = on_grid(distances[part])
    np.maximum(distances, 0.0, out=distances)
    np.fill_diagonal(distances, np.inf)
    return distances


@dataclass
class _Forest:
    """The points as they are being merged: what is left of the distances, and every merge so far."""

    distances: FloatArray
    weights: FloatArray
    merges: list[tuple[int, int, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.heights = np.zeros(len(self.weights))
        self.active = np.ones(len(self.weights), dtype=bool)

    def nearest(self, point: int, preferred: int | None) -> int:
        """The nearest active point; the preferred one, then the first one, where several are as near."""
        row = self.distances[point]
        best = int(row.argmin())
        return preferred if preferred is not None and row[preferred] == row[best] else best

    def merge(self, one: int, other: int) -> None:
        """Merge two active points into the one that sorts first."""
        keep, drop = min(one, other), max(one, other)
        # A height below those of its parts can only be rounding.
        height = max(self.distances[keep, drop], self.heights[keep], self.heights[drop])
        self.merges.append((keep, drop, float(height)))
        weight = self.weights[keep] + self.weights[drop]
        merged = (
            self.weights[keep] * self.distances[keep] + self.weights[drop] * self.distances[drop]
        ) / weight
        merged[keep] = np.inf
        self.distances[keep] = merged
        self.distances[:, keep] = merged
        self.distances[drop] = np.inf
        self.distances[:, drop] = np.inf
        self.weights[keep] = weight
        self.heights[keep] = height
        self.active[drop] = False


def average_linkage(distances: FloatArray, weights: FloatArray) -> pl.DataFrame:
    """The average-linkage dendrogram of weighted points.

    Args:
        distances: Pairwise distances, shape (n, n), symmetric, infinite on the diagonal. Overwritten.
        weights: Weight of each point, shape (n,), positive.

    Returns:
        Table `linkage` with n - 1 rows, in order of height.
    """
    count = len(weights)
    forest = _Forest(distances, weights.astype(np.float64))
    chain: list[int] = []
    while len(forest.merges) < count - 1:
        if not chain:
            chain.append(int(forest.active.argmax()))
        before = chain[-2] if len(chain) > 1 else None
        nearest = forest.nearest(chain[-1], before)
        if nearest == before:
            forest.merge(chain.pop(), chain.pop())
        else:
            chain.append(nearest)
    merges = np.array(forest.merges).reshape(-1, 3)
    return in_order_of_height(
        merges[:, 0].astype(np.int64), merges[:, 1].astype(np.int64), merges[:, 2], weights
    )
