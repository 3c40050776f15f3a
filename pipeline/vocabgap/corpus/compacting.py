"""How a corpus is cut into parts when it is compacted."""

from collections.abc import Sequence
from functools import reduce
from typing import Any, Final

import polars as pl

from vocabgap.corpus.ordering import PATH_KEY

# A part that is written anew has about so many rows, more only where a single path has.
_PART_ROWS: Final = 262_144


def stretches(counts: pl.DataFrame) -> list[pl.Expr]:
    """Conditions, each of which a stretch of paths meets that makes a part; together all paths meet them.

    Args:
        counts: Tenant, repository, source path and `len`, the number of its chunks, in order.
    """
    ends = counts.select(((pl.col("len").cum_sum() - 1) // _PART_ROWS).alias("stretch"), *PATH_KEY)
    return [
        _least(stretch.row(0)[1:]) & ~_least(stretch.row(-1)[1:], above=True)
        for stretch in ends.partition_by("stretch", maintain_order=True)
    ]


def _least(key: Sequence[Any], *, above: bool = False) -> pl.Expr:
    """Whether a row's path is a given one or comes later; with `above` only if it comes later."""
    pairs = reversed(list(zip(PATH_KEY, key, strict=True)))
    return reduce(
        lambda rest, pair: (pl.col(pair[0]) > pair[1]) | ((pl.col(pair[0]) == pair[1]) & rest),
        pairs,
        pl.lit(not above),
    )
