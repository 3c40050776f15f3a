"""What speaks for a capability: counts, tallies, wordings and examples, per cluster."""

from collections.abc import Callable, Iterable
from typing import Final

import polars as pl

from vocabgap.records.record import UNCATEGORIZED
from vocabgap.schema import CAPABILITIES, EXAMPLE_FIELDS, IMAGE_KEY, stripped

EXAMPLES: Final = 3
WORKAROUNDS: Final = 5
MIN_TURNS: Final = 5
TOLERANCE: Final = 0.2
REGULAR: Final = 4
OUT_OF: Final = 5
MIN_OPERATIONS: Final = 2
MIN_MENTIONS: Final = 2


def counts(placed: pl.DataFrame) -> pl.DataFrame:
    """Mentions, distinct images, sessions and tenants, last seen, and ratings of each cluster.

    Args:
        placed: Table `records` with the column `cluster`.
    """
    known_session = pl.struct("tenant_id", "session_id").filter(stripped(pl.col("session_id")) != "")
    return placed.group_by("cluster").agg(
        pl.len().cast(pl.Int64).alias("mentions"),
        pl.struct(IMAGE_KEY).n_unique().cast(pl.Int64).alias("images"),
        known_session.n_unique().cast(pl.Int64).alias("sessions"),
        pl.col("tenant_id").n_unique().cast(pl.Int64).alias("tenants"),
        pl.col("timestamp").max().alias("last_seen"),
        (pl.col("satisfaction") == -1).sum().cast(pl.Int64).alias("unsatisfied"),
        (pl.col("satisfaction") == 0).sum().cast(pl.Int64).alias("neutral"),
        (pl.col("satisfaction") == 1).sum().cast(pl.Int64).alias("satisfied"),
        pl.col("satisfaction").is_null().sum().cast(pl.Int64).alias("unrated"),
    )


def folded(values: pl.Series, fold: Callable[[str], str]) -> pl.Series:
    """Each text as the name it stands for; only distinct values are folded."""
    known = values.unique()
    names = [None if value is None else fold(value) for value in known]
    return values.replace_strict(known, pl.Series(names, dtype=pl.String))


def tally(placed: pl.DataFrame, column: str, into: str, fold: Callable[[str], str]) -> pl.DataFrame:
    """How many records of each cluster hold each value of a column, most frequent first.

    Args:
        placed: Columns `cluster` and `column`, which holds text or lists of text.
        column: The column to count.
        into: The name of the resulting column.
        fold: The name that a value stands for, empty for none. A record that holds two spellings of one name
            counts once.

    Returns:
        Columns `cluster` and `into`, a list of (name, mentions). Clusters without any value are not there.
    """
    values = placed.select("cluster", pl.col(column).alias("name")).with_row_index("record")
    if values.schema["name"] == pl.List(pl.String):
        values = values.explode("name")
    return (
        values.with_columns(folded(values["name"], fold))
        .filter(pl.col("name") != "")
        .unique(["record", "name"])
        .group_by("cluster", "name")
        .agg(pl.len().cast(pl.Int64).alias("mentions"))
        .sort("cluster", "mentions", "name", descending=[False, True, False])
        .group_by("cluster", maintain_order=True)
        .agg(pl.struct("name", "mentions").alias(into))
    )


def main_category(categories: str = "categories") -> pl.Expr:
    """The most frequent named category of a tally; `uncategorized` only where there is no other."""
    names = pl.col(categories).list.eval(pl.element().struct.field("name"))
    categorised = names.list.eval(pl.element().filter(pl.element() != UNCATEGORIZED))
    return categorised.list.first().fill_null(UNCATEGORIZED).alias("intent_category")


def variants(placed: pl.DataFrame, wordings: pl.DataFrame) -> pl.DataFrame:
    """Every wording of each cluster with its mentions and its similarity to the label.

    Args:
        placed: Columns `cluster` and `wording`, one row a record.
        wordings: Table `wordings`.
    """
    return (
        placed.group_by("cluster", "wording")
        .agg(pl.len().cast(pl.Int64).alias("mentions"))
        .join(wordings.select("wording", "similarity"), on="wording", how="left")
        .sort("cluster", "mentions", "wording", descending=[False, True, False])
        .group_by("cluster", maintain_order=True)
        .agg(pl.struct("wording", "mentions", "similarity").alias("variants"))
    )


