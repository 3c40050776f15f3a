"""`list_gaps` and `show_capability`: the records, and the evidence for one missing capability."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final, Self

import msgspec
import polars as pl
from msgspec import Meta

from vocabgap.doors.mcp.report_tools import Ranked
from vocabgap.doors.mcp.tool import Answer, Arguments, Checkpoint, Limit, extended, fitting, tool
from vocabgap.doors.mcp.workspace import Workspace
from vocabgap.ingest.selection import newest
from vocabgap.listing.records import listing
from vocabgap.model.capability import Capability, Recurring, Tally, Wording
from vocabgap.model.lookup import find_capability
from vocabgap.model.record import LIST_FIELDS, GapRecord
from vocabgap.model.selection import Selection, filter_fields
from vocabgap.model.settings import DEFAULT_LISTED
from vocabgap.reporting.writing import with_capabilities

MOST_NAMES: Final = 50  # of a record, or of a capability


class GapRow(msgspec.Struct):
    """One record; `gap_id` is its identity, and the other fields are those of the record.

    Attributes:
        gap_id: The identity of the record, given when it is logged.
    """

    gap_id: str

    @classmethod
    def all_of(cls, records: pl.DataFrame) -> list[Self]:
        """Return the rows of a frame with the columns of table `records`."""
        names = [name for name in cls.__struct_fields__ if name != "gap_id"]
        rows = records.select(pl.col("record_id").alias("gap_id"), *names).iter_rows(named=True)
        return [cls(**{**row, **{name: _first(row[name] or []) for name in LIST_FIELDS}}) for row in rows]


if not TYPE_CHECKING:
    GapRow = msgspec.defstruct(
        "GapRow",
        [(field.name, field.type) for field in msgspec.structs.fields(GapRecord)],
        bases=(GapRow,),
        namespace={"__doc__": GapRow.__doc__},
    )


def _first(names: list[str]) -> list[str]:
    """The first of many names, and that there are more."""
    return names if len(names) <= MOST_NAMES else [*names[:MOST_NAMES], f"… ({len(names):,} names)"]


MOST_GAPS: Final = 100
MOST_NOTES: Final = 10


class ListArguments(Arguments):
    """The filters of the records; several of them narrow the list."""

    limit: Annotated[int, Meta(ge=1, le=MOST_GAPS, description="How many to list, newest first.")] = (
        DEFAULT_LISTED
    )


if not TYPE_CHECKING:
    ListArguments = extended(ListArguments, filter_fields("mcp"))


class ListedGap(GapRow):
    """A record with the capability of the published report that it asks for; null where none is known."""

    capability_id: str | None
    capability: str | None


class Listed(Answer, kw_only=True):
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


@tool("List logged gaps", Limit.LOOK)
def list_gaps(workspace: Workspace, arguments: ListArguments, checkpoint: Checkpoint) -> Listed:
    """List the gaps that were logged, newest first.

    Narrow them by image, time, operation, category, session or satisfaction. With session `last` it is the
    review at the end of a session.
    """
    selection = Selection.asked(msgspec.structs.asdict(arguments), datetime.now(UTC))
    checkpoint()
    answer = listing(workspace.root, selection, limit=arguments.limit, settings=workspace.settings)
    checkpoint()
    gaps = fitting(ListedGap.all_of(answer.gaps))
    return Listed(
        gaps=gaps,
        left_out=answer.totals.records - len(gaps),
        session=answer.session,
        notes=list(answer.notes[:MOST_NOTES]),
    )


MOST_RECORDS: Final = 50
_MOST_CHARACTERS: Final = 2_000


class ShowArguments(Arguments):
    """Which capability is meant, and how much of it is wanted."""

    capability: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=_MOST_CHARACTERS,
            description="Its identifier, or the beginning of it; its label; or any of its wordings.",
        ),
    ]
    records: Annotated[
        int, Meta(ge=0, le=MOST_RECORDS, description="How many of its records to list, newest first.")
    ] = 10


class Near(msgspec.Struct):
    """An entry of the vocabulary that comes near, and the share of the need that it explains, 0 to 1."""

    entry: str
    pack: str
    explained: float


class Shown(Answer, kw_only=True):
    """A capability with its evidence.

    Attributes:
        capability: Its place in the ranking.
        rank_low: Best end of the 90 % interval of the rank; of what is pinned, of the rank without the pin.
        rank_high: Worst end of it.
        categories: All its categories, most frequent first.
        vocabulary_used: Entries that were used instead, most frequent first.
        wordings: How it was put, most frequent first.
        combinations: Sets of operations that recur together.
        nearest: Entries of the vocabulary that come near, the nearest first.
        decisions: What people decided about it.
        records: Its records, newest first.
        left_out: How many more records there are.
    """

    capability: Ranked
    rank_low: int
    rank_high: int
    categories: list[Tally]
    vocabulary_used: list[Tally]
    wordings: list[Wording]
    combinations: list[Recurring]
    nearest: list[Near]
    decisions: list[str]
    records: list[GapRow]
    left_out: int


@tool("Show a missing capability", Limit.COMPUTE)
def show_capability(workspace: Workspace, arguments: ShowArguments, checkpoint: Checkpoint) -> Shown:
    """Show one missing capability of the ranking with its evidence.

    That is how it was worded, which operations and workarounds stood in for it, which entries of the
    vocabulary come near, and its records.
    """
    analysis = workspace.rankings.of(Selection(), checkpoint)
    row = find_capability(analysis.ranked, arguments.capability).row(0, named=True)
    capability = Capability.of(row, workspace.settings.vocabulary.threshold)
    gaps = with_capabilities(analysis.scan.gaps, analysis.ranked)
    records = gaps.filter("counted", capability_id=capability.capability_id)
    rows = fitting(GapRow.all_of(newest(records, arguments.records)))
    return Shown(
        capability=Ranked.of(capability),
        rank_low=capability.rank_low,
        rank_high=capability.rank_high,
        categories=list(capability.categories[:MOST_NAMES]),
        vocabulary_used=list(capability.vocabulary_used[:MOST_NAMES]),
        wordings=list(capability.variants[:MOST_NAMES]),
        combinations=list(capability.combinations[:MOST_NAMES]),
        nearest=[Near(each.entry, each.pack, each.explained) for each in capability.covered_by],
        decisions=list(capability.decisions[:MOST_NAMES]),
        records=rows,
        left_out=records.height - len(rows),
    )
