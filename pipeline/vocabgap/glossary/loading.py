"""Loading: from a folder of seed files and one of event logs to a glossary, once for each content."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple
from uuid import uuid4

import msgspec

from vocabgap.errors import InvalidInputError
from vocabgap.files.lines import add_lines, appending
from vocabgap.files.locking import lock_file
from vocabgap.glossary.errors import SeedFileValidationError
from vocabgap.glossary.event_log import (
    BY_HAND,
    CHANGING,
    LOG_ROLE,
    LONG_AGO,
    Changes,
    Logged,
    Signature,
    follow_logs,
    in_order,
    log_name,
    passed_over,
    scope_of,
)
from vocabgap.glossary.event_log import ENDING as LOG_ENDING
from vocabgap.glossary.events import GlossaryEvent, encoded
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.seeds import ENDING, Seed, parse_seed, read_content, seed_path
from vocabgap.glossary.seeds import scope_of as scope_named
from vocabgap.glossary.senses import ScopeStack
from vocabgap.text import printable_name

_OTHER_ENDING: Final = ".yml"  # of the same format, and easily written
_MOST_KEPT: Final = 32  # contents of files
_MOST_GLOSSARIES: Final = 16  # as missions have them that have senses of their own
_OTHERWISE: Final = "correct the file, which `vocabgap glossary validate` checks, or move it away"
_SeedContent = tuple[str, Path, bytes]  # scope, file, content

_contents: dict[Path, tuple[Signature, bytes]] = {}


class Loaded(NamedTuple):
    """A glossary, and what was wrong in the files that it comes from.

    Attributes:
        glossary: The glossary.
        invalid: The seed files with errors; their other terms are in the glossary.
        skipped: How many lines of the logs are no events.
        unused: The seed files whose names are no active scope's.
        missing: The folder of the seed files where it does not exist.
    """

    glossary: Glossary
    invalid: tuple[Seed, ...] = ()
    skipped: int = 0
    unused: tuple[Path, ...] = ()
    missing: Path | None = None

    @property
    def problems(self) -> list[str]:
        """What of the files does not count, a sentence each."""
        told = [f"{seed.path}: {problem}" for seed in self.invalid for problem in seed.problems]
        scopes = ", ".join(self.glossary.scopes.names)
        told += [
            f"not read: {path}: '{path.stem}' is no scope; the scopes are {scopes}" for path in self.unused
        ]
        if self.missing is not None:
            told.append(
                f"no seed file says what a term means: '{printable_name(str(self.missing))}' is no folder"
            )
        return told + passed_over(self.skipped)


def load_glossary(
    seeds: Path, events: Path, scopes: ScopeStack | None = None, *, mission_id: str | None = None
) -> Loaded:
    """The glossary that seed files and logged events make, from memory where neither has changed.

    Args:
        seeds: The folder of the seed files, one for each scope that has any; an empty glossary without it.
        events: The folder of the logs.
        scopes: The active scopes; the usual ones by default.
        mission_id: The mission whose own scope counts; that of all missions by default.

    Raises:
        SeedFileValidationError: A seed file is none: nothing of its scope would count.
        VocabgapError: A file cannot be read.
    """
    stack = ScopeStack() if scopes is None else scopes
    found = ((scope, seed_path(seeds, scope)) for scope in stack.names)
    written = tuple(
        (scope, path, content) for scope, path in found if (content := _content(path)) is not None
    )
    logs = follow_logs(events)
    changes = tuple(log.changes for log in logs if log.changes.events)
    if not any(stack.local_scope in each.scopes for each in changes):
        mission_id = None  # nothing is any mission's own: all have the same glossary
    glossary, invalid = _loaded(written, changes, stack, mission_id)
    missing = None if seeds.is_dir() else seeds
    return Loaded(glossary, invalid, sum(log.skipped for log in logs), _unused(seeds, stack), missing)


def _unused(seeds: Path, scopes: ScopeStack) -> tuple[Path, ...]:
    """The files that would be seed files under another name."""
    try:
        listed = sorted(seeds.iterdir())
    except OSError:
        return ()  # what is to be read there says so
    written = (path for path in listed if path.suffix in {ENDING, _OTHER_ENDING})
    return tuple(path for path in written if scope_named(path, scopes) is None)


@lru_cache(maxsize=_MOST_GLOSSARIES)
def _loaded(
    seeds: tuple[_SeedContent, ...], logs: tuple[Changes, ...], scopes: ScopeStack, mission_id: str | None
) -> tuple[Glossary, tuple[Seed, ...]]:
    base, invalid = _seeded(seeds, scopes)
    events = in_order(each for log in logs for each in log.events)
    if mission_id is not None:
        events = tuple(each for each in events if not _is_foreign(each, mission_id, scopes))
    return base.applied(each.event for each in events), invalid


@lru_cache(maxsize=4)
def _seeded(seeds: tuple[_SeedContent, ...], scopes: ScopeStack) -> tuple[Glossary, tuple[Seed, ...]]:
    parsed = [(scope, parse_seed(path, content)) for scope, path, content in seeds]
    for _, seed in parsed:
        if not seed.terms and any(problem.term is None for problem in seed.problems):
            # A gate that does not know a whole scope would let pass what people settled.
            raise SeedFileValidationError(seed.path, seed.problems, hint=_OTHERWISE)
    glossary = Glossary((sense for scope, seed in parsed for sense in seed.senses(scope)), scopes)
    return glossary, tuple(seed for _, seed in parsed if seed.problems)


def _is_foreign(logged: Logged, mission_id: str, scopes: ScopeStack) -> bool:
    """Whether an event concerns what is another mission's own; a log of others is told by its name."""
    event = logged.event
    if scope_of(event) != scopes.local_scope:
        return False
    if isinstance(event, CHANGING) and event.mission_id:
        return event.mission_id != mission_id
    return logged.log not in {BY_HAND, log_name(mission_id).removesuffix(LOG_ENDING)}


