"""The scan: discover the logs, decode them line by line, and account for every line."""

import gc
import hashlib
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC
from pathlib import Path
from typing import Any, Final

import polars as pl

from vocabgap.config import DEFAULT_TENANT
from vocabgap.ingest.columns import RecordColumns
from vocabgap.ingest.corrections import DUPLICATE, SUPERSEDED, mark_counted
from vocabgap.ingest.decoding import Decoded, Rejected, clean_record, decode_line
from vocabgap.ingest.discovery import LogFile, discover
from vocabgap.ingest.selection import Selection, select
from vocabgap.record import (
    CATEGORY_ALIASES,
    OPERATION_ALIASES,
    GapRecord,
    RejectReason,
    Repair,
    in_utc,
)
from vocabgap.schema import FILES, GAPS, RECORDS, REJECTS
from vocabgap.text import visible

_BOM: Final = b"\xef\xbb\xbf"
RAW_LIMIT: Final = 512
# A cut may fall inside a string or inside a character.
_TORN: Final = frozenset({RejectReason.INVALID_JSON, RejectReason.INVALID_UTF8})


@dataclass(frozen=True, slots=True)
class ScanSummary:
    """The account of a scan: every line that is not blank is in exactly one of four places.

    Attributes:
        files: Logs that were read.
        unreadable: Logs and folders that could not be read.
        lines: Lines that are not blank; `records + duplicates + superseded + rejects`.
        records: Records that count.
        duplicates: Second copies of a record.
        superseded: Records that a later one corrects.
        rejects: Lines that are no record.
        repairs: What was mended in records that were kept, by kind.
        reasons: Rejects and unreadable files, by reason.
    """

    files: int
    unreadable: int
    lines: int
    records: int
    duplicates: int
    superseded: int
    rejects: int
    repairs: dict[str, int]
    reasons: dict[str, int]


@dataclass(frozen=True, repr=False)
class Scan:
    """What a scan found.

    Attributes:
        gaps: One row a readable line, with `counted` and `why_not` (table `gaps`).
        rejects: One row a bad line or unreadable file (table `rejects`).
        files: One row a log that was read (table `files`).
        summary: The account of every line.
    """

    gaps: pl.DataFrame
    rejects: pl.DataFrame
    files: pl.DataFrame
    summary: ScanSummary

    @property
    def records(self) -> pl.DataFrame:
        """The records that count (table `records`)."""
        return self.gaps.filter("counted").select(RECORDS.names)

    def select(
        self,
        selection: Selection,
        *,
        category_aliases: Mapping[str, str] = CATEGORY_ALIASES,
        operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
    ) -> "Scan":
        """The same scan, with what the selection leaves out marked as `filtered`.

        Args:
            selection: What is asked for.
            category_aliases: Lower-case spelling to category.
            operation_aliases: Lower-case name to operation.
        """
        narrowed = select(
            self.gaps, selection, category_aliases=category_aliases, operation_aliases=operation_aliases
        )
        return replace(self, gaps=narrowed)

    def __repr__(self) -> str:
        """The account in one line."""
        return f"Scan({self.summary})"


