"""Following: event logs that grow, of which only what was added since they were read last is read again."""

import os
import time
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from vocabgap.glossary.event_log import ENDING, LONG_AGO, Logged, log_files, opened_log, parse_log
from vocabgap.glossary.events import GlossaryClarificationResolved, GlossaryEvent, GlossarySenseUpdated

_MOST_FOLDERS: Final = 8
_SETTLED: Final = 2_000_000_000  # nanoseconds after which a change of a file changes its time as well
_TAIL: Final = 1_024  # bytes before the end, by which a log is known again: they hold identifiers and moments
CHANGING: Final = (GlossarySenseUpdated, GlossaryClarificationResolved)  # the events that change a glossary


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

    @cached_property
    def scopes(self) -> frozenset[str]:
        """The scopes that they change."""
        return frozenset(scope_of(each.event) for each in self.events)


class Log(NamedTuple):
    """A log as far as it was read.

    Attributes:
        changes: Its events that change a glossary.
        skipped: How many lines are no events.
        signature: Of the file, before it was read.
        size: How many bytes were read.
        lines: How many lines these are.
        tail: The last of these bytes.
        moment: The latest of its events.
    """

    changes: Changes = Changes()
    skipped: int = 0
    signature: Signature = Signature(0, 0, 0, 0)
    size: int = 0
    lines: int = 0
    tail: bytes = b""
    moment: datetime = LONG_AGO


_UNREAD: Final = Log()
_followed: dict[Path, dict[str, Log]] = {}  # by folder and name; the folder that was read last is the last


def follow_logs(folder: Path) -> list[Log]:
    """The logs of a folder in order of their names, of which only what was added is read.

    A log is read as a whole where it is another file by now, is shorter than before, was changed without
    growing, or goes on in the middle of a line.

    Args:
        folder: The folder; without it there are no logs.

    Raises:
        VocabgapError: One cannot be read.
    """
    before = _followed.pop(folder, {})
    logs = {path.name: _follow(path, before.get(path.name, _UNREAD)) for path in log_files(folder)}
    _followed[folder] = logs
    if len(_followed) > _MOST_FOLDERS:
        del _followed[next(iter(_followed))]
    return list(logs.values())


def scope_of(event: GlossaryEvent) -> str:
    """The scope that an event changes; empty where it changes none."""
    match event:
        case GlossarySenseUpdated(scope=scope):
            return scope
        case GlossaryClarificationResolved(selected_sense=sense):
            return sense.scope
    return ""


def _follow(path: Path, known: Log) -> Log:
    if known is not _UNREAD and _is_same(path, known):
        return known
    with opened_log(path) as file:
        signature = Signature.of(os.fstat(file.fileno()))
        added = _added(file, known, signature)
        if added is None:
            known, added = _UNREAD, _from(file, 0)
    if known.signature == signature and not added:
        return known
    events, skipped = parse_log(added, path.name.removesuffix(ENDING), known.lines + 1, known.moment)
    changing = tuple(each for each in events if isinstance(each.event, CHANGING))
    return Log(
        Changes((*known.changes.events, *changing)) if changing else known.changes,
        known.skipped + skipped,
        signature,
        known.size + len(added),
        known.lines + added.count(b"\n"),
        (known.tail + added)[-_TAIL:],
        events[-1].moment if events else known.moment,
    )


def _is_same(path: Path, known: Log) -> bool:
    """Whether a log is as it was read, which can be told without opening it."""
    try:
        return known.signature.is_settled and Signature.of(path.stat()) == known.signature
    except OSError:
        return False  # reading it says what is wrong


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
