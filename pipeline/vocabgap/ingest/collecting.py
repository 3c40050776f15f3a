"""Reading one log after the other: every line becomes a record, a reject, or nothing where it is blank."""

import hashlib
import stat
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC
from typing import Any, Final

from vocabgap.ingest.columns import RecordColumns
from vocabgap.ingest.decoding import Decoded, Rejected, clean_record, decode_line
from vocabgap.ingest.discovery import LogFile
from vocabgap.record import GapRecord, RejectReason, Repair, in_utc
from vocabgap.text import visible

_BOM: Final = b"\xef\xbb\xbf"
RAW_LIMIT: Final = 512
# A cut may fall inside a string or inside a character.
_TORN: Final = frozenset({RejectReason.INVALID_JSON, RejectReason.INVALID_UTF8})


@dataclass(slots=True)
class Collector:
    """What has been read so far: records by columns, and rows of the frames `rejects` and `files`."""

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


def _content(log: LogFile) -> bytes:
    if log.problem:
        raise OSError(log.problem)
    # Opening a FIFO or a device would wait for a writer that may never come.
    if not stat.S_ISREG(log.path.stat().st_mode):
        raise OSError("not a regular file")
    return log.path.read_bytes()


def _in_utc_already(record: GapRecord) -> bool:
    return record.timestamp is None or record.timestamp.tzinfo is UTC
