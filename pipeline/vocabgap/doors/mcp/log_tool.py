"""`log_vocabulary_gap` and `similar_gaps`: write down what was missing, and find what is known of it."""

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec
from msgspec import Meta

from vocabgap.doors.mcp.tool import MOST_TEXT, Answer, Arguments, Checkpoint, Limit, extended, fitting, tool
from vocabgap.doors.mcp.workspace import Workspace
from vocabgap.listing.finding import unknown_category
from vocabgap.listing.similar import SimilarGap
from vocabgap.logbook.log import log_gap
from vocabgap.model.record import given_fields, need_of
from vocabgap.model.selection import Selection

MOST_SIMILAR: Final = 20
_SIMILAR: Final = 3


class LogArguments(Arguments):
    """The fields of a gap record; its time is now."""

    image_id: Annotated[
        str, Meta(min_length=1, max_length=255, description="The name of the image's folder in the root.")
    ]
    corrects: Annotated[
        Annotated[str, Meta(max_length=500)] | None,
        Meta(description="The gap_id of a record of this image that this one replaces."),
    ] = None


if not TYPE_CHECKING:
    LogArguments = extended(LogArguments, given_fields("mcp"))


class Logged(Answer, kw_only=True):
    """A gap that was logged.

    Attributes:
        success: That it was.
        gap_id: Its identity from now on.
        image_id: The image.
        intent_category: Its category, classified where none was given.
        need: What was missing, in the words that are compared with what is known.
        similar: What comes near that was known before.
        exists: The entries of the vocabulary that come nearest, however far: one of them may do it.
        note: What is to be said of its category, where that is not known.
    """

    success: Literal[True] = True
    gap_id: str
    image_id: str
    intent_category: str
    need: str
    similar: list[SimilarGap] = msgspec.field(default_factory=list)
    exists: list[SimilarGap] = msgspec.field(default_factory=list)
    note: str | None = None


def with_similar(workspace: Workspace, logged: Logged) -> Logged:
    """What comes near; nothing where that cannot be said: the gap is logged, and must not be logged again."""
    with suppress(Exception):
        note = unknown_category(logged.intent_category, workspace.settings, workspace.out)
        logged = msgspec.structs.replace(logged, note=note or None)
        logged = msgspec.structs.replace(logged, similar=similar_to(workspace, logged.need, _SIMILAR))
        exists = workspace.rankings.index().entries(logged.need, _SIMILAR)
        logged = msgspec.structs.replace(logged, exists=fitting(exists))
    return logged


@tool("Log a vocabulary gap", Limit.WRITE, writes=True, complete=with_similar)
def log_vocabulary_gap(workspace: Workspace, arguments: LogArguments, _: Checkpoint) -> Logged:
    """Log that a word, a tool or a primitive was missing, when you improvise around it.

    Say what the person asked for, what would have been right, and what you did instead. The answer has the
    gap_id, known needs that come near, whose wording to reuse, and entries that exist: use one that does it.
    """
    folder = workspace.image(arguments.image_id)
    fields = msgspec.structs.asdict(arguments)
    del fields["image_id"]  # the folder has its name
    logged = log_gap(folder, **fields)
    return Logged(
        gap_id=logged.gap_id,
        image_id=logged.record["image_id"],
        intent_category=logged.record["intent_category"],
        need=need_of(logged.record),
    )


class SimilarArguments(Arguments):
    """A need, and how much is wanted."""

    text: Annotated[str, Meta(min_length=1, max_length=MOST_TEXT, description="The need, in a few words.")]
    limit: Annotated[int, Meta(ge=1, le=MOST_SIMILAR, description="How many to list.")] = 5


class SimilarAnswer(Answer, kw_only=True):
    """What comes near.

    Attributes:
        similar: The nearest first.
    """

    similar: list[SimilarGap]


@tool("Find similar gaps", Limit.COMPUTE)
def similar_gaps(workspace: Workspace, arguments: SimilarArguments, checkpoint: Checkpoint) -> SimilarAnswer:
    """Find the known missing capabilities and the entries of the vocabulary that come nearest to a need.

    Use it before logging a gap: the entry may exist, or the need may have a wording already.
    """
    workspace.rankings.of(Selection(), checkpoint)
    return SimilarAnswer(similar=fitting(similar_to(workspace, arguments.text, arguments.limit)))


def similar_to(workspace: Workspace, text: str, limit: int) -> list[SimilarGap]:
    """What comes near a need, by the ranking that is at hand."""
    return workspace.rankings.index().nearest(text, limit)
