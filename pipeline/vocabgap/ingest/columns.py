"""Records to columns. Building them value by value would cost more than all the decoding.

Strings go over as whole columns, timestamps as microseconds, and a list of names as one joined string that
Polars splits: 0.25 µs a record instead of 5 (`tests/benchmarks/ingest.py` measures the whole).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np
import polars as pl
from msgspec.structs import astuple

from vocabgap.ingest.decoding import Rejected
from vocabgap.ingest.discovery import LogFile
from vocabgap.ingest.reading import Block
from vocabgap.model.record import FIELDS, GapRecord, record_ids
from vocabgap.model.tables import RECORDS, REJECTS, UTC_MICROSECONDS, Table
from vocabgap.text import visible

BATCH: Final = 20_000  # rows
BATCH_BYTES: Final = 32 << 20
RAW_LIMIT: Final = 512
ORIGIN: Final = ("tenant_id", "repo_slug", "root_kind", "source_path")
TEXT: Final = "text"
FOLDER: Final = "folder"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_EXACT_SECONDS: Final = 2.0**32
_SEPARATOR: Final = "\x1f"
_NAMES: Final = pl.List(pl.String)

# Where a batch goes once it is full.
Sink = Callable[[pl.DataFrame], None]


@dataclass(slots=True)
class RecordColumns:
    """Readable lines on their way to frames of table `records`, in the order in which they were read.

    The sink takes a frame whenever a batch is full. With text, it has the columns `TEXT` and `FOLDER`, too.
    """

    tenant_id: str
    sink: Sink
    with_text: bool = False
    total: int = 0
    _bytes: int = 0
    _records: list[GapRecord] = field(default_factory=list)
    _lines: list[int] = field(default_factory=list)
    _offsets: list[int] = field(default_factory=list)
    _unreadable: dict[int, str] = field(default_factory=dict)
    _logs: list[LogFile] = field(default_factory=list)
    _counts: list[int] = field(default_factory=list)
    _texts: list[str] = field(default_factory=list)

    def extend(
        self,
        log: LogFile,
        block: Block,
        records: list[GapRecord],
        positions: Sequence[int],
        unreadable: dict[int, str],
    ) -> None:
        """Take some records of one log, complete with their image.

        Args:
            log: The log.
            block: Lines of it.
            records: What became of some of these.
            positions: Which ones, for each record.
            unreadable: Place in `records` to the timestamp's text, where that could not be read.
        """
        if self.with_text:  # what became a record was decoded as UTF-8, so this cannot fail
            self._texts += [block.lines[position].decode() for position in positions]
        for place, text in unreadable.items():
            self._unreadable[len(self._records) + place] = text
        self._records += records
        if len(positions) == len(block.lines):
            self._lines += range(block.number, block.number + len(positions))
            self._offsets += block.offsets()
        else:
            offsets = list(block.offsets())
            self._lines += [block.number + position for position in positions]
            self._offsets += [offsets[position] for position in positions]
        self._logs.append(log)
        self._counts.append(len(records))
        self.total += len(records)
        self._bytes += sum(map(len, block.lines))
        if len(self._records) >= BATCH or self._bytes >= BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Hand over what has gathered."""
        if not self._records:
            return
        values = dict(zip(FIELDS, zip(*map(astuple, self._records), strict=True), strict=True))
        columns = [_column(name, values[name], RECORDS.schema[name]) for name in FIELDS]
        columns += [
            pl.Series("line", self._lines, dtype=pl.Int64),
            pl.Series("byte_offset", self._offsets, dtype=pl.Int64),
            pl.Series("record_id", record_ids(self._records, self._unreadable), dtype=pl.String),
        ]
        known = pl.when(pl.col("byte_offset") >= 0).then("byte_offset")  # below 0 where it is not known
        rows = pl.DataFrame(columns).with_columns(known)
        frame = with_origins(rows, self._logs, self._counts, self.tenant_id)
        if self.with_text:
            folders = pl.Series([log.folder for log in self._logs], dtype=pl.String)
            frame = frame.with_columns(
                pl.Series(TEXT, self._texts, dtype=pl.String),
                folders.gather(np.repeat(np.arange(len(folders)), self._counts)).alias(FOLDER),
            )
        self._unreadable.clear()
        self._bytes = 0
        for taken in (self._records, self._lines, self._offsets, self._logs, self._counts, self._texts):
            taken.clear()
        self.sink(frame)


