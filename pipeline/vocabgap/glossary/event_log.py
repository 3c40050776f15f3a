"""The event log: one file of JSON Lines a mission, read and added to, one writer at a time."""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple
from uuid import uuid4

import msgspec

from vocabgap.errors import NotFoundError, VocabgapError
from vocabgap.files.journal import START, Added, Journal, Mark
from vocabgap.files.locking import lock_file
from vocabgap.files.refusals import FileRole
from vocabgap.glossary.events import (
    GlossaryChange,
    GlossaryClarificationResolved,
    GlossaryEvent,
    GlossarySenseUpdated,
    NewSense,
    StepCheckpointed,
    encoded,
    event_of,
)
from vocabgap.glossary.normal_form import definition_key, term_key
from vocabgap.glossary.senses import EXTRACTED, InvalidTermError, SenseRef, SenseStatus, require_id
from vocabgap.text import count

LOG_ENDING: Final = ".events.jsonl"
BY_HAND: Final = "glossary"  # the log of what people do beside any mission
_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
_DECODER: Final = msgspec.json.Decoder[GlossaryEvent](GlossaryEvent)
_FOREIGN: Final = re.compile(r"[^A-Za-z0-9_.-]")
_LOCK: Final = "writer.lock"  # a file that is held while somebody changes the glossary
_LONGEST_NAME: Final = 200  # characters of a file's name; systems allow 255 bytes


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event, and the log that it comes from.

    Attributes:
        log: The file's name without its ending.
        moment: When it happened at the earliest: no event is before one that its log holds already, whatever
            the clock of the writer said.
    """

    event: GlossaryEvent
    log: str
    moment: datetime


@dataclass(frozen=True)
class EventsRead:
    """What the logs of a folder hold.

    Attributes:
        skipped: How many lines are no events: torn, or of another kind.
    """

    events: tuple[LoggedEvent, ...] = ()
    skipped: int = 0


def skipped_lines(skipped: int) -> list[str]:
    """What is said of the lines of logs that are no events; nothing where there is none."""
    return [f"passed over in the event logs: {count(skipped, 'line')} that cannot be read"] if skipped else []


def log_name(mission_id: str) -> str:
    """The name of a mission's log: what a file's name had better not hold becomes a hyphen."""
    require_id("mission_id", mission_id)
    name = _FOREIGN.sub("-", mission_id)
    if len(name) > _LONGEST_NAME:
        digest = hashlib.sha256(mission_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        name = f"{name[: _LONGEST_NAME - len(digest) - 1]}-{digest}"
    return f"{name}{LOG_ENDING}"


def read_events(folder: Path, mission_id: str | None = None) -> EventsRead:
    """Everything that the logs of a folder hold, damage and foreign lines aside.

    Raises:
        VocabgapError: A log cannot be read.
    """
    bad: list[VocabgapError] = []
    logged: list[LoggedEvent] = []
    for path in log_files(folder, mission_id):
        logged += _logged(_JOURNAL.read(path, bad.append), path, _LONG_AGO)
    return EventsRead(in_order(logged), len(bad))


def in_order(events: Iterable[LoggedEvent]) -> tuple[LoggedEvent, ...]:
    """Events in the order in which they happened; those of one log by line, those of one moment by log."""
    return tuple(sorted(events, key=lambda each: (each.moment, each.log)))


def log_files(folder: Path, mission_id: str | None = None) -> list[Path]:
    """The logs of a folder in order of their names, or the one of a mission."""
    if mission_id is not None:
        path = folder / log_name(mission_id)
        return [path] if os.path.lexists(path) else []
    with _JOURNAL.role.refusing(folder, "read"):
        if not folder.is_dir():
            return []
        return sorted(path for path in folder.iterdir() if path.name.endswith(LOG_ENDING))


class Log(NamedTuple):
    """What is remembered of a log that was read.

    Attributes:
        mark: How far it was read.
        changes: The events that change what a term means; the same tuple as long as no further one comes.
        moment: That of the last event.
    """

    mark: Mark = START
    changes: tuple[LoggedEvent, ...] = ()
    skipped: int = 0
    moment: datetime = _LONG_AGO


def follow_logs(folder: Path, known: Mapping[str, Log]) -> dict[str, Log]:
    """The logs of a folder by name. Of one that begins as it is known only what was added is parsed."""
    return {path.name: _followed(path, known.get(path.name, Log())) for path in log_files(folder)}


def _followed(path: Path, known: Log) -> Log:
    bad: list[VocabgapError] = []
    added: Added[GlossaryEvent] = _JOURNAL.follow(path, known.mark, bad.append)
    known = Log() if added.is_anew else known
    events = _logged(added.entries, path, known.moment)
    changes = tuple(logged for logged in events if isinstance(logged.event, GlossaryChange))
    return Log(
        added.mark,
        (*known.changes, *changes) if changes else known.changes,
        known.skipped + len(bad),
        events[-1].moment if events else known.moment,
    )


def _logged(entries: Iterable[tuple[int, GlossaryEvent]], path: Path, moment: datetime) -> list[LoggedEvent]:
    """Return the events of a log; none of them is before `moment` or before an earlier one."""
    logged: list[LoggedEvent] = []
    for _, event in entries:
        moment = max(moment, event.timestamp)
        logged.append(LoggedEvent(event, path.name.removesuffix(LOG_ENDING), moment))
    return logged


class GivenAnswer(msgspec.Struct, frozen=True):
    """What somebody has said of a term.

    Attributes:
        status: What the sense counts for since then.
        source: By which way it was said.
        conflict_id: The question; empty where it answers none.
        replaced: The senses that count no more since then.
        overrides: The answer that stood until then, and says something else, in words; empty where none did.
    """

    term: str
    scope: str
    definition: str
    status: SenseStatus
    actor_id: str
    timestamp: datetime
    source: str
    conflict_id: str = ""
    mission_id: str = ""
    replaced: tuple[SenseRef, ...] = ()
    overrides: str = ""

    @property
    def summary(self) -> str:
        """What was said, by whom, and when."""
        return f"'{self.definition}', as {self.actor_id} said on {self.timestamp:%Y-%m-%d %H:%M}"


def answers_of(events: Iterable[LoggedEvent]) -> list[GivenAnswer]:
    """What people have said of terms, in order; drafts of terms that were found are not said by anybody."""
    listed: list[GivenAnswer] = []
    standing: dict[str, GivenAnswer] = {}  # by term
    for event in (each.event for each in events):
        sense: SenseRef | NewSense
        match event:
            case GlossaryClarificationResolved(selected_sense=sense):
                status = SenseStatus.ACTIVE
            case GlossarySenseUpdated(new_sense=sense):
                status = sense.status
            case _:
                continue
        made = event.provenance
        if made is not None and made.source == EXTRACTED:
            continue
        key = term_key(event.term_surface)
        before = standing.get(key)
        is_same = before is not None and definition_key(before.definition) == definition_key(sense.definition)
        is_active = status is SenseStatus.ACTIVE
        replaced = None if isinstance(event.overruled, msgspec.UnsetType) else event.overruled
        # What a log does not say, an answer takes the place of.
        takes_place = replaced is None or any(
            before is not None and definition_key(each.definition) == definition_key(before.definition)
            for each in replaced
        )
        answer = GivenAnswer(
            event.term_surface,
            sense.scope,
            sense.definition,
            status,
            event.actor.actor_id,
            ((made and made.timestamp) or event.timestamp).astimezone(UTC),
            made.source if made else "",
            event.conflict_id,
            event.mission_id,
            replaced or (),
            before.summary if before is not None and is_active and not is_same and takes_place else "",
        )
        names = (answer.conflict_id, answer.timestamp)
        if before is not None and is_same and names[0] and (before.conflict_id, before.timestamp) == names:
            continue  # one answer that was logged as two events
        listed.append(answer)
        if is_active:
            standing[key] = answer
    return listed


def append_events(folder: Path, mission_id: str, events: Iterable[GlossaryEvent]) -> list[GlossaryEvent]:
    """Add events to a mission's log, all of them or none; they are on the disk when this returns."""
    path = folder / log_name(mission_id)
    logged = [identified(event) for event in events]
    lines = b"".join(map(encoded, logged))
    if not lines:
        return logged
    with _JOURNAL.appending(path) as writer:
        writer.add(lines)
    return logged


