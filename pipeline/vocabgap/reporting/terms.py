"""The terms of a report: what its words mean, as far as a glossary says, and what is open."""

from typing import Annotated

import msgspec


class TermMeaning(msgspec.Struct, frozen=True):
    """What a term means."""

    term: str
    definition: str
    scope: Annotated[str, msgspec.Meta(description="the scope of the glossary that says so")]


class OpenTerm(msgspec.Struct, frozen=True):
    """A term whose meaning is open."""

    conflict_id: Annotated[
        str, msgspec.Meta(description="names the question, for `vocabgap glossary resolve`")
    ]
    term: str
    kind: Annotated[str, msgspec.Meta(description="what is open: unknown, ambiguous, inconsistent")]
    severity: str
    definitions: Annotated[tuple[str, ...], msgspec.Meta(description="what it may mean")] = ()


class CapabilityTerms(msgspec.Struct, frozen=True):
    """The terms that the label and the wordings of a capability use."""

    capability_id: str
    label: str
    meanings: tuple[TermMeaning, ...] = ()
    open: Annotated[tuple[str, ...], msgspec.Meta(description="terms whose meaning is open")] = ()


class CheckedTerms(msgspec.Struct, frozen=True):
    """What a glossary says of the words of a run."""

    strictness: str
    capabilities: tuple[CapabilityTerms, ...] = ()
    questions: tuple[OpenTerm, ...] = ()
