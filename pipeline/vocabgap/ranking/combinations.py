"""Which operations recur together: the seed of a primitive that does both in one step (ADR-060)."""

from collections.abc import Callable, Iterable
from typing import Final

import polars as pl

MIN_OPERATIONS: Final = 2
MIN_MENTIONS: Final = 2


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
