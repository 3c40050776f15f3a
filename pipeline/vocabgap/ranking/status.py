"""The life of a capability: what people decided about it, and whether that still holds.

The status is what was decided last. What was said of some wordings holds for a group while these carry at
least half of its mentions; where they do not, the group has outgrown the decision: people have not spoken of
its greater part, and it is open again. What was authored and is mentioned at a later time has regressed, in
whatever words that is.
"""

from collections.abc import Mapping
from typing import Final

import polars as pl

NEW, OPEN, DISMISSED, AUTHORED, REGRESSED = STATUSES = ("new", "open", "dismissed", "authored", "regressed")
SETTLED: Final = (DISMISSED, AUTHORED)
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
