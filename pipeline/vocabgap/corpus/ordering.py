"""The order in which the chunks of a corpus are read."""

from typing import Final

import polars as pl

PATH_KEY: Final = ("tenant_id", "repo_slug", "source_path")
"""What a path is told apart by."""
ORDER: Final = (*PATH_KEY, "line", "id")
"""Columns by which chunks are ordered: text by code point, and no line before the first."""


def in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows in the order of `ORDER`, all of whose columns they have.

    They mostly come in long stretches of one path. So stretches are ranked, not rows, which costs a quarter
    of what sorting the rows does; only where rows share path and line are ids compared.
    """
    if rows.is_empty():
        return rows
    stretch = rows.select(pl.struct(PATH_KEY).rle_id().alias("stretch")).to_series()
    heads = rows.filter(stretch.diff().fill_null(1) != 0).select(PATH_KEY)
    ranked = heads.with_row_index("stretch").sort(PATH_KEY, maintain_order=True)
    rank = ranked.with_columns(rank=pl.struct(PATH_KEY).rle_id()).sort("stretch").get_column("rank")
    keys = pl.DataFrame({"rank": rank.gather(stretch), "line": rows.get_column("line")}).with_row_index("row")
    ordered = keys.sort("rank", "line", maintain_order=True)
    same = pl.struct("rank", "line")
    if ordered.select((same.rle_id().diff() == 0).any()).item():
        ordered = keys.with_columns(rows.get_column("id")).sort("rank", "line", "id", maintain_order=True)
    places = ordered.get_column("row")
    return rows if places.is_sorted() else rows.rechunk().select(pl.all().gather(places))
