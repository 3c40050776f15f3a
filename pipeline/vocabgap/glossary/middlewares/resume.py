"""Resume: a step that was stopped goes on where it was, in a glossary that has learned meanwhile."""

from vocabgap.glossary.checkpoints import input_diff, verify_inputs
from vocabgap.glossary.context import ExecutionContext
from vocabgap.glossary.errors import AbortResumeError
from vocabgap.glossary.middlewares.check import conflicts_of
from vocabgap.glossary.session import ChangedInputs, Session
from vocabgap.glossary.step_state import load_state


def restore(context: ExecutionContext, session: Session) -> ExecutionContext:
    """Restore a step from the checkpoint that its token names; one without a token is left as it is.

    With the same inputs its terms are not looked for again; what they mean is what the glossary says by now.
    With others, if that is confirmed, everything is found anew.

    Raises:
        AbortResumeError: The inputs have changed, and nobody says that the step goes on.
        VocabgapError: What was kept cannot be read.
    """
    if not context.retry_token or session.events is None:
        return context
    checkpoint = session.checkpoint
    if checkpoint is None:
        context.notes.append(f"there is no checkpoint '{context.retry_token}'; the step begins anew")
        context.retry_token = None
        return context
    kept = load_state(session.events, context.retry_token)
    verified = verify_inputs(checkpoint.input_hash, context.inputs)
    if not verified.matches:
        changes = {} if kept is None else input_diff(kept.inputs, context.inputs)
        changed = ChangedInputs(verified.old, verified.new, changes)
        if session.confirm is None:
            raise AbortResumeError("the inputs of the step have changed, and nobody was asked about it")
        if not session.confirm(changed):
            raise AbortResumeError("User declined resumption due to context change")
    context.scope_refs = checkpoint.scope_refs
    context.checkpoint_cursor = checkpoint.cursor
    context.resumed_from_checkpoint = True
    if verified.matches and kept is not None:
        context.extracted_terms = list(kept.extracted_terms)
        context.conflicts = conflicts_of(context, session.glossary)
        context.is_restored = True
    return context
