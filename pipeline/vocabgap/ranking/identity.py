"""The same capability from run to run: its identifier is carried over, and so is what people decided."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import polars as pl

from vocabgap.model.tables import (
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
from vocabgap.ranking.lineage import matched, overlaps

ID_DIGITS: Final = 12
_AUTHOR: Final = "author"
_STATUS_OF: Final = {"dismiss": DISMISSED, _AUTHOR: AUTHORED, "reopen": OPEN}
_DECIDED: Final[Mapping[str, pl.DataType]] = {
    "cluster": pl.Int64(),
    "label": pl.String(),
    "status": pl.String(),
    "pinned": pl.Boolean(),
    "pinned_by": pl.String(),
    "decisions": pl.List(pl.String),
    "outgrown": pl.List(pl.String),
}


class Grouping(Protocol):
    """What the ranking needs to know of a clustering; `vocabgap.cluster` returns one."""

    @property
    def wordings(self) -> pl.DataFrame:
        """Table `wordings`."""

    @property
    def clusters(self) -> pl.DataFrame:
        """Table `clusters`."""


class Regrouping(Grouping, Protocol):
    """What it needs to know of one that follows what people decided."""

    @property
    def origins(self) -> Sequence[tuple[int | None, str | None]]:
        """Of each group the number of the one that it goes on as, else the decision by which it left one."""


@dataclass(frozen=True)
class Identified:
    """The groups of a run, each with its identity: tables `identities` and `groups`, these not ranked yet."""

    identities: pl.DataFrame
    groups: pl.DataFrame


def identify(
    proposed: Grouping,
    clusters: Regrouping,
    records: pl.DataFrame,
    *,
    baseline: pl.DataFrame | None = None,
    verdicts: pl.DataFrame | None = None,
) -> Identified:
    """Say which capability each group is.

    The groups as the clustering proposed them, before people's decisions, take over the identifiers of those
    of the run before (`baseline`) by a matching of the greatest weight on the surfaces that both have, each
    weighing its mentions in the run that has it less. One without a counterpart has an identifier from its
    label's surface. What people united keeps the identifier of the one that they named first, what they split
    off has one from the decision; so both have their own back when that is undone.

    Its status is what was decided last, as far as that holds. What was said of some wordings holds for a
    group while these carry at least half of its mentions; where they do not, the group has outgrown the
    decision: people have not spoken of its greater part, and it is open again. What was authored and is
    mentioned at a later time has regressed, in whatever words that is. Where nothing was decided, it is `new`
    if none of its surfaces was there in the run before, and `open` otherwise.
    """
    RECORDS.require(records)
    own = _surfaces(proposed)
    raw = _group_ids(proposed, own, baseline)
    ids = dict(raw.select("cluster", "group_id").iter_rows())
    surfaces = (
        own.join(raw, on="cluster")
        .select("surface", "mentions", "group_id", "known", group_surface="label_surface")
        .join(clusters.wordings.select("surface", "cluster").unique(), on="surface")
    )
    capability_ids = [
        derived_id(split or "") if cluster is None else ids[cluster] for cluster, split in clusters.origins
    ]
    table = clusters.clusters.select("cluster", pl.Series("capability_id", capability_ids, pl.String))
    known = surfaces.group_by("cluster").agg(pl.col("known").any())
    otherwise = pl.when(pl.col("known") | pl.lit(baseline is None)).then(pl.lit(OPEN)).otherwise(pl.lit(NEW))
    identities = (
        table.join(known, on="cluster", how="left")
        .join(_decided(clusters, verdicts, records), on="cluster", how="left")
        .with_columns(
            pl.coalesce("status", otherwise),
            pl.col("pinned").fill_null(value=False),
            pl.col("decisions", "outgrown").fill_null([]),
        )
        .sort("cluster")
        .select(IDENTITIES.names)
    )
    names = clusters.clusters.select("cluster", own="label").join(identities, on="cluster")
    groups = (
        surfaces.join(names.select("cluster", "capability_id", pl.coalesce("label", "own")), on="cluster")
        .with_columns(pl.lit(PRESENT).alias("run"), pl.lit(None, pl.Int64).alias("rank"))
        .sort("surface")
        .select(GROUPS.names)
    )
    return Identified(identities, groups)


def default_identities(clusters: pl.DataFrame) -> pl.DataFrame:
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
        pl.lit(None, pl.String).alias("pinned_by"),
        pl.lit([], pl.List(pl.String)).alias("decisions"),
        pl.lit([], pl.List(pl.String)).alias("outgrown"),
    )


def derived_id(source: str) -> str:
    """The identifier that comes from a label's surface, or from whatever else made a capability."""
    return f"{CAPABILITY_PREFIX}{hashlib.sha256(source.encode()).hexdigest()[:ID_DIGITS]}"


