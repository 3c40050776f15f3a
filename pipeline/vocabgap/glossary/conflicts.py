"""Conflicts: a term whose meaning is open when something is about to be made of it, and how bad that is."""

from enum import StrEnum
from typing import Any, Final

import msgspec

from vocabgap.glossary.errors import InvalidTermError
from vocabgap.glossary.senses import SenseRef, TermSurface, require_confidence

SURE: Final = 0.8  # confidence from which on a find is a term, in all likelihood
UNSURE: Final = 0.5  # confidence below which a find may be no term at all


class ConflictType(StrEnum):
    """What is open."""

    UNKNOWN = "unknown"
    AMBIGUOUS = "ambiguous"
    INCONSISTENT = "inconsistent"
    UNRESOLVED_CRITICAL = "unresolved_critical"


class Severity(StrEnum):
    """How bad that is."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        """0 to 2, the worst highest."""
        return _RANKS[self]


_RANKS: Final = {severity: rank for rank, severity in enumerate(Severity)}


_AMBIGUOUS: Final = ConflictType.AMBIGUOUS.value


class SemanticConflict(msgspec.Struct, frozen=True, gc=False):
    """A term whose meaning is open.

    Attributes:
        term: The term.
        conflict_type: What is open.
        severity: How bad that is.
        confidence: How sure it is that this is a term, 0 to 1.
        candidate_senses: What it may mean, the likeliest first.
        context: Where the term was found; of an inconsistent one, how it is used there.

    Raises:
        InvalidTermError: It is ambiguous between nothing, or the confidence lies outside.
    """

    term: TermSurface
    conflict_type: ConflictType
    severity: Severity
    confidence: float
    candidate_senses: tuple[SenseRef, ...] = ()
    context: str = ""

    def __post_init__(self) -> None:
        require_confidence(self.confidence)
        if not self.candidate_senses and self.conflict_type == _AMBIGUOUS:
            raise InvalidTermError("AMBIGUOUS conflict must have candidate_senses")

    @property
    def usage(self) -> str:
        """The use that the question is about; empty where it is about the term as such."""
        return self.context if self.conflict_type == ConflictType.INCONSISTENT else ""

    @property
    def place(self) -> tuple[int, float, str]:
        """Where it stands among others: the worst first, then the surest, then by term."""
        return -self.severity.rank, -self.confidence, self.term.surface_text


def score_severity(conflict_type: ConflictType, *, confidence: float, critical: bool) -> Severity:
    """How bad a conflict is.

    Args:
        conflict_type: What is open.
        confidence: How sure it is that this is a term, 0 to 1.
        critical: Whether the step is one in which nothing may go wrong.
    """
    match conflict_type:
        case ConflictType.AMBIGUOUS:
            return Severity.HIGH if critical else Severity.MEDIUM
        case ConflictType.INCONSISTENT:
            return Severity.LOW
        case ConflictType.UNRESOLVED_CRITICAL:
            return Severity.HIGH
    if confidence >= SURE:
        return Severity.LOW
    return Severity.HIGH if critical and confidence < UNSURE else Severity.MEDIUM


def conflict_of(payload: Any) -> SemanticConflict:  # noqa: ANN401 - whatever a log may hold
    """The conflict that a JSON object stands for; its term may be a plain text.

    Raises:
        InvalidTermError: It is none.
    """
    if isinstance(payload, dict) and isinstance(payload.get("term"), str):
        payload = {**payload, "term": {"surface_text": payload["term"]}}
    try:
        return msgspec.convert(payload, SemanticConflict)
    except msgspec.ValidationError as error:
        raise InvalidTermError(f"conflict: {error}") from error
