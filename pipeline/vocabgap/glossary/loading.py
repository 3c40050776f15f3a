"""Loading: from a folder of seed files and one of event logs to a glossary.

What was read is held in one snapshot, which never changes and is replaced as a whole: threads may share the
files of a glossary. A file that has not changed is not read again, and of a log that has grown only what was
added.
"""

import hashlib
import os
import shlex
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import msgspec

from vocabgap.glossary.event_log import (
    BY_HAND,
    LOG_ENDING,
    LONG_AGO,
    GivenAnswer,
    LoggedEvent,
    answers_of,
    append_events,
    in_order,
    log_files,
    log_name,
    opened_log,
    parse_log,
    skipped_lines,
)
from vocabgap.glossary.events import (
    GlossaryChange,
    GlossaryClarificationResolved,
    GlossaryEvent,
    GlossarySenseUpdated,
)
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.normal_form import term_key
from vocabgap.glossary.seeds import (
    SEED_ENDING,
    Seed,
    SeedFileValidationError,
    parse_seed,
    read_content,
    seed_path,
    seed_scope,
)
from vocabgap.glossary.senses import ScopeStack, SenseStatus
from vocabgap.text import printable_name

_OTHER_ENDING: Final = ".yml"  # of the same format, and easily written
_MOST_GLOSSARIES: Final = 16  # as missions have them that have senses of their own
_SETTLED: Final = 2_000_000_000  # nanoseconds after which a change of a file changes its time as well
_TAIL: Final = 1_024  # bytes before the end, by which a log is known again: they hold identifiers and moments
_NEXT: Final = timedelta(microseconds=1)
_LAST: Final = datetime.max.replace(tzinfo=UTC) - _NEXT


class Loaded(NamedTuple):
    """A glossary, and what was wrong in the files that it comes from.

    Attributes:
        invalid: The seed files with errors; their other terms are in the glossary.
        unused: The seed files whose names are no active scope's.
        missing: The folder of the seed files where it does not exist.
        seeds: The seed files, which say more of a term than a sense does: what to say instead of what.
    """

    glossary: Glossary
    invalid: tuple[Seed, ...] = ()
    skipped: int = 0
    unused: tuple[Path, ...] = ()
    missing: Path | None = None
    seeds: tuple[Seed, ...] = ()

    @property
    def problems(self) -> list[str]:
        """What of the files does not count, a sentence each."""
        problems = [f"{seed.path}: {problem}" for seed in self.invalid for problem in seed.problems]
        scopes = ", ".join(self.glossary.scopes.names)
        problems += [
            f"not read: {path}: '{path.stem}' is no scope; the scopes are {scopes}" for path in self.unused
        ]
        if self.missing is not None:
            problems.append(
                f"no seed file says what a term means: '{printable_name(str(self.missing))}' is no folder"
            )
        return problems + skipped_lines(self.skipped)