def workarounds(placed: pl.DataFrame) -> pl.DataFrame:
    """What was done instead in each cluster, most frequent first, five at most.

    Workarounds that differ only in case, white space or the stop at their end count as one, in the words that
    were used most often.

    Args:
        placed: Columns `cluster` and `workaround`, one row a record.

    Returns:
        Columns `cluster` and `workarounds`, a list of (workaround, mentions). Clusters without any are not
        there.
    """
    spoken = stripped(pl.col("workaround"))
    same = spoken.str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars_end(". ").alias("same")
    return (
        placed.select("cluster", spoken.alias("workaround"), same)
        .filter(pl.col("same") != "")
        .group_by("cluster", "same", "workaround")
        .agg(pl.len().cast(pl.Int64).alias("mentions"))
        .sort("cluster", "same", "mentions", "workaround", descending=[False, False, True, False])
        .group_by("cluster", "same", maintain_order=True)
        .agg(pl.col("workaround").first(), pl.col("mentions").sum())
        .sort("cluster", "mentions", "workaround", descending=[False, True, False])
        .group_by("cluster", maintain_order=True)
        .head(WORKAROUNDS)
        .group_by("cluster", maintain_order=True)
        .agg(pl.struct("workaround", "mentions").alias("workarounds"))
    )


def askers(placed: pl.DataFrame) -> pl.DataFrame:
    """Whose records are in each cluster: tenants with their repositories, those with most mentions first.

    Args:
        placed: Columns `cluster`, `tenant_id` and `repo_slug`, one row a record.
    """
    whose = ["tenant_id", "repo_slug"]
    return (
        placed.group_by("cluster", *whose)
        .agg(pl.len().cast(pl.Int64).alias("mentions"))
        .sort("cluster", "mentions", *whose, descending=[False, True, False, False])
        .group_by("cluster", maintain_order=True)
        .agg(pl.struct(*whose, "mentions").alias("asked_by"))
    )


def examples(placed: pl.DataFrame) -> pl.DataFrame:
    """A few records of each cluster to look at, newest first.

    One record of every image comes before a second one of any; a record that knows its session, its snapshot
    and its workaround comes before one that does not.

    Args:
        placed: Table `records` with the column `cluster`.
    """
    known = (stripped(pl.col(name)) != "" for name in ("session_id", "snapshot_hash", "workaround"))
    pointers = pl.sum_horizontal(known)
    position = ["tenant_id", "repo_slug", "source_path", "line"]
    later = [False] * len(position)
    telling = placed.with_columns(pointers.alias("pointers")).sort(
        "pointers", "timestamp", *position, descending=[True, True, *later], nulls_last=True
    )
    return (
        telling.with_columns(pl.int_range(pl.len()).over("cluster", *IMAGE_KEY).alias("turn"))
        .sort("turn", "pointers", maintain_order=True, descending=[False, True])
        .group_by("cluster", maintain_order=True)
        .head(EXAMPLES)
        .sort("timestamp", *position, descending=[True, *later], nulls_last=True)
        .group_by("cluster", maintain_order=True)
        .agg(pl.struct(EXAMPLE_FIELDS).alias("examples"))
        .cast({"examples": CAPABILITIES.schema["examples"]})
    )


