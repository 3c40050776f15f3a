"""Questions about the meanings of terms, which steps ask and logs store, and their answers."""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final, Literal, NamedTuple, get_args
from uuid import UUID, uuid5

import msgspec

from vocabgap.errors import Hint, InvalidInputError, unusable
from vocabgap.glossary.events import (
    GlossaryClarificationRequested,
    GlossaryClarificationResolved,
    GlossaryEvent,
    GlossarySenseUpdated,
    ResolutionMode,
    SemanticCheckEvaluated,
    TermCandidateObserved,
)
from vocabgap.glossary.extension import FOLDER
from vocabgap.glossary.glossary import CLARIFIED, LATER, Glossary, added, selected
from vocabgap.glossary.normal_form import definition_key, term_key
from vocabgap.glossary.senses import (
    NO_TERM,
    PLACEHOLDER,
    ConflictType,
    SemanticConflict,
    SenseRef,
    SenseStatus,
    Severity,
    require_definition,
)

SHOWN_DIGITS: Final = 8  # of a conflict's identifier; an abbreviation needs as many
_OURS: Final = UUID("6f0c8f0e-0b0e-5b61-9d5c-6a1b0c7d4e2f")  # the name space of the identifiers
_Place = tuple[str, str, str]  # mission, step and term of a finding


class Question(NamedTuple):
    """A question that a step asks.

    Attributes:
        conflict_id: It depends only on the term, mission, use of the term, and candidates in their order.
        candidates: The senses to choose from, the likeliest first.
        source: The sign that the term was found by.
    """

    conflict_id: str
    conflict: SemanticConflict
    candidates: tuple[SenseRef, ...]
    source: str = ""

    @property
    def term(self) -> str:
        """The term."""
        return self.conflict.term.surface_text

    @property
    def text(self) -> str:
        """The question in words."""
        return f"What does '{self.term}' mean in this context?"

    @property
    def command(self) -> tuple[str, ...]:
        """The words of the command that answers the question."""
        return "glossary", "resolve", self.conflict_id[:SHOWN_DIGITS]


class Select(NamedTuple):
    """The answer that names a candidate by its position from 0."""

    place: int


class Define(NamedTuple):
    """The answer that gives another definition."""

    definition: str


class NoTerm(NamedTuple):
    """The answer that the word is no term; it lasts until somebody promotes the term."""


class Defer(NamedTuple):
    """The answer that leaves the question open."""


Answer = Select | Define | NoTerm | Defer
Ask = Callable[[Question], Answer]


def groups_of(questions: Iterable[Question], mission: str) -> dict[tuple[str, ...], list[Question]]:
    """Return the questions by the words of a command, which answers one or refuses the terms of a sign."""
    groups: dict[tuple[str, ...], list[Question]] = {}
    for question in questions:
        is_unknown = question.conflict.conflict_type is ConflictType.UNKNOWN
        refusal = ("glossary", "resolve", question.source, "--no-term", "--mission", mission)
        groups.setdefault(refusal if is_unknown else question.command, []).append(question)
    return {words if len(group) > 1 else group[0].command: group for words, group in groups.items()}


def question_of(conflict: SemanticConflict, mission_id: str, glossary: Glossary, sign: str = "") -> Question:
    """Return the question about a conflict; without active senses, drafts are the candidates."""
    candidates = conflict.candidate_senses or tuple(
        sense.ref
        for sense in glossary.history(conflict.term.surface_text)
        if sense.status == SenseStatus.DRAFT and not sense.is_placeholder
    )
    # Random identifiers would make a different report of the same logs.
    choices = [(sense.scope, definition_key(sense.definition)) for sense in candidates]
    parts = [mission_id, term_key(conflict.term.surface_text), conflict.conflict_type.value, choices]
    if conflict.usage:
        parts.append(conflict.usage)
    return Question(str(uuid5(_OURS, json.dumps(parts))), conflict, candidates, sign)