class GlossaryFiles:
    """The files of a glossary, and what was read of them."""

    def __init__(self, seeds: Path, events: Path, scopes: ScopeStack | None = None) -> None:
        self.seeds, self.events = seeds, events
        self.scopes = ScopeStack() if scopes is None else scopes
        self._snapshot = _Snapshot()

    def load(self, mission_id: str | None = None) -> Loaded:
        """The glossary that seed files and logged events make."""
        before = self._snapshot
        read = {
            scope: _read_seed(seed_path(self.seeds, scope), before.seeds.get(scope))
            for scope in self.scopes.names
        }
        seeds = {scope: each for scope, each in read.items() if each is not None}
        logs = follow_logs(self.events, before.logs)
        parsed = [each.seed for each in seeds.values()]
        changes = [log.changes for log in logs.values() if log.changes.events]
        if not any(self.scopes.local_scope in each.scopes for each in changes):
            mission_id = None  # nothing is any mission's own: all have the same glossary
        made_of: tuple[Seed | _Changes, ...] = (*parsed, *changes)
        base, glossaries = before.base, before.glossaries
        if base is None or [*map(id, parsed)] != [id(each.seed) for each in before.seeds.values()]:
            base = _of_seeds(seeds, self.scopes)
        if [*map(id, made_of)] != [*map(id, before.made_of)] or len(glossaries) >= _MOST_GLOSSARIES:
            glossaries = {}
        if mission_id not in glossaries:
            glossaries = {**glossaries, mission_id: _after(base, changes, self.scopes, mission_id)}
        self._snapshot = _Snapshot(seeds, logs, base, made_of, glossaries)
        return Loaded(
            glossaries[mission_id],
            tuple(seed for seed in parsed if seed.problems),
            sum(log.skipped for log in logs.values()),
            _unused(self.seeds, self.scopes),
            None if self.seeds.is_dir() else self.seeds,
            tuple(parsed),
        )

    def answers(self, term: str | None = None) -> list[GivenAnswer]:
        """What people have said of all terms, or of one, in order."""
        logs = follow_logs(self.events, self._snapshot.logs)
        self._snapshot = self._snapshot._replace(logs=logs)
        key = None if term is None else term_key(term)
        events = in_order(each for log in logs.values() for each in log.changes.events)
        return [each for each in answers_of(events) if key in {None, term_key(each.term)}]

    def standing(self, term: str) -> GivenAnswer | None:
        """What people said last of a term, as far as it says what the term means."""
        answers = self.answers(term)
        return next((each for each in reversed(answers) if each.status is SenseStatus.ACTIVE), None)

    def overridden(self, term: str) -> str:
        """The answer, in words, in whose place the last one about a term is; empty where there was none."""
        return next((each.overrides for each in reversed(self.answers(term))), "")

    def append_changes(self, mission_id: str, events: Iterable[GlossaryEvent]) -> list[GlossaryEvent]:
        """Add events that change a glossary, so that they count after all that is logged already.

        A clock that was ahead once, on whatever machine, would outvote everybody until its moment has come:
        what is said after it gets the moment after. The provenance keeps what the clock says. Hold the logs
        with `changing` for as long as what the events rest on is to hold still.
        """
        logs = follow_logs(self.events, self._snapshot.logs)
        self._snapshot = self._snapshot._replace(logs=logs)
        latest = max((log.moment for log in logs.values()), default=LONG_AGO)
        earliest = min(latest, _LAST) + _NEXT
        return append_events(
            self.events,
            mission_id,
            [
                msgspec.structs.replace(event, timestamp=earliest) if event.timestamp < earliest else event
                for event in events
            ],
        )


class Signature(NamedTuple):
    """What tells whether a file was changed: its number, its size in bytes, its times in nanoseconds."""

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


_NO_FILE: Final = Signature(0, 0, 0, 0)


class _SeedFile(NamedTuple):
    signature: Signature | None  # none where a further change might not show
    digest: bytes
    seed: Seed


@dataclass(frozen=True, eq=False)
class _Changes:
    """The events of a log that change a glossary; the same object as long as no further one comes."""

    events: tuple[LoggedEvent, ...] = ()

    @cached_property
    def scopes(self) -> frozenset[str]:
        return frozenset(_changed_scope(each.event) for each in self.events)


@dataclass(frozen=True)
class Log:
    """A log as far as it was read.

    Attributes:
        signature: Of the file, before it was read.
        size: How many bytes were read.
        tail: The last of these bytes.
    """

    changes: _Changes = field(default_factory=_Changes)
    skipped: int = 0
    signature: Signature = _NO_FILE
    size: int = 0
    lines: int = 0
    tail: bytes = b""
    moment: datetime = LONG_AGO


class _Snapshot(NamedTuple):
    """What was read, and the glossaries that were made of it; nothing in it is ever changed."""

    seeds: Mapping[str, _SeedFile] = {}  # by scope; replaced, never changed
    logs: Mapping[str, Log] = {}  # by name
    base: Glossary | None = None  # of the seeds alone
    made_of: tuple[Seed | _Changes, ...] = ()
    glossaries: Mapping[str | None, Glossary] = {}  # by mission; null for all missions


