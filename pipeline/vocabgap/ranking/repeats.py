"""Mentions that a machine seems to repeat by the clock."""

from typing import Final

import polars as pl

from vocabgap.schema import stripped

MIN_TURNS: Final = 5
TOLERANCE: Final = 0.2
REGULAR: Final = 4
OUT_OF: Final = 5


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
