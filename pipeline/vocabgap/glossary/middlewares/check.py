"""The check: which terms of a step are open, and what follows from that."""

from vocabgap.glossary.checking import check, output_text, verdict
from vocabgap.glossary.conflicts import SemanticConflict
from vocabgap.glossary.context import ExecutionContext
from vocabgap.glossary.events import SemanticCheckEvaluated
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.session import Session
from vocabgap.glossary.strictness import Strictness


def check_terms(context: ExecutionContext, session: Session) -> ExecutionContext:
    """Find the conflicts of a step.

    Of one that goes on they are found already. That is told again only where something is open still, in a
    glossary that is not what it was: the questions are not those that the check of then speaks of.
    """
    refs, context.scope_refs = context.scope_refs, session.glossary.scope_refs
    if context.is_restored and (refs == context.scope_refs or not context.conflicts):
        return context
    if not context.is_restored:
        context.conflicts = conflicts_of(context, session.glossary)
    strictness = context.effective_strictness or Strictness.MEDIUM
    found = verdict(context.conflicts, strictness)
    (event,) = session.record(
        context,
        [
            SemanticCheckEvaluated(
                step_id=context.step_id,
                mission_id=context.mission_id,
                run_id=context.run_id,
                findings=tuple(context.conflicts),
                overall_severity=found.overall_severity,
                confidence=found.confidence,
                effective_strictness=strictness.value,
                recommended_action=found.recommended_action,
                blocked=found.blocked,
                timestamp=session.now(),
            )
        ],
    )
    context.check_event_id = event.event_id
    return context


def conflicts_of(context: ExecutionContext, glossary: Glossary) -> list[SemanticConflict]:
    """The conflicts among the terms of a step."""
    return check(
        context.extracted_terms,
        glossary,
        critical=context.is_critical,
        output=output_text(context.step_output),
    )
