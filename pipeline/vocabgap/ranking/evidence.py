"""The evidence for capabilities: small tables of clustered records, which may come in buckets.

A bucket holds all records of its clusters. The tables of several buckets are put together by
`capabilities.capabilities_of`.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple

import polars as pl

from vocabgap.files.parts import ROW, Parts
from vocabgap.model.other import OTHER
from vocabgap.model.record import (
    CATEGORY_ALIASES,
    OPERATION_ALIASES,
    SEEN_NOTES,
    UNCATEGORIZED,
    fold_category,
    fold_operation,
)
from vocabgap.model.settings import RankBy, RankSettings
from vocabgap.model.tables import (
    CAPABILITIES,
    EXAMPLE_FIELDS,
    IMAGE_KEY,
    LINE_KEY,
    MENTIONS,
    OWNER,
    RECORDS,
    UTC_MICROSECONDS,
    stripped,
)
from vocabgap.ranking.priority import age_in_days, weekly

MAX_EXAMPLES: Final = 3
MAX_WORKAROUNDS: Final = 5
READ: Final = (
    *(name for name in RECORDS.names if name not in {"root_kind", "byte_offset", "record_id", OTHER}),
    *("cluster", "wording", "surface", "since", "recorded", "counted", ROW),
)
"""The columns of clustered records that evidence needs."""
Computing = Callable[[pl.DataFrame], pl.DataFrame]
COLUMNS: Final[list[Computing]] = []
"""The functions that compute a further column from clustered records, one row per cluster."""


def column(compute: Computing) -> Computing:
    """Add a function to `COLUMNS`."""
    COLUMNS.append(compute)
    return compute


class Whole(NamedTuple):
    """Facts of all records, which a bucket cannot know."""

    now: datetime | None
    earliest: datetime | None  # timestamp of all records, selected or not
    units: pl.DataFrame | None  # of `drawn_units`

    @property
    def is_one_image(self) -> bool:
        """Tell whether all selected records are of one image."""
        return self.units is None or "image_id" not in self.units.columns


def drawn_units(selected: Parts) -> pl.DataFrame | None:
    """Return what the bootstrap draws, with its numbers in order: images, or the sessions of a single image.

    None means mentions: the single image has only one session, or a record without a session.
    """
    images = _distinct(selected, IMAGE_KEY)
    if images.height != 1:
        return images
    sessions = _distinct(selected, ("session_id",))
    name = stripped(pl.col("session_id"))
    are_named = sessions.select((name != "").all() & (name.n_unique() > 1)).item()
    return sessions if are_named else None


def _distinct(records: Parts, names: Sequence[str]) -> pl.DataFrame:
    distinct = records.each(lambda part: part.select(names).unique()).unique()
    return distinct.sort(names).with_row_index("unit")


def evidence(
    clustered: pl.DataFrame,
    whole: Whole,
    settings: RankSettings,
    *,
    category_aliases: Mapping[str, str] = CATEGORY_ALIASES,
    operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
) -> dict[str, pl.DataFrame]:
    """Compute the tables of evidence for the clusters of a bucket.

    Args:
        clustered: All records of these clusters, with the columns of `READ`. `counted` tells which ones are
            selected, and `recorded` which ones are the corpus.
        whole: Facts of all records.
        settings: The settings of the ranking.
        category_aliases: Lower-case spelling to category.
        operation_aliases: Lower-case name to operation.

    Returns:
        `capabilities` (a row per cluster), `wordings`, `drawn` (the amounts of each cluster and unit
        that may be drawn): of the selected records. `weeks`: of the corpus. What is counted of an authored
        need came after that (`since`); a record without a time does not count there.
    """
    own = clustered.filter("counted")
    fresh = own.filter(pl.col("since").is_null() | (pl.col("timestamp") > pl.col("since")))
    dated = clustered.select("cluster", "tenant_id", "session_id", "timestamp", "count", "recorded")
    operation = partial(fold_operation, aliases=operation_aliases)
    capabilities = own.group_by("cluster").agg(pl.col("timestamp").max().alias("last_seen"))
    for part in (
        counts(fresh),
        sessions(fresh),
        repeats(fresh),
        tally(own, "intent_category", "categories", partial(fold_category, aliases=category_aliases)),
        tally(own, "operations_involved", "operations", operation),
        tally(own, "vocabulary_used", "vocabulary_used", str.strip),
        combinations(own, operation),
        *(compute(own) for compute in COLUMNS),
    ):
        capabilities = capabilities.join(part, on="cluster", how="left")
    return {
        "capabilities": capabilities,
        "wordings": own.group_by("wording").agg(MENTIONS),
        "drawn": drawn(fresh, whole, settings.by),
        "weeks": weekly(dated.filter("recorded"), whole.now, whole.earliest, settings.window_weeks),
    }


def counts(clustered: pl.DataFrame) -> pl.DataFrame:
    """Count mentions, images, tenants, ratings and mentions without a request in words."""
    return clustered.group_by("cluster").agg(
        MENTIONS,
        pl.struct(IMAGE_KEY).n_unique().cast(pl.Int64).alias("images"),
        pl.col("tenant_id").n_unique().cast(pl.Int64).alias("tenants"),
        *RATINGS,
        mentions_if(pl.col("notes").str.contains(SEEN_NOTES)).alias("seen"),
    )


def mentions_if(condition: pl.Expr) -> pl.Expr:
    """Sum the mentions of the records that fit a condition."""
    return pl.when(condition).then("count").sum()


RATINGS: Final = [
    mentions_if(pl.col("satisfaction").eq_missing(pl.lit(value, pl.Int8))).alias(name)
    for name, value in (("unsatisfied", -1), ("neutral", 0), ("satisfied", 1), ("unrated", None))
]
"""The mentions with each satisfaction, and without one."""


def folded(values: pl.Series, fold: Callable[[str], str]) -> pl.Series:
    """Replace each text by its name; fold each distinct text once."""
    distinct = values.unique()
    names = [None if value is None else fold(value) for value in distinct]
    return values.replace_strict(distinct, pl.Series(names, dtype=pl.String))


def tally(clustered: pl.DataFrame, column: str, into: str, fold: Callable[[str], str]) -> pl.DataFrame:
    """Count the mentions of each cluster per name in a column of texts, or of lists of texts.

    `fold` returns the name of a value, empty for none. A record with two spellings of one name counts once.
    """
    values = clustered.select("cluster", "count", pl.col(column).alias("name")).with_row_index("record")
    if values.schema["name"] == pl.List(pl.String):
        values = values.explode("name")
    counted = (
        values.with_columns(folded(values["name"], fold))
        .filter(pl.col("name") != "")
        .unique(["record", "name"])
        .group_by("cluster", "name")
        .agg(MENTIONS)
    )
    return _listed(counted, into, ["name"])


def main_category() -> pl.Expr:
    """Return the most frequent category of the tally; `uncategorized` only if there is no other."""
    names = pl.col("categories").list.eval(pl.element().struct.field("name"))
    categorised = names.list.eval(pl.element().filter(pl.element() != UNCATEGORIZED))
    return categorised.list.first().fill_null(UNCATEGORIZED).alias("intent_category")


def variants(mentions: pl.DataFrame, wordings: pl.DataFrame) -> pl.DataFrame:
    """List the wordings of each cluster with their mentions and their similarity to the label."""
    similar = mentions.join(wordings.select("wording", "cluster", "similarity"), on="wording")
    unexplained = similar.with_columns(
        pl.lit(None, pl.String).alias("entry"), pl.lit(None, pl.Float64).alias("explained")
    )
    return _listed(unexplained, "variants", ["wording"], also=["similarity", "entry", "explained"])


@column
def workarounds(clustered: pl.DataFrame) -> pl.DataFrame:
    """List the five most frequent workarounds of each cluster.

    Workarounds that differ only in case, white space or a final stop count as one, in the most frequent
    spelling.
    """
    lower = pl.col("workaround").str.to_lowercase()
    same = lower.str.replace_all(r"\s+", " ").str.strip_chars_end(". ").alias("same")
    counted = (
        clustered.group_by("cluster", stripped(pl.col("workaround")))
        .agg(MENTIONS)
        .with_columns(same)
        .filter(pl.col("same") != "")
        .sort("cluster", "same", -pl.col("mentions"), "workaround")
        .group_by("cluster", "same", maintain_order=True)
        .agg(pl.col("workaround").first(), pl.col("mentions").sum())
    )
    return _listed(counted, "workarounds", ["workaround"]).with_columns(
        pl.col("workarounds").list.head(MAX_WORKAROUNDS)
    )


@column
def askers(clustered: pl.DataFrame) -> pl.DataFrame:
    """List the tenants and repositories of each cluster's records, most mentions first."""
    return _listed(clustered.group_by("cluster", *OWNER).agg(MENTIONS), "asked_by", OWNER)


