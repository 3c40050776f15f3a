"""Records to columns. Building them value by value would cost more than all the decoding.

Strings go over as whole columns, timestamps as microseconds, and a list of names as one joined string that
Polars splits: 0.25 µs a record instead of 5 (`tests/benchmarks/ingest.py` measures the whole).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np
import polars as pl
from msgspec.structs import astuple

from vocabgap.ingest.discovery import LogFile
from vocabgap.record import FIELDS, ROOT_KIND, GapRecord, record_id
from vocabgap.schema import RECORDS, UTC_MICROSECONDS

BATCH_RECORDS: Final = 50_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_SEPARATOR: Final = "\x1f"
_NAMES: Final = pl.List(pl.String)


@dataclass(slots=True)
class RecordColumns:
    """Readable lines on their way to a frame, in the order in which they were read.

    Attributes:
        tenant_id: Whose records these are.
    """

    tenant_id: str
    _records: list[GapRecord] = field(default_factory=list)
    _lines: list[int] = field(default_factory=list)
    _offsets: list[int] = field(default_factory=list)
    _unreadable: dict[int, str] = field(default_factory=dict)
    _logs: list[LogFile] = field(default_factory=list)
    _counts: list[int] = field(default_factory=list)
    _frames: list[pl.DataFrame] = field(default_factory=list)

    def extend(
        self,
        log: LogFile,
        records: list[GapRecord],
        lines: list[int],
        offsets: list[int],
        unreadable: Mapping[int, str],
    ) -> None:
        """Take the records of one log.

        Args:
            log: The log.
            records: Its records, complete with their image.
            lines: The line of each, counted from 1.
            offsets: The offset of each line's first byte.
            unreadable: Position in `records` to the timestamp's text, where that could not be read.
        """
        self._unreadable |= {len(self._records) + number: text for number, text in unreadable.items()}
        self._records += records
        self._lines += lines
        self._offsets += offsets
        self._logs.append(log)
        self._counts.append(len(records))
        if len(self._records) >= BATCH_RECORDS:
            self._flush()

    def frame(self) -> pl.DataFrame:
        """Everything taken so far (table `records`)."""
        if self._records or not self._frames:
            self._flush()
        return pl.concat(self._frames)

    def _flush(self) -> None:
        values = dict(zip(FIELDS, zip(*map(astuple, self._records), strict=True), strict=False))
        columns = [_column(name, values.get(name, ()), RECORDS.schema[name]) for name in FIELDS]
        which = np.repeat(np.arange(len(self._logs)), self._counts)
        places = pl.DataFrame(
            {
                "tenant_id": [self.tenant_id] * len(self._logs),
                "repo_slug": [log.repo_slug for log in self._logs],
                "root_kind": [ROOT_KIND] * len(self._logs),
                "source_path": [log.source_path for log in self._logs],
            },
            schema=dict.fromkeys(("tenant_id", "repo_slug", "root_kind", "source_path"), pl.String),
        )
        unreadable = self._unreadable.get
        ids = [record_id(record, unreadable(number)) for number, record in enumerate(self._records)]
        positions = [
            pl.Series("line", self._lines, dtype=pl.Int64),
            pl.Series("byte_offset", self._offsets, dtype=pl.Int64),
            pl.Series("record_id", ids, dtype=pl.String),
        ]
        self._frames.append(
            pl.DataFrame([*columns, *places[which].get_columns(), *positions]).select(RECORDS.names)
        )
        self._unreadable.clear()
        for taken in (self._records, self._lines, self._offsets, self._logs, self._counts):
            taken.clear()


def _column(name: str, values: Sequence[Any], dtype: pl.DataType) -> pl.Series:
    if dtype == UTC_MICROSECONDS:
        instants = [None if moment is None else (moment - _EPOCH) // _MICROSECOND for moment in values]
        return pl.Series(name, instants, dtype=pl.Int64).cast(dtype)
    if dtype == _NAMES:
        return _names(name, values)
    return pl.Series(name, values, dtype=dtype)


def _names(name: str, values: Sequence[list[str]]) -> pl.Series:
    joined = [_SEPARATOR.join(names) for names in values]
    if not all(map(_splits_again, values, joined)):
        return pl.Series(name, values, dtype=_NAMES)
    text = pl.col(name)
    empty = pl.lit([], dtype=_NAMES)
    frame = pl.DataFrame({name: joined}, schema={name: pl.String})
    split = pl.when(text == "").then(empty).otherwise(text.str.split(_SEPARATOR))
    return frame.select(split.alias(name)).to_series()


def _splits_again(names: list[str], joined: str) -> bool:
    """Whether splitting gives the names back: none of them holds the separator, or is empty on its own."""
    return joined.count(_SEPARATOR) == len(names) - 1 and joined != "" if names else True
