"""Reading one log after the other, whole or from where an earlier scan has left it."""

import os
import sys
from dataclasses import dataclass
from typing import Final

import msgspec

from vocabgap.ingest.decoding import Decoded, decode_line
from vocabgap.ingest.discovery import LogFile
from vocabgap.ingest.framing import Block, blocks
from vocabgap.ingest.lines import Lines, Portion
from vocabgap.ingest.mending import Rejected
from vocabgap.ingest.reading import Reading
from vocabgap.records.record import RejectReason


class Prefix(msgspec.Struct, frozen=True, array_like=True):
    """What is known of the beginning of a log from an earlier scan: whole lines only.

    Attributes:
        bytes: Its length.
        lines: How many newlines it holds.
        sha256: Its digest.
    """

    bytes: int
    lines: int
    sha256: str


class LogRead(msgspec.Struct, frozen=True):
    """One log that was read.

    Attributes:
        status: What the system said of it when it was opened.
        opened: When that was, in nanoseconds since 1970.
        resumed: Whether only what follows the known prefix was decoded.
        to_the_end: Whether nothing kept it from being read to its end.
        portions: What was decoded, in order.
        bytes: Its size, expanded where it is compressed.
        sha256: Digest of those bytes.
        prefix: Its whole lines, to go on from next time.
    """

    status: os.stat_result
    opened: int
    resumed: bool
    to_the_end: bool
    portions: list[Portion]
    bytes: int
    sha256: str
    prefix: Prefix


def _is_whole(block: Block, log: LogFile) -> bool:
    """Whether the last line of what could be read says everything that it was to say."""
    return not block.too_long and isinstance(decode_line(block.lines[0], log.kind.fields), Decoded)


_NOTHING: Final = Prefix(0, 0, "")


@dataclass(slots=True)
class Collector:
    """Reads logs.

    Attributes:
        lines: Takes the lines of each.
        max_expanded: How many bytes a compressed log may expand to.
    """

    lines: Lines
    max_expanded: int = sys.maxsize

    def read(self, log: LogFile, known: Prefix | None = None) -> LogRead | None:
        """Read one log; one that cannot be read becomes one reject, and None.

        Args:
            log: The log.
            known: Its beginning as an earlier scan knows it; if it still is, reading goes on after it.
        """
        if log.problem is not None:
            self.lines.rejects.add(log, log.problem)
            return None
        try:
            reading = Reading.open(log.path, log.kind.compression, self.max_expanded)
        except OSError as error:
            detail = f"the log cannot be read: {error.strerror or error}"
            self.lines.rejects.add(log, Rejected(RejectReason.UNREADABLE_FILE, detail))
            return None
        try:
            start = known if known and reading.starts_with(known.bytes, known.sha256) else None
            portions, newlines = self._read_lines(log, reading, start or _NOTHING)
        finally:
            reading.close()
        if reading.trouble is not None:
            self.lines.rejects.add(log, reading.trouble)
        sha256, sha256_of_lines = reading.digests()
        return LogRead(
            status=reading.status,
            opened=reading.opened,
            resumed=start is not None,
            to_the_end=reading.trouble is None,
            portions=portions,
            bytes=reading.size,
            sha256=sha256,
            prefix=Prefix(reading.whole_lines, newlines, sha256_of_lines),
        )

    def _read_lines(self, log: LogFile, reading: Reading, start: Prefix) -> tuple[list[Portion], int]:
        """What follows a known beginning, and how many newlines the log has from its very beginning."""
        portion = Portion(ended=True)
        portions = [portion]
        newlines = start.lines
        for block in blocks(reading.chunks(), number=start.lines + 1, offset=start.bytes):
            if block.ended:
                newlines += len(block.lines)
            elif reading.trouble is not None and not _is_whole(block, log):
                break  # a line that was being written, or could not be read on
            else:
                portion = Portion(ended=False)
                portions.append(portion)
            self.lines.take(log, block, portion)
        return portions, newlines
