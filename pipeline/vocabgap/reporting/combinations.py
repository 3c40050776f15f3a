"""The operations that recur together, as a report tells them."""

from collections.abc import Mapping
from functools import partial
from typing import Final

import msgspec
import polars as pl

from vocabgap.ranking import recurring_combinations
from vocabgap.records.record import OPERATION_ALIASES, fold_operation

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
    fold = partial(fold_operation, aliases=OPERATION_ALIASES if aliases is None else aliases)
    rows = recurring_combinations(counted, fold).head(SHOWN)
    return tuple(msgspec.convert(row, Combination) for row in rows.iter_rows(named=True))
