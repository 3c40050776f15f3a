"""Loading: from a folder of seed files and one of event logs to a glossary, once for each content."""

import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from vocabgap.glossary.event_log import ENDING, Logged, in_order, log_files, log_name, parse_log, read_log
from vocabgap.glossary.events import GlossaryClarificationResolved, GlossarySenseUpdated
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.scopes import ScopeStack
from vocabgap.glossary.seeds import Seed, parse_seed, read_content, seed_path

_MOST_KEPT: Final = 32  # contents of files
_SETTLED: Final = 2_000_000_000  # nanoseconds after which a change of a file changes its time as well
_Signature = tuple[int, int, int, int]
_SeedContent = tuple[str, Path, bytes]  # scope, file, content
_CHANGING: Final = (GlossarySenseUpdated, GlossaryClarificationResolved)  # the events that change a glossary

_contents: dict[Path, tuple[_Signature, bytes]] = {}


class Loaded(NamedTuple):
    """A glossary, and what was wrong in the files that it comes from.

    Attributes:
        glossary: The glossary.
        invalid: The seed files with errors; their other terms are in the glossary.
        skipped: How many lines of the logs are no events.
    """

    glossary: Glossary
    invalid: tuple[Seed, ...] = ()
    skipped: int = 0


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
        VocabgapError: A file cannot be read.
    """
    stack = ScopeStack() if scopes is None else scopes
    found = ((scope, seed_path(seeds, scope)) for scope in stack.names)
    written = tuple(
        (scope, path, content) for scope, path in found if (content := _content(path, seed=True)) is not None
    )
    read = ((path, _content(path, seed=False)) for path in log_files(events))
    logs = tuple(_followed(path, content) for path, content in read if content is not None)
    own = None if mission_id is None else log_name(mission_id).removesuffix(ENDING)
    glossary, invalid = _loaded(written, tuple(log.changes for log in logs), stack, own)
    return Loaded(glossary, invalid, sum(log.skipped for log in logs))


@lru_cache(maxsize=4)
def _loaded(
    seeds: tuple[_SeedContent, ...], logs: tuple["_Changes", ...], scopes: ScopeStack, own_log: str | None
) -> tuple[Glossary, tuple[Seed, ...]]:
    base, invalid = _seeded(seeds, scopes)
    events = in_order(each for log in logs for each in log.events)
    return base.applied(each.event for each in events if _counts(each, scopes, own_log)), invalid


@lru_cache(maxsize=4)
def _seeded(seeds: tuple[_SeedContent, ...], scopes: ScopeStack) -> tuple[Glossary, tuple[Seed, ...]]:
    parsed = [(scope, parse_seed(path, content)) for scope, path, content in seeds]
    glossary = Glossary((sense for scope, seed in parsed for sense in seed.senses(scope)), scopes)
    return glossary, tuple(seed for _, seed in parsed if seed.problems)


@dataclass(frozen=True, eq=False)
class _Changes:
    """The events of a log that change a glossary; the same object as long as no further one comes."""

    events: tuple[Logged, ...] = ()


class _Log(NamedTuple):
    """A log as far as it was read."""

    content: bytes
    lines: int
    changes: _Changes
    skipped: int


_NOTHING_READ: Final = _Log(b"", 0, _Changes(), 0)
_logs: dict[Path, _Log] = {}


def _followed(path: Path, content: bytes) -> _Log:
    """A log, of which only what was added since it was read last is read now: most of it changes nothing."""
    known = _logs.get(path, _NOTHING_READ)
    if known.content == content and path in _logs:
        return known
    # What was cut off in the middle of a line may go on; then all of it is read again.
    goes_on = content.startswith(known.content) and known.content.endswith(b"\n")
    known = known if goes_on else _NOTHING_READ
    added = content[len(known.content) :]
    events, skipped = parse_log(added, path.name.removesuffix(ENDING), known.lines + 1)
    changing = tuple(each for each in events if isinstance(each.event, _CHANGING))
    changes = _Changes((*known.changes.events, *changing)) if changing else known.changes
    if len(_logs) >= _MOST_KEPT:
        _logs.clear()
    log = _logs[path] = _Log(content, known.lines + added.count(b"\n"), changes, known.skipped + skipped)
    return log


def _counts(logged: Logged, scopes: ScopeStack, own_log: str | None) -> bool:
    """Whether an event changes the glossary of a mission: what is another mission's own does not."""
    match logged.event:
        case GlossarySenseUpdated(scope=scope):
            pass
        case GlossaryClarificationResolved(selected_sense=sense):
            scope = sense.scope
        case _:
            return False
    return own_log in {None, logged.log} or scope != scopes.local_scope


def _content(path: Path, *, seed: bool) -> bytes | None:
    """What a file holds, not read again where it is still the same file; none where there is none."""
    try:
        state = path.stat()
    except OSError:
        return read_content(path) if seed else read_log(path)  # says what is wrong
    signature = (state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
    known = _contents.get(path)
    if known is not None and known[0] == signature:
        return known[1]
    content = read_content(path) if seed else read_log(path)
    if content is not None and time.time_ns() - max(state.st_mtime_ns, state.st_ctime_ns) > _SETTLED:
        if len(_contents) >= _MOST_KEPT:
            _contents.clear()
        _contents[path] = (signature, content)
    return content
