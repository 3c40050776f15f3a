"""Following: event logs that grow, of which only what was added since they were read last is read again."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from vocabgap.glossary.event_log import ENDING, Logged, opened_log, parse_log
from vocabgap.glossary.events import GlossaryClarificationResolved, GlossarySenseUpdated

_MOST_FOLLOWED: Final = 1_000  # logs
_SETTLED: Final = 2_000_000_000  # nanoseconds after which a change of a file changes its time as well
_TAIL: Final = 1_024  # bytes before the end, by which a log is known again: they hold identifiers and moments
_CHANGING: Final = (GlossarySenseUpdated, GlossaryClarificationResolved)  # the events that change a glossary


class Signature(NamedTuple):
    """What tells whether a file was changed.

    Attributes:
        file: The number of the file on its disk.
        size: In bytes.
        modified: The time of its content, in nanoseconds.
        changed: The time of its entry on the disk, in nanoseconds.
    """

    file: int
    size: int
    modified: int
    changed: int

    @classmethod
    def of(cls, state: os.stat_result) -> "Signature":
        """That of a file, from what the system says of it."""
        return cls(state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)

    @property
    def is_settled(self) -> bool:
        """Whether a further change would show: it was changed a while ago."""
        return time.time_ns() - max(self.modified, self.changed) > _SETTLED


@dataclass(frozen=True, eq=False)
class Changes:
    """The events of a log that change a glossary; the same object as long as no further one comes."""

    events: tuple[Logged, ...] = ()


class Log(NamedTuple):
    """A log as far as it was read.

    Attributes:
        changes: Its events that change a glossary.
        skipped: How many lines are no events.
        signature: Of the file, before it was read.
        size: How many bytes were read.
        lines: How many lines these are.
        tail: The last of these bytes.
    """

    changes: Changes = Changes()
    skipped: int = 0
    signature: Signature = Signature(0, 0, 0, 0)
    size: int = 0
    lines: int = 0
    tail: bytes = b""


_UNREAD: Final = Log()
_logs: dict[Path, Log] = {}


def follow(path: Path) -> Log:
    """A log, of which only what was added is read: most of it changes nothing.

    It is read as a whole where it is another file by now, is shorter than before, was changed without
    growing, or goes on in the middle of a line.

    Raises:
        VocabgapError: It cannot be read.
    """
    known = _logs.get(path, _UNREAD)
    with opened_log(path) as file:
        signature = Signature.of(os.fstat(file.fileno()))
        if known.signature == signature and signature.is_settled:
            return known
        added = _added(file, known, signature)
        if added is None:
            known, added = _UNREAD, _from(file, 0)
    if known.signature == signature and not added:
        return known
    events, skipped = parse_log(added, path.name.removesuffix(ENDING), known.lines + 1)
    changing = tuple(each for each in events if isinstance(each.event, _CHANGING))
    if len(_logs) >= _MOST_FOLLOWED:
        _logs.clear()
    log = _logs[path] = Log(
        Changes((*known.changes.events, *changing)) if changing else known.changes,
        known.skipped + skipped,
        signature,
        known.size + len(added),
        known.lines + added.count(b"\n"),
        (known.tail + added)[-_TAIL:],
    )
    return log


def _added(file: BinaryIO, known: Log, signature: Signature) -> bytes | None:
    """What a log holds beyond what was read; none where that is not the beginning of it any more."""
    is_same = signature.file == known.signature.file
    has_grown = signature.size > known.size or signature == known.signature
    if not (is_same and has_grown and known.tail.endswith(b"\n")):
        return None
    content = _from(file, known.size - len(known.tail))
    return content[len(known.tail) :] if content.startswith(known.tail) else None


def _from(file: BinaryIO, place: int) -> bytes:
    file.seek(place)
    return file.read()
