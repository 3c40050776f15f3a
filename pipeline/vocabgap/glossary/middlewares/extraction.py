"""Extraction: the terms of a step, each observed once."""

from vocabgap.glossary.context import ExecutionContext
from vocabgap.glossary.events import TermCandidateObserved
from vocabgap.glossary.extracting import extract, scanned_fields
from vocabgap.glossary.session import SERVICE, Session


def extract_terms(context: ExecutionContext, session: Session) -> ExecutionContext:
    """Find the terms in what a step was given and has generated; a step that goes on has its own already."""
    if context.is_restored:
        return context
    fields = scanned_fields(context.step_input or {}, context.step_output, context.metadata)
    context.extracted_terms = extract(fields, context.metadata, session.glossary.known)
    moment = session.now()
    session.record(
        context,
        [
            TermCandidateObserved(
                term=term.surface.surface_text,
                source_step=context.step_id,
                actor_id=SERVICE.actor_id,
                confidence=term.confidence,
                extraction_method=term.source,
                context=term.context,
                mission_id=context.mission_id,
                run_id=context.run_id,
                timestamp=moment,
            )
            for term in context.extracted_terms
        ],
    )
    return context
