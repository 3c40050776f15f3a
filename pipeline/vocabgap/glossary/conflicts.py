"""Conflicts: terms whose meaning is open when something is made of them, and what the gate lets pass."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from vocabgap.errors import StateError
from vocabgap.glossary.senses import InvalidTermError, SenseRef, TermSurface, require_confidence

SURE: Final = 0.8  # confidence from which on a find is a term, in all likelihood
UNSURE: Final = 0.5  # confidence below which a find may be no term at all
_PASSING: Final = frozenset({"low", "medium"})  # severities


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


class SemanticConflict(msgspec.Struct, frozen=True, gc=False):
    """A term whose meaning is open.

    Attributes:
        candidate_senses: What it may mean, the likeliest first.
        context: Where the term was found; of an inconsistent one, how it is used there.
    """

    term: TermSurface
    conflict_type: ConflictType
    severity: Severity
    confidence: float
    candidate_senses: tuple[SenseRef, ...] = ()
    context: str = ""

    def __post_init__(self) -> None:
        require_confidence(self.confidence)
        if not self.candidate_senses and self.conflict_type == "ambiguous":
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
    """How bad a conflict is."""
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


class Strictness(StrEnum):
    """What the gate lets pass.

    With `off` nothing is checked, `medium` stops what has a conflict of high severity, `max` what has any.
    """

    OFF = "off"
    MEDIUM = "medium"
    MAX = "max"


def strictness_of(value: object) -> Strictness | None:
    """The strictness that a value names, in lower case; none where it names none."""
    return next((each for each in Strictness if each.value == value), None)


def effective_strictness(
    runtime: Strictness | None = None,
    step: Strictness | None = None,
    mission: Strictness | None = None,
    configured: Strictness | None = None,
) -> Strictness:
    """The strictness in force: of those that were given the nearest one, else `medium`."""
    given = (runtime, step, mission, configured)
    return next((each for each in given if each is not None), Strictness.MEDIUM)


def should_block(strictness: Strictness, severities: Iterable[Severity | str]) -> bool:
    """Whether the gate stops what has conflicts of some severities; one that is not known counts as high."""
    listed = list(severities)
    if strictness is Strictness.OFF:
        return False
    if strictness is Strictness.MAX:
        return bool(listed)
    return any(severity not in _PASSING for severity in listed)


class BlockedByConflictError(StateError):
    """The gate does not let a step go on.

    Args:
        strictness: The strictness that was in force.
        retry_token: What resumes the step; empty where no checkpoint could be kept.
    """

    def __init__(
        self,
        conflicts: Sequence[SemanticConflict],
        strictness: Strictness | None = None,
        message: str = "",
        *,
        retry_token: str = "",
        hint: str = "",
    ) -> None:
        summary = message or (
            f"Generation blocked by {len(conflicts)} semantic conflict(s)."
            " Resolve conflicts or use --strictness off to bypass."
        )
        super().__init__(summary, hint=hint)
        self.conflicts = tuple(conflicts)
        self.strictness = strictness
        self.retry_token = retry_token
