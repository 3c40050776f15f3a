"""The same capability from run to run: its identifier is carried over, and so is what people decided."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import polars as pl
from scipy import sparse

from vocabgap.schema import (
    AUTHORED,
    CAPABILITY_PREFIX,
    DISMISSED,
    GROUPS,
    IDENTITIES,
    NEW,
    OPEN,
    PRESENT,
    RECORDS,
    REGRESSED,
    UTC_MICROSECONDS,
    phrase,
)

# The life of a capability: what people decided about it, and whether that still holds.
#
# The status is what was decided last. What was said of some wordings holds for a group while these
# carry at least half of its mentions; where they do not, the group has outgrown the decision: people
# have not spoken of its greater part, and it is open again. What was authored and is mentioned at a
# later time has regressed, in whatever words that is.


_AUTHOR: Final = "author"
_STATUS_OF: Final = {"dismiss": DISMISSED, _AUTHOR: AUTHORED, "reopen": OPEN}


RULED: Final[Mapping[str, pl.DataType]] = {
    "cluster": pl.Int64(),
    "label": pl.String(),
    "status": pl.String(),
    "pinned": pl.Boolean(),
    "decisions": pl.List(pl.String),
    "outgrown": pl.List(pl.String),
}
"""The columns that `ruled` gives."""


def ruled(surfaces: pl.DataFrame, verdicts: pl.DataFrame, last_mentions: pl.DataFrame) -> pl.DataFrame:
    """What people decided about groups.

    Args:
        surfaces: Columns `surface`, `mentions` and `cluster`, one row a surface.
        verdicts: Table `verdicts`.
        last_mentions: Columns `cluster` and `last_mention`, null where no timestamp can be read.

    Returns:
        One row a group that was spoken of: columns `cluster`; `label`, null without a `rename`; `status`,
        null where nothing that was decided gives it one; `pinned`, `decisions` and `outgrown`.
    """
    action = pl.col("action")
    gives_status = action.is_in(list(_STATUS_OF))
    has_regressed = (action == _AUTHOR) & (pl.col("last_mention") > pl.col("time")).fill_null(value=False)
    is_outgrown = gives_status & ~has_regressed & (2 * pl.col("carried") < pl.col("whole"))
    given = pl.when("has_regressed").then(pl.lit(REGRESSED)).otherwise(action.replace(_STATUS_OF))
    return (
        verdicts.join(surfaces.select("surface", "cluster"), on="surface")
        .unique(["cluster", "decision_id"], keep="first", maintain_order=True)
        .join(surfaces.group_by("cluster").agg(pl.col("mentions").sum().alias("whole")), on="cluster")
        .join(_carried(verdicts, surfaces), on=["cluster", "decision_id"], how="left")
        .join(last_mentions, on="cluster", how="left")
        .with_columns(pl.col("carried").fill_null(0), has_regressed.alias("has_regressed"))
        .with_columns(is_outgrown.alias("is_outgrown"), given.alias("given"))
        .sort("time", "decision_id")
        .group_by("cluster", maintain_order=True)
        .agg(
            pl.col("label").drop_nulls().last(),
            pl.col("given").filter(gives_status, ~pl.col("is_outgrown")).last().alias("status"),
            (action == "pin").any().alias("pinned"),
            _told().alias("decisions"),
            pl.col("decision_id").filter("is_outgrown").alias("outgrown"),
        )
        .with_columns(pl.coalesce("status", pl.when(pl.col("outgrown").list.len() > 0).then(pl.lit(OPEN))))
    )


def _carried(verdicts: pl.DataFrame, surfaces: pl.DataFrame) -> pl.DataFrame:
    """Of each group, the mentions (`carried`) of the surfaces that a decision is about."""
    return (
        verdicts.select("decision_id", surface="about")
        .explode("surface")
        .unique()
        .join(surfaces, on="surface")
        .group_by("cluster", "decision_id")
        .agg(pl.col("mentions").sum().alias("carried"))
    )


def _told() -> pl.Expr:
    """The decisions in words; of one that holds no longer, why."""
    why = "{} – holds no longer: the group has outgrown it, with {} of {} mentions worded as then"
    return pl.when("is_outgrown").then(pl.format(why, "told", "carried", "whole")).otherwise("told")


# Which groups of two runs are the same: those that share the most, as mentions of the surfaces in
# both.


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


ID_DIGITS: Final = 12


class Grouping(Protocol):
    """What the ranking needs to know of a clustering; `vocabgap.cluster` returns one."""

    @property
    def wordings(self) -> pl.DataFrame:
        """Table `wordings`."""

    @property
    def clusters(self) -> pl.DataFrame:
        """Table `clusters`."""


class Regrouping(Grouping, Protocol):
    """The same where people's decisions were followed."""

    @property
    def origins(self) -> Sequence[tuple[int | None, str | None]]:
        """Of each group the number of the one that it goes on as, else the decision by which it left one."""


