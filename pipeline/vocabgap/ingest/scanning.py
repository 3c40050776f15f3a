"""The scan: discover the logs, decode them line by line, and account for every line."""

import hashlib
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from vocabgap.config import DEFAULT_TENANT
from vocabgap.ingest.corrections import DUPLICATE, SUPERSEDED, mark_counted
from vocabgap.ingest.decoding import Decoded, Rejected, decode_line
from vocabgap.ingest.discovery import LogFile, discover
from vocabgap.ingest.selection import Selection, select
from vocabgap.record import (
    CATEGORY_ALIASES,
    OPERATION_ALIASES,
    ROOT_KIND,
    RejectReason,
    Repair,
    in_utc,
    record_id,
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

    tenant_id: str
    lines: list[dict[str, Any]] = field(default_factory=list)
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
        count = 0
        for number, offset, line, whole in _split_lines(content):
            count += 1
            outcome = decode_line(line)
            if isinstance(outcome, Rejected):
                if not whole and outcome.reason in _TORN:
                    outcome = Rejected(RejectReason.TORN, f"the last line was cut off: {outcome.detail}")
                self._reject(log, outcome, number, offset, line)
            else:
                self._keep(log, outcome, number, offset)
        self.files.append(
            {
                "repo_slug": log.repo_slug,
                "source_path": log.source_path,
                "bytes": len(content),
                "lines": count,
                "sha256": hashlib.sha256(content).hexdigest(),
            }
        )

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

    def _keep(self, log: LogFile, decoded: Decoded, number: int, offset: int) -> None:
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
        self.lines.append(
            {
                **{name: getattr(record, name) for name in record.__struct_fields__},
                "tenant_id": self.tenant_id,
                "repo_slug": log.repo_slug,
                "root_kind": ROOT_KIND,
                "source_path": log.source_path,
                "line": number,
                "byte_offset": offset,
                "record_id": record_id(record, unreadable),
            }
        )


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
    collected = _Collected(tenant_id)
    for log in discover(named):
        collected.read(log)
    gaps = mark_counted(pl.DataFrame(collected.lines, schema=RECORDS.schema)).select(GAPS.names)
    rejects = pl.DataFrame(collected.rejects, schema=REJECTS.schema)
    files = pl.DataFrame(collected.files, schema=FILES.schema)
    return Scan(gaps, rejects, files, _summary(gaps, rejects, files, collected.repairs))


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


def _split_lines(content: bytes) -> Iterator[tuple[int, int, bytes, bool]]:
    r"""Lines that are not blank: number from 1, offset, bytes, and whether a newline ends the line.

    Only `\n` ends a line: `str.splitlines` would break records that hold U+2028 or U+0085.
    """
    offset = 0
    pieces = content.split(b"\n")
    for number, piece in enumerate(pieces, start=1):
        line = piece.removeprefix(_BOM) if number == 1 else piece
        if line.strip():
            yield number, offset + len(piece) - len(line), line.removesuffix(b"\r"), number < len(pieces)
        offset += len(piece) + 1
