"""The files of a glossary: read seed files and event logs, and append events."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import accumulate, chain
from pathlib import Path
from typing import Final, NamedTuple
from uuid import uuid4

import msgspec

from vocabgap.errors import Hint, InvalidInputError, NotFoundError, VocabgapError
from vocabgap.files.journal import Journal, entries_of
from vocabgap.files.locking import lock_file
from vocabgap.files.refusals import FileKind, FileRole, existing_content, file_kind, refusing
from vocabgap.glossary.events import (
    GlossaryChange,
    GlossaryEvent,
    StepCheckpointed,
    answers_of,
    encoded,
    event_of,
)
from vocabgap.glossary.glossary import Glossary, sense_of
from vocabgap.glossary.normal_form import term_key
from vocabgap.glossary.seeds import (
    OTHER_ENDING,
    PACK_ENDING,
    SEED_ENDING,
    Seed,
    SeedFileValidationError,
    parse_seed,
    read_content,
    seed_scope,
    why_unread,
    with_clashes,
)
from vocabgap.glossary.senses import LOCAL, InvalidTermError, ScopeStack, TermSense, require_id
from vocabgap.text import count, printable_name

LOG_ENDING: Final = ".events.jsonl"
BY_HAND: Final = "glossary"  # the log of changes outside missions
_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
_NEXT: Final = timedelta(microseconds=1)
_LAST: Final = datetime.max.replace(tzinfo=UTC) - _NEXT
_LONGEST: Final = 200  # characters of a log's name; missions may share a log
_FOREIGN: Final = re.compile(r"[^A-Za-z0-9_.-]")


class LoggedEvent(NamedTuple):
    """An event, the name of its log, and its moment, which never decreases within a log."""

    event: GlossaryEvent
    log: str
    moment: datetime


class EventsRead(NamedTuple):
    """The events of the logs of a folder, the number of unreadable lines, and the errors of whole ones."""

    events: tuple[LoggedEvent, ...] = ()
    skipped: int = 0
    damaged: tuple[str, ...] = ()


def skipped_lines(skipped: int) -> list[str]:
    """Return a message about unreadable lines of logs, if there are any."""
    return [f"skipped in the event logs: {count(skipped, 'unreadable line')}"] if skipped else []


def log_name(mission_id: str) -> str:
    """Return the name of a mission's log, cut; other characters than `A-Za-z0-9_.-` become hyphens."""
    require_id("mission_id", mission_id)
    return f"{_FOREIGN.sub('-', mission_id)[:_LONGEST]}{LOG_ENDING}"


def read_events(folder: Path) -> EventsRead:
    """Read the events of a folder's logs, in the order in which they happened."""
    return _joined(list(map(_read_log, files_in(folder, LOG_ENDING))))


def _read_log(path: Path) -> EventsRead:
    lines = existing_content(path, _JOURNAL.role.name, _JOURNAL.role.hint).split(b"\n")
    unfinished = f"{path}:{len(lines)}:"  # the last line without a newline, which was not acknowledged
    bad: list[VocabgapError] = []
    logged: list[LoggedEvent] = []
    moment = _LONG_AGO
    for _, event in entries_of(lines, _event, path, on_bad=bad.append):
        moment = max(moment, event.timestamp)
        logged.append(LoggedEvent(event, path.name[: -len(LOG_ENDING)], moment))
    damaged = tuple(error.message for error in bad if not error.message.startswith(unfinished))
    return EventsRead(tuple(logged), len(bad), damaged)


def _joined(logs: Collection[EventsRead]) -> EventsRead:
    events = chain.from_iterable(log.events for log in logs)
    in_order = sorted(events, key=lambda logged: (logged.moment, logged.log))
    damaged = chain.from_iterable(log.damaged for log in logs)
    return EventsRead(tuple(in_order), sum(log.skipped for log in logs), tuple(damaged))


def files_in(folder: Path, *endings: str) -> list[Path]:
    """Return the files of a folder with some endings in any case, by name, without hidden files."""
    with refusing(f"'{folder}' cannot be read", hint="check that it is a folder, and its permissions"):
        if file_kind(folder) is FileKind.NOTHING:
            return []
        named = ((path, path.name) for path in folder.iterdir())
        return sorted(path for path, name in named if name[0] != "." and name.lower().endswith(endings))


def append_events(folder: Path, mission_id: str, events: Iterable[GlossaryEvent]) -> list[GlossaryEvent]:
    """Append events to a mission's log, all of them or none; they are on the disk when this returns."""
    path = folder / log_name(mission_id)
    logged = [identified(event) for event in events]
    lines = b"".join(map(encoded, logged))
    if lines:
        with _JOURNAL.appending(path) as writer:
            writer.drop_torn_line()
            writer.add(lines)
    return logged


