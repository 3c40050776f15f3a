"""Questions: what a person is asked about a conflict, and what the person may answer."""

import json
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple
from uuid import UUID, uuid5

from vocabgap.glossary.changes import EXTRACTED
from vocabgap.glossary.conflicts import ConflictType, SemanticConflict
from vocabgap.glossary.glossary import Glossary, definition_key
from vocabgap.glossary.senses import SenseRef, SenseStatus
from vocabgap.text import can_be_seen

MOST_ASKED: Final = 3  # questions of one round
_OURS: Final = UUID("6f0c8f0e-0b0e-5b61-9d5c-6a1b0c7d4e2f")  # the name space of the identifiers
_CUSTOM: Final = frozenset({"c", "custom"})
_DEFER: Final = frozenset({"d", "defer"})


class Question(NamedTuple):
    """What a term means.

    Attributes:
        conflict_id: What names the question: the same for the same term, candidates and mission, and the same
            use of the term where it is about one.
        conflict: What is open.
        candidates: What can be chosen, the likeliest first.
    """

    conflict_id: str
    conflict: SemanticConflict
    candidates: tuple[SenseRef, ...]

    @property
    def term(self) -> str:
        """The term."""
        return self.conflict.term.surface_text

    @property
    def told(self) -> str:
        """The question in words."""
        return f"What does '{self.term}' mean in this context?"


class Select(NamedTuple):
    """The answer that one of the candidates is meant, by its place, counted from 0."""

    place: int


class Define(NamedTuple):
    """The answer that something else is meant."""

    definition: str


class Defer(NamedTuple):
    """The answer that the question stays open."""


Answer = Select | Define | Defer
Ask = Callable[[Question], Answer]


def question_of(conflict: SemanticConflict, mission_id: str, glossary: Glossary) -> Question:
    """The question that a conflict puts.

    Where a term has no active sense, the drafts that somebody has written can be chosen; those that were made
    when the term was found say nothing of what it means.

    Args:
        conflict: The conflict.
        mission_id: The mission in which it came up.
        glossary: What there is to choose from.
    """
    candidates = conflict.candidate_senses
    if conflict.conflict_type in {ConflictType.UNKNOWN, ConflictType.UNRESOLVED_CRITICAL}:
        candidates = tuple(
            sense.ref
            for sense in glossary.history(conflict.term.surface_text)
            if sense.status == SenseStatus.DRAFT and sense.provenance.source != EXTRACTED
        )
    return Question(_identifier(conflict, mission_id, candidates), conflict, candidates)


def parse_answer(text: str, candidates: Sequence[SenseRef]) -> Answer | None:
    """What somebody has typed as an answer.

    Args:
        text: The number of a candidate, counted from 1; `d` to defer; `c` to define the term oneself.
        candidates: What there is to choose from.

    Returns:
        The answer; a definition that is still empty for `c`; none where it is no answer.
    """
    typed = text.strip().casefold()
    if typed in _CUSTOM:
        return Define("")
    if not typed or typed in _DEFER:
        return Defer()
    if typed.isascii() and typed.isdecimal() and 1 <= int(typed[:9]) <= len(candidates):
        return Select(int(typed) - 1)
    return None


def defined(text: str) -> Define | Defer:
    """What a typed definition is: the question stays open where there is nothing to see in it."""
    return Define(text.strip()) if can_be_seen(text) else Defer()


def _identifier(conflict: SemanticConflict, mission_id: str, candidates: Sequence[SenseRef]) -> str:
    # Identifiers of random would make other reports of the same logs.
    choices = sorted((each.scope, definition_key(each.definition)) for each in candidates)
    named = [mission_id, conflict.term.surface_text, conflict.conflict_type.value, choices]
    if conflict.usage:
        named.append(conflict.usage)
    return str(uuid5(_OURS, json.dumps(named)))
