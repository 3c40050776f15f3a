"""The middlewares that check a step: restore, extract terms, check them, guard the gate, and clarify."""

from collections.abc import Callable
from typing import Any, Final
from uuid import uuid4

from vocabgap.errors import VocabgapError
from vocabgap.glossary.conflicts import (
    UNSURE,
    BlockedByConflictError,
    check,
    should_block,
    verdict,
)
from vocabgap.glossary.events import (
    Cursor,
    GenerationBlockedBySemanticConflict,
    GlossaryClarificationRequested,
    GlossaryEvent,
    SemanticCheckEvaluated,
    StepCheckpointed,
    TermCandidateObserved,
)
from vocabgap.glossary.extracting import Field, extract, scanned_fields
from vocabgap.glossary.glossary import CLARIFIED, added
from vocabgap.glossary.questions import Ask, Defer, Question, answered, question_of
from vocabgap.glossary.senses import (
    EXTRACTED,
    PLACEHOLDER,
    ConflictType,
    SemanticConflict,
    SenseStatus,
    Severity,
    Strictness,
)
from vocabgap.glossary.session import (
    SERVICE,
    AbortResumeError,
    ChangedInputs,
    ExecutionContext,
    Session,
    hash_inputs,
    input_diff,
    load_state,
    save_state,
    verify_inputs,
)

MOST_ASKED: Final = 3  # questions of one round
Middleware = Callable[[ExecutionContext, Session], ExecutionContext]
"""A function that adds its findings to a step."""


def extract_terms(context: ExecutionContext, session: Session) -> ExecutionContext:
    """Find the terms in the texts of a step; a restored step has them already."""
    if context.is_restored:
        return context
    context.extracted_terms = extract(_fields(context), context.metadata, session.glossary.known)
    named = _named(context, session)
    step_id = named.pop("step_id")
    session.record(
        context,
        [
            TermCandidateObserved(
                term=term.surface.surface_text,
                source_step=step_id,
                actor_id=SERVICE.actor_id,
                confidence=term.confidence,
                extraction_method=term.source,
                context=term.context,
                **named,
            )
            for term in context.extracted_terms
        ],
    )
    return context


def _fields(context: ExecutionContext) -> list[Field]:
    return scanned_fields(context.step_input or {}, context.step_output, context.metadata)


def _named(context: ExecutionContext, session: Session) -> dict[str, Any]:
    return {
        "step_id": context.step_id,
        "mission_id": context.mission_id,
        "run_id": context.run_id,
        "timestamp": session.now(),
    }


def check_terms(context: ExecutionContext, session: Session) -> ExecutionContext:
    """Find the conflicts of a step; of a restored step they are logged again only if the glossary changed."""
    refs, context.scope_refs = context.scope_refs, session.glossary.scope_refs
    if context.is_restored and (refs == context.scope_refs or not context.conflicts):
        return context
    if not context.is_restored:
        context.conflicts = conflicts_of(context, session)
    strictness = context.effective_strictness or Strictness.MEDIUM
    outcome = verdict(context.conflicts, strictness)
    (event,) = session.record(
        context,
        [
            SemanticCheckEvaluated(
                findings=tuple(context.conflicts),
                overall_severity=outcome.overall_severity,
                confidence=outcome.confidence,
                effective_strictness=strictness.value,
                recommended_action=outcome.recommended_action,
                blocked=outcome.blocked,
                **_named(context, session),
            )
        ],
    )
    context.check_event_id = event.event_id
    return context


def conflicts_of(context: ExecutionContext, session: Session) -> list[SemanticConflict]:
    """Return the conflicts among the terms of a step."""
    generated = [value for value in context.step_output.values() if isinstance(value, str)]
    return check(
        context.extracted_terms,
        session.glossary,
        critical=context.is_critical,
        output="\n".join(generated) if session.contradictions else "",
        texts=(each.text for each in _fields(context)),
    )


def guard(context: ExecutionContext, session: Session) -> ExecutionContext:
    """Let a step go on, or stop it: first with a checkpoint, the second time with an error."""
    strictness = context.effective_strictness or Strictness.MEDIUM
    was_stopped = context.is_stopped
    context.meanings = _meanings(context, session)
    context.is_stopped = should_block(strictness, [each.severity for each in context.conflicts])
    if not context.is_stopped:
        return context
    if not was_stopped:
        context.retry_token = _checkpointed(context, session, strictness)
        return context
    session.record(
        context,
        [
            GenerationBlockedBySemanticConflict(
                conflicts=tuple(context.conflicts),
                strictness_mode=strictness.value,
                effective_strictness=strictness.value,
                **_named(context, session),
            )
        ],
    )
    raise BlockedByConflictError(
        context.conflicts,
        strictness,
        blocking_message(context.conflicts),
        retry_token=context.retry_token or "",
        hint="answer the open questions, then resume the step",
    )


def blocking_message(conflicts: list[SemanticConflict]) -> str:
    """Return the message about the conflicts that stop a step."""
    high = sum(each.severity not in {Severity.LOW, Severity.MEDIUM} for each in conflicts)
    number = len(conflicts)
    detected = (
        f"{high} high-severity semantic conflict(s) detected (out of {number} total)"
        if high
        else f"{number} unresolved semantic conflict(s) detected"
    )
    return f"Generation blocked: {detected}. Resolve conflicts before proceeding."


def _meanings(context: ExecutionContext, session: Session) -> dict[str, str]:
    names = [term.surface.surface_text for term in context.extracted_terms]
    meanings = {name: session.glossary.meaning(name) for name in names}
    return {name: sense.definition for name, sense in meanings.items() if sense is not None}


