"""Make tables of logs: each line becomes a record, a reject, or nothing if it is blank or passed over.

Many lines are decoded at once. Their rows are collected until a batch is full. Then they become columns:
texts as they are, timestamps as microseconds, and lists of names as JSON, which Polars reads fast.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import accumulate, chain
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import polars as pl

from vocabgap.files.budget import ELEMENT, MIB, REJECT, OverBudgetError
from vocabgap.files.parts import Collector, Parts
from vocabgap.ingest.accounting import MOMENT, NAMED
from vocabgap.ingest.decoding import Decoded, Rejected, decode_line
from vocabgap.ingest.discovery import LogFile, blocks_of
from vocabgap.ingest.formats import ROWS, Form, FormError
from vocabgap.ingest.reading import Block, OpenLog, encoded
from vocabgap.ingest.rows import Columns, RowDecoder
from vocabgap.model.moments import is_zero_year, moment_of
from vocabgap.model.other import OTHER
from vocabgap.model.record import FIELDS, RejectReason, Repair, in_utc, record_ids
from vocabgap.model.tables import FILES, NAMES, RECORDS, REJECTS, UTC_MICROSECONDS
from vocabgap.text import surface, visible

BATCH: Final = 4_000  # rows; more of them no longer fit into the caches of a processor
_LONGEST_NAME: Final = 256  # characters of a tool
TEXT: Final = "text"
FOLDER: Final = "folder"


class LogsRead(NamedTuple):
    """The tables of some logs, and the number of repairs of each kind."""

    records: Parts  # table `records` in order, with columns `MOMENT` and `NAMED`
    rejects: pl.DataFrame
    files: pl.DataFrame
    repairs: Counter[str]


@dataclass(slots=True)
class LineCounts:
    """The lines of a log: the number of records and rejects, and of lines that were passed over."""

    lines: int = 0
    passed_over: int = 0
    calls: list[dict[str, Any]] = field(default_factory=list)  # column of table `files`


class BlockRecords(NamedTuple):
    """The records of a block of a log, with their images and with times in UTC."""

    log: LogFile
    columns: Columns
    lines: Sequence[int]
    offsets: Sequence[int]
    nameless: Sequence[bool]  # whether the line names no image
    unreadable: dict[int, str]  # texts of timestamps, by place
    texts: Sequence[str] = ()  # of the lines, if they are kept
    other: Sequence[str | None] = ()  # empty if no line has other columns


@dataclass(slots=True)
class RecordColumns:
    """Records that become table `records` in parts, in the order of the lines.

    The table also has the columns `MOMENT` and `NAMED`; with text, `TEXT` and `FOLDER`, too.
    """

    tenant_id: str
    with_text: bool = False
    _collected: Collector = field(default_factory=Collector)
    _before: LogFile | None = None  # the log of the last record
    _moment: datetime | None = None  # of the last record
    _bytes: int = 0
    _rows: int = 0
    _blocks: list[BlockRecords] = field(default_factory=list)

    def add(self, records: BlockRecords, size: int) -> None:
        """Add the records of a block whose lines have `size` bytes."""
        self._blocks.append(records)
        self._rows += len(records.lines)
        self._bytes += size
        if self._rows >= BATCH or self._bytes >= 32 * MIB:
            self.flush()

    def flush(self) -> None:
        """Make a frame of the collected records."""
        if not self._blocks:
            return
        logs, columns, *others, unreadable_by_block, texts, other = zip(*self._blocks, strict=True)
        counts = [len(block.lines) for block in self._blocks]
        unreadable = {
            first + place: text
            for first, block in zip(accumulate(counts, initial=0), unreadable_by_block, strict=False)
            for place, text in block.items()
        }
        values = [list(chain.from_iterable(parts)) for parts in zip(*columns, strict=True)]
        lines, offsets, nameless = (list(chain.from_iterable(parts)) for parts in others)
        named = zip(FIELDS, values, strict=True)
        series = [_column(name, column, RECORDS.schema[name]) for name, column in named]
        series += [
            pl.Series("line", lines, dtype=pl.Int64),
            pl.Series("byte_offset", offsets, dtype=pl.Int64),
            ~pl.Series(NAMED, nameless, dtype=pl.Boolean),
            pl.Series("record_id", record_ids(values, unreadable), dtype=pl.String),
        ]
        kept = (each or [None] * size for each, size in zip(other, counts, strict=True))
        series.append(pl.Series(OTHER, list(chain.from_iterable(kept)), dtype=pl.String))
        if self.with_text:
            series.append(pl.Series(TEXT, list(chain.from_iterable(texts)), dtype=pl.String))
        series += self._origins(logs, counts)
        offset = pl.when(pl.col("byte_offset") >= 0).then("byte_offset")  # an unknown one is below 0
        frame = pl.DataFrame(series).with_columns(offset)
        frame = frame.with_columns(self._moments(frame["timestamp"], logs, counts))
        self._blocks, self._rows, self._bytes = [], 0, 0
        self._collected.add(frame.select(*self._schema))

    def parts(self) -> Parts:
        """Return the table."""
        self.flush()
        return self._collected.parts(pl.DataFrame(schema=self._schema))

    @property
    def _schema(self) -> dict[str, Any]:
        texts = {TEXT: pl.String, FOLDER: pl.String} if self.with_text else {}
        return {**RECORDS.schema, MOMENT: UTC_MICROSECONDS, NAMED: pl.Boolean, **texts}

    def _moments(self, times: pl.Series, logs: Sequence[LogFile], counts: Sequence[int]) -> pl.Series:
        """Return the time of each record; without one, the last time before it in its log."""
        begins = [log is not other for log, other in zip(logs, (self._before, *logs[:-1]), strict=True)]
        if times.null_count():
            number = pl.Series(np.repeat(np.cumsum(begins), counts))  # of the log; 0 for the last one
            known = times.to_frame().select(pl.col("timestamp").forward_fill().over(number)).to_series()
            times = known.zip_with(
                known.is_not_null() | (number > 0), pl.Series([self._moment], dtype=known.dtype)
            )
        self._before, self._moment = logs[-1], times[-1]
        return times.alias(MOMENT)

    def _origins(self, logs: Sequence[LogFile], counts: Sequence[int]) -> list[pl.Series]:
        columns = {
            "tenant_id": [log.tenant_id or self.tenant_id for log in logs],
            **{
                name: [getattr(log, name) for log in logs]
                for name in ("repo_slug", "root_kind", "source_path", FOLDER)
            },
        }
        place = np.repeat(np.arange(len(logs)), counts)
        return [pl.Series(name, values, dtype=pl.String).gather(place) for name, values in columns.items()]


class LogDecoder:
    """A decoder of logs that collects their tables, and counts the repairs of each kind."""

    def __init__(
        self,
        tenant_id: str = "",
        max_expanded: int = sys.maxsize,
        *,
        with_text: bool = False,
        entries: Iterable[str] = (),
    ) -> None:
        """Decode logs of a tenant; a compressed log may expand to `max_expanded` bytes.

        Of the calls that are no gaps, keep those of `entries`.
        """
        self.repairs: Counter[str] = Counter()
        self._entries = {*map(surface, entries)} - {""}
        self._max_expanded = max_expanded
        self._records = RecordColumns(tenant_id, with_text)
        self._decoders: dict[int, RowDecoder] = {}  # by the identity of their field map
        self._rejects: list[tuple[str, int | None, int | None, str, str, str, str]] = []
        self._files: list[tuple[str, str, int, int, str, str, int, str | None, list[dict[str, Any]]]] = []

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
            for block in blocks_of(log, content):
                is_cut = not block.ended or (block.rejected is not None and not block.lines)
                if is_cut and content.problem is not None and not _is_whole(block, log):
                    break  # an incomplete line or document
                before = len(self._rejects)
                self.decode(log, block, counts)
                if block.lines and content.problem is None:
                    content.budget.spend(REJECT * (len(self._rejects) - before))
                if log.kind.content.form is Form.DOCUMENT:
                    content.budget.spend(ELEMENT * block.passed_over)
        except OverBudgetError as error:
            self._reject(log, Rejected(RejectReason.EXPANDS_TOO_FAR, str(error)))
        except FormError as error:
            self._reject(log, Rejected(RejectReason.UNREADABLE_FILE, error.message))

    def decode(self, log: LogFile, block: Block, counts: LineCounts) -> None:
        """Decode the lines of a block, and add them to the counts of its log."""
        if block.rejected is None:
            counts.passed_over += block.passed_over
            if self._entries:
                counts.calls += self._calls(log, block)
            self._decode_lines(log, block, counts)
        elif block.lines:
            counts.lines += 1
            place = (block.number, block.offset, block.lines[0])
            self._reject(log, _placed(block.rejected, block), *place)
        else:
            self._reject(log, block.rejected)

    def add_file(self, log: LogFile, size: int, sha256: str, counts: LineCounts) -> None:
        """Add a log that was read to its end or as far as possible, or that repeats another one."""
        row = (
            size,
            counts.lines,
            sha256,
            log.kind.source,
            counts.passed_over,
            log.repeats or None,
            counts.calls,
        )
        self._files.append((log.repo_slug, log.source_path, *row))

    def tables(self) -> LogsRead:
        """Return the tables of all logs."""
        rejects = pl.DataFrame(self._rejects, schema=REJECTS.schema, orient="row")
        files = pl.DataFrame(self._files, schema=FILES.schema, orient="row")
        return LogsRead(self._records.parts(), rejects, files, self.repairs)

    def _calls(self, log: LogFile, block: Block) -> Iterator[dict[str, Any]]:
        """Yield the calls of entries with a time, as column `calls` of table `files` has them."""
        for call in block.calls:
            names = _names_of(visible(str(call["tool"])[:_LONGEST_NAME]))
            entry = next((name for name in names if name in self._entries), None)
            moment = moment_of(call.get("time")) if entry else None
            if moment is not None and not is_zero_year(moment.year):
                identifier = visible(str(call["call"] or call.get("time")))
                session = visible(str(call.get("session") or log.source_path))
                yield {"entry": entry, "call": identifier, "moment": in_utc(moment), "session": session}

    def _reject(
        self,
        log: LogFile,
        why: Rejected,
        number: int | None = None,
        offset: int | None = None,
        line: bytes = b"",
    ) -> None:
        """Add a reject. Without a number it is the whole log; an offset below 0 is unknown."""
        raw = visible(line[:512].decode("utf-8", "backslashreplace"))
        place = None if offset is None or offset < 0 else offset
        detail = visible(why.detail)
        self._rejects.append((log.source_path, number, place, why.reason.value, detail, raw, log.repo_slug))

    def _decode_lines(self, log: LogFile, block: Block, counts: LineCounts) -> None:
        fields = log.kind.fields
        if id(fields) not in self._decoders:
            self._decoders[id(fields)] = RowDecoder(fields)
        read = self._decoders[id(fields)].read(block.lines)
        self.repairs.update(read.repairs)
        counts.passed_over += read.passed_over
        counts.lines += len(read.positions) + len(read.rejected)
        offsets: Sequence[int] = list(block.offsets())
        for position, rejected in read.rejected.items():
            place = (block.number + position, offsets[position], block.lines[position])
            self._reject(log, _placed(rejected, block, position), *place)
        if not read.positions:
            return
        lines: Sequence[int] = range(block.number, block.number + len(block.lines))
        texts = block.lines if self._records.with_text else []
        if len(read.positions) < len(block.lines):
            lines, offsets = ([column[at] for at in read.positions] for column in (lines, offsets))
            texts = [texts[at] for at in read.positions] if texts else []
        columns, nameless, unreadable = self._completed(log, read.columns)
        unreadable |= read.unreadable
        if texts and log.kind.fields.paths and not log.kind.is_named:
            texts = _as_records(columns, unreadable)
        decoded = [text.decode() for text in texts]  # the line of a record is UTF-8
        records = BlockRecords(log, columns, lines, offsets, nameless, unreadable, decoded, read.other)
        self._records.add(records, sum(map(len, block.lines)))

    def _completed(self, log: LogFile, columns: Columns) -> tuple[Columns, list[bool], dict[int, str]]:
        """Complete columns with the image and times in UTC; return which rows name none.

        The texts of times that UTC cannot express, or that stand for no time, are by place.
        """
        named = _named_by(log)
        zones = {UTC if moment is None else moment.tzinfo for moment in columns[0]}
        are_times = not any(map(is_zero_year, {moment.year for moment in columns[0] if moment is not None}))
        if zones == {UTC} and are_times and not named and set(columns[1]) == {log.folder}:
            return columns, [False] * len(columns[0]), {}
        moments, images, *others = map(list, columns)
        image = named.pop("image_id", log.folder)
        blank = [found != log.folder and not (found and found.strip()) for found in images]
        if log.kind.source and not log.kind.fields.paths:  # else a folder is no image
            self.repairs[Repair.IMAGE_FROM_FOLDER] += sum(blank)
            self.repairs[Repair.IMAGE_NOT_FOLDER] += len(images) - images.count(log.folder) - sum(blank)
        images = [image if is_blank else found for found, is_blank in zip(images, blank, strict=True)]
        unreadable = {}
        for place, moment in enumerate(moments) if zones != {UTC} or not are_times else ():
            if moment is None:
                continue
            moments[place] = None if is_zero_year(moment.year) else in_utc(moment)
            if moments[place] is None:
                self.repairs[Repair.TIMESTAMP_UNREADABLE] += 1
                unreadable[place] = moment.isoformat()
            else:
                self.repairs[Repair.TIMESTAMP_WITHOUT_OFFSET] += moment.tzinfo is None
        completed = dict(zip(FIELDS, (moments, images, *others), strict=True))
        for name, text in named.items():
            completed[name] = [value or text for value in completed[name]]
        return list(completed.values()), blank, unreadable


@lru_cache(4_096)
def _names_of(tool: str) -> tuple[str, str]:
    """Return the surfaces of the name of a tool, and of its part behind the name of a server."""
    return surface(tool), surface(re.split(r"__|\.", tool)[-1])


def _as_records(columns: Columns, unreadable: dict[int, str]) -> list[bytes]:
    """Encode records as native lines. A corpus could not read the foreign lines by their name."""
    rows = [dict(zip(FIELDS, row, strict=True)) for row in zip(*columns, strict=True)]
    return [
        encoded(row | ({"timestamp": unreadable[at]} if at in unreadable else {}))
        for at, row in enumerate(rows)
    ]


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
    """Return the reason with the place of the line; the last line may be cut inside a string or character."""
    reason, detail = why.reason, why.detail
    if not block.ended and reason in (RejectReason.INVALID_JSON, RejectReason.INVALID_UTF8):
        reason, detail = RejectReason.TORN, f"the last line was cut off: {detail}"
    return Rejected(reason, f"{block.places[position]}: {detail}" if block.places else detail)


def _column(name: str, values: Sequence[Any], dtype: pl.DataType) -> pl.Series:
    if dtype == UTC_MICROSECONDS:
        epoch, microsecond = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
        instants = [None if moment is None else (moment - epoch) // microsecond for moment in values]
        return pl.Series(name, instants, dtype=pl.Int64).cast(UTC_MICROSECONDS)
    if dtype == NAMES:  # Polars is slow to read lists of Python, but fast to read JSON
        text = msgspec.json.encode(values).decode()
        return pl.Series(name, [text]).str.json_decode(pl.List(NAMES)).explode()
    return pl.Series(name, values, dtype=dtype)
