"""Decoding logs: each line becomes a record, a reject, or nothing where it is blank or not wanted.

`LogDecoder` reads one log after the other; `LineDecoder` decodes its lines, many at once if they are clean.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from itertools import chain
from typing import Final, TypeGuard

import msgspec

from vocabgap.ingest.columns import RecordColumns, RejectColumns
from vocabgap.ingest.decoding import (
    Decoded,
    Rejected,
    decode_complete,
    decode_line,
    has_keys,
    repeated_keys,
    says_something,
)
from vocabgap.ingest.discovery import LogFile
from vocabgap.ingest.documents import elements
from vocabgap.ingest.reading import Block, OpenLog, blocks
from vocabgap.model.record import CONTRACT_FIELDS, MAX_LINE_BYTES, GapRecord, RejectReason, Repair, in_utc

# A cut may fall inside a string or inside a character.
_TORN: Final = frozenset({RejectReason.INVALID_JSON, RejectReason.INVALID_UTF8})
_BYTES_AT_ONCE: Final = 1 << 20


class LineCounts(msgspec.Struct):
    """What some lines of a log came to: those that are blank or passed over are not among `lines`."""

    records: int = 0
    rejects: int = 0
    lines: int = 0
    passed_over: int = 0
    repairs: dict[str, int] = {}

    def add_repairs(self, repairs: Mapping[Repair, int]) -> None:
        """Count what was repaired."""
        for kind, times in repairs.items():
            if times:
                self.repairs[kind.value] = self.repairs.get(kind.value, 0) + times


class LogState(msgspec.Struct, frozen=True):
    """A log as far as it was read: its size and digest, expanded if it is compressed, and its counts."""

    size: int = 0
    sha256: str = ""
    counts: LineCounts = msgspec.field(default_factory=LineCounts)


@dataclass(slots=True)
class LogDecoder:
    """Reads and decodes logs; a compressed one may expand to so many bytes."""

    lines: "LineDecoder"
    max_expanded: int = sys.maxsize

    def read(self, log: LogFile) -> LogState | None:
        """Read one log; one that cannot be read becomes one reject, and None."""
        if log.problem is not None:
            self.lines.rejects.add(log, log.problem)
            return None
        try:
            open_log = OpenLog.open(log.path, log.kind.compression, self.max_expanded)
        except OSError as error:
            detail = f"the log cannot be read: {error.strerror or error}"
            self.lines.rejects.add(log, Rejected(RejectReason.UNREADABLE_FILE, detail))
            return None
        counts = LineCounts()
        try:
            for block in blocks_of(log, open_log.chunks()):
                if not block.ended and open_log.problem is not None and not _is_whole(block, log):
                    break  # a line that was being written, or could not be read on
                self.lines.decode(log, block, counts)
        finally:
            open_log.close()
        if open_log.problem is not None:
            self.lines.rejects.add(log, open_log.problem)
        return LogState(open_log.size, open_log.sha256, counts)


def blocks_of(log: LogFile, chunks: Iterable[bytes]) -> Iterator[Block]:
    """Cut a log into lines, or a document into its elements."""
    fields = log.kind.fields
    return elements(chunks, fields) if fields.each else blocks(chunks)


def _is_whole(block: Block, log: LogFile) -> bool:
    """Whether the last line of what could be read says everything that it was to say."""
    return not block.too_long and isinstance(decode_line(block.lines[0], log.kind.fields), Decoded)


@dataclass(slots=True)
class LineDecoder:
    """Decodes lines; what they give goes to the columns."""

    records: RecordColumns
    rejects: RejectColumns
    _repairs: Counter[Repair] = field(default_factory=Counter)
    _unchecked: list[tuple[LineCounts, list[bytes]]] = field(default_factory=list)
    _unchecked_lines: int = 0
    _unchecked_bytes: int = 0

    def decode(self, log: LogFile, block: Block, counts: LineCounts) -> None:
        """Decode the lines of a block, and add them to its counts, which are complete after `flush`."""
        records_before, rejects_before = self.records.total, self.rejects.total
        if block.too_long:
            counts.lines += 1
            detail = f"expected at most {MAX_LINE_BYTES:,} bytes, found {block.too_long:,}"
            why = _placed(Rejected(RejectReason.TOO_LONG, detail), block.place)
            self.rejects.add(log, why, block.number, block.offset, block.lines[0])
        elif block.refused is not None:
            self.rejects.add(log, block.refused)
        else:
            counts.passed_over += block.passed_over
            self._decode_lines(log, block, counts)
        counts.records += self.records.total - records_before
        counts.rejects += self.rejects.total - rejects_before
        if self._repairs:
            counts.add_repairs(self._repairs)
            self._repairs.clear()

    def flush(self) -> None:
        """Complete the counts, and hand over what has gathered."""
        self.count_repeated_keys()
        self.records.flush()
        self.rejects.flush()

    def count_repeated_keys(self) -> None:
        """Look for repeated keys in many lines at once, which costs a tenth of one by one."""
        together = b"\n".join(chain.from_iterable(lines for _, lines in self._unchecked))
        if not has_keys(together, len(CONTRACT_FIELDS) * self._unchecked_lines):
            for counts, lines in self._unchecked:
                counts.add_repairs({Repair.REPEATED_KEY: sum(map(repeated_keys, lines))})
        self._unchecked.clear()
        self._unchecked_lines = self._unchecked_bytes = 0

    def _decode_lines(self, log: LogFile, block: Block, counts: LineCounts) -> None:
        """Decode lines that are all clean, as they mostly are, without a Python statement for each."""
        decoded: list[GapRecord | None] = [None] * len(block.lines)
        if log.kind.fields.native:
            decoded = decode_complete(block.lines)
        if _are_clean(decoded):
            rows = _Rows(decoded, range(len(decoded)), block.lines)
        else:
            rows = self._decode_one_by_one(log, block, counts, decoded)
        if not rows.records:
            return
        counts.lines += len(rows.clean)
        self._check_keys_later(counts, rows.clean)
        if not _are_completed(log, rows.records):
            rows.unreadable = self._complete_all(log, rows.records) | rows.unreadable
        self.records.extend(log, block, rows.records, rows.positions, rows.unreadable)

    def _decode_one_by_one(
        self, log: LogFile, block: Block, counts: LineCounts, decoded: list[GapRecord | None]
    ) -> "_Rows":
        rows = _Rows([], positions := [], [])
        offsets = block.offsets()
        for position, (line, complete, offset) in enumerate(zip(block.lines, decoded, offsets, strict=True)):
            if complete is not None and says_something(complete):
                record = complete
                rows.clean.append(line)
            elif not line or line.isspace():
                continue
            else:
                outcome = decode_line(line.removesuffix(b"\r"), log.kind.fields)
                if outcome is None:
                    counts.passed_over += 1
                    continue
                counts.lines += 1
                if isinstance(outcome, Rejected):
                    why = _placed(outcome if block.ended else _torn(outcome), block.place)
                    self.rejects.add(log, why, block.number + position, offset, line)
                    continue
                record = outcome.record
                self._repairs.update(outcome.repairs)
                if outcome.unreadable_timestamp is not None:
                    rows.unreadable[len(rows.records)] = outcome.unreadable_timestamp
            rows.records.append(record)
            positions.append(position)
        return rows

    def _complete_all(self, log: LogFile, records: list[GapRecord]) -> dict[int, str]:
        """Complete records with their image and their time in UTC; gives the text of those it lacks."""
        unreadable = {}
        counted = not log.kind.fields.paths  # of other logs, a folder is no image
        for position, record in enumerate(records):
            if record.image_id != log.folder:
                blank = not (record.image_id and record.image_id.strip())
                self._repairs[Repair.IMAGE_FROM_FOLDER if blank else Repair.IMAGE_NOT_FOLDER] += counted
                record.image_id = log.folder if blank else record.image_id
            moment = record.timestamp
            if moment is None or moment.tzinfo is UTC:
                continue
            self._repairs[Repair.TIMESTAMP_WITHOUT_OFFSET] += moment.tzinfo is None
            try:
                record.timestamp = in_utc(moment)
            except OverflowError:
                self._repairs[Repair.TIMESTAMP_UNREADABLE] += 1
                record.timestamp = None
                unreadable[position] = moment.isoformat()
        return unreadable

    def _check_keys_later(self, counts: LineCounts, lines: list[bytes]) -> None:
        self._unchecked.append((counts, lines))
        self._unchecked_lines += len(lines)
        self._unchecked_bytes += sum(map(len, lines))
        if self._unchecked_bytes >= _BYTES_AT_ONCE:
            self.count_repeated_keys()


@dataclass(slots=True)
class _Rows:
    """What lines of a block gave: `clean` are those that need a look for repeated keys yet."""

    records: list[GapRecord]
    positions: Sequence[int]
    clean: list[bytes]
    unreadable: dict[int, str] = field(default_factory=dict)


def _are_clean(decoded: list[GapRecord | None]) -> TypeGuard[list[GapRecord]]:
    """Whether every line gave a record that says something without further ado."""
    try:
        needs = [record.description for record in decoded]  # type: ignore[union-attr]
    except AttributeError:
        return False
    return all(needs) and not any(map(str.isspace, needs))  # type: ignore[arg-type]


def _are_completed(log: LogFile, records: list[GapRecord]) -> bool:
    """Whether all are of the image that their folder is, and have their time in UTC."""
    if {record.image_id for record in records} != {log.folder}:
        return False
    moments = [record.timestamp for record in records]
    return {UTC if moment is None else moment.tzinfo for moment in moments} <= {UTC}


def _placed(why: Rejected, place: str) -> Rejected:
    """The reason with the place of an element in its document; a line of a log has none."""
    return Rejected(why.reason, f"{place}: {why.detail}") if place else why


def _torn(why: Rejected) -> Rejected:
    if why.reason not in _TORN:
        return why
    return Rejected(RejectReason.TORN, f"the last line was cut off: {why.detail}")
