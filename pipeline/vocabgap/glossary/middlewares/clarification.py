"""Clarification: people are asked what stops a step; the answers become part of the glossary."""

from vocabgap.glossary.candidates import ExtractedTerm
from vocabgap.glossary.changes import custom, drafted, selected
from vocabgap.glossary.conflicts import UNSURE, ConflictType, SemanticConflict
from vocabgap.glossary.context import ExecutionContext
from vocabgap.glossary.errors import DeferredToAsyncError
from vocabgap.glossary.events import GlossaryClarificationRequested, GlossaryEvent
from vocabgap.glossary.questions import MOST_ASKED, Answer, Defer, Define, Question, Select, question_of
from vocabgap.glossary.session import SERVICE, Session
from vocabgap.glossary.strictness import Strictness, should_block


def clarify(context: ExecutionContext, session: Session) -> ExecutionContext:
    """Put the questions of a step, the worst first.

    Of those that stop it a few are asked where there is somebody to be asked; all others stay open, to be
    answered by their identifiers. What is hardly a term stops nothing and becomes a draft instead.
    """
    strictness = context.effective_strictness or Strictness.MEDIUM
    left = MOST_ASKED if context.is_stopped and session.ask is not None else 0
    context.questions = []
    stays = []
    unlogged: list[GlossaryEvent] = []  # they are logged together: each time costs a wait for the disk
    for conflict in sorted(context.conflicts, key=lambda each: each.place):
        stops = should_block(strictness, [conflict.severity])
        if not stops and _is_weak(conflict):
            unlogged += _drafts(conflict, context, session)
            stays.append(conflict)
            continue
        question = question_of(conflict, context.mission_id, session.glossary)
        unlogged.append(_requested(question, context, session))
        event = None
        if stops and left > 0:
            left -= 1
            session.record(context, unlogged)
            unlogged = []
            event = _settled(question, context, session)
        if event is None:
            context.questions.append(question)
            stays.append(conflict)
        else:
            context.resolved_conflicts.append(conflict)
    session.record(context, unlogged)
    context.conflicts = stays
    return context


def answered(question: Question, answer: Answer, session: Session) -> GlossaryEvent | None:
    """The event that an answer is; none where the question stays open.

    Raises:
        InvalidInputError: The definition is blank.
        IndexError: There is no such candidate.
    """
    moment = session.now()
    match answer:
        case Select(place):
            chosen = question.candidates[place]
            return selected(
                session.glossary,
                chosen,
                conflict_id=question.conflict_id,
                actor=session.actor,
                now=moment,
                usage=question.conflict.usage,
            )
        case Define(definition):
            return custom(
                session.glossary,
                question.conflict,
                definition,
                actor=session.actor,
                now=moment,
                conflict_id=question.conflict_id,
            )
    return None


def _settled(question: Question, context: ExecutionContext, session: Session) -> GlossaryEvent | None:
    """The event that somebody's answer is, logged; none where the question stays open."""
    answer = _asked(question, context, session)
    if isinstance(answer, Defer):
        return None
    with session.alone(context):
        event = answered(question, answer, session)
        if event is not None:
            session.record(context, [event])
    return event


def _asked(question: Question, context: ExecutionContext, session: Session) -> Answer:
    """What somebody answers; nothing where the asking itself goes wrong."""
    if session.ask is None:
        return Defer()
    try:
        return session.ask(question)
    except DeferredToAsyncError:
        raise
    except Exception as error:  # a terminal that fails must not let a step pass that was to be stopped
        context.notes.append(f"'{question.term}' was not asked: {type(error).__name__}: {error}")
        return Defer()


def _requested(
    question: Question, context: ExecutionContext, session: Session
) -> GlossaryClarificationRequested:
    return GlossaryClarificationRequested(
        question=question.told,
        term=question.term,
        options=tuple(each.definition for each in question.candidates),
        urgency=question.conflict.severity,
        mission_id=context.mission_id,
        run_id=context.run_id,
        step_id=context.step_id,
        conflict_id=question.conflict_id,
        semantic_check_event_id=context.check_event_id,
        timestamp=session.now(),
    )


def _is_weak(conflict: SemanticConflict) -> bool:
    """Whether a term is unknown and perhaps no term at all."""
    return conflict.conflict_type is ConflictType.UNKNOWN and conflict.confidence < UNSURE


def _drafts(conflict: SemanticConflict, context: ExecutionContext, session: Session) -> list[GlossaryEvent]:
    """A draft of a term; none where there is one, or somebody has dropped it."""
    surface = conflict.term.surface_text
    if session.glossary.history(surface):
        return []
    found = next((each for each in context.extracted_terms if each.surface == conflict.term), None)
    term = found or ExtractedTerm(conflict.term, "", conflict.confidence, surface, conflict.context)
    definition = f"No definition yet. Found as '{term.original or surface}' in {term.context or 'a step'}."
    return [drafted(session.glossary, term, definition, actor=SERVICE, now=session.now())]
