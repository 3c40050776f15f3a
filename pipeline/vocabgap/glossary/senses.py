"""Terms, senses and conflicts: the shapes of the glossary."""

import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Final

import msgspec

from vocabgap.errors import InvalidInputError
from vocabgap.glossary.normal_form import lower, stem_of
from vocabgap.text import can_be_seen

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
EXTRACTED: Final = "auto_extraction"  # the source of automatic drafts, made when a term was found
SEEDED: Final = "seed_file"  # the source of senses in seed files
PLACEHOLDER: Final = "No definition yet."  # the beginning of the definition of an automatic draft
NO_TERM: Final = "Not a term."  # the definition of the deprecated sense that says so
WEAK: Final = 0.3  # confidence of a find that may not be a term


class InvalidTermError(InvalidInputError, ValueError):
    """An invalid term, sense, conflict or checkpoint."""


LOCAL: Final = "mission_local"  # the scope of one mission
_TEAM: Final = "team_domain"
DEFAULT_SCOPES: Final[tuple[str, ...]] = (LOCAL, _TEAM, "audience_domain", "spec_kitty_core")
"""The default scopes of a glossary, in their order of precedence."""


class ScopeStack(msgspec.Struct, frozen=True):
    """The active scopes."""

    names: tuple[str, ...] = DEFAULT_SCOPES

    def __post_init__(self) -> None:
        for name in self.names:
            if not _NAME.fullmatch(name):
                raise InvalidTermError(f"scope {name!r}: expected letters, digits, '-' and '_'")
        if len(set(self.names)) < len(self.names):
            raise InvalidTermError(f"scopes {', '.join(self.names)}: a name occurs twice")

    @property
    def authored_scope(self) -> str:
        """The scope of people's own senses: `team_domain` if it is active, else the first."""
        return _TEAM if _TEAM in self.names or not self.names else self.names[0]

    def precedence(self, scope: str) -> int:
        """Return the place of a scope, from 0; inactive scopes come last."""
        return self.names.index(scope) if scope in self.names else len(self.names)


class ScopeRef(msgspec.Struct, frozen=True):
    """A scope in one version."""

    scope: str
    version_id: str


class SenseStatus(StrEnum):
    """The status of a sense: only an active one answers what a term means."""

    DRAFT = "draft"
    ACTIVE = "active"
    DEPRECATED = "deprecated"


class TermSurface(msgspec.Struct, frozen=True, gc=False, order=True):
    """A term in lower case, its last word in the singular, without white space around it."""

    surface_text: str

    def __post_init__(self) -> None:
        require_surface(self.surface_text)
        if (stem := stem_of(self.surface_text)) != self.surface_text:
            raise InvalidTermError(f"surface must be in the singular, {stem!r}, found {self.surface_text!r}")

    def __str__(self) -> str:
        return self.surface_text


@lru_cache(maxsize=100_000)
def stored_surface(text: str) -> TermSurface | None:
    """Return a term that was written down, or None. A short word stays: `cors` may be an acronym."""
    try:
        return TermSurface(stem_of(lower(text).strip()))
    except InvalidTermError:
        return None


class Provenance(msgspec.Struct, frozen=True, gc=False):
    """The origin of a sense."""

    actor_id: str
    timestamp: datetime | None
    source: str = ""

    def __post_init__(self) -> None:
        require_id("actor_id", self.actor_id)
        if not isinstance(self.timestamp, datetime) and (self.timestamp, self.source) != (None, SEEDED):
            raise InvalidTermError(f"timestamp: expected a moment, found {self.timestamp!r}")


class SenseRef(msgspec.Struct, frozen=True, gc=False):
    """A reference to a sense in conflicts and events."""

    surface: str
    scope: str
    definition: str
    confidence: float = 1.0

    def __post_init__(self) -> None:
        require_confidence(self.confidence)


class TermSense(msgspec.Struct, frozen=True, gc=False):
    """The meaning of a term in a scope."""

    surface: TermSurface
    scope: str
    definition: str
    provenance: Provenance
    confidence: float = 1.0
    status: SenseStatus = SenseStatus.DRAFT

    def __post_init__(self) -> None:
        require_id("scope", self.scope)
        require_definition(self.definition)
        require_confidence(self.confidence)

    @property
    def is_active(self) -> bool:
        """Tell whether the sense defines the term."""
        return self.status == SenseStatus.ACTIVE

    @property
    def is_placeholder(self) -> bool:
        """Tell whether the sense only records that the term was found, or is none."""
        return self.definition == NO_TERM or self.definition.startswith(PLACEHOLDER)

    @property
    def ref(self) -> SenseRef:
        """The reference to the sense for conflicts and events."""
        return SenseRef(self.surface.surface_text, self.scope, self.definition, self.confidence)


