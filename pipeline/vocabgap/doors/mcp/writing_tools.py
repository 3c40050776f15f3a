"""The tools that write: `log_vocabulary_gap`, and the questions of a review with their answers."""

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

import msgspec
from msgspec import Meta

from vocabgap.decisions.record import SameOrDifferent, read_decisions
from vocabgap.decisions.reviewing import Review, capabilities_of
from vocabgap.doors.mcp.tool import Answer, Checkpoint, Limit, fitting, tool, with_fields
from vocabgap.doors.mcp.workspace import Workspace
from vocabgap.doors.verbs import Request
from vocabgap.errors import expanded
from vocabgap.listing.records import unknown_category
from vocabgap.listing.similar import SimilarGap
from vocabgap.logbook.log import log_gap
from vocabgap.model.record import given_fields, need_of
from vocabgap.model.settings import DEFAULT_TOP

_SIMILAR: Final = 3
_MOST_WORDINGS: Final = 20
_QuestionId = Annotated[str, Meta(min_length=1, max_length=100)]


class LogRequest(Request, kw_only=True):
    """The fields of a gap record; its time is now."""

    image_id: Annotated[
        str, Meta(min_length=1, max_length=255, description="The name of the image's folder in the root.")
    ]
    corrects: Annotated[
        str | None, Meta(description="The gap_id of a record of this image that this one replaces.")
    ] = None


if not TYPE_CHECKING:
    LogRequest = with_fields(LogRequest, given_fields("mcp"))


class Logged(Answer, kw_only=True):
    """A gap that was logged.

    Attributes:
        success: That it was logged.
        gap_id: The identity of the record.
        image_id: The image.
        intent_category: The category, classified if none was given.
        need: What was missing, in the words that are compared with other needs.
        similar: Known needs with similar words.
        exists: The nearest entries of the vocabulary, however far: one of them may do it.
        note: A note on a category that is not known.
    """

    success: Literal[True] = True
    gap_id: str
    image_id: str
    intent_category: str
    need: str
    similar: list[SimilarGap] = msgspec.field(default_factory=list)
    exists: list[SimilarGap] = msgspec.field(default_factory=list)
    note: str | None = None


@tool("Log a vocabulary gap", Limit.WRITE, writes=True)
def log_vocabulary_gap(workspace: Workspace, request: LogRequest, _: Checkpoint) -> Logged:
    """Log that a word, a tool or a primitive was missing, when you improvise around it.

    Say what the person asked for, what would have been right, and what you did instead. The answer has the
    gap_id, similar known needs, whose wording to reuse, and entries that exist: use one that does it.
    """
    folder = workspace.image(request.image_id)
    fields = msgspec.structs.asdict(request)
    del fields["image_id"]  # the folder has its name
    logged = log_gap(folder, **fields)
    answer = Logged(
        gap_id=logged.gap_id,
        image_id=logged.record["image_id"],
        intent_category=logged.record["intent_category"],
        need=need_of(logged.record),
    )
    with suppress(Exception):  # the gap is logged, and must not be logged again
        answer.note = unknown_category(answer.intent_category, workspace.settings, workspace.out) or None
        index = workspace.rankings.index()
        answer.similar = index.nearest(answer.need, _SIMILAR)
        answer.exists = fitting(index.entries(answer.need, _SIMILAR))
    return answer


class NextRequest(Request):
    """The choice of the next question."""

    top: Annotated[int, Meta(ge=1, le=1_000, description="How many of the most mentioned groups count.")] = (
        DEFAULT_TOP
    )
    skip: Annotated[
        list[_QuestionId], Meta(max_length=100, description="Identifiers of questions to leave open.")
    ] = []  # noqa: RUF012 - msgspec copies it


class Side(msgspec.Struct):
    """One side of a question.

    Attributes:
        mentions: The records of this side.
        wordings: The wordings, most used first.
        left_out: How many more wordings there are.
    """

    mentions: int
    wordings: list[str]
    left_out: int

    @classmethod
    def of(cls, wordings: tuple[str, ...], mentions: int) -> Self:
        """Return a side with its first wordings."""
        first = wordings[:_MOST_WORDINGS]
        return cls(mentions, list(first), len(wordings) - len(first))


class Asked(Answer, kw_only=True):
    """A question: are the two sides one need, or two? All fields are null if nothing is left to ask.

    Attributes:
        question_id: The identifier that the answer names.
        left: One side.
        right: The other.
        are_one: Whether they are one group now.
        likely: How likely they are one need, by the distances of the wordings.
        why: Why it is asked.
    """

    question_id: str | None = None
    left: Side | None = None
    right: Side | None = None
    are_one: bool | None = None
    likely: float | None = None
    why: str | None = None


@tool("Ask what is one need", Limit.COMPUTE)
def next_review_question(workspace: Workspace, request: NextRequest, checkpoint: Checkpoint) -> Asked:
    """Give the question about the groups whose answer would change the ranking most: one need, or two?

    Prepare it for a person, who decides: say what speaks for one need and what for two.
    """
    question = _review(workspace, checkpoint, top=request.top).question(request.skip)
    if question is None:
        return Asked()
    return Asked(
        question_id=question.question_id,
        left=Side.of(question.left, question.left_mentions),
        right=Side.of(question.right, question.right_mentions),
        are_one=question.are_one,
        likely=question.likely,
        why=question.why,
    )


class ReviewRequest(Request, kw_only=True):
    """The answer of a person to a question."""

    question_id: Annotated[_QuestionId, Meta(description="As `next_review_question` gave it.")]
    answer: Annotated[SameOrDifferent, Meta(description="`same`: one need. `different`: two needs.")]


class Answered(Answer, kw_only=True):
    """The decision.

    Attributes:
        decision_id: The identifier that `vocabgap decide undo` takes.
        decision: The decision in words.
    """

    decision_id: str
    decision: str


@tool("Answer what is one need", Limit.COMPUTE, writes=True)
def answer_review_question(workspace: Workspace, request: ReviewRequest, checkpoint: Checkpoint) -> Answered:
    """Write down what a person has said to a question of `next_review_question`, never what you think.

    It is a decision: every later report follows it, and it moves the cut for similar groups, so ask for the
    next question anew.
    """
    review = _review(workspace, checkpoint, top=0)
    file = expanded(workspace.settings.decisions.file)
    question = review.find(request.question_id)
    decision = review.answer(question, file, is_one=request.answer == "same")
    return Answered(decision_id=decision.decision_id, decision=decision.summary)


def _review(workspace: Workspace, checkpoint: Checkpoint, *, top: int) -> Review:
    analysis = workspace.rankings.whatever_was_decided(checkpoint)  # a review follows the decisions itself
    decided = read_decisions(expanded(workspace.settings.decisions.file))
    return Review(analysis.clusters, decided, top=top, capabilities=capabilities_of(analysis.lineage.groups))
