"""Reviews: people answer if two sides are the same need; each answer is a decision."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import polars as pl

from vocabgap.decisions.record import (
    KEPT_WORDINGS,
    Action,
    Decision,
    ReviewAnswer,
    append_decisions,
    decide,
    read_decisions,
    subject,
)
from vocabgap.decisions.replay import agreeing, replay
from vocabgap.errors import InvalidInputError, whole_number
from vocabgap.model.loading import login
from vocabgap.model.settings import DEFAULT_QUESTIONS, DEFAULT_TOP
from vocabgap.model.tables import PRESENT
from vocabgap.ranking.identity import derived_id
from vocabgap.text import count, surface

if TYPE_CHECKING:
    from vocabgap.clustering.grouping import Clusters
    from vocabgap.clustering.questions import Question


@dataclass(frozen=True, repr=False)
class Reviewed:
    """The result of a review.

    Attributes:
        clusters: The groups after the answers.
        decisions: The decision of each answer, in order.
        asked: All questions in order, also skipped questions.
    """

    clusters: "Clusters"
    decisions: tuple[Decision, ...]
    asked: tuple["Question", ...]

    def __repr__(self) -> str:
        """Return the number of questions and answers in one line."""
        asked = count(len(self.asked), "question")
        return f"Reviewed({asked}, {len(self.decisions):,} answered; {self.clusters})"


def review(
    found: "Clusters",
    ask: Callable[["Question"], str],
    questions: int = DEFAULT_QUESTIONS,
    top: int = DEFAULT_TOP,
    *,
    decisions: Iterable[Decision] = (),
    actor: str | None = None,
    now: datetime | None = None,
) -> Reviewed:
    """Ask if groups are the same need; the questions that may change the largest groups come first.

    Each answer is a decision. It takes effect at once.

    Args:
        found: The groups that `vocabgap.cluster` returns.
        ask: Returns `same`, `different` or `skip` for a question.
        questions: The largest number of questions.
        top: The number of the largest groups to ask about; 0 for all.
        decisions: Earlier decisions; their questions are not asked again.
        actor: The person who answers; by default VOCABGAP_ACTOR, else the user name.
        now: The time of the first answer; by default the current time.

    Returns:
        The groups and the new decisions; nothing is written.
    """
    most = whole_number("questions", questions)
    under_review = Review(found, decisions, top=top, actor=actor, now=now)
    answers: list[Decision] = []
    asked: list[Question] = []
    for question in under_review.questions(most):
        asked.append(question)
        answer = ask(question)
        if answer not in get_args(ReviewAnswer):
            raise InvalidInputError(
                f"answer: expected one of {', '.join(get_args(ReviewAnswer))}, got '{answer}'",
                hint="same: the same need; different: two needs",
            )
        if answer != "skip":
            answers.append(under_review.decision(question, is_one=answer == "same"))
            under_review.follow([*under_review.decided, answers[-1]])
    return Reviewed(under_review.clusters, tuple(answers), tuple(asked))


class Review:
    """Groups under review, and the decisions so far.

    `found` are the groups without decisions, `decided` are all decisions. `capabilities` maps surfaces to
    capabilities; by default they come from the labels of the groups. The other arguments are as in `review`.
    """

    def __init__(
        self,
        found: "Clusters",
        decided: Iterable[Decision] = (),
        *,
        top: int = DEFAULT_TOP,
        actor: str | None = None,
        now: datetime | None = None,
        capabilities: Mapping[str, str] | None = None,
    ) -> None:
        self._found = found
        self._top = whole_number("top", top)
        self._actor = login() if actor is None else actor
        self._now = now
        if capabilities is None:
            labels = found.wordings.join(found.clusters, on="cluster").select("surface", "label_surface")
            capabilities = {name: derived_id(label) for name, label in labels.iter_rows()}
        self._capabilities = capabilities
        self._surfaces = frozenset(found.wordings["surface"])
        self.follow(decided)

    def follow(self, decided: Iterable[Decision]) -> None:
        """Apply all these decisions to the groups."""
        self.decided = tuple(decided)
        constraints = replay(self.decided, self._surfaces).constraints
        self.clusters = self._found.constrained(constraints)

    def questions(self, most: int) -> "Iterator[Question]":
        """Yield up to `most` different questions; the question that may change most comes next."""
        asked = set[str]()
        while len(asked) < most:
            fresh = (each for each in self.clusters.questions(self._top) if each.question_id not in asked)
            if (question := next(fresh, None)) is None:
                return
            asked.add(question.question_id)
            yield question

    def answer(
        self, question: "Question", file: Path, on_wait: Callable[[], None] = lambda: None, *, is_one: bool
    ) -> Decision:
        """Append an answer to the file of decisions, and apply all decisions of the file."""
        decision = self.decision(question, is_one=is_one)
        groups = self.clusters.wordings.select("surface", "cluster").iter_rows()
        check = agreeing([decision], {name: str(group) for name, group in groups})
        append_decisions(file, [decision], check, on_wait)
        self.follow(read_decisions(file))
        return decision

    def decision(self, question: "Question", *, is_one: bool) -> Decision:
        """Return the decision of an answer: a merge or a split, even if it changes nothing now.

        A merge unites the first wordings of the sides; a split separates all wordings of both.
        """
        left, right = (
            subject(self._capabilities[surface(side[0])], side[0], side)
            for side in (question.left, question.right)
        )
        decided = partial(decide, capability=left, actor=self._actor, time=self._moment())
        if is_one:
            return decided(Action.MERGE, reason="same need, in a review", other=right)
        most = None if question.are_one else KEPT_WORDINGS
        leaving, staying = question.right[:most], question.left[1:most]
        return decided(Action.SPLIT, reason="two needs, in a review", wordings=leaving, staying=staying)

    def _moment(self) -> datetime:
        if self._now is None:
            return datetime.now(UTC)
        moment = self._now  # decisions are ordered by time
        with suppress(OverflowError):  # the largest datetime
            self._now += timedelta(microseconds=1)
        return moment


def capabilities_of(groups: pl.DataFrame) -> dict[str, str]:
    """Map each surface of a run to the identifier of its capability, from table `groups`."""
    present = groups.filter(run=PRESENT).select("surface", "capability_id")
    return dict(present.iter_rows())
