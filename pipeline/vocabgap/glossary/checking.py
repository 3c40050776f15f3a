"""Checking: what the terms of a step mean, which of them are open, and what follows from that."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from vocabgap.glossary.candidates import ExtractedTerm
from vocabgap.glossary.conflicts import UNSURE, ConflictType, SemanticConflict, Severity, score_severity
from vocabgap.glossary.contradictions import contradictions, contradicts
from vocabgap.glossary.events import Action
from vocabgap.glossary.glossary import Glossary, definitions
from vocabgap.glossary.senses import TermSense
from vocabgap.glossary.strictness import Strictness, should_block


class Verdict(NamedTuple):
    """What follows from the conflicts of a step.

    Attributes:
        overall_severity: The worst of their severities; low where there are none.
        confidence: The highest of their confidences, 0 to 1; 1 where there are none.
        recommended_action: What to do.
        blocked: Whether they stop the step.
    """

    overall_severity: Severity
    confidence: float
    recommended_action: Action
    blocked: bool


def check(
    terms: Iterable[ExtractedTerm],
    glossary: Glossary,
    *,
    critical: bool = False,
    output: str = "",
    scopes: Sequence[str] | None = None,
) -> list[SemanticConflict]:
    """The conflicts among the terms of a step, in the order of the terms.

    Args:
        terms: The terms.
        glossary: What they mean.
        critical: Whether it is a step in which nothing may go wrong.
        output: What the step has generated, which may contradict the glossary.
        scopes: The scopes that count, in their order; those of the glossary by default.
    """
    found = []
    nothing_known: dict[float, tuple[ConflictType, Severity]] = {}  # most terms of a text, and alike
    for term in terms:
        surface, confidence = term.surface, term.confidence
        senses = glossary.resolve(surface.surface_text, scopes)
        if not senses:
            if confidence not in nothing_known:
                unknown = _unanswered(confidence, critical=critical)
                severity = score_severity(unknown, confidence=confidence, critical=critical)
                nothing_known[confidence] = unknown, severity
            found.append(SemanticConflict(surface, *nothing_known[confidence], confidence, (), term.context))
            continue
        kind = classify(surface.surface_text, senses, confidence, critical=critical, output=output)
        if kind is None:
            continue
        context = term.context
        if kind is ConflictType.INCONSISTENT:
            context = _disputed_use(glossary, senses[0], output)
            if not context:
                continue
        severity = score_severity(kind, confidence=confidence, critical=critical)
        candidates = tuple(sense.ref for sense in senses)
        found.append(SemanticConflict(surface, kind, severity, confidence, candidates, context))
    return found


def classify(
    surface: str,
    senses: Sequence[TermSense],
    confidence: float,
    *,
    critical: bool = False,
    output: str = "",
) -> ConflictType | None:
    """What is open about a term.

    Args:
        surface: The term.
        senses: Its senses, by scope; of any status, but only active ones answer.
        confidence: How sure it is that this is a term, 0 to 1.
        critical: Whether it is found in a step in which nothing may go wrong.
        output: What the step has generated.

    Returns:
        The kind of conflict; none where the term has one meaning, which the output does not contradict.
    """
    active = [sense for sense in senses if sense.is_active]
    if not active:
        return _unanswered(confidence, critical=critical)
    if len(active) > 1 and len(definitions(active)) > 1:
        return ConflictType.AMBIGUOUS
    if output and contradicts(output, surface, active[0].definition):
        return ConflictType.INCONSISTENT
    return None


def _unanswered(confidence: float, *, critical: bool) -> ConflictType:
    """What is open about a term without a meaning."""
    return ConflictType.UNRESOLVED_CRITICAL if critical and confidence < UNSURE else ConflictType.UNKNOWN


def _disputed_use(glossary: Glossary, sense: TermSense, output: str) -> str:
    """Where an output uses a term against its meaning; empty where people have accepted all these uses."""
    uses = contradictions(output, sense.surface.surface_text, sense.definition)
    told = (f"step output: {use}" for use in uses)
    return next((each for each in told if not glossary.accepts(sense, each)), "")


def verdict(conflicts: Sequence[SemanticConflict], strictness: Strictness) -> Verdict:
    """What follows from the conflicts of a step.

    Args:
        conflicts: The conflicts.
        strictness: The strictness in force.
    """
    if not conflicts:
        return Verdict(Severity.LOW, 1.0, Action.PROCEED, blocked=False)
    worst = max((each.severity for each in conflicts), key=lambda severity: Severity(severity).rank)
    return Verdict(
        worst,
        max(each.confidence for each in conflicts),
        Action.BLOCK if worst == Severity.HIGH else Action.WARN,
        should_block(strictness, (each.severity for each in conflicts)),
    )


def output_text(step_output: Mapping[str, Any]) -> str:
    """All that a step has generated, as one text."""
    return "\n".join(value for value in step_output.values() if isinstance(value, str))
