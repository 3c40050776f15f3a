"""Loading: from a folder of seed files and one of event logs to a glossary.

What was read is held in one snapshot, which never changes and is replaced as a whole: threads may share the
files of a glossary. A file that holds what it held is not parsed again, and of a log that has grown only what
was added.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from vocabgap.errors import Hint, InvalidInputError
from vocabgap.glossary.event_log import (
    BY_HAND,
    LOG_ENDING,
    GivenAnswer,
    Log,
    LoggedEvent,
    answers_of,
    append_events,
    follow_logs,
    in_order,
    log_name,
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
    OTHER_ENDING,
    SEED_ENDING,
    Seed,
    SeedFileValidationError,
    parse_seed,
    read_content,
    seed_path,
    seed_scope,
    why_unread,
)
from vocabgap.glossary.senses import ScopeStack, SenseStatus
from vocabgap.text import printable_name

_MOST_GLOSSARIES: Final = 16  # as missions have them that have senses of their own
_NEXT: Final = timedelta(microseconds=1)
_LAST: Final = datetime.max.replace(tzinfo=UTC) - _NEXT


class Loaded(NamedTuple):
    """A glossary, and what was wrong in the files that it comes from.

    Attributes:
        seeds: The seed files, which say more of a term than a sense does: what to say instead of what. The
            terms of theirs that are in order are in the glossary.
        skipped: How many lines of the logs are no events.
        unused: The seed files whose names are no active scope's.
        missing: The folder of the seed files where it does not exist.
    """

    glossary: Glossary
    seeds: tuple[Seed, ...] = ()
    skipped: int = 0
    unused: tuple[Path, ...] = ()
    missing: Path | None = None

    @property
    def unread(self) -> list[str]:
        """What people have written down and does not count, a sentence each."""
        return [f"{seed.path}: {problem}" for seed in self.seeds for problem in seed.problems] + [
            f"not read: {path}: {why_unread(path, self.glossary.scopes)}" for path in self.unused
        ]

    @property
    def problems(self) -> list[str]:
        """What of the files does not count, a sentence each."""
        problems = self.unread
        if self.missing is not None:
            problems.append(
                f"no seed file says what a term means: '{printable_name(str(self.missing))}' is no folder"
            )
        return problems + skipped_lines(self.skipped)

    def require_read(self) -> None:
        """Refuse a glossary of whose seed files something does not count: what it forbids would pass."""
        if self.unread:
            raise InvalidInputError(
                f"not all of the glossary can be read: {'; '.join(self.unread)}",
                hint="correct it, or move the file out of the folder",
            )


class GlossaryFiles:
    """The files of a glossary, and what was read of them."""

    def __init__(self, seeds: Path, events: Path, scopes: ScopeStack | None = None) -> None:
        self.seeds, self.events = seeds, events
        self.scopes = ScopeStack() if scopes is None else scopes
        self._snapshot = _Snapshot()

    def load(self, mission_id: str | None = None) -> Loaded:
        """The glossary that seed files and logged events make."""
        before = self._snapshot
        seeds = self._read_seeds()
        base = before.base if before.base is not None and seeds == before.seeds else self._of_seeds(seeds)
        changes = self._changes()
        glossaries = before.glossaries if base is before.base and changes == before.changes else {}
        if not any(_changed_scope(each) == self.scopes.local_scope for each in changes):
            mission_id = None  # nothing is any mission's own: all have the same glossary
        if mission_id not in glossaries:
            after = base.applied(each.event for each in changes if not self._is_foreign(each, mission_id))
            glossaries = {**(glossaries if len(glossaries) < _MOST_GLOSSARIES else {}), mission_id: after}
        logs = self._snapshot.logs
        self._snapshot = _Snapshot(seeds, logs, base, changes, glossaries)
        return Loaded(
            glossaries[mission_id],
            tuple(seed for _, seed in seeds.values()),
            sum(log.skipped for log in logs.values()),
            _unused(self.seeds, self.scopes),
            None if self.seeds.is_dir() else self.seeds,
        )

    def _read_seeds(self) -> dict[str, tuple[bytes, Seed]]:
        """The seed files by scope, each with what it was parsed from."""
        seeds = {}
        for scope in self.scopes.names:
            path = seed_path(self.seeds, scope)
            content = read_content(path)
            known = self._snapshot.seeds.get(scope)
            if content is not None:
                is_known = known is not None and known[0] == content
                seeds[scope] = known if known and is_known else (content, parse_seed(path, content))
        return seeds

    def _of_seeds(self, seeds: Mapping[str, tuple[bytes, Seed]]) -> Glossary:
        for _, seed in seeds.values():
            if not seed.terms and any(problem.term is None for problem in seed.problems):
                # A gate that does not know a whole scope would let pass what people settled.
                command = ("glossary", "validate", printable_name(str(seed.path)))
                hint = Hint("correct the file, which {} checks, or move it away", (command,))
                raise SeedFileValidationError(seed.path, seed.problems, hint=hint)
        return Glossary(
            (sense for scope, (_, seed) in seeds.items() for sense in seed.senses(scope)), self.scopes
        )

    def _changes(self) -> tuple[LoggedEvent, ...]:
        """The events that change the glossary, in order."""
        logs = follow_logs(self.events, self._snapshot.logs)
        self._snapshot = self._snapshot._replace(logs=logs)
        return in_order(each for log in logs.values() for each in log.changes)

    def _is_foreign(self, logged: LoggedEvent, mission_id: str | None) -> bool:
        """Whether an event concerns what is another mission's own; a log of others is told by its name."""
        if mission_id is None or _changed_scope(logged) != self.scopes.local_scope:
            return False
        if isinstance(logged.event, GlossaryChange) and logged.event.mission_id:
            return logged.event.mission_id != mission_id
        return logged.log not in {BY_HAND, log_name(mission_id).removesuffix(LOG_ENDING)}

    def answers(self, term: str | None = None) -> list[GivenAnswer]:
        """What people have said of all terms, or of one, in order."""
        key = None if term is None else term_key(term)
        return [each for each in answers_of(self._changes()) if key in {None, term_key(each.term)}]

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
        self._changes()
        latest = max((log.moment for log in self._snapshot.logs.values()), default=Log().moment)
        earliest = min(latest, _LAST) + _NEXT
        return append_events(
            self.events,
            mission_id,
            [
                msgspec.structs.replace(event, timestamp=earliest) if event.timestamp < earliest else event
                for event in events
            ],
        )


class _Snapshot(NamedTuple):
    """What was read, and the glossaries that were made of it; nothing in it is ever changed."""

    seeds: Mapping[str, tuple[bytes, Seed]] = {}  # by scope; replaced, never changed
    logs: Mapping[str, Log] = {}  # by name
    base: Glossary | None = None  # of the seeds alone
    changes: tuple[LoggedEvent, ...] = ()
    glossaries: Mapping[str | None, Glossary] = {}  # by mission; null for all missions


def _changed_scope(logged: LoggedEvent) -> str:
    """The scope that an event changes; empty where it changes none."""
    match logged.event:
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
    written = (path for path in listed if path.suffix in {SEED_ENDING, OTHER_ENDING})
    return tuple(path for path in written if seed_scope(path, scopes) is None)