def _surfaces(clusters: Grouping) -> pl.DataFrame:
    """Columns `surface`, `mentions` and `cluster`, one row a surface."""
    return clusters.wordings.group_by("surface", "cluster").agg(pl.col("mentions").sum()).sort("surface")


def _group_ids(proposed: Grouping, surfaces: pl.DataFrame, baseline: pl.DataFrame | None) -> pl.DataFrame:
    """Columns `cluster`, `label_surface`, `group_id` and `known`: whether the run before had any of it."""
    labels = proposed.clusters.select("cluster", "label_surface").sort("cluster")
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


def _decided(clusters: Grouping, verdicts: pl.DataFrame | None, records: pl.DataFrame) -> pl.DataFrame:
    """What people decided, one row a group that was spoken of, with the columns of `_DECIDED`.

    The label is null without a `rename`, the status where nothing that was decided gives it one.
    """
    if verdicts is None or verdicts.is_empty():
        return pl.DataFrame(schema=_DECIDED)
    surfaces = _surfaces(clusters)
    action = pl.col("action")
    is_pin = action == "pin"
    gives_status = action.is_in(list(_STATUS_OF))
    has_regressed = (action == _AUTHOR) & (pl.col("last_mention") > pl.col("time")).fill_null(value=False)
    is_outgrown = gives_status & ~has_regressed & (2 * pl.col("carried") < pl.col("whole"))
    carried = (  # of each group the mentions of the surfaces that a decision is about
        verdicts.select("decision_id", surface="about")
        .explode("surface")
        .unique()
        .join(surfaces, on="surface")
        .group_by("cluster", "decision_id")
        .agg(pl.col("mentions").sum().alias("carried"))
    )
    why = "{} – holds no longer: the group has outgrown it, with {} of {} mentions worded as then"
    in_words = pl.when("is_outgrown").then(pl.format(why, "told", "carried", "whole")).otherwise("told")
    given = pl.when("has_regressed").then(pl.lit(REGRESSED)).otherwise(action.replace(_STATUS_OF))
    return (
        verdicts.join(surfaces.select("surface", "cluster"), on="surface")
        .unique(["cluster", "decision_id"], keep="first", maintain_order=True)
        .join(surfaces.group_by("cluster").agg(pl.col("mentions").sum().alias("whole")), on="cluster")
        .join(carried, on=["cluster", "decision_id"], how="left")
        .join(_last_mentions(records, clusters), on="cluster", how="left")
        .with_columns(pl.col("carried").fill_null(0), has_regressed.alias("has_regressed"))
        .with_columns(is_outgrown.alias("is_outgrown"), given.alias("given"))
        .sort("time", "decision_id")
        .group_by("cluster", maintain_order=True)
        .agg(
            pl.col("label").drop_nulls().last(),
            pl.col("given").filter(gives_status, ~pl.col("is_outgrown")).last().alias("status"),
            is_pin.any().alias("pinned"),
            pl.col("actor").filter(is_pin).last().alias("pinned_by"),
            in_words.alias("decisions"),
            pl.col("decision_id").filter("is_outgrown").alias("outgrown"),
        )
        .with_columns(pl.coalesce("status", pl.when(pl.col("outgrown").list.len() > 0).then(pl.lit(OPEN))))
    )


def _last_mentions(records: pl.DataFrame, clusters: Grouping) -> pl.DataFrame:
    return (
        records.select("timestamp", wording=phrase())
        .join(clusters.wordings.select("wording", "cluster"), on="wording")
        .group_by("cluster")
        .agg(pl.col("timestamp").max().cast(UTC_MICROSECONDS).alias("last_mention"))
    )