def identified(event: GlossaryEvent) -> GlossaryEvent:
    """Return the event with an identifier; create one if it has none."""
    return event if event.event_id else msgspec.structs.replace(event, event_id=str(uuid4()))


@contextmanager
def changing(folder: Path) -> Iterator[None]:
    """Hold the lock of a glossary, so that nothing changes between reading and logging."""
    path = folder / "writer.lock"
    with _JOURNAL.role.refusing(path, "written"):
        folder.mkdir(parents=True, exist_ok=True)
        with lock_file(path, f"glossary '{folder}'", purpose="change it", undone=_JOURNAL.role.undone):
            yield


def load_checkpoint(
    folder: Path, step_id: str | None = None, *, mission_id: str | None = None, retry_token: str | None = None
) -> StepCheckpointed | None:
    """Return the newest checkpoint of a step."""
    criteria = {"step_id": step_id, "mission_id": mission_id, "retry_token": retry_token}
    checkpoints = [
        logged.event
        for logged in read_events(folder).events
        if isinstance(logged.event, StepCheckpointed)
        and all(value in {None, getattr(logged.event, name)} for name, value in criteria.items())
    ]
    return max(reversed(checkpoints), key=lambda checkpoint: checkpoint.timestamp, default=None)


def _event(line: bytes, place: str) -> GlossaryEvent:
    try:
        event = event_of(msgspec.json.decode(line))
        if isinstance(event, GlossaryChange):
            sense_of(event)
    except (ValueError, RecursionError) as error:
        raise InvalidTermError(f"{place}: no event: {error}") from error
    return event


_JOURNAL: Final = Journal(
    FileRole(
        "event log",
        "name another folder for the glossary's events",
        undone="nothing was logged",
        again="try again when the other writer is done",
        may_be_link=False,
    ),
    _event,
)


class Loaded(NamedTuple):
    """A glossary and the problems of its files."""

    glossary: Glossary
    seeds: tuple[Seed, ...] = ()
    skipped: int = 0
    unused: tuple[Path, ...] = ()
    damaged: tuple[str, ...] = ()

    @property
    def unread(self) -> list[str]:
        """One sentence for each seed term or file that is not used."""
        scopes = self.glossary.scopes
        unknown = sorted({it.scope for it in self.glossary if it.is_active}.difference(scopes.names))
        problems = [f"{seed.path}: {problem}" for seed in self.seeds for problem in seed.problems]
        problems += [f"not read: {path}: {why_unread(path, scopes)}" for path in self.unused]
        return problems + [f"the logs have senses of '{name}', which is not a scope" for name in unknown]

    @property
    def problems(self) -> list[str]:
        """One sentence for each problem of the files."""
        return self.unread + skipped_lines(self.skipped)

    def require_read(self) -> None:
        """Raise InvalidInputError if a seed term or file is not used, or a line of a log is damaged."""
        if unread := [*self.unread, *self.damaged]:
            raise InvalidInputError(
                f"not all of the glossary can be read: {'; '.join(unread)}",
                hint="correct a file, or move it out of the folder; restore a line of a log, or delete it",
            )


