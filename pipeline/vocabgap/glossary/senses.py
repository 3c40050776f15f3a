"""Terms and what they mean."""

from datetime import datetime
from enum import StrEnum

import msgspec

from vocabgap.glossary.errors import InvalidTermError
from vocabgap.text import can_be_seen


class SenseStatus(StrEnum):
    """What a sense counts for: only an active one answers what a term means."""

    DRAFT = "draft"
    ACTIVE = "active"
    DEPRECATED = "deprecated"


class TermSurface(msgspec.Struct, frozen=True, gc=False, order=True):
    """A term as it is written.

    Attributes:
        surface_text: In lower case, without white space around it, and with something to see in it.

    Raises:
        InvalidTermError: It is none of these.
    """

    surface_text: str

    def __post_init__(self) -> None:
        require_surface(self.surface_text)

    def __str__(self) -> str:
        return self.surface_text


class Provenance(msgspec.Struct, frozen=True, gc=False):
    """Where a sense comes from.

    Attributes:
        actor_id: Who gave it.
        timestamp: When.
        source: By which way: `seed_file`, `user_clarification`, `auto_extraction`, ...
    """

    actor_id: str
    timestamp: datetime
    source: str = ""

    def __post_init__(self) -> None:
        require_id("actor_id", self.actor_id)
        if not isinstance(self.timestamp, datetime):
            raise InvalidTermError(f"timestamp: expected a moment, found {self.timestamp!r}")


class TermSense(msgspec.Struct, frozen=True, gc=False):
    """What a term means in a scope.

    Attributes:
        surface: The term.
        scope: The scope's name.
        definition: What it means.
        provenance: Where that comes from.
        confidence: How sure that is, 0 to 1.
        status: What it counts for.

    Raises:
        InvalidTermError: The definition is blank, or the confidence lies outside.
    """

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
        """Whether it answers what the term means."""
        return self.status == SenseStatus.ACTIVE

    @property
    def ref(self) -> "SenseRef":
        """The sense as conflicts and events name it."""
        return SenseRef(self.surface.surface_text, self.scope, self.definition, self.confidence)


class SenseRef(msgspec.Struct, frozen=True, gc=False):
    """A sense as conflicts and events name it.

    Attributes:
        surface: The term.
        scope: The scope's name.
        definition: What it means.
        confidence: How sure that is, 0 to 1.
    """

    surface: str
    scope: str
    definition: str
    confidence: float = 1.0

    def __post_init__(self) -> None:
        require_confidence(self.confidence)


def require_surface(text: object) -> None:
    """Refuse what is no surface.

    Raises:
        InvalidTermError: It is empty, not in lower case, or has white space around it.
    """
    if not isinstance(text, str):
        raise InvalidTermError(f"surface must be text, found {text!r}")
    plain = text.isascii() and text.islower() and text.isprintable()
    if plain and text[0] != " " and text[-1] != " ":  # nearly always
        return
    _require_unicode("surface", text)
    if not can_be_seen(text):
        raise InvalidTermError("surface must not be empty")
    if text != text.lower().strip():
        raise InvalidTermError(
            f"surface must be normalized, found {text!r}",
            hint=f"write {text.lower().strip()!r}: in lower case, without white space around it",
        )


def require_definition(text: object) -> None:
    """Refuse what defines nothing.

    Raises:
        InvalidTermError: It is blank, or no text.
    """
    if not isinstance(text, str):
        raise InvalidTermError(f"Definition must be text, found {text!r}")
    if text.isascii() and text.isprintable() and text.strip():
        return  # nearly always
    _require_unicode("definition", text)
    if not can_be_seen(text):
        raise InvalidTermError("Definition cannot be empty")


def require_confidence(value: object) -> None:
    """Refuse what is no confidence.

    Raises:
        InvalidTermError: It is no number from 0 to 1.
    """
    if type(value) is float and 0 <= value <= 1:  # nearly always
        return
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1:  # type: ignore[operator] # nothing lies beside not-a-number
        raise InvalidTermError(f"Confidence must be 0.0-1.0, found {value!r}")


def require_id(name: str, value: object) -> None:
    """Refuse an identifier that is empty.

    Raises:
        InvalidTermError: It is blank, or no text.
    """
    if not isinstance(value, str) or not value.strip():
        raise InvalidTermError(f"{name} must not be empty, found {value!r}")


def _require_unicode(name: str, text: str) -> None:
    """Refuse half of a character, as which JSON can write one and no file can hold it."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidTermError(f"{name} must be Unicode text, found {text!r}") from error
