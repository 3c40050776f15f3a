"""Promoting and dropping senses: what people do with drafts."""

from collections.abc import Callable
from typing import Final

from vocabgap.errors import StateError
from vocabgap.glossary.changes import deprecated, promoted, require_sense
from vocabgap.glossary.event_log import append_events
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.senses import SenseStatus, TermSense

_BY_HAND: Final = "glossary"  # the log of what people do beside any mission


def promote_sense(
    runtime: GlossaryRuntime,
    term: str,
    scope: str | None,
    definition: str | None,
    is_replacing: Callable[[list[TermSense]], bool | None],
) -> TermSense:
    """Let a sense answer what its term means.

    Args:
        runtime: The glossary.
        term: The term, in any spelling.
        scope: The scope of the sense, where there are several.
        definition: Its definition or the beginning, where there are several.
        is_replacing: Says of other active senses in the same scope whether it takes their place (true) or
            stands beside them (false); none where nobody says so.

    Returns:
        The sense that was meant, as it was.

    Raises:
        StateError: There are others, and nobody says what becomes of them.
        VocabgapError: There is no such sense, or several, or the log cannot be written.
    """
    glossary = runtime.load().glossary
    sense = _meant(runtime, term, scope, definition, SenseStatus.DRAFT)
    rivals = [each for each in glossary.rivals(term, sense.definition) if each.scope == sense.scope]
    replaces = is_replacing(rivals) if rivals else False
    if replaces is None:
        raise StateError(
            f"'{sense.surface}' means something else in {sense.scope} already: {rivals[0].definition}",
            hint="say --replace to take its place, or --beside to have both, which makes the term ambiguous",
        )
    moment = runtime.now()
    events = [promoted(sense, actor=runtime.actor, now=moment)]
    if replaces:
        events += [deprecated(each, actor=runtime.actor, now=moment) for each in rivals]
    append_events(runtime.logs, _BY_HAND, events)
    return sense


def deprecate_sense(
    runtime: GlossaryRuntime, term: str, scope: str | None, definition: str | None
) -> TermSense:
    """Let a sense count no more.

    Args:
        runtime: As `promote_sense`.
        term: As there.
        scope: As there.
        definition: As there.

    Returns:
        The sense that was meant, as it was.

    Raises:
        VocabgapError: There is no such sense, or several, or the log cannot be written.
    """
    sense = _meant(runtime, term, scope, definition, SenseStatus.ACTIVE)
    append_events(runtime.logs, _BY_HAND, [deprecated(sense, actor=runtime.actor, now=runtime.now())])
    return sense


def _meant(
    runtime: GlossaryRuntime, term: str, scope: str | None, definition: str | None, status: SenseStatus
) -> TermSense:
    """The sense that is meant; where nothing else is said, the only one of some status."""
    glossary = runtime.load().glossary
    likely = [
        each for each in glossary.history(term) if each.status == status and scope in {None, each.scope}
    ]
    if definition is None and len(likely) == 1:
        return likely[0]
    return require_sense(glossary, term, scope=scope, definition=definition)