@dataclass(slots=True)
class _Collected:
    """Rows of the three frames while files are being read."""

    records: RecordColumns
    rejects: list[dict[str, Any]] = field(default_factory=list)
    files: list[dict[str, Any]] = field(default_factory=list)
    repairs: Counter[Repair] = field(default_factory=Counter)

    def read(self, log: LogFile) -> None:
        """Read one log whole; a log that cannot be read becomes one reject."""
        try:
            content = _content(log)
        except OSError as error:
            problem = error.strerror or str(error)
            self._reject(log, Rejected(RejectReason.UNREADABLE_FILE, f"the log cannot be read: {problem}"))
            return
        folder = log.folder
        records: list[GapRecord] = []
        lines: list[int] = []
        offsets: list[int] = []
        unreadable: dict[int, str] = {}
        count = offset = 0
        pieces = content.split(b"\n")  # not `splitlines`, which breaks records that hold U+2028 or U+0085
        for number, piece in enumerate(pieces, start=1):
            start = offset + len(_BOM) if number == 1 and piece.startswith(_BOM) else offset
            line = piece[start - offset :] if start > offset else piece
            offset += len(piece) + 1
            if not line or line.isspace():
                continue
            count += 1
            record = clean_record(line)
            if record is None or record.image_id != folder or not _in_utc_already(record):
                whole = number < len(pieces)
                mended = self._look_closer(log, line.removesuffix(b"\r"), number, start, whole=whole)
                if mended is None:
                    continue
                record = mended.record
                if mended.unreadable_timestamp is not None:
                    unreadable[len(records)] = mended.unreadable_timestamp
            records.append(record)
            lines.append(number)
            offsets.append(start)
        self.records.extend(log, records, lines, offsets, unreadable)
        self.files.append(
            {
                "repo_slug": log.repo_slug,
                "source_path": log.source_path,
                "bytes": len(content),
                "lines": count,
                "sha256": hashlib.sha256(content).hexdigest(),
            }
        )

    def _look_closer(
        self, log: LogFile, line: bytes, number: int, offset: int, *, whole: bool
    ) -> Decoded | None:
        """Mend what can be mended in a line, and count it; a line that is no record becomes a reject."""
        outcome = decode_line(line)
        if not isinstance(outcome, Rejected):
            return self._completed(log, outcome)
        if not whole and outcome.reason in _TORN:
            outcome = Rejected(RejectReason.TORN, f"the last line was cut off: {outcome.detail}")
        self._reject(log, outcome, number, offset, line)
        return None

    def _reject(
        self,
        log: LogFile,
        why: Rejected,
        number: int | None = None,
        offset: int | None = None,
        line: bytes = b"",
    ) -> None:
        self.rejects.append(
            {
                "source_path": log.source_path,
                "line": number,
                "byte_offset": offset,
                "reason": why.reason.value,
                "detail": visible(why.detail),
                "raw": visible(line[:RAW_LIMIT].decode("utf-8", "backslashreplace")),
                "repo_slug": log.repo_slug,
            }
        )

    def _completed(self, log: LogFile, decoded: Decoded) -> Decoded:
        """The record with its image and its time in UTC."""
        record = decoded.record
        unreadable = decoded.unreadable_timestamp
        self.repairs.update(decoded.repairs)
        if record.timestamp is not None:
            if record.timestamp.tzinfo is None:
                self.repairs[Repair.TIMESTAMP_WITHOUT_OFFSET] += 1
            try:
                record.timestamp = in_utc(record.timestamp)
            except OverflowError:
                self.repairs[Repair.TIMESTAMP_UNREADABLE] += 1
                unreadable, record.timestamp = record.timestamp.isoformat(), None
        if not (record.image_id and record.image_id.strip()):
            record.image_id = log.folder
            self.repairs[Repair.IMAGE_FROM_FOLDER] += 1
        elif record.image_id != log.folder:
            self.repairs[Repair.IMAGE_NOT_FOLDER] += 1
        return replace(decoded, unreadable_timestamp=unreadable)


def scan(roots: str | Path | Iterable[str | Path], *, tenant_id: str = DEFAULT_TENANT) -> Scan:
    """Read every gap log below the roots.

    Args:
        roots: One or more folders to search for `vocabulary_gaps.jsonl`, or single log files.
        tenant_id: Whose records these are.

    Returns:
        Records, rejects and the account of every line. Rows are ordered by repository, file and line.

    Raises:
        NotFoundError: A root does not exist.
        AccessDeniedError: A root may not be read.
        InvalidInputError: No root was given.
    """
    named = [roots] if isinstance(roots, str | Path) else roots
    collected = _Collected(RecordColumns(tenant_id))
    with _without_cycle_search():
        for log in discover(named):
            collected.read(log)
        records = collected.records.frame()
    gaps = mark_counted(records).select(GAPS.names)
    rejects = pl.DataFrame(collected.rejects, schema=REJECTS.schema)
    files = pl.DataFrame(collected.files, schema=FILES.schema)
    return Scan(gaps, rejects, files, _summary(gaps, rejects, files, collected.repairs))


@contextmanager
def _without_cycle_search() -> Iterator[None]:
    """Records hold no reference cycles, but the collector would look for them over and over as they pile up.

    That costs 3 µs a record where decoding costs 1.2.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _summary(
    gaps: pl.DataFrame, rejects: pl.DataFrame, files: pl.DataFrame, repairs: Counter[Repair]
) -> ScanSummary:
    why_not = Counter(gaps["why_not"].to_list())
    reasons = Counter(rejects["reason"].to_list())
    rejected_lines = int(rejects["line"].is_not_null().sum())
    return ScanSummary(
        files=files.height,
        unreadable=rejects.height - rejected_lines,
        lines=int(files["lines"].sum()),
        records=why_not[None],
        duplicates=why_not[DUPLICATE],
        superseded=why_not[SUPERSEDED],
        rejects=rejected_lines,
        repairs={kind.value: repairs[kind] for kind in Repair if repairs[kind]},
        reasons={reason.value: reasons[reason] for reason in RejectReason if reasons[reason]},
    )


def _content(log: LogFile) -> bytes:
    if log.problem:
        raise OSError(log.problem)
    # Opening a FIFO or a device would wait for a writer that may never come.
    if not stat.S_ISREG(log.path.stat().st_mode):
        raise OSError("not a regular file")
    return log.path.read_bytes()


def _in_utc_already(record: GapRecord) -> bool:
    return record.timestamp is None or record.timestamp.tzinfo is UTC