@dataclass(slots=True)
class RejectColumns:
    """Rejects on their way to frames of table `rejects`, in the order in which they were met."""

    sink: Sink
    total: int = 0
    _rows: list[tuple[str, int | None, int | None, str, str, str, str]] = field(default_factory=list)

    def add(
        self,
        log: LogFile,
        why: Rejected,
        number: int | None = None,
        offset: int | None = None,
        line: bytes = b"",
    ) -> None:
        """Take one reject; without a number it is the whole log's. An offset below 0 is not known."""
        raw = visible(line[:RAW_LIMIT].decode("utf-8", "backslashreplace"))
        detail = visible(why.detail)
        known = None if offset is None or offset < 0 else offset
        self._rows.append((log.source_path, number, known, why.reason.value, detail, raw, log.repo_slug))
        self.total += 1
        if len(self._rows) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Hand over what has gathered."""
        if self._rows:
            columns = zip(REJECTS.columns, zip(*self._rows, strict=True), strict=True)
            rows = [pl.Series(column.name, values, dtype=column.dtype) for column, values in columns]
            self._rows.clear()
            self.sink(pl.DataFrame(rows))


def with_origins(
    rows: pl.DataFrame, logs: Sequence[LogFile], counts: Sequence[int], tenant_id: str, table: Table = RECORDS
) -> pl.DataFrame:
    """Say of each row whose it is and in which log it stands."""
    columns = {
        "tenant_id": [log.tenant_id or tenant_id for log in logs],
        "repo_slug": [log.repo_slug for log in logs],
        "root_kind": [log.root_kind for log in logs],
        "source_path": [log.source_path for log in logs],
    }
    origins = pl.DataFrame(columns, schema=dict.fromkeys(ORIGIN, pl.String)).select(
        name for name in ORIGIN if name in table.names
    )
    repeated = origins[np.repeat(np.arange(origins.height), counts)]
    return rows.hstack(repeated.get_columns()).select(table.names)


def _column(name: str, values: Sequence[Any], dtype: pl.DataType) -> pl.Series:
    if dtype == UTC_MICROSECONDS:
        return _instants(name, values)
    if dtype == _NAMES:
        return _names(name, values)
    return pl.Series(name, values, dtype=dtype)


def _instants(name: str, values: Sequence[datetime | None]) -> pl.Series:
    if None not in values:
        seconds = np.fromiter(map(datetime.timestamp, values), np.float64, len(values))  # type: ignore[arg-type]
        # A double holds these to a fraction of a microsecond; further from 1970 it would not.
        if np.abs(seconds).max() < _EXACT_SECONDS:
            return pl.Series(name, np.rint(seconds * 1e6).astype(np.int64)).cast(UTC_MICROSECONDS)
    instants = [None if moment is None else (moment - _EPOCH) // _MICROSECOND for moment in values]
    return pl.Series(name, instants, dtype=pl.Int64).cast(UTC_MICROSECONDS)


def _names(name: str, values: Sequence[list[str]]) -> pl.Series:
    joined = list(map(_SEPARATOR.join, values))
    if not _splits_again(values, joined):
        return pl.Series(name, values, dtype=_NAMES)
    text = pl.col(name)
    empty = pl.lit([], dtype=_NAMES)
    frame = pl.DataFrame({name: joined}, schema={name: pl.String})
    split = pl.when(text == "").then(empty).otherwise(text.str.split(_SEPARATOR))
    return frame.select(split.alias(name)).to_series()


def _splits_again(values: Sequence[list[str]], joined: list[str]) -> bool:
    """Whether splitting gives the names back: none of them holds the separator, or is empty on its own."""
    lists = sum(map(bool, values))
    separators = "".join(joined).count(_SEPARATOR)
    return lists == sum(map(bool, joined)) and separators == sum(map(len, values)) - lists
