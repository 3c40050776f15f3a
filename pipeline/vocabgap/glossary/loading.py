"""Loading: from a folder of seed files and one of event logs to a glossary, once for each content."""

from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from vocabgap.glossary.event_log import ENDING, Logged, in_order, log_files, log_name
from vocabgap.glossary.events import GlossaryClarificationResolved, GlossarySenseUpdated
from vocabgap.glossary.following import Changes, Signature, follow
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.scopes import ScopeStack
from vocabgap.glossary.seeds import Seed, parse_seed, read_content, seed_path

_MOST_KEPT: Final = 32  # contents of files
_SeedContent = tuple[str, Path, bytes]  # scope, file, content

_contents: dict[Path, tuple[Signature, bytes]] = {}


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
        (scope, path, content) for scope, path in found if (content := _content(path)) is not None
    )
    logs = tuple(map(follow, log_files(events)))
    own = None if mission_id is None else log_name(mission_id).removesuffix(ENDING)
    glossary, invalid = _loaded(written, tuple(log.changes for log in logs), stack, own)
    return Loaded(glossary, invalid, sum(log.skipped for log in logs))


@lru_cache(maxsize=4)
def _loaded(
    seeds: tuple[_SeedContent, ...], logs: tuple[Changes, ...], scopes: ScopeStack, own_log: str | None
) -> tuple[Glossary, tuple[Seed, ...]]:
    base, invalid = _seeded(seeds, scopes)
    events = in_order(each for log in logs for each in log.events)
    return base.applied(each.event for each in events if _counts(each, scopes, own_log)), invalid


@lru_cache(maxsize=4)
def _seeded(seeds: tuple[_SeedContent, ...], scopes: ScopeStack) -> tuple[Glossary, tuple[Seed, ...]]:
    parsed = [(scope, parse_seed(path, content)) for scope, path, content in seeds]
    glossary = Glossary((sense for scope, seed in parsed for sense in seed.senses(scope)), scopes)
    return glossary, tuple(seed for _, seed in parsed if seed.problems)


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
