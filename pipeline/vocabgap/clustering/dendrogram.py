"""The merges of a clustering: in order of height, and the tree below one cluster."""

import numpy as np
import polars as pl

from vocabgap.clustering.arrays import FloatArray, IntArray
from vocabgap.schema import LINKAGE


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