class TermSource(StrEnum):
    """A sign of a term in a text; signs are searched in this order."""

    METADATA_HINT = "metadata_hint"
    QUOTED_PHRASE = "quoted_phrase"
    ACRONYM = "acronym"
    CASING_PATTERN = "casing_pattern"
    KNOWN_TERM = "known_term"
    COINED = "coined"
    REPEATED_NOUN = "repeated_noun"
    CAPITALISED = "capitalised"


# The confidence of a sign's finds. An unknown one blocks a critical step only if it is below `UNSURE`.
SIGNS: Final[Mapping[str, float]] = {
    TermSource.METADATA_HINT: 1.0,
    TermSource.QUOTED_PHRASE: 0.8,
    TermSource.ACRONYM: 0.8,
    TermSource.CASING_PATTERN: 0.8,
    TermSource.KNOWN_TERM: 0.8,
    TermSource.COINED: WEAK,
    TermSource.REPEATED_NOUN: 0.5,
    TermSource.CAPITALISED: WEAK,
}
DRAFTED: Final = TermSource.CAPITALISED  # its finds become drafts, never conflicts


class ExtractedTerm(msgspec.Struct, frozen=True, gc=False):
    """A term that was found."""

    surface: TermSurface
    source: str
    confidence: float
    original: str = ""
    context: str = ""

    def __post_init__(self) -> None:
        require_confidence(self.confidence)

    @property
    def place(self) -> tuple[float, str]:
        """The sort key: the surest first, then by term."""
        return -self.confidence, self.surface.surface_text


class ConflictType(StrEnum):
    """The kind of a conflict."""

    UNKNOWN = "unknown"
    AMBIGUOUS = "ambiguous"
    INCONSISTENT = "inconsistent"
    UNRESOLVED_CRITICAL = "unresolved_critical"


class Severity(StrEnum):
    """The severity of a conflict."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        """The rank: 0 for low, 2 for high."""
        return list(Severity).index(self)


class Strictness(StrEnum):
    """The strictness of the gate: it stops nothing, conflicts of high severity, or all conflicts."""

    OFF = "off"
    MEDIUM = "medium"
    MAX = "max"


class Action(StrEnum):
    """The recommendation of a check."""

    PROCEED = "proceed"
    WARN = "warn"
    BLOCK = "block"


class SemanticConflict(msgspec.Struct, frozen=True, gc=False):
    """A term whose meaning is open."""

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
        """The questioned use of the term; empty if the term itself is questioned."""
        return self.context if self.conflict_type == ConflictType.INCONSISTENT else ""

    @property
    def place(self) -> tuple[int, float, str]:
        """The sort key: the worst first, then the surest, then by term."""
        return -self.severity.rank, -self.confidence, self.term.surface_text


def require_surface(text: object) -> None:
    """Raise InvalidTermError if the text is not a normalized term."""
    normal = _seen("surface", text, "must not").lower().strip()
    if text != normal:
        raise InvalidTermError(
            f"surface must be normalized, found {text!r}",
            hint=f"write {normal!r}: in lower case, without white space around it",
        )


def require_definition(text: object) -> None:
    """Raise InvalidTermError if the text is not a definition."""
    if not any(map(str.isalnum, _seen("Definition", text, "cannot"))):
        raise InvalidTermError(f"Definition must have a letter or a digit, found {text!r}")


def require_confidence(value: object) -> None:
    """Raise InvalidTermError if the value is not a number from 0 to 1."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1:  # type: ignore[operator] # false for NaN
        raise InvalidTermError(f"Confidence must be 0.0-1.0, found {value!r}")


def require_id(name: str, value: object) -> None:
    """Raise InvalidTermError if an identifier is empty."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidTermError(f"{name} must not be empty, found {value!r}")


def _seen(name: str, text: object, refusal: str) -> str:
    if not isinstance(text, str):
        raise InvalidTermError(f"{name} must be text, found {text!r}")
    try:
        text.encode()  # JSON can contain half of a surrogate pair, UTF-8 cannot
    except UnicodeEncodeError as error:
        raise InvalidTermError(f"{name} must be Unicode text, found {text!r}") from error
    if not can_be_seen(text):
        raise InvalidTermError(f"{name} {refusal} be empty")
    return text
