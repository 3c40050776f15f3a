"""Make tables of logs: each line becomes a record, a reject, or nothing if it is blank or passed over.

Many lines are decoded at once. Their rows are collected until a batch is full. Then they become columns:
texts as they are, timestamps as microseconds, and lists of names as JSON, which Polars reads fast.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import polars as pl
from msgspec.structs import astuple

from vocabgap.files.parts import Collector, Parts
from vocabgap.ingest.accounting import MOMENT, NAMELESS
from vocabgap.ingest.decoding import Decoded, Rejected, decode_line
from vocabgap.ingest.discovery import LogFile, blocks_of
from vocabgap.ingest.formats import ROWS, FormError
from vocabgap.ingest.reading import Block, OpenLog
from vocabgap.ingest.rows import Columns, Row, RowDecoder
from vocabgap.model.record import FIELDS, RejectReason, Repair, in_utc, record_ids
from vocabgap.model.tables import FILES, NAMES, RECORDS, REJECTS, UTC_MICROSECONDS
from vocabgap.text import visible

# The last line may be cut inside a string or inside a character.
_TORN: Final = frozenset({RejectReason.INVALID_JSON, RejectReason.INVALID_UTF8})
BATCH: Final = 4_000  # rows; more of them no longer fit into the caches of a processor
BATCH_BYTES: Final = 32 << 20
RAW_LIMIT: Final = 512
TEXT: Final = "text"
FOLDER: Final = "folder"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class LogsRead(NamedTuple):
    """The tables of some logs, and the number of repairs of each kind."""

    records: Parts  # table `records` in order, with columns `MOMENT` and `NAMELESS`
    rejects: pl.DataFrame
    files: pl.DataFrame
    repairs: Counter[str]


@dataclass(slots=True)
class LineCounts:
    """The numbers of lines in a log: of records and rejects, and of lines that were passed over."""

    lines: int = 0
    passed_over: int = 0


class Completed(NamedTuple):
    """Columns of records with their images, and times in UTC."""

    columns: Columns
    nameless: Sequence[bool]  # which rows named no image
    unreadable: dict[int, str]  # times beyond UTC as text, by place


@dataclass(slots=True)
class RecordColumns:
    """Records that become table `records` in parts, in the order of the lines.

    The table also has the columns `MOMENT` and `NAMELESS`.

    With text, the table also has the columns `TEXT` and `FOLDER`.
    """

    tenant_id: str
    with_text: bool = False
    _collected: Collector = field(default_factory=Collector)
    _before: LogFile | None = None  # the log of the last record
    _moment: datetime | None = None  # of the last record
    _bytes: int = 0
    _columns: list[Columns] = field(default_factory=list)  # of each block
    _lines: list[int] = field(default_factory=list)
    _offsets: list[int] = field(default_factory=list)
    _nameless: list[bool] = field(default_factory=list)
    _unreadable: dict[int, str] = field(default_factory=dict)
    _logs: list[LogFile] = field(default_factory=list)
    _counts: list[int] = field(default_factory=list)
    _texts: list[str] = field(default_factory=list)

    def extend(self, log: LogFile, block: Block, positions: Sequence[int], completed: "Completed") -> None:
        """Add some lines of a block, whose positions there are given."""
        columns, nameless, unreadable = completed
        self._nameless += nameless
        if self.with_text:  # the line of a record is UTF-8
            self._texts += [block.lines[position].decode() for position in positions]
        for place, text in unreadable.items():
            self._unreadable[len(self._lines) + place] = text
        self._columns.append(columns)
        if len(positions) == len(block.lines):
            self._lines += range(block.number, block.number + len(positions))
            self._offsets += block.offsets()
        else:
            offsets = list(block.offsets())
            self._lines += [block.number + position for position in positions]
            self._offsets += [offsets[position] for position in positions]
        self._logs.append(log)
        self._counts.append(len(positions))
        self._bytes += sum(map(len, block.lines))
        if len(self._lines) >= BATCH or self._bytes >= BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Make a frame of the collected records."""
        if not self._lines:
            return
        values = [list(chain.from_iterable(parts)) for parts in zip(*self._columns, strict=True)]
        named = zip(FIELDS, values, strict=True)
        columns = [_column(name, column, RECORDS.schema[name]) for name, column in named]
        columns += [
            pl.Series("line", self._lines, dtype=pl.Int64),
            pl.Series("byte_offset", self._offsets, dtype=pl.Int64),
            pl.Series(NAMELESS, self._nameless, dtype=pl.Boolean),
            pl.Series("record_id", record_ids(values, self._unreadable), dtype=pl.String),
        ]
        offset = pl.when(pl.col("byte_offset") >= 0).then("byte_offset")  # an unknown one is below 0
        frame = pl.DataFrame(columns + self._origins()).with_columns(offset)
        frame = frame.with_columns(self._moments(frame["timestamp"]))
        if self.with_text:
            frame = frame.with_columns(pl.Series(TEXT, self._texts, dtype=pl.String))
        self._bytes = 0
        self._unreadable.clear()
        for taken in (self._columns, self._lines, self._offsets, self._logs, self._counts, self._texts):
            taken.clear()
        self._nameless.clear()
        self._collected.add(frame.select(*self._schema))

    def parts(self) -> Parts:
        """Return the table."""
        self.flush()
        return self._collected.parts(pl.DataFrame(schema=self._schema))

    @property
    def _schema(self) -> dict[str, Any]:
        texts = {TEXT: pl.String, FOLDER: pl.String} if self.with_text else {}
        return {**RECORDS.schema, MOMENT: UTC_MICROSECONDS, NAMELESS: pl.Boolean, **texts}

    def _moments(self, times: pl.Series) -> pl.Series:
        """Return the time of each record, or of a record before it in its log."""
        before = [self._before, *self._logs[:-1]]
        begins = [log is not other for log, other in zip(self._logs, before, strict=True)]
        if times.null_count():
            number = pl.Series(np.repeat(np.cumsum(begins), self._counts))  # of the log; 0 for the last one
            known = times.to_frame().select(pl.col("timestamp").forward_fill().over(number)).to_series()
            times = known.zip_with(
                known.is_not_null() | (number > 0), pl.Series([self._moment], dtype=known.dtype)
            )
        self._before, self._moment = self._logs[-1], times[-1]
        return times.alias(MOMENT)

    def _origins(self) -> list[pl.Series]:
        columns = {
            "tenant_id": [log.tenant_id or self.tenant_id for log in self._logs],
            "repo_slug": [log.repo_slug for log in self._logs],
            "root_kind": [log.root_kind for log in self._logs],
            "source_path": [log.source_path for log in self._logs],
            FOLDER: [log.folder for log in self._logs],
        }
        place = np.repeat(np.arange(len(self._logs)), self._counts)
        return [pl.Series(name, values, dtype=pl.String).gather(place) for name, values in columns.items()]


