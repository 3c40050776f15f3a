"""Open questions, as the logs tell of them, and how they are answered later."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Final, NamedTuple

import msgspec

from vocabgap.glossary.conflicts import ConflictType, SemanticConflict, Severity
from vocabgap.glossary.event_log import BY_HAND, GivenAnswer, LoggedEvent, changing
from vocabgap.glossary.events import (
    GlossaryClarificationRequested,
    GlossaryClarificationResolved,
    GlossaryEvent,
    GlossarySenseUpdated,
    ResolutionMode,
    SemanticCheckEvaluated,
    in_mission,
)
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.normal_form import definition_key, term_key
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.senses import SenseRef
from vocabgap.glossary.session import Answer, answered

_FEWEST_DIGITS: Final = 8  # of an identifier's beginning
_Place = tuple[str, str, str]  # mission, step and term of a finding


class QuestionStatus(StrEnum):
    """Whether a question is answered."""

    RESOLVED = "resolved"
    UNRESOLVED = "unresolved"


class OpenQuestion(msgspec.Struct, frozen=True):
    """A question about what a term means, open or answered.

    Attributes:
        mission_id: The mission in which it came up last; empty where only the answer was logged.
        conflict: What the check found, as far as the log says.
        options: What was offered, in words.
    """

    conflict_id: str
    term: str
    timestamp: datetime
    status: QuestionStatus
    severity: str = Severity.LOW.value
    mission_id: str = ""
    step_id: str = ""
    options: tuple[str, ...] = ()
    conflict: SemanticConflict | None = None
    effective_strictness: str = ""

    @property
    def type(self) -> str:
        """What is open."""
        return ConflictType.UNKNOWN.value if self.conflict is None else self.conflict.conflict_type.value

    @property
    def context(self) -> str:
        """The sentence in which the term stands."""
        return "" if self.conflict is None else self.conflict.context

    @property
    def usage(self) -> str:
        """The use of the term that it is about; empty where it is about the term as such."""
        return "" if self.conflict is None else self.conflict.usage

    @property
    def is_open(self) -> bool:
        """Whether it waits for an answer."""
        return self.status is QuestionStatus.UNRESOLVED

    def is_answered_by(self, answer: GivenAnswer) -> bool:
        """Whether somebody has answered it so."""
        return answer.conflict_id == self.conflict_id

    def candidates(self, glossary: Glossary) -> tuple[SenseRef, ...]:
        """What can be chosen, in the order in which it was offered."""
        senses = () if self.conflict is None else self.conflict.candidate_senses
        logged = {definition_key(each.definition): each for each in senses}
        present = {definition_key(each.definition): each.ref for each in glossary.history(self.term)}
        return tuple(
            logged.get(key) or present.get(key) or SenseRef(self.term, glossary.scopes.authored_scope, option)
            for option in self.options
            for key in [definition_key(option)]
        )


def questions_of(events: Iterable[LoggedEvent]) -> list[OpenQuestion]:
    """The questions of some logs, each as it stands at last, in the order in which they came up first."""
    findings: dict[_Place, tuple[SemanticConflict, str]] = {}
    questions: dict[str, OpenQuestion] = {}
    for logged in events:
        event = logged.event
        match event:
            case SemanticCheckEvaluated():
                for conflict in event.findings:
                    place = (event.mission_id, event.step_id, conflict.term.surface_text)
                    findings[place] = conflict, event.effective_strictness
            case GlossaryClarificationRequested():
                place = (event.mission_id, event.step_id, event.term)
                questions[event.conflict_id] = OpenQuestion(
                    event.conflict_id,
                    event.term,
                    event.timestamp,
                    QuestionStatus.UNRESOLVED,
                    event.urgency.value,
                    *place[:2],
                    event.options,
                    *findings.get(place, ()),
                )
            case GlossaryClarificationResolved() | GlossarySenseUpdated() if event.conflict_id:
                known = questions.get(event.conflict_id)
                status = QuestionStatus.RESOLVED
                questions[event.conflict_id] = (
                    msgspec.structs.replace(known, status=status)
                    if known
                    else OpenQuestion(event.conflict_id, event.term_surface, event.timestamp, status)
                )
    return list(questions.values())


def as_they_stand(questions: Iterable[OpenQuestion], runtime: GlossaryRuntime) -> list[OpenQuestion]:
    """The questions as they stand in the glossary: what settles a term settles all questions about it.

    That may be the answer to another question, a draft that was promoted, or a meaning that somebody wrote.
    """
    loaded = cache(runtime.load)

    def standing(question: OpenQuestion) -> OpenQuestion:
        if not question.is_open:
            return question
        glossary = loaded(question.mission_id or None).glossary
        meaning = glossary.meaning(question.term)
        if meaning is None or (question.usage and not glossary.accepts(meaning, question.usage)):
            return question
        return msgspec.structs.replace(question, status=QuestionStatus.RESOLVED)

    return list(map(standing, questions))


def require_question(
    questions: Iterable[OpenQuestion], name: str, mission_id: str | None = None
) -> OpenQuestion:
    """The question of an identifier, of the beginning of one, or about a term.

    Raises:
        NotFoundError: There is none.
        InvalidInputError: Several may be meant.
    """
    from vocabgap.model.lookup import Named, lookup  # noqa: PLC0415 - loads Polars

    listed = [each for each in questions if mission_id in {None, each.mission_id}]
    key = term_key(name)
    name = next((each.term for each in listed if term_key(each.term) == key), name)
    place = lookup(
        [Named(each.conflict_id, each.term) for each in listed],
        name,
        singular="conflict",
        plural="conflicts",
        hint="it was not found; the list of conflicts has them all",
        fewest=_FEWEST_DIGITS,
    )
    return listed[place]


LATER: Final = "cli_resolve"  # the source of answers that are given later


class AnsweredLater(NamedTuple):
    """What was logged of an answer, and in whose place it is, in words; empty where in nobody's."""

    events: list[GlossaryEvent]
    overrides: str


def answer_later(runtime: GlossaryRuntime, question: OpenQuestion, answer: Answer) -> AnsweredLater:
    """Answer an open question, and log it; a deferred one stays as it is.

    Raises:
        InvalidInputError: There is no such candidate, or the definition is blank.
    """
    with changing(runtime.logs):
        glossary = runtime.load(question.mission_id or None).glossary
        events = answered(
            glossary,
            answer,
            question.term,
            question.candidates(glossary),
            conflict_id=question.conflict_id,
            usage=question.usage,
            actor=runtime.actor,
            now=runtime.now(),
            mode=ResolutionMode.ASYNC,
            source=LATER,
        )
        changes = [in_mission(event, question.mission_id) for event in events]
        logged = runtime.files.append_changes(question.mission_id or BY_HAND, changes)
        # Once the logs are let go, somebody else may have answered, and would be told of here.
        return AnsweredLater(logged, runtime.files.overridden(question.term) if logged else "")
