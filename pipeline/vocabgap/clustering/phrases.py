"""From records to the distinct phrases they ask with, and from phrases to weighted surfaces."""

import polars as pl

from vocabgap.schema import phrase
from vocabgap.text import surface


def wordings_of(records: pl.DataFrame) -> pl.DataFrame:
    """The distinct phrases of some records.

    Args:
        records: Columns `missing_capability`, `description` and `intent` of table `records`.

    Returns:
        Columns `wording`, `mentions` and `surface`, ordered by wording, so that nothing after it can
        depend on the order of the input.
    """
    counted = (
        records.select(phrase().alias("wording"))
        .drop_nulls()
        .group_by("wording")
        .len("mentions")
        .sort("wording")
    )
    surfaces = pl.Series("surface", [surface(wording) for wording in counted["wording"]], dtype=pl.String)
    return counted.with_columns(pl.col("mentions").cast(pl.Int64), surfaces)


def surfaces_of(wordings: pl.DataFrame) -> pl.DataFrame:
    """The distinct surfaces of some wordings, ordered by surface: columns `surface` and `mentions`."""
    return wordings.group_by("surface").agg(pl.col("mentions").sum()).sort("surface")