class LogDecoder:
    """A decoder of logs that collects their tables, and counts the repairs of each kind."""

    def __init__(
        self, tenant_id: str = "", max_expanded: int = sys.maxsize, *, with_text: bool = False
    ) -> None:
        """Decode logs of a tenant; a compressed log may expand to `max_expanded` bytes."""
        self.repairs: Counter[str] = Counter()
        self._max_expanded = max_expanded
        self._records = RecordColumns(tenant_id, with_text)
        self._decoders: dict[int, RowDecoder] = {}  # by the identity of their field map
        self._rejects: list[tuple[str, int | None, int | None, str, str, str, str]] = []
        self._files: list[tuple[str, str, int, int, str, str, int, str | None]] = []

    def read(self, log: LogFile) -> LineCounts | None:
        """Read one log; if it cannot be read, reject it whole and return None."""
        if log.problem is not None:
            self._reject(log, log.problem)
            return None
        if log.repeats:
            self.add_file(log, 0, "", LineCounts())
            return None
        counts = LineCounts()
        try:
            with OpenLog.open(log.path, log.kind.content.compression, self._max_expanded) as content:
                self._read_blocks(log, content, counts)
        except OSError as error:
            detail = f"the log cannot be read: {error.strerror or error}"
            self._reject(log, Rejected(RejectReason.UNREADABLE_FILE, detail))
            return None
        if content.problem is not None:
            self._reject(log, content.problem)
        self.add_file(log, content.size, content.sha256, counts)
        return counts

    def _read_blocks(self, log: LogFile, content: OpenLog, counts: LineCounts) -> None:
        try:
            for block in blocks_of(log, content.chunks()):
                is_cut = not block.ended or (block.rejected is not None and not block.lines)
                if is_cut and content.problem is not None and not _is_whole(block, log):
                    break  # an incomplete line or document
                self.decode(log, block, counts)
        except FormError as error:
            self._reject(log, Rejected(RejectReason.UNREADABLE_FILE, error.message))

    def decode(self, log: LogFile, block: Block, counts: LineCounts) -> None:
        """Decode the lines of a block, and add them to the counts of its log."""
        if block.rejected is None:
            counts.passed_over += block.passed_over
            self._decode_lines(log, block, counts)
        elif block.lines:
            counts.lines += 1
            why = _placed(block.rejected, block)
            self._reject(log, why, block.number, block.offset, block.lines[0])
        else:
            self._reject(log, block.rejected)

    def add_file(self, log: LogFile, size: int, sha256: str, counts: LineCounts) -> None:
        """Add a log that was read to its end or as far as possible, or that repeats another one."""
        origin = (log.repo_slug, log.source_path)
        content = (size, counts.lines, sha256, log.kind.source, counts.passed_over)
        self._files.append((*origin, *content, log.repeats or None))

    def tables(self) -> LogsRead:
        """Return the tables of all logs."""
        rejects = REJECTS.empty()
        if self._rejects:
            columns = zip(REJECTS.columns, zip(*self._rejects, strict=True), strict=True)
            rejects = pl.DataFrame(
                [pl.Series(column.name, rows, dtype=column.dtype) for column, rows in columns]
            )
        files = pl.DataFrame(self._files, schema=FILES.schema, orient="row")
        return LogsRead(self._records.parts(), rejects, files, self.repairs)

    def _reject(
        self,
        log: LogFile,
        why: Rejected,
        number: int | None = None,
        offset: int | None = None,
        line: bytes = b"",
    ) -> None:
        """Add a reject. Without a number it is the whole log; an offset below 0 is unknown."""
        raw = visible(line[:RAW_LIMIT].decode("utf-8", "backslashreplace"))
        place = None if offset is None or offset < 0 else offset
        detail = visible(why.detail)
        self._rejects.append((log.source_path, number, place, why.reason.value, detail, raw, log.repo_slug))

    def _decode_lines(self, log: LogFile, block: Block, counts: LineCounts) -> None:
        """Decode the lines of a block at once, and those that need a closer look one by one."""
        fields = log.kind.fields
        if id(fields) not in self._decoders:
            self._decoders[id(fields)] = RowDecoder(fields)
        columns, positions, closer, repairs = self._decoders[id(fields)].read(block.lines)
        self.repairs.update(repairs)
        counts.passed_over += len(block.lines) - len(positions) - len(closer)
        counts.lines += len(positions)
        looked, unreadable = self._look_closer(log, block, counts, closer) if closer else ({}, {})
        if looked:
            rows = looked | dict(zip(positions, zip(*columns, strict=True), strict=True))
            positions = sorted(rows)
            columns = list(zip(*(rows[position] for position in positions), strict=True))
        if columns:
            completed = self._completed(log, columns)
            if unreadable:
                places = {position: place for place, position in enumerate(positions)}
                completed.unreadable.update({places[each]: text for each, text in unreadable.items()})
            self._records.extend(log, block, positions, completed)

    def _look_closer(
        self, log: LogFile, block: Block, counts: LineCounts, closer: Sequence[int]
    ) -> tuple[dict[int, Row], dict[int, str]]:
        """Return the rows of some lines, and the text of unreadable timestamps, by position."""
        rows: dict[int, Row] = {}
        unreadable = {}
        offsets = list(block.offsets())
        for position in closer:
            line = block.lines[position]
            if not line or line.isspace():
                continue
            outcome = decode_line(line.removesuffix(b"\r"), log.kind.fields)
            if outcome is None:
                counts.passed_over += 1
                continue
            counts.lines += 1
            if isinstance(outcome, Rejected):
                why = _placed(outcome if block.ended else _torn(outcome), block, position)
                self._reject(log, why, block.number + position, offsets[position], line)
                continue
            self.repairs.update(outcome.repairs)
            if outcome.unreadable_timestamp is not None:
                unreadable[position] = outcome.unreadable_timestamp
            rows[position] = astuple(outcome.record)
        return rows, unreadable

    def _completed(self, log: LogFile, columns: Columns) -> Completed:
        """Complete columns with the image and a time in UTC."""
        named = _named_by(log)
        zones = {UTC if moment is None else moment.tzinfo for moment in columns[0]}
        if zones == {UTC} and not named and set(columns[1]) == {log.folder}:
            return Completed(columns, [False] * len(columns[0]), {})
        moments, images, *others = map(list, columns)
        image = named.pop("image_id", log.folder)
        blank = [found != log.folder and not (found and found.strip()) for found in images]
        if log.kind.source and not log.kind.fields.paths:  # else a folder is no image
            self.repairs[Repair.IMAGE_FROM_FOLDER] += sum(blank)
            self.repairs[Repair.IMAGE_NOT_FOLDER] += len(images) - images.count(log.folder) - sum(blank)
        images = [image if is_blank else found for found, is_blank in zip(images, blank, strict=True)]
        unreadable = {}
        for place, moment in enumerate(moments) if zones != {UTC} else ():
            if moment is None or moment.tzinfo is UTC:
                continue
            self.repairs[Repair.TIMESTAMP_WITHOUT_OFFSET] += moment.tzinfo is None
            try:
                moments[place] = in_utc(moment)
            except OverflowError:
                self.repairs[Repair.TIMESTAMP_UNREADABLE] += 1
                moments[place] = None
                unreadable[place] = moment.isoformat()
        completed = dict(zip(FIELDS, (moments, images, *others), strict=True))
        for name, text in named.items():
            completed[name] = [value or text for value in completed[name]]
        return Completed(list(completed.values()), blank, unreadable)