def _read_seed(path: Path, known: _SeedFile | None) -> _SeedFile | None:
    """A seed file; not read again where it is the same file, nor parsed where it holds the same."""
    try:
        signature = Signature.of(path.stat())
    except OSError:
        signature = None  # reading it says what is wrong
    if known is not None and signature is not None and known.signature == signature:
        return known
    content = read_content(path)
    if content is None:
        return None
    if signature is not None and not signature.is_settled:
        signature = None
    digest = hashlib.sha256(content).digest()
    if known is not None and known.digest == digest:
        return known._replace(signature=signature)
    return _SeedFile(signature, digest, parse_seed(path, content))


def _of_seeds(seeds: Mapping[str, _SeedFile], scopes: ScopeStack) -> Glossary:
    for _, _, seed in seeds.values():
        if not seed.terms and any(problem.term is None for problem in seed.problems):
            # A gate that does not know a whole scope would let pass what people settled.
            file = shlex.quote(printable_name(str(seed.path)))
            hint = f"correct the file, which `vocabgap glossary validate {file}` checks, or move it away"
            raise SeedFileValidationError(seed.path, seed.problems, hint=hint)
    return Glossary((sense for scope, file in seeds.items() for sense in file.seed.senses(scope)), scopes)


def _after(
    base: Glossary, changes: Iterable[_Changes], scopes: ScopeStack, mission_id: str | None
) -> Glossary:
    events = in_order(each for log in changes for each in log.events)
    return base.applied(
        each.event for each in events if mission_id is None or not _is_foreign(each, mission_id, scopes)
    )


def _is_foreign(logged: LoggedEvent, mission_id: str, scopes: ScopeStack) -> bool:
    """Whether an event concerns what is another mission's own; a log of others is told by its name."""
    event = logged.event
    if _changed_scope(event) != scopes.local_scope:
        return False
    if isinstance(event, GlossaryChange) and event.mission_id:
        return event.mission_id != mission_id
    return logged.log not in {BY_HAND, log_name(mission_id).removesuffix(LOG_ENDING)}


def _changed_scope(event: GlossaryEvent) -> str:
    """The scope that an event changes; empty where it changes none."""
    match event:
        case GlossarySenseUpdated(scope=scope):
            return scope
        case GlossaryClarificationResolved(selected_sense=sense):
            return sense.scope
    return ""


def _unused(seeds: Path, scopes: ScopeStack) -> tuple[Path, ...]:
    """The files that would be seed files under another name."""
    try:
        listed = sorted(seeds.iterdir())
    except OSError:
        return ()  # what is to be read there says so
    written = (path for path in listed if path.suffix in {SEED_ENDING, _OTHER_ENDING})
    return tuple(path for path in written if seed_scope(path, scopes) is None)


def follow_logs(folder: Path, known: Mapping[str, Log]) -> dict[str, Log]:
    """The logs of a folder by name, in order, of which only what was added is read.

    A log is read as a whole where it is another file by now, is shorter than before, was changed without
    growing, or goes on in the middle of a line.
    """
    return {path.name: _follow(path, known.get(path.name)) for path in log_files(folder)}


def _follow(path: Path, known: Log | None) -> Log:
    if known is not None and _is_same(path, known):
        return known
    with opened_log(path) as file:
        signature = Signature.of(os.fstat(file.fileno()))
        added = None if known is None else _added(file, known, signature)
        if known is None or added is None:
            known, added = Log(), _read_from(file, 0)
    if known.signature == signature and not added:
        return known
    events, skipped = parse_log(added, path.name.removesuffix(LOG_ENDING), known.lines + 1, known.moment)
    changing = tuple(each for each in events if isinstance(each.event, GlossaryChange))
    return Log(
        _Changes((*known.changes.events, *changing)) if changing else known.changes,
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
    content = _read_from(file, known.size - len(known.tail))
    return content[len(known.tail) :] if content.startswith(known.tail) else None


def _read_from(file: BinaryIO, place: int) -> bytes:
    file.seek(place)
    return file.read()
