"""The event log: one file of JSON Lines a mission, as it is read."""

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import msgspec

from vocabgap.errors import NotFoundError, VocabgapError
from vocabgap.files.lines import read_lines
from vocabgap.files.refusals import FileKind, FileRole, file_kind
from vocabgap.glossary.checkpoints import StepCheckpoint, checkpoint_of, is_uuid
from vocabgap.glossary.errors import InvalidTermError
from vocabgap.glossary.events import (
    GlossaryClarificationResolved,
    GlossaryEvent,
    GlossarySenseUpdated,
    StepCheckpointed,
    event_of,
)
from vocabgap.glossary.senses import require_id
from vocabgap.text import count

ENDING: Final = ".events.jsonl"
BY_HAND: Final = "glossary"  # the log of what people do beside any mission
LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
LOG_ROLE: Final = FileRole(
    "event log",
    "name another folder for the glossary's events",
    undone="nothing was logged",
    again="try again when that one is done",
)
_DECODER: Final = msgspec.json.Decoder[GlossaryEvent](GlossaryEvent)
_FOREIGN: Final = re.compile(r"[^A-Za-z0-9_.-]")
_LONGEST_NAME: Final = 200  # characters of a file's name; systems allow 255 bytes


@dataclass(frozen=True, slots=True)
class Logged:
    """An event, and the log that it comes from.

    Attributes:
        event: The event.
        log: The file's name without its ending.
        line: The line, counted from 1.
        moment: When it happened at the earliest: no event is before one that its log holds already, whatever
            the clock of the writer said.
    """

    event: GlossaryEvent
    log: str
    line: int
    moment: datetime


@dataclass(frozen=True)
class EventsRead:
    """What the logs of a folder hold.

    Attributes:
        events: In the order in which they happened; those of one log in that of their lines.
        skipped: How many lines are no events: torn, or of another kind.
    """

    events: tuple[Logged, ...] = ()
    skipped: int = 0


def passed_over(skipped: int) -> list[str]:
    """What is said of the lines of logs that are no events; nothing where there is none."""
    return [f"passed over in the event logs: {count(skipped, 'line')} that cannot be read"] if skipped else []


def log_name(mission_id: str) -> str:
    """The name of a mission's log: what a file's name had better not hold becomes a hyphen.

    Raises:
        InvalidTermError: The mission has no name.
    """
    require_id("mission_id", mission_id)
    name = _FOREIGN.sub("-", mission_id)
    if len(name) > _LONGEST_NAME:
        digest = hashlib.sha256(mission_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        name = f"{name[: _LONGEST_NAME - len(digest) - 1]}-{digest}"
    return f"{name}{ENDING}"


def read_events(folder: Path, mission_id: str | None = None) -> EventsRead:
    """Everything that the logs of a folder hold, damage and foreign lines aside.

    Args:
        folder: Where the logs lie; nothing happened where there is none.
        mission_id: The mission whose log is read; all of them by default.

    Raises:
        VocabgapError: A log cannot be read.
    """
    found: list[Logged] = []
    skipped = 0
    for path in log_files(folder, mission_id):
        with opened_log(path) as file:
            content = file.read()
        events, bad = parse_log(content, path.name.removesuffix(ENDING))
        found += events
        skipped += bad
    return EventsRead(in_order(found), skipped)


def in_order(events: Iterable[Logged]) -> tuple[Logged, ...]:
    """Events in the order in which they happened; those of one log by line, those of one moment by log."""
    return tuple(sorted(events, key=lambda each: (each.moment, each.log, each.line)))


def log_files(folder: Path, mission_id: str | None = None) -> list[Path]:
    """The logs of a folder in order of their names, or the one of a mission."""
    if mission_id is not None:
        path = folder / log_name(mission_id)
        return [path] if os.path.lexists(path) else []
    with LOG_ROLE.refusing(folder, "read"):
        if not folder.is_dir():
            return []
        return sorted(path for path in folder.iterdir() if path.name.endswith(ENDING))


@contextmanager
def opened_log(path: Path) -> Iterator[BinaryIO]:
    """A log, open to be read.

    Raises:
        VocabgapError: It cannot be read.
    """
    with LOG_ROLE.refusing(path, "read"):
        found = file_kind(path)
        if found is not FileKind.FILE:
            raise LOG_ROLE.no_file(path, found)
        with path.open("rb") as file:
            yield file


def parse_log(
    content: bytes, log: str, first: int = 1, since: datetime = LONG_AGO
) -> tuple[list[Logged], int]:
    """The events of one log in the order of their lines, and how many lines are none.

    Args:
        content: What the file holds.
        log: Its name without the ending.
        first: The number of its first line.
        since: The latest moment of the lines before.
    """
    found: list[Logged] = []
    bad: list[VocabgapError] = []
    moment = since
    lines = content.split(b"\n")
    for number, event in read_lines(lines, lambda _, line: _event(line), first=first, on_bad=bad.append):
        moment = max(moment, event.timestamp)
        found.append(Logged(event, log, number, moment))
    return found, len(bad)


def load_checkpoint(
    folder: Path,
    step_id: str | None = None,
    *,
    mission_id: str | None = None,
    retry_token: str | None = None,
    accepted: Callable[[str], bool] = is_uuid,
) -> StepCheckpoint | None:
    """The newest checkpoint of a step.

    Args:
        folder: Where the logs lie.
        step_id: The step; any one by default.
        mission_id: The mission; any one by default.
        retry_token: The token of the checkpoint; any one by default.
        accepted: Whether the checkpoint of a token counts.

    Returns:
        The checkpoint; none where the logs hold none.

    Raises:
        VocabgapError: A log cannot be read.
    """
    newest: StepCheckpoint | None = None
    for each in read_events(folder).events:
        event = each.event
        if not isinstance(event, StepCheckpointed):
            continue
        wanted = (
            (step_id, event.step_id),
            (mission_id, event.mission_id),
            (retry_token, event.retry_token),
        )
        if any(asked is not None and asked != there for asked, there in wanted):
            continue
        try:
            found = checkpoint_of(msgspec.to_builtins(event))
        except InvalidTermError:
            continue
        is_newer = newest is None or found.timestamp >= newest.timestamp
        if is_newer and accepted(found.retry_token):
            newest = found
    return newest


def require_checkpoint(folder: Path, retry_token: str) -> StepCheckpoint:
    """The checkpoint of a token.

    Raises:
        NotFoundError: The logs hold none.
        VocabgapError: A log cannot be read.
    """
    found = load_checkpoint(folder, retry_token=retry_token)
    if found is None:
        also = "".join(f"; {told}" for told in passed_over(read_events(folder).skipped))
        raise NotFoundError(
            f"there is no checkpoint '{retry_token}' in '{folder}'{also}",
            hint="the step that was stopped names its token; run it again to get a new one",
        )
    return found


def _event(line: bytes) -> GlossaryEvent:
    try:
        return _DECODER.decode(line)  # type: ignore[no-any-return]
    except (ValueError, OverflowError, RecursionError):
        return event_of(_json(line))  # which reads the forms of others, too, and says what is no event


def _json(line: bytes) -> Any:  # noqa: ANN401 - whatever a log may hold
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidTermError("no JSON") from error


# Following: event logs that grow, of which only what was added since they were read last is read
# again.


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