def checked(answer: object, candidates: Sequence[SenseRef]) -> Answer:
    """Return the answer to a question with these candidates. This is the only door for answers.

    Raises:
        InvalidInputError: It is no answer, there is no such candidate, or the definition defines nothing.
    """
    if type(answer) not in get_args(Answer):  # a subclass is no answer either
        raise unusable("answer", "Select, Define, NoTerm or Defer", answer)
    if isinstance(answer, Select):
        if type(answer.place) is not int or not 0 <= answer.place < len(candidates):
            hint = f"expected 1 to {len(candidates)}; in Python the first is 0"
            hint = hint if candidates else "define the term, or say that it is none"
            raise InvalidInputError("there is no such candidate", hint=hint)
    elif isinstance(answer, Define):
        require_definition(answer.definition)
        key = definition_key(answer.definition)
        if key == definition_key(NO_TERM) or key.startswith(definition_key(PLACEHOLDER)):
            raise unusable("Define", "a definition that says what the term means", answer.definition)
    return answer  # type: ignore[return-value] # of one of the four types


def answered(
    glossary: Glossary,
    answer: object,
    asked: "Question | OpenQuestion",
    candidates: Sequence[SenseRef],
    *,
    mode: ResolutionMode = ResolutionMode.INTERACTIVE,
    **facts: Any,  # noqa: ANN401 - checked by `selected` and `added`
) -> list[GlossaryEvent]:
    """Return the events of an answer, which is `checked`: the meaning replaces all others."""
    source = CLARIFIED if mode is ResolutionMode.INTERACTIVE else LATER
    term, facts = asked.term, facts | {"conflict_id": asked.conflict_id, "source": source}
    match checked(answer, candidates):
        case Select(place):
            return [selected(glossary, candidates[place], mode=mode, **facts)]
        case Define(definition):
            updated = added(glossary, term, definition, replacing=True, **facts)
            if mode is ResolutionMode.INTERACTIVE:
                return [updated]
            new = updated.sense
            ref = SenseRef(new.surface, new.scope, new.definition, new.confidence)
            return [selected(glossary, ref, mode=mode, **facts), updated]
        case NoTerm():
            return [added(glossary, term, NO_TERM, status=SenseStatus.DEPRECATED, replacing=True, **facts)]
    return []


def is_settled(glossary: Glossary, term: str, usage: str) -> bool:
    """Tell whether a term has one meaning that fits its use, or is no term."""
    meaning = glossary.meaning(term)
    fits = meaning is not None and (not usage or glossary.accepts(meaning, usage))
    return fits or glossary.is_no_term(term)


def parse_answer(text: str, candidates: Sequence[SenseRef]) -> Answer | None:
    """Parse a typed answer: a candidate from 1, `d` to defer, `c` to define it, `n` if it is no term."""
    typed = text.strip().casefold()
    if typed in {"n", "no term"}:
        return NoTerm()
    if typed in {"c", "custom"}:
        return Define("")
    if not typed or typed in {"d", "defer"}:
        return Defer()
    if typed.isascii() and typed.isdecimal() and 1 <= int(typed[:9]) <= len(candidates):
        return Select(int(typed) - 1)
    return None


class OpenQuestion(msgspec.Struct, frozen=True):
    """A question in the logs, open or answered.

    Attributes:
        check: The identifier of the last check that asked.
        context: The sentence that contains the term.
        usage: The questioned use of the term; empty if the term itself is questioned.
        senses: The candidates that the check named.
        source: The sign that the term was found by.
    """

    conflict_id: str
    term: str
    timestamp: datetime
    status: Literal["resolved", "unresolved"]
    severity: str = Severity.LOW.value
    mission_id: str = ""
    options: tuple[str, ...] = ()
    check: str = ""
    type: str = ConflictType.UNKNOWN.value
    context: str = ""
    usage: str = ""
    senses: tuple[SenseRef, ...] = ()
    effective_strictness: str = ""
    source: str = ""

    @property
    def is_open(self) -> bool:
        """Tell whether it has no answer yet."""
        return self.status == "unresolved"

    def candidates(self, glossary: Glossary) -> tuple[SenseRef, ...]:
        """Return the offered senses in their order."""
        scopes, present = glossary.scopes.names, glossary.history(self.term)
        senses = [*(sense.ref for sense in present), *self.senses]
        active = {definition_key(sense.definition): sense for sense in senses if sense.scope in scopes}
        return tuple(
            active.get(definition_key(option), SenseRef(self.term, glossary.scopes.authored_scope, option))
            for option in self.options
        )