def _content(path: Path) -> bytes | None:
    """What a seed file holds, not read again where it is still the same file; none where there is none."""
    try:
        signature = Signature.of(path.stat())
    except OSError:
        return read_content(path)  # says what is wrong
    known = _contents.get(path)
    if known is not None and known[0] == signature:
        return known[1]
    content = read_content(path)
    if content is not None and signature.is_settled:
        if len(_contents) >= _MOST_KEPT:
            _contents.clear()
        _contents[path] = (signature, content)
    return content


# Logging: events are added to the log of their mission, one writer at a time, each line whole.


_LOCK: Final = "writer.lock"  # a file that is held while somebody changes the glossary
_NEXT: Final = timedelta(microseconds=1)
_LAST: Final = datetime.max.replace(tzinfo=UTC) - _NEXT


def append_events(folder: Path, mission_id: str, events: Iterable[GlossaryEvent]) -> list[GlossaryEvent]:
    """Add events to a mission's log, all of them or none; they are on the disk when this returns.

    Args:
        folder: Where the logs lie; it is made where it does not exist.
        mission_id: The mission.
        events: The events, in their order.

    Returns:
        The events as they were logged, each with its identifier.

    Raises:
        InvalidInputError: One holds what JSON cannot say, or the mission has no name.
        VocabgapError: The log cannot be written, or another writer holds it.
    """
    path = folder / log_name(mission_id)
    logged = [identified(event) for event in events]
    lines = b"".join(map(_line, logged))
    if not lines:
        return logged
    with LOG_ROLE.refusing(path, "written"):
        folder.mkdir(parents=True, exist_ok=True)
        with appending(path, LOG_ROLE) as file:
            add_lines(file, path, lines)
    return logged


def append_changes(folder: Path, mission_id: str, events: Iterable[GlossaryEvent]) -> list[GlossaryEvent]:
    """Add events that change a glossary, so that they count after all that is logged already.

    A clock that was ahead once, on whatever machine, would outvote everybody until its moment has come:
    what is said after it gets the moment after. The provenance keeps what the clock says.

    Args:
        folder: As `append_events`.
        mission_id: As there.
        events: As there; hold the logs with `changing` for as long as what they rest on is to hold still.

    Returns:
        As there.

    Raises:
        VocabgapError: As there, or a log cannot be read.
    """
    latest = max((log.moment for log in follow_logs(folder)), default=LONG_AGO)
    earliest = min(latest, _LAST) + _NEXT
    return append_events(
        folder,
        mission_id,
        [
            msgspec.structs.replace(event, timestamp=earliest) if event.timestamp < earliest else event
            for event in events
        ],
    )


@contextmanager
def changing(folder: Path) -> Iterator[None]:
    """Change a glossary while nobody else does: what was read holds still when it is logged.

    Args:
        folder: Where its logs lie; it is made where it does not exist.

    Raises:
        VocabgapError: The folder cannot be written to, or another writer holds it.
    """
    path = folder / _LOCK
    with LOG_ROLE.refusing(path, "written"):
        folder.mkdir(parents=True, exist_ok=True)
        with lock_file(path, f"glossary '{folder}'", purpose="change it", undone=LOG_ROLE.undone):
            yield


def identified(event: GlossaryEvent) -> GlossaryEvent:
    """The event with an identifier, a new one where it has none."""
    return event if event.event_id else msgspec.structs.replace(event, event_id=str(uuid4()))


def _line(event: GlossaryEvent) -> bytes:
    try:
        return encoded(event)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(f"{type(event).__name__} cannot be logged: {error}") from error