def _checkpointed(context: ExecutionContext, session: Session, strictness: Strictness) -> str | None:
    """Store what the step needs to go on; return its token, or None if that fails.

    A restored step keeps its token.
    """
    if session.files is None or not session.keeps_steps:
        return None
    known = context.retry_token if context.is_restored else None
    token = known or str(uuid4())
    try:
        checkpoint = StepCheckpointed(
            strictness=strictness,
            scope_refs=context.scope_refs,
            input_hash=hash_inputs(context.inputs),
            cursor=Cursor.PRE_GENERATION_GATE.value,
            retry_token=token,
            **_named(context, session),
        )
        # First the state, then the event that names it: a token in the log always leads to what was kept.
        if known is None:
            save_state(session.files.events, token, context)
    except VocabgapError as error:
        context.notes.append(f"there is no checkpoint: {error.message}")
        return known
    noted = len(context.notes)
    session.record(context, [checkpoint])
    return token if len(context.notes) == noted else known


def clarify(context: ExecutionContext, session: Session) -> ExecutionContext:
    """Put the questions of a step, the worst first.

    A conflict is a question if it stops the step, has high severity, or is ambiguous. A few that stop it are
    asked if somebody can answer; the others stay open. Weak finds become drafts.
    """
    strictness = context.effective_strictness or Strictness.MEDIUM
    left = MOST_ASKED if context.is_stopped else 0
    context.questions = []
    stays = []
    unlogged: list[GlossaryEvent] = []  # logged together: each time costs a wait for the disk
    for conflict in sorted(context.conflicts, key=lambda each: each.place):
        stops = should_block(strictness, [conflict.severity])
        if not (
            stops or conflict.severity is Severity.HIGH or conflict.conflict_type is ConflictType.AMBIGUOUS
        ):
            unlogged += _drafts(conflict, context, session)
            stays.append(conflict)
            continue
        question = question_of(conflict, context.mission_id, session.glossary)
        unlogged.append(
            GlossaryClarificationRequested(
                question=question.text,
                term=question.term,
                options=tuple(each.definition for each in question.candidates),
                urgency=conflict.severity,
                conflict_id=question.conflict_id,
                semantic_check_event_id=context.check_event_id,
                **_named(context, session),
            )
        )
        if stops and left > 0 and session.ask is not None:
            left -= 1
            session.record(context, unlogged)
            unlogged = []
            if _is_settled(question, session.ask, context, session):
                context.resolved_conflicts.append(conflict)
                continue
        context.questions.append(question)
        stays.append(conflict)
    session.record(context, unlogged)
    context.conflicts = stays
    return context


def _is_settled(question: Question, ask: Ask, context: ExecutionContext, session: Session) -> bool:
    try:
        answer = ask(question)
    except Exception as error:  # a terminal that fails must not let a step pass that was to be stopped
        context.notes.append(f"'{question.term}' was not asked: {type(error).__name__}: {error}")
        return False
    if isinstance(answer, Defer):
        return False
    with session.alone(context):
        changes = answered(
            session.glossary,
            answer,
            question.term,
            question.candidates,
            conflict_id=question.conflict_id,
            usage=question.conflict.usage,
            actor=session.actor,
            now=session.now(),
            source=CLARIFIED,
        )
        session.record(context, changes)
    return True


def _drafts(conflict: SemanticConflict, context: ExecutionContext, session: Session) -> list[GlossaryEvent]:
    """Return a draft for a weak find, unless the term has a sense already."""
    surface = conflict.term.surface_text
    is_weak = conflict.conflict_type is ConflictType.UNKNOWN and conflict.confidence < UNSURE
    if not is_weak or session.glossary.history(surface):
        return []
    term = next((each for each in context.extracted_terms if each.surface == conflict.term), None)
    place = f" Found as '{term.original or surface}' in {term.context or 'a step'}." if term else ""
    return [
        added(
            session.glossary,
            surface,
            f"{PLACEHOLDER}{place}",
            actor=SERVICE,
            now=session.now(),
            source=EXTRACTED,
            confidence=conflict.confidence,
            status=SenseStatus.DRAFT,
        )
    ]


def restore(context: ExecutionContext, session: Session) -> ExecutionContext:
    """Restore a step from the checkpoint of its token.

    With the same inputs its terms are restored, and their meanings are the current ones. With other inputs,
    if that is confirmed, everything is found anew.
    """
    if not context.retry_token or session.files is None:
        return context
    checkpoint = session.checkpoint
    if checkpoint is None:
        context.notes.append(f"there is no checkpoint '{context.retry_token}'; the step begins anew")
        context.retry_token = None
        return context
    state = load_state(session.files.events, context.retry_token)
    is_same, old, new = verify_inputs(checkpoint.input_hash, context.inputs)
    if not is_same:
        if session.confirm is None:
            raise AbortResumeError("the inputs of the step have changed, and nobody was asked about it")
        changes = {} if state is None else input_diff(state.inputs, context.inputs)
        if not session.confirm(ChangedInputs(old, new, changes)):
            raise AbortResumeError("User declined resumption due to context change")
    context.scope_refs = checkpoint.scope_refs
    context.checkpoint_cursor = checkpoint.cursor
    context.resumed_from_checkpoint = True
    if is_same and state is not None:
        context.extracted_terms = list(state.extracted_terms)
        context.conflicts = conflicts_of(context, session)
        context.is_restored = True
    return context
