"""The same capability from run to run: its identifier is carried over, and so is what people decided."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import polars as pl

from vocabgap.ranking.matching import matched, overlaps
from vocabgap.ranking.status import NEW, OPEN, RULED, ruled
from vocabgap.schema import GROUPS, IDENTITIES, RECORDS, UTC_MICROSECONDS, phrase

ID_PREFIX: Final = "cap-"
ID_DIGITS: Final = 12
PRESENT, PREVIOUS = RUNS = ("present", "previous")


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
    basis: pl.DataFrame | None = None,
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
        basis: Table `groups` of the run before; null if there was none.
        verdicts: Table `verdicts`.
    """
    RECORDS.require(records)
    own = _surfaces(found)
    raw = _group_ids(found, own, basis)
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
    otherwise = pl.when(pl.col("known") | pl.lit(basis is None)).then(pl.lit(OPEN)).otherwise(pl.lit(NEW))
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
    return f"{ID_PREFIX}{hashlib.sha256(source.encode()).hexdigest()[:ID_DIGITS]}"


def _id_of(origin: tuple[int | None, str | None], ids: dict[int, str]) -> str:
    cluster, split = origin
    return derived_id(split or "") if cluster is None else ids[cluster]


def _surfaces(found: Grouping) -> pl.DataFrame:
    """Columns `surface`, `mentions` and `cluster`, one row a surface."""
    return found.wordings.group_by("surface", "cluster").agg(pl.col("mentions").sum()).sort("surface")


def _group_ids(found: Grouping, surfaces: pl.DataFrame, basis: pl.DataFrame | None) -> pl.DataFrame:
    """Columns `cluster`, `label_surface`, `group_id` and `known`: whether the run before had any of it."""
    labels = found.clusters.select("cluster", "label_surface").sort("cluster")
    carried: dict[str, str] = {}
    known, taken = set[str](), set[str]()
    if basis is not None:
        pairs = _shared(basis, surfaces.join(labels, on="cluster"))
        carried = {label: group_id for group_id, label in matched(pairs)}
        known, taken = {*pairs["present"]}, {*basis["group_id"]}
    ids = []
    for label in labels["label_surface"]:
        ids.append(carried.get(label) or _unused(label, taken))
        taken.add(ids[-1])
    return labels.with_columns(
        pl.Series("group_id", ids, pl.String),
        pl.Series("known", [label in known for label in labels["label_surface"]], pl.Boolean),
    )


def _shared(basis: pl.DataFrame, surfaces: pl.DataFrame) -> pl.DataFrame:
    """What the groups of the run before share with those of this one, as `matched` takes it."""
    previous = basis.select("surface", "mentions", key="group_id", label="group_surface")
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
