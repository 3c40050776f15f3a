"""What became of the groups of the run before: which are the same, and which split, merged, are new or gone.

Groups of two runs are matched by the mentions of the surfaces that both have.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from scipy import sparse

from vocabgap.model.tables import CONTINUED, GONE, GROUPS, LINEAGE, MERGED, NEW, PRESENT, PREVIOUS, SPLIT
from vocabgap.text import count

_SIDES: Final = ("previous", "present")
_Pair = tuple[str, str, int, bool]


@dataclass(frozen=True, repr=False)
class Lineage:
    """Where the capabilities of a run come from.

    Attributes:
        relations: Table `lineage`; without a row where there was no run before.
        groups: Table `groups`: this run's surfaces, and those of the run that it was compared with.
    """

    relations: pl.DataFrame
    groups: pl.DataFrame

    def __repr__(self) -> str:
        """How many relations there are, in one line."""
        known = self.groups.filter(run=PRESENT).height
        return f"Lineage({count(self.relations.height, 'relation')}, {count(known, 'surface')})"


def trace(groups: pl.DataFrame, ranked: pl.DataFrame, baseline: pl.DataFrame | None = None) -> Lineage:
    """Compare the capabilities of a run with those of the run before."""
    present = (
        groups.drop("rank")
        .join(ranked.select("capability_id", "rank"), on="capability_id", how="left", maintain_order="left")
        .select(GROUPS.names)
    )
    if baseline is None:
        return Lineage(LINEAGE.empty(), present)
    previous = baseline.with_columns(pl.lit(PREVIOUS).alias("run")).sort("surface").select(GROUPS.names)
    return Lineage(relations(previous, present), pl.concat([previous, present]))


def relations(previous: pl.DataFrame, present: pl.DataFrame) -> pl.DataFrame:
    """What became of each capability, and where each comes from.

    A capability is *continued* under its identifier; those of two runs that do not know of each other, under
    that which shares most with it. Where one has gone and its surfaces are found in another, it was *merged*
    into that; where one appears whose surfaces were in another, it was *split* off that. What shares no
    surface with anything is *new*, or *gone*. A surface that only moved between two that both continue is no
    relation. The rows go by the rank in the later run, then by that in the earlier one.
    """
    left, right = (side.with_columns(key="capability_id") for side in (previous, present))
    before, now = {*previous["capability_id"]}, {*present["capability_id"]}
    pairs = overlaps(left, right)
    strangers = pairs.filter(~pl.col("previous").is_in(now), ~pl.col("present").is_in(before))
    counterpart = {each: each for each in before & now}
    counterpart |= dict(matched(strangers.with_columns(preferred=pl.lit(value=False))))
    continued = set(counterpart.values())
    rows: list[tuple[str, str | None, str | None]] = []
    for one, other in pairs.select("previous", "present").iter_rows():
        if one in counterpart and other in continued:
            continue
        rows.append((SPLIT if one in counterpart else MERGED, other, one))
    rows += [(CONTINUED, other, one) for one, other in counterpart.items()]
    rows += [(NEW, each, None) for each in now - continued - {*pairs["present"]}]
    rows += [(GONE, None, each) for each in before - {*counterpart} - {*pairs["previous"]}]
    columns = ("relation", "capability_id", "previous_id")
    return (
        pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
        .join(_capabilities(present), on="capability_id", how="left")
        .join(
            _capabilities(previous).select(pl.all().name.prefix("previous_")),
            left_on="previous_id",
            right_on="previous_capability_id",
            how="left",
        )
        .join(pairs, left_on=["capability_id", "previous_id"], right_on=["present", "previous"], how="left")
        .with_columns(shared_mentions=pl.col("shared").fill_null(0))
        .sort("rank", "previous_rank", "capability_id", "previous_id", nulls_last=True)
        .select(LINEAGE.names)
    )


def _capabilities(surfaces: pl.DataFrame) -> pl.DataFrame:
    """Columns `capability_id`, `label`, `rank` and `mentions`, one row a capability."""
    return surfaces.group_by("capability_id").agg(pl.col("label", "rank").first(), pl.col("mentions").sum())


def overlaps(previous: pl.DataFrame, present: pl.DataFrame) -> pl.DataFrame:
    """What groups of two runs share: their keys, and the mentions of the surfaces that both have."""
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
    """Match groups of which each is linked with every other, over however many."""
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