def sessions(clustered: pl.DataFrame) -> pl.DataFrame:
    """Count the known sessions of each cluster, and the mentions of the session with the most mentions."""
    return (
        clustered.filter(stripped(pl.col("session_id")) != "")
        .group_by("cluster", "tenant_id", "session_id")
        .agg(MENTIONS)
        .group_by("cluster")
        .agg(pl.len().cast(pl.Int64).alias("sessions"), pl.col("mentions").max().alias("largest_session"))
    )


@column
def examples(clustered: pl.DataFrame) -> pl.DataFrame:
    """Choose a few example records of each cluster, newest first.

    One record of every image comes before a second record of any image. A record with a session, snapshot
    and workaround comes before a record without them.
    """
    has_pointer = (stripped(pl.col(name)) != "" for name in ("session_id", "snapshot_hash", "workaround"))
    pointers = pl.sum_horizontal(has_pointer).cast(pl.Int64)
    beyond_time = 1 << 59  # microseconds
    moment = pl.col("timestamp").to_physical().fill_null(-beyond_time)
    position = [*LINE_KEY, ROW]
    later = [False] * len(position)
    # Sort only the deciding columns; look up the texts of the few examples.
    deciding = dict.fromkeys(["cluster", *IMAGE_KEY, "timestamp", *position])
    rows = clustered.select(*deciding, pointers.alias("pointers"), image=pl.struct(IMAGE_KEY).hash())
    rows = rows.with_columns(value=pl.col("pointers") * 2 * beyond_time + moment).with_row_index("record")
    # The best records of enough images have this value; no record below it is chosen.
    best = rows.group_by("cluster", "image").agg(pl.col("value").max())
    enough = best.group_by("cluster").agg(pl.col("value").top_k(MAX_EXAMPLES).min(), images=pl.len())
    telling = (
        rows.join(enough, on="cluster", suffix="_enough")
        .filter((pl.col("images") < MAX_EXAMPLES) | (pl.col("value") >= pl.col("value_enough")))
        .sort("pointers", "timestamp", *position, descending=[True, True, *later], nulls_last=True)
    )
    chosen = (
        telling.with_columns(pl.int_range(pl.len()).over("cluster", *IMAGE_KEY).alias("turn"))
        .sort("turn", "pointers", maintain_order=True, descending=[False, True])
        .group_by("cluster", maintain_order=True)
        .head(MAX_EXAMPLES)
        .sort("timestamp", *position, descending=[True, *later], nulls_last=True)
    )
    return (
        clustered[chosen["record"]]
        .group_by("cluster", maintain_order=True)
        .agg(pl.struct(EXAMPLE_FIELDS).alias("examples"))
        .cast({"examples": CAPABILITIES.schema["examples"]})
    )


