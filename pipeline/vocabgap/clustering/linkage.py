"""Average linkage of rows of unit length, by whichever way suits their number."""

import os
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl
from scipy import sparse

from vocabgap.clustering.arrays import FloatArray, IntArray, on_grid
from vocabgap.clustering.vectorizing import Rows
from vocabgap.errors import InvalidInputError
from vocabgap.schema import LINKAGE

# The merges of a clustering: in order of height, and the tree below one cluster.


def in_order_of_height(
    keep: IntArray, drop: IntArray, heights: FloatArray, weights: FloatArray
) -> pl.DataFrame:
    """Number merges as SciPy does: merge i of the sorted list makes cluster n + i.

    Args:
        keep: Of each merge, in an order in which parts come first, a point of the one cluster: the one that
            goes on standing for both.
        drop: The point that stood for the other cluster.
        heights: Distance between the two; no lower than those of its parts.
        weights: Weight of each point, whole numbers.

    Returns:
        Table `linkage`.
    """
    count = len(weights)
    number = list(range(count))
    size = weights.astype(np.int64).tolist()
    left, right, sizes = [], [], []
    # The sort is stable and no merge is lower than its parts, so parts come first also in a tie.
    order = np.argsort(heights, kind="stable")
    for made, (kept, dropped) in enumerate(
        zip(keep[order].tolist(), drop[order].tolist(), strict=True), start=count
    ):
        one, other = number[kept], number[dropped]
        left.append(min(one, other))
        right.append(max(one, other))
        size[kept] += size[dropped]
        sizes.append(size[kept])
        number[kept] = made
    columns = {"left": left, "right": right, "height": heights[order], "size": sizes}
    return pl.DataFrame(columns, schema=LINKAGE.schema)


def below(linkage: pl.DataFrame, count: int, members: IntArray) -> pl.DataFrame:
    """The merges inside one group, as a dendrogram of its own.

    Args:
        linkage: Table `linkage` of `count` points.
        count: Number of points.
        members: The points of the group, ascending: all that lie below one cluster of the linkage.

    Returns:
        Table `linkage` of `len(members)` points, numbered in that order.
    """
    number = dict(zip(members.tolist(), range(len(members)), strict=True))
    rows: list[tuple[int, int, float, int]] = []
    for made, (left, right, height, size) in enumerate(linkage.iter_rows(), start=count):
        if left in number and right in number:
            number[made] = len(members) + len(rows)
            one, other = sorted((number[left], number[right]))
            rows.append((one, other, height, size))
    return pl.DataFrame(rows, schema=LINKAGE.schema, orient="row")


# Average linkage on cosine distance, weighted by mentions, over the full distance matrix.
#
# The nearest-neighbour chain (Murtagh 1983; Müllner 2011, arXiv 1109.2378, figure 3) needs n merges
# of O(n) each. Average linkage is reducible, so the order in which the chain finds merges does not
# change the dendrogram. A surface that was mentioned w times weighs as much as w equal points, whose
# merges at height zero are left out; SciPy's linkage takes no such weights.


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


def dense_average_linkage(distances: FloatArray, weights: FloatArray) -> pl.DataFrame:
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


# Up to here the full matrix of distances is faster than loading a compiler, and takes at most 32 MB.
DENSE_LIMIT: Final = 2_000
FARTHEST: Final = 1.0  # no cut is beyond
_THREADS: Final = "NUMBA_NUM_THREADS"


def average_linkage(rows: Rows, weights: FloatArray, reach: float = FARTHEST) -> tuple[pl.DataFrame, float]:
    """The average-linkage dendrogram of weighted rows.

    Args:
        rows: Rows of unit length, n of them.
        weights: Weight of each row, shape (n,), positive.
        reach: Cosine distance up to which merges are wanted. All of them are given where there are few rows.

    Returns:
        Table `linkage`, and the distance below which it has every merge: the reach, at least.

    Raises:
        InvalidInputError: The environment asks for a number of threads that there cannot be.
    """
    count = len(weights)
    if count < 2:  # noqa: PLR2004
        return LINKAGE.empty(), FARTHEST
    if count <= DENSE_LIMIT:
        distances = cosine_distances(rows.plain_terms(), rows.dense)
        return dense_average_linkage(distances, weights), FARTHEST
    _require_threads()
    from vocabgap.clustering import sparse_linkage  # noqa: PLC0415 - loads Numba

    merges = sparse_linkage.average_linkage(rows, weights, reach)
    return in_order_of_height(merges.keep, merges.drop, merges.height, weights), reach


def _require_threads() -> None:
    """Look at what Numba reads when it is loaded, and would end with a traceback over."""
    asked = os.environ.get(_THREADS, "1")
    if not asked.isdecimal() or int(asked) < 1:
        raise InvalidInputError(
            f"{_THREADS} is '{asked}', not a number of threads",
            hint="expected a whole number from 1 on; where it is not set, every core is used",
        )