def questions_of(events: Iterable[GlossaryEvent]) -> list[OpenQuestion]:
    """Return the questions of some logs with their last status, in the order in which they last came up."""
    findings: dict[_Place, tuple[Any, ...]] = {}  # the last fields of a question
    signs: dict[_Place, str] = {}
    questions: dict[str, OpenQuestion] = {}
    for event in events:
        match event:
            case TermCandidateObserved():
                signs[event.mission_id, event.source_step, event.term] = event.extraction_method
            case SemanticCheckEvaluated():
                for it in event.findings:
                    place = (event.mission_id, event.step_id, it.term.surface_text)
                    facts = it.conflict_type.value, it.context, it.usage, it.candidate_senses
                    findings[place] = (*facts, event.effective_strictness, signs.get(place, ""))
            case GlossaryClarificationRequested():
                place = (event.mission_id, event.step_id, event.term)
                questions.pop(event.conflict_id, None)
                questions[event.conflict_id] = OpenQuestion(
                    event.conflict_id,
                    event.term,
                    event.timestamp,
                    "unresolved",
                    event.urgency.value,
                    event.mission_id,
                    event.options,
                    event.semantic_check_event_id or "",
                    *findings.get(place, ()),
                )
            case GlossaryClarificationResolved() | GlossarySenseUpdated() if event.conflict_id:
                name, term = event.conflict_id, event.term_surface
                question = questions.get(name) or OpenQuestion(name, term, event.timestamp, "resolved")
                questions[name] = msgspec.structs.replace(question, status="resolved")
    return list(questions.values())


def as_they_stand(
    questions: Iterable[OpenQuestion], glossary_of: Callable[[str | None], Glossary]
) -> list[OpenQuestion]:
    """Return the questions with their current status: one answer settles all questions about a term."""
    loaded = cache(glossary_of)
    return [
        msgspec.structs.replace(it, status="resolved")
        if it.is_open and is_settled(loaded(it.mission_id or None), it.term, it.usage)
        else it
        for it in questions
    ]


def require_questions(
    questions: Iterable[OpenQuestion], name: str, mission_id: str | None = None, *, of_sign: bool = False
) -> list[OpenQuestion]:
    """Return the question that an identifier, its beginning or a term names.

    With `of_sign`, a sign that is no open term names the unknown terms that the last check found by it.

    Raises:
        NotFoundError: There is none.
        InvalidInputError: Several may be meant.
    """
    from vocabgap.model.lookup import Named, lookup  # noqa: PLC0415 - loads Polars

    candidates = [question for question in questions if mission_id in {None, question.mission_id}]
    same = [question for question in candidates if term_key(question.term) == term_key(name)]
    unknown = [it for it in candidates if it.is_open and (it.type, it.source) == ("unknown", name)]
    if of_sign and unknown and not any(question.is_open for question in same):
        missions = sorted({question.mission_id for question in unknown})
        if len(missions) > 1:
            message = f"several missions ask about '{name}': {', '.join(missions)}"
            raise InvalidInputError(message, hint="name the mission")
        return [question for question in unknown if question.check == unknown[-1].check]
    where = "" if mission_id is None else " in this mission"
    place = lookup(
        [Named(question.conflict_id, question.term) for question in candidates],
        same[0].term if same else name,
        singular="conflict",
        plural="conflicts",
        hint=Hint(f"it was not found{where}; {{}} lists all", (("glossary", "conflicts"),), FOLDER),
        fewest=SHOWN_DIGITS,
    )
    return [candidates[place]]
