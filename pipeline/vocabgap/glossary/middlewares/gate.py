"""The gate: whether a step goes on. It stands before the clarification and behind it."""

from typing import Final
from uuid import uuid4

from vocabgap.errors import VocabgapError
from vocabgap.glossary.checkpoints import Cursor, StepCheckpoint, hash_inputs
from vocabgap.glossary.conflicts import SemanticConflict, Severity
from vocabgap.glossary.context import ExecutionContext
from vocabgap.glossary.errors import BlockedByConflictError
from vocabgap.glossary.events import GenerationBlockedBySemanticConflict, StepCheckpointed
from vocabgap.glossary.session import Session
from vocabgap.glossary.step_state import save_state
from vocabgap.glossary.strictness import Strictness, should_block

_HINT: Final = "answer the open questions, then resume the step"


def guard(context: ExecutionContext, session: Session) -> ExecutionContext:
    """Let a step go on, or stop it.

    What is stopped for the first time gets a checkpoint and may be clarified; the second time it ends here.

    Raises:
        BlockedByConflictError: Its conflicts are as bad as before the clarification.
    """
    strictness = context.effective_strictness or Strictness.MEDIUM
    was_stopped = context.is_stopped
    context.meanings = _meanings(context, session)
    context.is_stopped = should_block(strictness, [each.severity for each in context.conflicts])
    if not context.is_stopped:
        return context
    if not was_stopped:
        context.retry_token = _keep(context, session, strictness)
        return context
    session.record(
        context,
        [
            GenerationBlockedBySemanticConflict(
                step_id=context.step_id,
                mission_id=context.mission_id,
                run_id=context.run_id,
                conflicts=tuple(context.conflicts),
                strictness_mode=strictness.value,
                effective_strictness=strictness.value,
                timestamp=session.now(),
            )
        ],
    )
    raise BlockedByConflictError(
        context.conflicts,
        strictness,
        blocking_message(context.conflicts),
        retry_token=context.retry_token or "",
        hint=_HINT,
    )


def blocking_message(conflicts: list[SemanticConflict]) -> str:
    """What is said of the conflicts that stop a step."""
    high = sum(each.severity not in {Severity.LOW, Severity.MEDIUM} for each in conflicts)
    number = len(conflicts)
    told = (
        f"{high} high-severity semantic conflict(s) detected (out of {number} total)"
        if high
        else f"{number} unresolved semantic conflict(s) detected"
    )
    return f"Generation blocked: {told}. Resolve conflicts before proceeding."


def _meanings(context: ExecutionContext, session: Session) -> dict[str, str]:
    """What the terms of a step mean that have one meaning by now."""
    names = [term.surface.surface_text for term in context.extracted_terms]
    found = {name: session.glossary.meaning(name) for name in names}
    return {name: sense.definition for name, sense in found.items() if sense is not None}


def _keep(context: ExecutionContext, session: Session, strictness: Strictness) -> str | None:
    """Keep what the step needs to go on; gives its token, and none where it cannot be kept.

    Of one that goes on as it was all is there: it is still the token that somebody was told.
    """
    kept = context.retry_token if context.is_restored else None
    token = kept or str(uuid4())
    try:
        checkpoint = StepCheckpoint(
            mission_id=context.mission_id,
            run_id=context.run_id,
            step_id=context.step_id,
            strictness=strictness,
            scope_refs=context.scope_refs,
            input_hash=hash_inputs(context.inputs),
            cursor=Cursor.PRE_GENERATION_GATE.value,
            retry_token=token,
            timestamp=session.now(),
        )
        # First the state, then the event that names it: a token in the log always leads to what was kept.
        if session.events is not None and kept is None:
            save_state(session.events, token, context)
    except VocabgapError as error:
        context.notes.append(f"there is no checkpoint: {error.message}")
        return kept
    noted = len(context.notes)
    session.record(context, [StepCheckpointed.of(checkpoint)])
    return token if len(context.notes) == noted else kept
