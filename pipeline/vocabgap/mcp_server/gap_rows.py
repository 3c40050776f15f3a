"""A gap record as the answers of tools list it."""

from datetime import datetime
from typing import Final, Self

import msgspec
import polars as pl

MOST_NAMES: Final = 50
_LISTS: Final = ("operations_involved", "vocabulary_used")


class GapRow(msgspec.Struct):
    """One record; `gap_id` is its identity, and the other fields are those of the record.

    Attributes:
        gap_id: The identity of the record, given when it is logged.
    """

    gap_id: str
    timestamp: datetime | None
    image_id: str | None
    session_id: str | None
    snapshot_hash: str | None
    description: str | None
    workaround: str
    intent: str | None
    intent_category: str
    missing_capability: str | None
    operations_involved: list[str]
    vocabulary_used: list[str]
    satisfaction: int | None
    notes: str

    @classmethod
    def all_of(cls, records: pl.DataFrame) -> list[Self]:
        """The rows of a frame that has the columns of table `records`."""
        names = [name for name in cls.__struct_fields__ if name != "gap_id"]
        rows = records.select(pl.col("record_id").alias("gap_id"), *names).iter_rows(named=True)
        return [cls(**{**row, **{name: _first(row[name] or []) for name in _LISTS}}) for row in rows]


def _first(names: list[str]) -> list[str]:
    """The first of many names, and that there are more."""
    return names if len(names) <= MOST_NAMES else [*names[:MOST_NAMES], f"… ({len(names):,} names)"]