def repeats(clustered: pl.DataFrame) -> pl.DataFrame:
    """Count the verbatim repeats by automation in each cluster; leave out clusters without any.

    All mentions of a surface by a tenant count as repeats if they come from five or more sessions at regular
    intervals. Intervals are regular if four of five differ from their median by at most 20 % of it. A session
    counts at its first mention. A record without a known session counts as a session of its own. Records
    without a readable timestamp are ignored.
    """
    wording, fewest = ["cluster", "tenant_id", "surface"], 5
    has_session = (stripped(pl.col("session_id")) != "").fill_null(value=False)
    sessions = (
        clustered.select(*wording, "timestamp", "session_id", "count")
        .filter(pl.col("timestamp").is_not_null())
        .filter(pl.len().over(wording) >= fewest)
        .with_row_index("record")
        .with_columns(
            pl.when(has_session).then("session_id").alias("session"),
            pl.when(~has_session).then("record").alias("record"),
        )
        .group_by(*wording, "session", "record")
        .agg(pl.col("timestamp").min(), MENTIONS)
        .sort("timestamp")
    )
    interval = pl.col("interval").drop_nulls()
    near = (interval - interval.median()).abs() <= 0.2 * interval.median()
    return (
        sessions.with_columns(
            pl.col("timestamp").diff().dt.total_microseconds().over(wording).alias("interval")
        )
        .group_by(wording)
        .agg(
            pl.len().alias("turns"),
            interval.median().alias("median"),
            (near.sum() * 5 >= 4 * interval.len()).alias("regular"),
            pl.col("mentions").sum(),
        )
        .filter(pl.col("turns") >= fewest, pl.col("median") > 0, "regular")
        .group_by("cluster")
        .agg(pl.col("mentions").sum().alias("repeats"))
    )


