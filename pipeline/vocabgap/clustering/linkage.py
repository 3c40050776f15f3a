"""Average linkage on cosine distance, weighted by mentions, over the full distance matrix.

The nearest-neighbour chain (Murtagh 1983; Müllner 2011, arXiv 1109.2378, figure 3) needs n merges of O(n)
each. Average linkage is reducible, so the order in which the chain finds merges does not change the
dendrogram. A surface that was mentioned w times weighs as much as w equal points, whose merges at height
zero are left out; SciPy's linkage takes no such weights.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from vocabgap.errors import InvalidInputError
from vocabgap.schema import LINKAGE

MAX_SURFACES: Final = 20_000  # the distance matrix then takes 3.2 GB

_BLOCK_ROWS: Final = 512

FloatArray = npt.NDArray[np.float64]
IntVector = npt.NDArray[np.int64]


def cosine_distances(rows: sparse.csr_array) -> FloatArray:
    """All pairwise cosine distances of rows of unit length, shape (n, n), with an infinite diagonal.

    Raises:
        InvalidInputError: There are more rows than the matrix can be made for.
    """
    count = rows.shape[0]
    if count > MAX_SURFACES:
        raise InvalidInputError(
            f"{count:,} distinct surfaces are more than the {MAX_SURFACES:,} that can be clustered at once",
            hint="scan fewer roots at once",
        )
    distances = np.empty((count, count))
    # By blocks: the sparse product of all rows would take more than the dense matrix.
    for start in range(0, count, _BLOCK_ROWS):
        block = rows[start : start + _BLOCK_ROWS] @ rows.T
        np.subtract(1.0, block.toarray(), out=distances[start : start + _BLOCK_ROWS])
    # Rounding leaves some at -1e-16.
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
    return _in_order_of_height(forest.merges, weights)


def _in_order_of_height(merges: list[tuple[int, int, float]], weights: FloatArray) -> pl.DataFrame:
    """Number the merges as SciPy does: merge i of the sorted list makes cluster n + i."""
    count = len(weights)
    heights = np.array([height for _, _, height in merges])
    number = list(range(count))
    size = weights.astype(np.int64).tolist()
    rows: list[tuple[int, int, float, int]] = []
    # The sort is stable and no merge is lower than its parts, so parts come first also in a tie.
    for made, position in enumerate(np.argsort(heights, kind="stable").tolist(), start=count):
        keep, drop, height = merges[position]
        left, right = sorted((number[keep], number[drop]))
        size[keep] += size[drop]
        number[keep] = made
        rows.append((left, right, height, size[keep]))
    return pl.DataFrame(rows, schema=LINKAGE.schema, orient="row")


def cut(linkage: pl.DataFrame, count: int, threshold: float) -> IntVector:
    """Cluster numbers of the points when only merges strictly below a height are made.

    Args:
        linkage: Table `linkage` of `count` points.
        count: Number of points.
        threshold: Cosine distance at which merging stops.

    Returns:
        Shape (count,): clusters numbered from 0 in the order of their first point.
    """
    parent = list(range(2 * count - 1)) if count else []
    for made, (left, right, height) in enumerate(
        linkage.select("left", "right", "height").iter_rows(), start=count
    ):
        if height < threshold:
            parent[left] = parent[right] = made
    # Parents have larger numbers than their parts, so one pass from the top finds every root.
    for node in range(len(parent) - 1, -1, -1):
        parent[node] = parent[parent[node]]
    numbers: dict[int, int] = {}
    return np.array([numbers.setdefault(root, len(numbers)) for root in parent[:count]], dtype=np.int64)
