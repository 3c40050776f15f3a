"""The tool that writes: `log_vocabulary_gap`."""

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec
from msgspec import Meta

from vocabgap.doors.mcp.tool import Answer, Checkpoint, Limit, fitting, tool, with_fields
from vocabgap.doors.mcp.workspace import Workspace
from vocabgap.doors.verbs import Request
from vocabgap.listing.records import unknown_category
from vocabgap.listing.similar import SimilarGap
from vocabgap.logbook.log import log_gap
from vocabgap.model.record import given_fields, need_of

_SIMILAR: Final = 3


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
    workspace.rankings.note_logged()
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
