"""Promoting and dropping senses: what people do with drafts."""

from collections.abc import Callable, Sequence

from vocabgap.errors import StateError
from vocabgap.glossary.changes import deprecated, promoted, require_sense
from vocabgap.glossary.event_log import BY_HAND
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.logging_events import append_changes, changing
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.senses import SenseStatus, TermSense


def promote_sense(
    runtime: GlossaryRuntime,
    term: str,
    scope: str | None,
    definition: str | None,
    is_replacing: Callable[[Sequence[TermSense]], bool | None],
) -> TermSense:
    """Let a sense answer what its term means.

    Args:
        runtime: The glossary.
        term: The term, in any spelling.
        scope: The scope of the sense, where there are several.
        definition: Its definition or the beginning, where there are several.
        is_replacing: Says of the other active senses, of any scope, whether it takes their place (true) or
            stands beside them (false); none where nobody says so. It is asked again where the term changes
            meanwhile.

    Returns:
        The sense that was meant, as it was.

    Raises:
        StateError: There are others, and nobody says what becomes of them.
        VocabgapError: There is no such sense, or several, or the log cannot be written.
    """
    while True:
        glossary = runtime.load().glossary
        sense = _meant(glossary, term, scope, definition, SenseStatus.DRAFT)
        rivals = glossary.rivals(term, sense.definition)
        replaces = is_replacing(rivals) if rivals else False
        if replaces is None:
            rival = rivals[0]
            raise StateError(
                f"'{sense.surface}' means something else in {rival.scope} already: {rival.definition}",
                hint="say --replace to take its place, or --beside to have both: the term is ambiguous then",
            )
        with changing(runtime.logs):
            after = runtime.load().glossary
            if after.history(term) != glossary.history(term) or after.resolve(term) != glossary.resolve(term):
                continue  # somebody else has changed the term: what was asked is not what there is
            event = promoted(
                sense, actor=runtime.actor, now=runtime.now(), replacing=rivals if replaces else ()
            )
            append_changes(runtime.logs, BY_HAND, [event])
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
    with changing(runtime.logs):
        sense = _meant(runtime.load().glossary, term, scope, definition, SenseStatus.ACTIVE)
        append_changes(runtime.logs, BY_HAND, [deprecated(sense, actor=runtime.actor, now=runtime.now())])
    return sense


def _meant(
    glossary: Glossary, term: str, scope: str | None, definition: str | None, status: SenseStatus
) -> TermSense:
    """The sense that is meant; where nothing else is said, the only one of some status."""
    likely = [
        each for each in glossary.history(term) if each.status == status and scope in {None, each.scope}
    ]
    if definition is None and len(likely) == 1:
        return likely[0]
    return require_sense(glossary, term, scope=scope, definition=definition)
