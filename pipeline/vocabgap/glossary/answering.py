"""Answering: questions that were raised are answered later, when no step waits for it."""

from typing import Final

from vocabgap.errors import InvalidInputError
from vocabgap.glossary.changes import custom, selected
from vocabgap.glossary.conflicts import ConflictType, SemanticConflict, Severity
from vocabgap.glossary.errors import InvalidTermError
from vocabgap.glossary.event_log import BY_HAND
from vocabgap.glossary.events import GlossaryEvent, ResolutionMode, in_mission
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.logging_events import append_changes, changing
from vocabgap.glossary.normalizing import surface_of
from vocabgap.glossary.questions import Answer, Define, Select
from vocabgap.glossary.raised import Raised
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.senses import SenseRef

LATER: Final = "cli_resolve"  # the source of answers that are given later


def answer_later(runtime: GlossaryRuntime, question: Raised, answer: Answer) -> list[GlossaryEvent]:
    """Answer a question that was raised, and log it; a deferred one stays as it is.

    Returns:
        The events, as they were logged.

    Raises:
        InvalidInputError: There is no such candidate, or the definition is blank.
        VocabgapError: The log cannot be read or written.
    """
    with changing(runtime.logs):
        events = _events(runtime, runtime.load(question.mission_id or None).glossary, question, answer)
        made = [in_mission(event, question.mission_id) for event in events]
        return append_changes(runtime.logs, question.mission_id or BY_HAND, made)


def _events(
    runtime: GlossaryRuntime, glossary: Glossary, question: Raised, answer: Answer
) -> list[GlossaryEvent]:
    moment = runtime.now()

    def chosen(sense: SenseRef) -> GlossaryEvent:
        return selected(
            glossary,
            sense,
            conflict_id=question.conflict_id,
            actor=runtime.actor,
            now=moment,
            mode=ResolutionMode.ASYNC,
            source=LATER,
            usage=question.usage,
        )

    match answer:
        case Select(place):
            candidates = question.candidates(glossary)
            if not 0 <= place < len(candidates):
                raise InvalidInputError(
                    f"Invalid selection: {place + 1}", hint=f"there are {len(candidates)} candidates"
                )
            return [chosen(candidates[place])]
        case Define(definition):
            updated = custom(
                glossary,
                _conflict(question),
                definition,
                actor=runtime.actor,
                now=moment,
                source=LATER,
                conflict_id=question.conflict_id,
            )
            sense = updated.new_sense
            ref = SenseRef(sense.surface, sense.scope, sense.definition, sense.confidence)
            return [chosen(ref), updated]
    return []


def _conflict(question: Raised) -> SemanticConflict:
    surface = surface_of(question.term)
    if surface is None:
        raise InvalidTermError(f"{question.term!r} is no term")
    kind = ConflictType.INCONSISTENT if question.usage else ConflictType.UNKNOWN
    return SemanticConflict(surface, kind, Severity.LOW, 1.0, context=question.context)
