"""`list_gaps`: the records, newest first."""

from datetime import UTC, datetime
from typing import Annotated, Final, Literal, TypeVar

import msgspec

from vocabgap.gaplog.listing import review
from vocabgap.gaplog.review import Question
from vocabgap.mcp_server.gap_rows import GapRow
from vocabgap.mcp_server.lanes import Lane
from vocabgap.mcp_server.report_tool import MOMENT
from vocabgap.mcp_server.telling import LONGEST_NAME, Told, fitting
from vocabgap.mcp_server.tool import Checkpoint, Limited, Tool
from vocabgap.mcp_server.workspace import Workspace

MOST_GAPS: Final = 100
MOST_NOTES: Final = 10
_Text = Annotated[str, msgspec.Meta(max_length=500)]
_Name = Annotated[str, msgspec.Meta(max_length=LONGEST_NAME)]
_Value = TypeVar("_Value")


class ListArguments(Limited):
    """Which records are wanted; several fields narrow the list."""

    image: Annotated[_Name | None, msgspec.Meta(description="Only of this image.")] = None
    since: Annotated[_Text | None, msgspec.Meta(description=f"Earliest moment, inclusive: {MOMENT}.")] = None
    until: Annotated[_Text | None, msgspec.Meta(description="Latest moment, exclusive, as `since`.")] = None
    operation: Annotated[_Text | None, msgspec.Meta(description="Only with this operation, named whole.")] = (
        None
    )
    match: Annotated[_Text | None, msgspec.Meta(description="Only where this text occurs.")] = None
    category: Annotated[_Text | None, msgspec.Meta(description="Only of this category.")] = None
    session: Annotated[
        _Name | None, msgspec.Meta(description="Only of this session; `last` for the newest one.")
    ] = None
    satisfaction: Annotated[
        Literal[-1, 0, 1, "none"] | None,
        msgspec.Meta(description="Only with this satisfaction: -1, 0 or 1; `none` for what is not rated."),
    ] = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_GAPS, description="How many to list, newest first.")] = (
        20
    )


class ListedGap(GapRow):
    """A record with the capability of the published report that it asks for; null where none is known."""

    capability_id: str | None
    capability: str | None


class Listed(Told, kw_only=True):
    """Records.

    Attributes:
        gaps: The newest first.
        left_out: How many more there are.
        session: The newest session, where that was asked for; null where it was not, or none is known.
        notes: What no record has of what was asked for, and the like.
    """

    gaps: list[ListedGap]
    left_out: int
    session: str | None
    notes: list[str]


def list_records(workspace: Workspace, asked: ListArguments, checkpoint: Checkpoint) -> Listed:
    """List what is logged, as far as it is asked for."""
    question = Question.of(
        images=_one(asked.image),
        since=asked.since,
        until=asked.until,
        operations=_one(asked.operation),
        match=asked.match,
        categories=_one(asked.category),
        sessions=_one(asked.session),
        satisfaction=_one(asked.satisfaction),
        now=datetime.now(UTC),
    )
    checkpoint()
    found = review(workspace.root, question, limit=asked.limit, settings=workspace.settings)
    checkpoint()
    shown = fitting(ListedGap.all_of(found.gaps))
    return Listed(
        gaps=shown,
        left_out=found.totals.records - len(shown),
        session=found.session,
        notes=list(found.notes[:MOST_NOTES]),
    )


def _one(value: _Value | None) -> tuple[_Value, ...]:
    return () if value is None else (value,)


LIST_GAPS: Final = Tool(
    name="list_gaps",
    title="List logged gaps",
    description=(
        "List the gaps that were logged, newest first, by image, time, operation, category, session or"
        " satisfaction. With session `last` it is the review at the end of a session."
    ),
    arguments=ListArguments,
    data=Listed,
    lane=Lane.LOOK,
    work=list_records,
)
