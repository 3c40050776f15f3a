"""What kind of needs there are: records by category, and what became of those without one."""

from collections import Counter

import msgspec
import polars as pl

from vocabgap.records.categories import CategoryBy
from vocabgap.records.record import UNCATEGORIZED


class Category(msgspec.Struct, frozen=True):
    """A category, and the records and the capabilities in it."""

    name: str
    mentions: int
    capabilities: int


class Categorised(msgspec.Struct, frozen=True):
    """What became of the records whose agent gave them no category."""

    by_operations: int
    by_classifier: int
    left: int


def categories_of(ranked: pl.DataFrame) -> tuple[Category, ...]:
    """The categories of table `capabilities`, most frequent first; `uncategorized` comes last."""
    rows = (
        ranked.select(pl.col("categories").explode())
        .drop_nulls()
        .unnest("categories")
        .group_by("name")
        .agg(pl.col("mentions").sum(), pl.len().alias("capabilities"))
        .sort(
            pl.col("name") == UNCATEGORIZED,
            pl.col("mentions"),
            pl.col("name"),
            descending=[False, True, False],
        )
    )
    return tuple(Category(**row) for row in rows.iter_rows(named=True))


def reclassified_of(counted: pl.DataFrame) -> Categorised:
    """What became of the records without a category among those of table `gaps` that count."""
    by = Counter(counted["category_by"].to_list())
    return Categorised(by[CategoryBy.OPERATIONS.value], by[CategoryBy.CLASSIFIER.value], by[None])