def drawn(clustered: pl.DataFrame, whole: Whole, by: RankBy) -> pl.DataFrame:
    """Sum up the amounts of each cluster per unit that the bootstrap draws.

    If mentions are drawn, equal mentions of a cluster share a row, and `often` is their number.
    """
    satisfaction = pl.col("satisfaction")
    amounts = [MENTIONS]
    if by in {RankBy.UNSATISFIED, RankBy.PRIORITY}:
        amounts.append(mentions_if(satisfaction == -1).alias("unsatisfied"))
    if by is RankBy.PRIORITY:
        age = age_in_days(pl.col("timestamp"), whole.now, whole.earliest)
        amounts += [mentions_if(satisfaction.is_not_null()).alias("rated"), age.min().alias("age")]
    cluster = pl.col("cluster").cast(pl.UInt32)
    if whole.units is None:
        moment = pl.col("timestamp") if by is RankBy.PRIORITY else pl.lit(None, UTC_MICROSECONDS)
        kind = ["cluster", "satisfaction", "timestamp"]
        kinds = clustered.with_columns(cluster, moment.alias("timestamp")).group_by(kind)
        counted = kinds.agg(MENTIONS.alias("often")).with_columns(count=pl.lit(1, pl.Int64))
        return counted.group_by(*kind, "often").agg(amounts)
    units = whole.units
    key = units.drop("unit").columns
    counted = clustered.group_by(cluster, *key).agg(amounts)
    return counted.join(units, on=key, nulls_equal=True).drop(key)


def operation_sets(operations: pl.Series, fold: Callable[[str], str]) -> pl.Series:
    """Return the set of operations of each record, folded and sorted; fold each distinct list once."""
    listed = operations.alias("listed").to_frame()
    distinct = listed["listed"].unique()
    operations_named = distinct.explode().unique()
    names = pl.element().replace_strict(operations_named, folded(operations_named, fold), default=None)
    named = pl.element().filter(pl.element() != "").unique().sort()
    sets = pl.DataFrame({"listed": distinct, "operations": distinct.list.eval(names).list.eval(named)})
    return listed.join(sets, on="listed", how="left", maintain_order="left", nulls_equal=True)["operations"]


def combinations(clustered: pl.DataFrame, fold: Callable[[str], str]) -> pl.DataFrame:
    """List the combinations of operations that recur in each cluster, most frequent first.

    A combination is the whole set of a record's operations: two operations or more, in two mentions or more.
    """
    recurring = (
        clustered.with_columns(operation_sets(clustered["operations_involved"], fold))
        .filter(pl.col("operations").list.len() > 1)
        .group_by("cluster", "operations")
        .agg(MENTIONS)
        .filter(pl.col("mentions") > 1)
    )
    return _listed(recurring, "combinations", ["operations"], by=[pl.col("operations").list.join("\n")])


def _listed(
    counted: pl.DataFrame,
    into: str,
    names: Sequence[str],
    *,
    also: Sequence[str] = (),
    by: Sequence[pl.Expr | str] = (),
) -> pl.DataFrame:
    """Collect the rows of each cluster in one list, sorted by mentions, then by name."""
    return (
        counted.sort("cluster", -pl.col("mentions"), *(by or names))
        .group_by("cluster", maintain_order=True)
        .agg(pl.struct(*names, "mentions", *also).alias(into))
    )