@dataclass(frozen=True)
class Identified:
    """The groups of a run, each with its identity.

    Attributes:
        identities: Table `identities`.
        groups: Table `groups`: the surfaces of this run, not ranked yet.
    """

    identities: pl.DataFrame
    groups: pl.DataFrame


def identify(
    found: Grouping,
    decided: Regrouping,
    records: pl.DataFrame,
    *,
    baseline: pl.DataFrame | None = None,
    verdicts: pl.DataFrame | None = None,
) -> Identified:
    """Say which capability each group is.

    The groups as they were found take over the identifiers of those of the run before by a matching of the
    greatest weight on the surfaces that both have, each weighing its mentions in the run that has it less.
    One without a counterpart has an identifier from its label's surface. What people united keeps the
    identifier of the one that they named first, what they split off has one from the decision; so both have
    their own back when that is undone.

    Its status is what was decided last, as far as that holds; `vocabgap.ranking.status` says when it does.
    Where nothing was decided, it is `new` if none of its surfaces was there in the run before, and `open`
    otherwise.

    Args:
        found: The groups as they were found.
        decided: The same where people's decisions were followed.
        records: Table `records`: all that were clustered.
        baseline: Table `groups` of the run before; null if there was none.
        verdicts: Table `verdicts`.
    """
    RECORDS.require(records)
    own = _surfaces(found)
    raw = _group_ids(found, own, baseline)
    ids = dict(raw.select("cluster", "group_id").iter_rows())
    surfaces = (
        own.join(raw, on="cluster")
        .select("surface", "mentions", "group_id", "known", group_surface="label_surface")
        .join(decided.wordings.select("surface", "cluster").unique(), on="surface")
    )
    table = pl.DataFrame(
        {
            "cluster": decided.clusters["cluster"],
            "capability_id": [_id_of(origin, ids) for origin in decided.origins],
        },
        schema_overrides={"capability_id": pl.String},
    )
    known = surfaces.group_by("cluster").agg(pl.col("known").any())
    otherwise = pl.when(pl.col("known") | pl.lit(baseline is None)).then(pl.lit(OPEN)).otherwise(pl.lit(NEW))
    identities = (
        table.join(known, on="cluster", how="left")
        .join(_ruled(decided, verdicts, records), on="cluster", how="left")
        .with_columns(
            pl.coalesce("status", otherwise),
            pl.col("pinned").fill_null(value=False),
            pl.col("decisions", "outgrown").fill_null([]),
        )
        .sort("cluster")
        .select(IDENTITIES.names)
    )
    names = decided.clusters.select("cluster", own="label").join(identities, on="cluster")
    groups = (
        surfaces.join(names.select("cluster", "capability_id", pl.coalesce("label", "own")), on="cluster")
        .with_columns(pl.lit(PRESENT).alias("run"), pl.lit(None, pl.Int64).alias("rank"))
        .sort("surface")
        .select(GROUPS.names)
    )
    return Identified(identities, groups)