def repeats(placed: pl.DataFrame) -> pl.DataFrame:
    """Count the verbatim repeats by automation among the mentions of each cluster.

    The mentions of one surface by one tenant are taken as repeats by automation, all of them, where

    - they come from at least five sessions; a session counts at its first mention, however often it repeats
      itself, and a mention without a known session counts as a session of its own;
    - and the intervals from session to session are regular: at least four of five differ from their median by
      at most 20 % of it, which leaves room for a job that starts some minutes late and for a day it missed.

    They are flagged, not left out of any count. Mentions without a readable timestamp are not looked at.

    Args:
        placed: Table `records` with the columns `cluster` and `surface`.

    Returns:
        Columns `cluster` and `repeats`. Clusters without repeats are not there.
    """
    wording = ["cluster", "tenant_id", "surface"]
    known = stripped(pl.col("session_id")) != ""
    sessions = (
        placed.select(*wording, "timestamp", "session_id")
        .filter(pl.col("timestamp").is_not_null())
        .filter(pl.len().over(wording) >= MIN_TURNS)
        .with_row_index("record")
        .with_columns(
            pl.when(known).then("session_id").alias("session"),
            pl.when(known.fill_null(value=False)).then(None).otherwise("record").alias("record"),
        )
        .group_by(*wording, "session", "record")
        .agg(pl.col("timestamp").min(), pl.len().alias("mentions"))
        .sort(*wording, "timestamp")
    )
    interval = pl.col("interval").drop_nulls()
    near = (interval - interval.median()).abs() <= TOLERANCE * interval.median()
    return (
        sessions.with_columns(
            pl.col("timestamp").diff().dt.total_microseconds().over(wording).alias("interval")
        )
        .group_by(wording)
        .agg(
            pl.len().alias("turns"),
            interval.median().alias("median"),
            (near.sum() * OUT_OF >= REGULAR * interval.len()).alias("regular"),
            pl.col("mentions").sum(),
        )
        .filter(pl.col("turns") >= MIN_TURNS, pl.col("median") > 0, "regular")
        .group_by("cluster")
        .agg(pl.col("mentions").sum().cast(pl.Int64).alias("repeats"))
    )


def operation_sets(operations: pl.Series, fold: Callable[[str], str]) -> pl.Series:
    """The set of operations that each record involves, folded, sorted by name.

    Args:
        operations: Lists of names, one a record.
        fold: The operation that a name stands for, empty for none.
    """
    spelt = operations.explode().unique()
    names = pl.Series([None if name is None else fold(name) or None for name in spelt], dtype=pl.String)
    folded = pl.element().replace_strict(spelt, names, default=None).drop_nulls().unique().sort()
    return operations.list.eval(folded).alias("operations")


def combinations(placed: pl.DataFrame, fold: Callable[[str], str]) -> pl.DataFrame:
    """The combinations of operations that recur in the records of each cluster.

    A combination is the whole set of operations that a record involves, two at least; its support is the
    number of the cluster's records that involve exactly this set, two at least.

    Args:
        placed: Columns `cluster` and `operations_involved`, one row a record.
        fold: The operation that a name stands for, empty for none.

    Returns:
        Columns `cluster` and `combinations`, a list of (operations, mentions), most frequent first. Clusters
        without any are not there.
    """
    return (
        _recurring(placed, fold, "cluster")
        .sort("cluster", "mentions", "name", descending=[False, True, False])
        .group_by("cluster", maintain_order=True)
        .agg(pl.struct("operations", "mentions").alias("combinations"))
    )


def recurring_combinations(counted: pl.DataFrame, fold: Callable[[str], str]) -> pl.DataFrame:
    """The combinations that recur in all records, whatever they ask for, the most frequent first.

    Args:
        counted: The rows of table `gaps` that count.
        fold: The operation that a name stands for, empty for none.

    Returns:
        Columns `operations`, sorted by name, and the records that involve exactly these: `mentions`, with the
        distinct `images` and `capabilities` among them.
    """
    image = pl.struct("tenant_id", "repo_slug", "image_id")
    distinct = (image.n_unique().alias("images"), pl.col("capability_id").n_unique().alias("capabilities"))
    return (
        _recurring(counted, fold, also=distinct)
        .sort("mentions", "images", "name", descending=[True, True, False])
        .drop("name")
    )


def _recurring(
    records: pl.DataFrame, fold: Callable[[str], str], *within: str, also: Iterable[pl.Expr] = ()
) -> pl.DataFrame:
    """The combinations that recur within each group of records, with their mentions and a name to sort by."""
    return (
        records.with_columns(operation_sets(records["operations_involved"], fold))
        .filter(pl.col("operations").list.len() >= MIN_OPERATIONS)
        .group_by(*within, "operations")
        .agg(pl.len().cast(pl.Int64).alias("mentions"), *also)
        .filter(pl.col("mentions") >= MIN_MENTIONS)
        .with_columns(pl.col("operations").list.join("\n").alias("name"))
    )