class GlossaryFiles:
    """The files of a glossary, with a cache of their content."""

    def __init__(self, seeds: Path, events: Path, scopes: ScopeStack | None = None) -> None:
        self.seeds, self.events = seeds, events
        self.scopes = ScopeStack() if scopes is None else scopes
        # These are replaced, never modified, so that threads can share them.
        self._seeds: Mapping[Path, tuple[bytes, Seed]] = {}  # with the content
        self._logs: Mapping[Path, tuple[object, EventsRead]] = {}  # the changes, with the state of the file
        self._loaded: tuple[object, Glossary, tuple[Seed, ...]] | None = None

    def load(self, mission_id: str | None = None, *, tolerant: bool = False) -> Loaded:
        """Load the glossary from seed files and logged events; if `tolerant`, without unreadable files."""
        self._seeds = seeds = self._read_seeds()
        logs = self._changes()
        changes = logs.events
        if not any(map(_is_local, changes)):
            mission_id = None  # no mission has senses of its own: all have the same glossary
        source, loaded = (seeds, changes, mission_id, tolerant), self._loaded
        if loaded is None or loaded[0] != source:
            counting = (logged.event for logged in changes if not _is_foreign(logged, mission_id))
            glossary = self._of_seeds(seeds, tolerant=tolerant).applied(counting)
            self._loaded = loaded = source, glossary, with_clashes([seed for _, seed in seeds.values()])
        unused = tuple(path for path in self._written() if seed_scope(path, self.scopes) is None)
        return Loaded(*loaded[1:], logs.skipped, unused, logs.damaged)

    def load_version(self, version_id: str) -> tuple[TermSense, ...]:
        """Rebuild a version of a scope from the seed files and the first changes; return its senses."""
        changes, seeded = self._changes().events, self._of_seeds(self._read_seeds(), tolerant=False)
        missions = (logged.event.mission_id or logged.log for logged in changes if _is_local(logged))
        for mission_id in dict.fromkeys([None, BY_HAND, *missions]):
            events = (logged.event for logged in changes if not _is_foreign(logged, mission_id))
            for glossary in accumulate(events, lambda it, event: it.applied([event]), initial=seeded):
                scopes = {ref.version_id: ref.scope for ref in glossary.scope_refs}
                if version_id in scopes:
                    return tuple(sense for sense in glossary if sense.scope == scopes[version_id])
        message = f"version '{version_id}' cannot be rebuilt from the seed files and event logs"
        hint = "check its digits; if they are right, restore the seed files of that moment, such as with git"
        raise NotFoundError(message, hint=hint)

    def _read_seeds(self) -> dict[Path, tuple[bytes, Seed]]:
        seeds = {}
        packs = (path for path in self._written() if path.name.endswith(PACK_ENDING) and self.scopes.names)
        for path in (*(self.seeds / f"{scope}{SEED_ENDING}" for scope in self.scopes.names), *packs):
            content, cached = read_content(path), self._seeds.get(path)
            if content is not None:
                is_same = cached is not None and cached[0] == content
                seeds[path] = cached if cached and is_same else (content, parse_seed(path, content))
        return seeds

    def _of_seeds(self, seeds: Mapping[Path, tuple[bytes, Seed]], *, tolerant: bool) -> Glossary:
        for _, seed in () if tolerant else seeds.values():
            if not seed.terms and any(problem.term is None for problem in seed.problems):
                # Without this scope, the gate would ignore decisions of people.
                command = ("glossary", "validate", printable_name(str(seed.path)))
                hint = Hint("correct the file, which {} checks, or move it away", (command,))
                raise SeedFileValidationError(seed.path, seed.problems, hint=hint)
        scoped = ((seed_scope(path, self.scopes) or "", seed) for path, (_, seed) in seeds.items())
        aliases = {alias: term for _, seed in seeds.values() for alias, term in seed.aliases().items()}
        return Glossary((each for scope, seed in scoped for each in seed.senses(scope)), self.scopes, aliases)

    def _written(self) -> list[Path]:
        return files_in(self.seeds, SEED_ENDING, OTHER_ENDING)

    def _changes(self) -> EventsRead:
        logs = {}
        for path in files_in(self.events, LOG_ENDING):
            with _JOURNAL.role.refusing(path, "read"):
                state = path.stat()
            cached, mark = self._logs.get(path), (state.st_size, state.st_mtime_ns, state.st_ino)
            if cached is None or cached[0] != mark:
                content = _read_log(path)
                changes = (logged for logged in content.events if isinstance(logged.event, GlossaryChange))
                cached = mark, content._replace(events=tuple(changes))
            logs[path] = cached
        self._logs = logs
        return _joined([content for _, content in logs.values()])

    def answers(self, term: str) -> list[GlossaryChange]:
        """Return people's answers about a term, in order."""
        answers = answers_of(logged.event for logged in self._changes().events)
        return [answer for answer in answers if term_key(answer.term_surface) == term_key(term)]

    def append_changes(self, mission_id: str, events: Iterable[GlossaryEvent]) -> list[GlossaryEvent]:
        """Append events that change a glossary, so that they apply after all logged events.

        An event before the last logged moment gets the next moment. So the events of a fast clock can be
        overruled. The caller holds the lock (`changing`). Without a mission, they are done by hand.
        """
        latest = max((logged.moment for logged in self._changes().events), default=_LONG_AGO)
        earliest = min(latest, _LAST) + _NEXT
        changed = (
            msgspec.structs.replace(event, timestamp=max(event.timestamp, earliest), mission_id=mission_id)
            for event in events
        )
        return append_events(self.events, mission_id or BY_HAND, changed)


def _is_local(logged: LoggedEvent) -> bool:
    """Tell whether an event changes the scope of one mission."""
    return isinstance(logged.event, GlossaryChange) and logged.event.sense.scope == LOCAL


def _is_foreign(logged: LoggedEvent, mission_id: str | None) -> bool:
    """Tell whether an event is about another mission's own scope."""
    if mission_id is None or not _is_local(logged):
        return False
    if own := logged.event.mission_id:
        return own != mission_id
    return logged.log not in {BY_HAND, log_name(mission_id).removesuffix(LOG_ENDING)}