@contextmanager
def changing(folder: Path) -> Iterator[None]:
    """Change a glossary while nobody else does: what was read holds still when it is logged.

    Raises:
        VocabgapError: The folder cannot be written to, or another writer holds it.
    """
    path = folder / _LOCK
    with _JOURNAL.role.refusing(path, "written"):
        folder.mkdir(parents=True, exist_ok=True)
        with lock_file(path, f"glossary '{folder}'", purpose="change it", undone=_JOURNAL.role.undone):
            yield


def identified(event: GlossaryEvent) -> GlossaryEvent:
    """The event with an identifier, a new one where it has none."""
    return event if event.event_id else msgspec.structs.replace(event, event_id=str(uuid4()))


def load_checkpoint(
    folder: Path,
    step_id: str | None = None,
    *,
    mission_id: str | None = None,
    retry_token: str | None = None,
    accepted: Callable[[str], bool] = bool,
) -> StepCheckpointed | None:
    """The newest checkpoint of a step; of one moment the last."""
    wanted = {"step_id": step_id, "mission_id": mission_id, "retry_token": retry_token}
    found = [
        each.event
        for each in read_events(folder).events
        if isinstance(each.event, StepCheckpointed)
        and all(value in {None, getattr(each.event, name)} for name, value in wanted.items())
        and accepted(each.event.retry_token)
    ]
    return max(reversed(found), key=lambda each: each.timestamp, default=None)


def require_checkpoint(folder: Path, retry_token: str) -> StepCheckpointed:
    """The checkpoint of a token."""
    checkpoint = load_checkpoint(folder, retry_token=retry_token)
    if checkpoint is None:
        also = "".join(f"; {each}" for each in skipped_lines(read_events(folder).skipped))
        raise NotFoundError(
            f"there is no checkpoint '{retry_token}' in '{folder}'{also}",
            hint="the step that was stopped names its token; run it again to get a new one",
        )
    return checkpoint


def _event(line: bytes, _: str) -> GlossaryEvent:
    try:
        return _DECODER.decode(line)  # type: ignore[no-any-return]
    except (ValueError, OverflowError, RecursionError):
        try:
            payload = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidTermError("no JSON") from error
        return event_of(payload)  # which reads the forms of others, too, and says what is no event


_JOURNAL: Final = Journal(
    FileRole(
        "event log",
        "name another folder for the glossary's events",
        undone="nothing was logged",
        again="try again when that one is done",
    ),
    _event,
)
