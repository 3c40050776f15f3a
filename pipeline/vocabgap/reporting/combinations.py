"""Which operations recur together: the seed of a primitive that does both in one step (ADR-060)."""

from collections.abc import Mapping
from functools import partial
from typing import Final

import msgspec
import polars as pl

from vocabgap.ranking.combinations import MIN_MENTIONS, MIN_OPERATIONS, operation_sets
from vocabgap.record import OPERATION_ALIASES, fold_operation
from vocabgap.schema import IMAGE_KEY

SHOWN: Final = 10


class Combination(msgspec.Struct, frozen=True):
    """A set of operations that several records touched together.

    Attributes:
        operations: The operations, sorted by name.
        mentions: Records that involve exactly these.
        images: Distinct images among them.
        capabilities: Distinct capabilities among them.
    """

    operations: tuple[str, ...]
    mentions: int
    images: int
    capabilities: int


def recurring(counted: pl.DataFrame, aliases: Mapping[str, str] | None = None) -> tuple[Combination, ...]:
    """The combinations of two or more operations that at least two records share, most frequent first.

    Args:
        counted: The rows of table `gaps` that count.
        aliases: Lower-case name to operation.
    """
    known = OPERATION_ALIASES if aliases is None else aliases
    rows = (
        counted.select(
            operation_sets(counted["operations_involved"], partial(fold_operation, aliases=known)),
            pl.struct(IMAGE_KEY).alias("image"),
            "capability_id",
        )
        .filter(pl.col("operations").list.len() >= MIN_OPERATIONS)
        .group_by("operations")
        .agg(
            pl.len().alias("mentions"),
            pl.col("image").n_unique().alias("images"),
            pl.col("capability_id").n_unique().alias("capabilities"),
        )
        .filter(pl.col("mentions") >= MIN_MENTIONS)
        .with_columns(pl.col("operations").list.join("\n").alias("name"))
        .sort("mentions", "images", "name", descending=[True, True, False])
        .head(SHOWN)
    )
    return tuple(
        Combination(tuple(row["operations"]), row["mentions"], row["images"], row["capabilities"])
        for row in rows.iter_rows(named=True)
    )
