"""Reviews: people answer whether two sides are one need, and each answer is a decision."""

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
    append_decision,
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
        clusters: The groups that follow the answers.
        decisions: A decision for each answer, in order.
        asked: The questions in order, also the skipped ones.
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
    """Ask whether groups are one need or two, in order of how much an answer changes the largest groups.

    Each answer is a decision, takes effect at once, and moves the cut for similar wordings.

    Args:
        found: The groups that `vocabgap.cluster` returns.
        ask: Answers a question with `same`, `different` or `skip`.
        questions: The number of questions at most.
        top: The number of the largest groups that count; 0 for all.
        decisions: Earlier decisions, which are not asked about again.
        actor: Who answers; by default the one that VOCABGAP_ACTOR names, or the user.
        now: The moment of the first answer; the clock's by default.

    Returns:
        The groups, and the new decisions. Nothing is written.
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
                hint="same: one need; different: two",
            )
        if answer != "skip":
            answers.append(under_review.decision(question, is_one=answer == "same"))
            under_review.follow([*under_review.decided, answers[-1]])
    return Reviewed(under_review.clusters, tuple(answers), tuple(asked))


class Review:
    """Groups under review, and the decisions so far.

    `found` are the groups without any decision, `decided` all decisions. `capabilities` maps surfaces to
    capabilities, by default from the labels of their groups; the rest is as `review` has it.
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
        """Let the groups follow all of these decisions."""
        self.decided = tuple(decided)
        constraints = replay(self.decided, self._surfaces).constraints
        self.clusters = self._found.taught(constraints).constrained(constraints)

    def questions(self, most: int) -> "Iterator[Question]":
        """Yield up to so many questions: each time the one whose answer would change most, none twice."""
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
        """Append an answer to the file of decisions, and follow all that the file holds then."""
        decision = self.decision(question, is_one=is_one)
        groups = self.clusters.wordings.select("surface", "cluster").iter_rows()
        check = agreeing(decision, {name: str(group) for name, group in groups})
        append_decision(file, decision, check, on_wait)
        self.follow(read_decisions(file))
        return decision

    def decision(self, question: "Question", *, is_one: bool) -> Decision:
        """Return the decision of an answer: a merge or a split, even if it changes nothing now.

        A merge keeps the first wordings of the sides together, a split keeps all of both apart.
        """
        left, right = (
            subject(self._capabilities[surface(side[0])], side[0], side)
            for side in (question.left, question.right)
        )
        decided = partial(decide, capability=left, actor=self._actor, time=self._moment())
        if is_one:
            return decided(Action.MERGE, reason="one need, when asked", other=right)
        most = None if question.are_one else KEPT_WORDINGS
        leaving, staying = question.right[:most], question.left[1:most]
        return decided(Action.SPLIT, reason="two needs, when asked", wordings=leaving, staying=staying)

    def _moment(self) -> datetime:
        if self._now is None:
            return datetime.now(UTC)
        moment = self._now  # the order of decisions is that of their times
        with suppress(OverflowError):  # at the end of time
            self._now += timedelta(microseconds=1)
        return moment


def capabilities_of(groups: pl.DataFrame) -> dict[str, str]:
    """Map each surface of a run to the identifier of its capability, from table `groups`."""
    present = groups.filter(run=PRESENT).select("surface", "capability_id")
    return dict(present.iter_rows())
