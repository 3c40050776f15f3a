"""Candidates: what a text seems to use as terms, by which sign, and how sure that is."""

from enum import StrEnum
from typing import Final

import msgspec

from vocabgap.glossary.senses import TermSurface, require_confidence

WEAK: Final = 0.3  # confidence of a find that may be no term at all


class TermSource(StrEnum):
    """By which sign a term was found, in the order in which signs are looked for."""

    METADATA_HINT = "metadata_hint"
    QUOTED_PHRASE = "quoted_phrase"
    ACRONYM = "acronym"
    CASING_PATTERN = "casing_pattern"
    KNOWN_TERM = "known_term"
    REPEATED_NOUN = "repeated_noun"
    CAPITALISED = "capitalised"


_CONFIDENCES: Final = {
    TermSource.METADATA_HINT: 1.0,
    TermSource.QUOTED_PHRASE: 0.8,
    TermSource.ACRONYM: 0.8,
    TermSource.CASING_PATTERN: 0.8,
    TermSource.KNOWN_TERM: 0.8,
    TermSource.REPEATED_NOUN: 0.5,
}


class ExtractedTerm(msgspec.Struct, frozen=True, gc=False):
    """A term that was found.

    Attributes:
        surface: The term.
        source: By which sign: one of `TermSource`.
        confidence: How sure it is that this is a term, 0 to 1.
        original: What stands in the text.
        context: Where it stands.
    """

    surface: TermSurface
    source: str
    confidence: float
    original: str = ""
    context: str = ""

    def __post_init__(self) -> None:
        require_confidence(self.confidence)

    @property
    def place(self) -> tuple[float, str]:
        """Where it stands among others: the surest first, then by term."""
        return -self.confidence, self.surface.surface_text


def source_confidence(source: str) -> float:
    """How sure a find by some sign is, 0 to 1; weak for a sign of another name."""
    return _CONFIDENCES.get(source, WEAK)  # type: ignore[call-overload, no-any-return]