def unknown(clusters: pl.DataFrame) -> pl.DataFrame:
    """Table `identities` where nothing is known: identifiers from the labels' surfaces, and all open.

    Args:
        clusters: Table `clusters`.
    """
    ids = [derived_id(surface) for surface in clusters["label_surface"]]
    return clusters.select(
        "cluster",
        pl.Series("capability_id", ids, pl.String),
        pl.lit(None, pl.String).alias("label"),
        pl.lit(OPEN).alias("status"),
        pl.lit(value=False).alias("pinned"),
        pl.lit([], pl.List(pl.String)).alias("decisions"),
        pl.lit([], pl.List(pl.String)).alias("outgrown"),
    )


def derived_id(source: str) -> str:
    """The identifier that comes from a label's surface, or from whatever else made a capability."""
    return f"{CAPABILITY_PREFIX}{hashlib.sha256(source.encode()).hexdigest()[:ID_DIGITS]}"


def _id_of(origin: tuple[int | None, str | None], ids: dict[int, str]) -> str:
    cluster, split = origin
    return derived_id(split or "") if cluster is None else ids[cluster]


def _surfaces(found: Grouping) -> pl.DataFrame:
    """Columns `surface`, `mentions` and `cluster`, one row a surface."""
    return found.wordings.group_by("surface", "cluster").agg(pl.col("mentions").sum()).sort("surface")


def _group_ids(found: Grouping, surfaces: pl.DataFrame, baseline: pl.DataFrame | None) -> pl.DataFrame:
    """Columns `cluster`, `label_surface`, `group_id` and `known`: whether the run before had any of it."""
    labels = found.clusters.select("cluster", "label_surface").sort("cluster")
    carried: dict[str, str] = {}
    known, taken = set[str](), set[str]()
    if baseline is not None:
        pairs = _shared(baseline, surfaces.join(labels, on="cluster"))
        carried = {label: group_id for group_id, label in matched(pairs)}
        known, taken = {*pairs["present"]}, {*baseline["group_id"]}
    ids = []
    for label in labels["label_surface"]:
        ids.append(carried.get(label) or _unused(label, taken))
        taken.add(ids[-1])
    return labels.with_columns(
        pl.Series("group_id", ids, pl.String),
        pl.Series("known", [label in known for label in labels["label_surface"]], pl.Boolean),
    )


def _shared(baseline: pl.DataFrame, surfaces: pl.DataFrame) -> pl.DataFrame:
    """What the groups of the run before share with those of this one, as `matched` takes it."""
    previous = baseline.select("surface", "mentions", key="group_id", label="group_surface")
    return (
        overlaps(previous, surfaces.with_columns(key="label_surface"))
        .join(previous.select(previous="key", label="label").unique(), on="previous")
        .with_columns(preferred=pl.col("label") == pl.col("present"))
    )


def _unused(label: str, taken: set[str]) -> str:
    """An identifier from a label that no other group has or had: the words of a label may come back."""
    number = 1
    while (name := derived_id(label if number == 1 else f"{label}\n{number}")) in taken:
        number += 1
    return name


def _ruled(decided: Grouping, verdicts: pl.DataFrame | None, records: pl.DataFrame) -> pl.DataFrame:
    if verdicts is None or verdicts.is_empty():
        return pl.DataFrame(schema=RULED)
    return ruled(_surfaces(decided), verdicts, _last_mentions(records, decided))


def _last_mentions(records: pl.DataFrame, decided: Grouping) -> pl.DataFrame:
    return (
        records.select("timestamp", wording=phrase())
        .join(decided.wordings.select("wording", "cluster"), on="wording")
        .group_by("cluster")
        .agg(pl.col("timestamp").max().cast(UTC_MICROSECONDS).alias("last_mention"))
    )