def _is_whole(block: Block, log: LogFile) -> bool:
    if block.rejected is not None or log.kind.content.form in ROWS:
        return False
    return isinstance(decode_line(block.lines[0], log.kind.fields), Decoded)


def _named_by(log: LogFile) -> dict[str, str]:
    """Return the fields that the folder and the name of a log give."""
    name = log.source_path.rpartition("/")[2]
    found = log.kind.fields.path.search(f"{log.folder}/{name}") if log.kind.fields.path else None
    return {field: text for field, text in found.groupdict().items() if text} if found else {}


def _placed(why: Rejected, block: Block, position: int = 0) -> Rejected:
    return Rejected(why.reason, f"{block.places[position]}: {why.detail}") if block.places else why


def _torn(why: Rejected) -> Rejected:
    if why.reason not in _TORN:
        return why
    return Rejected(RejectReason.TORN, f"the last line was cut off: {why.detail}")


def _column(name: str, values: Sequence[Any], dtype: pl.DataType) -> pl.Series:
    if dtype == UTC_MICROSECONDS:
        instants = [None if moment is None else (moment - _EPOCH) // _MICROSECOND for moment in values]
        return pl.Series(name, instants, dtype=pl.Int64).cast(UTC_MICROSECONDS)
    if dtype == NAMES:  # Polars is slow to read lists of Python, but fast to read JSON
        text = msgspec.json.encode(values).decode()
        return pl.Series(name, [text]).str.json_decode(pl.List(NAMES)).explode()
    return pl.Series(name, values, dtype=dtype)
