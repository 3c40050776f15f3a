"""Which groups of two runs are the same: those that share the most, as mentions of the surfaces in both."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl
from scipy import sparse

_SIDES: Final = ("previous", "present")
_Pair = tuple[str, str, int, bool]


def overlaps(previous: pl.DataFrame, present: pl.DataFrame) -> pl.DataFrame:
    """What groups of two runs share.

    Args:
        previous: Columns `key`, `surface` and `mentions`, one row a surface.
        present: The same of the other run.

    Returns:
        Columns `previous` and `present`, two keys, and `shared`, the mentions of the surfaces in both, each
        as often as in the run that has it less. One row a pair that shares any, in the order of keys.
    """
    return (
        previous.select(pl.col("key").alias("previous"), "surface", "mentions")
        .join(present.select(pl.col("key").alias("present"), "surface", other="mentions"), on="surface")
        .group_by("previous", "present")
        .agg(pl.min_horizontal("mentions", "other").sum().alias("shared"))
        .sort("previous", "present")
    )


def matched(pairs: pl.DataFrame) -> list[tuple[str, str]]:
    """The matching of the greatest weight: each group has at most one counterpart.

    Groups that share nothing, over however many others, are matched apart from each other, so that new data
    elsewhere changes nothing here. Of matchings of the same weight the one with more preferred pairs is
    taken, and else the same one for the same pairs, in whatever order they come.

    Args:
        pairs: Columns `previous` and `present`, two keys; `shared`, the weight of the pair, a whole number
            above 0; `preferred`, whether the pair is to win a tie.

    Returns:
        The pairs of keys.
    """
    if pairs.is_empty():
        return []
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - loads what a first run needs not

    pairs = pairs.sort(*_SIDES)
    left, right = (pairs[side].unique().sort() for side in _SIDES)
    rows, columns = (
        pairs[side].replace_strict(keys, pl.int_range(len(keys), eager=True)).to_numpy()
        for side, keys in zip(_SIDES, (left, right), strict=True)
    )
    shape = (len(left) + len(right),) * 2
    graph = sparse.coo_array((np.ones(len(rows)), (rows, columns + len(left))), shape=shape)
    _, component = connected_components(graph, directed=False)
    parts: dict[int, list[_Pair]] = {}
    edges = pairs.select(*_SIDES, "shared", "preferred").iter_rows()
    for number, edge in zip(component[rows].tolist(), edges, strict=True):
        parts.setdefault(number, []).append(edge)
    return sorted(pair for part in parts.values() for pair in _matched_part(part))


def _matched_part(part: Sequence[_Pair]) -> list[tuple[str, str]]:
    """The same for groups of which each is linked with every other, over however many."""
    ends = [(one, other) for one, other, _, _ in part]
    left, right = (sorted(set(side)) for side in zip(*ends, strict=True))
    # Preferred pairs decide only between equal weights: all of them together weigh less than one mention.
    mention = min(len(left), len(right)) + 1
    weights = [shared * mention + preferred for _, _, shared, preferred in part]
    if len(left) == 1 or len(right) == 1:
        return [ends[weights.index(max(weights))]]
    return _assigned(left, right, ends, weights)


def _assigned(
    left: Sequence[str], right: Sequence[str], ends: Sequence[tuple[str, str]], weights: Sequence[int]
) -> list[tuple[str, str]]:
    """The assignment of the greatest weight, in which every group may also stay alone, at no weight."""
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching  # noqa: PLC0415 - as above

    row = {name: number for number, name in enumerate(left)}
    column = {name: number for number, name in enumerate(right)}
    alone = np.arange(len(left))
    # One more for every edge: each row has exactly one of them, and an edge of no weight would be none.
    values = np.concatenate([np.array(weights, np.float64), np.zeros(len(left))]) + 1.0
    rows = np.concatenate([np.array([row[one] for one, _ in ends]), alone])
    columns = np.concatenate([np.array([column[other] for _, other in ends]), alone + len(right)])
    biadjacency = sparse.csr_array((values, (rows, columns)), shape=(len(left), len(right) + len(left)))
    chosen = zip(*min_weight_full_bipartite_matching(biadjacency, maximize=True), strict=True)
    return [(left[one], right[other]) for one, other in chosen if other < len(right)]
