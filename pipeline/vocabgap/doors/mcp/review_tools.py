"""`next_review_question` and `answer_review_question`: which groups are one need, and which are two."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from vocabgap.clustering.questions import Question
from vocabgap.decisions.record import SameOrDifferent, read_decisions
from vocabgap.decisions.reviewing import Review, capabilities_of
from vocabgap.doors.mcp.tool import Answer, Arguments, Checkpoint, Limit, tool
from vocabgap.doors.mcp.workspace import Workspace
from vocabgap.errors import expanded
from vocabgap.model.settings import DEFAULT_TOP

_MOST_WORDINGS: Final = 20
_MOST_SKIPPED: Final = 100
_QuestionId = Annotated[str, Meta(min_length=1, max_length=100)]


class NextArguments(Arguments):
    """Which question is wanted."""

    top: Annotated[int, Meta(ge=1, le=1_000, description="How many of the most mentioned groups count.")] = (
        DEFAULT_TOP
    )
    skip: Annotated[
        list[_QuestionId],
        Meta(max_length=_MOST_SKIPPED, description="Identifiers of questions that are left open."),
    ] = []  # noqa: RUF012 - msgspec copies it


class Side(msgspec.Struct):
    """One side of a question.

    Attributes:
        mentions: How often it is asked for.
        wordings: How, most used first.
        left_out: How many more wordings there are.
    """

    mentions: int
    wordings: list[str]
    left_out: int

    @classmethod
    def of(cls, wordings: tuple[str, ...], mentions: int) -> "Side":
        """A side with as many of its wordings as are shown."""
        shown = wordings[:_MOST_WORDINGS]
        return cls(mentions, list(shown), len(wordings) - len(shown))


class Asked(Answer, kw_only=True):
    """A question: are the two sides one need, or two?

    Attributes:
        question_id: What it is answered by; null where nothing is left to ask, as the other fields are.
        left: One side.
        right: The other.
        are_one: Whether they are one group as things stand.
        likely: How likely they are one need, as far as the distances of the wordings tell.
        why: Why it is asked.
    """

    question_id: str | None = None
    left: Side | None = None
    right: Side | None = None
    are_one: bool | None = None
    likely: float | None = None
    why: str | None = None


@tool("Ask what is one need", Limit.COMPUTE)
def next_review_question(workspace: Workspace, arguments: NextArguments, checkpoint: Checkpoint) -> Asked:
    """Give the question about the groups whose answer would change the ranking most: one need, or two?

    Prepare it for a person, who decides: say what speaks for one need and what for two.
    """
    review = _review(workspace, checkpoint, top=arguments.top)
    question = review.question(arguments.skip)
    return Asked() if question is None else _asked(question)


class ReviewArguments(Arguments):
    """What a person says to a question."""

    question_id: Annotated[_QuestionId, Meta(description="As `next_review_question` gave it.")]
    answer: Annotated[SameOrDifferent, Meta(description="`same`: one need. `different`: two needs.")]


class Answered(Answer, kw_only=True):
    """What was decided.

    Attributes:
        decision_id: What it can be undone by, with `vocabgap decide undo`.
        decision: The decision in words.
    """

    decision_id: str
    decision: str


@tool("Answer what is one need", Limit.COMPUTE, writes=True)
def answer_review_question(
    workspace: Workspace, arguments: ReviewArguments, checkpoint: Checkpoint
) -> Answered:
    """Write down what a person has said to a question of `next_review_question`, never what you think.

    It is a decision: every later report follows it, and it moves where needs part for what is like it, so ask
    for the next question anew.
    """
    review = _review(workspace, checkpoint, top=0)
    file = expanded(workspace.settings.decisions.file)
    question = review.find(arguments.question_id)
    decision = review.answer(question, file, is_one=arguments.answer == "same")
    return Answered(decision_id=decision.decision_id, decision=decision.summary)


def _review(workspace: Workspace, checkpoint: Checkpoint, *, top: int) -> Review:
    analysis = workspace.rankings.whatever_was_decided(checkpoint)  # a review follows the decisions itself
    decided = read_decisions(expanded(workspace.settings.decisions.file))
    capabilities = capabilities_of(analysis.lineage.groups)
    return Review(analysis.clusters, decided, top=top, capabilities=capabilities)


def _asked(question: Question) -> Asked:
    return Asked(
        question_id=question.question_id,
        left=Side.of(question.left, question.left_mentions),
        right=Side.of(question.right, question.right_mentions),
        are_one=question.are_one,
        likely=question.likely,
        why=question.why,
    )
