"""The tools of the server: one logs a gap, the others read."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self, get_type_hints

import msgspec
import polars as pl
from msgspec import Meta

from vocabgap.doors.mcp.tool import Answer, Checkpoint, Limit, fitting, tool, with_fields
from vocabgap.doors.mcp.workspace import Workspace
from vocabgap.doors.verbs import Request
from vocabgap.ingest.scanning import newest
from vocabgap.listing.records import listing, unknown_category
from vocabgap.logbook.log import log_gap
from vocabgap.model.capability import Capability, Cover, Covered, Recurring, Tally, Wording, Workaround
from vocabgap.model.lookup import find_capability
from vocabgap.model.record import LIST_FIELDS, GapRecord, given_fields, need_of
from vocabgap.model.selection import Selection, filter_fields
from vocabgap.model.settings import DEFAULT_LISTED, DEFAULT_TOP
from vocabgap.reporting.manifest import Parameters, Rendering, new_manifest
from vocabgap.reporting.overviews import Category
from vocabgap.reporting.summary import Tables, summarise
from vocabgap.reporting.writing import with_capabilities

MOST_CAPABILITIES: Final = 50
MOST_GAPS: Final = 100
MOST_RECORDS: Final = 50
MOST_NAMES: Final = 50  # of a record, or of a capability
MOST_NOTES: Final = 10
_FIRST: Final = 5  # operations, wordings and workarounds of a capability in a list
_SAME: Final = (
    "rank", "capability_id", "label", "mentions", "images", "sessions", "unsatisfied", "rated", "first_seen",
    "last_seen", "trend", "priority", "status", "intent_category", "mentions_low", "mentions_high", "mixed",
    "pinned_by", "unpinned_rank",
)  # fmt: skip
_Text = Annotated[str, Meta(min_length=1, max_length=65_536)]


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


class Existing(msgspec.Struct, frozen=True):
    """An entry of the vocabulary that is near to a need.

    Attributes:
        name: The name of the entry.
        description: Its description.
        explained: The share of the need that it explains, 0 to 1.
    """

    name: str
    description: str
    explained: float


class Logged(Answer, kw_only=True):
    """A gap that was logged.

    Attributes:
        success: That it was logged.
        gap_id: The identity of the record.
        image_id: The image.
        intent_category: The category, classified if none was given.
        exists: The nearest entries of the vocabulary: one of them may do it.
        note: A note on a category that is not known.
    """

    success: Literal[True] = True
    gap_id: str
    image_id: str
    intent_category: str
    exists: list[Existing] = msgspec.field(default_factory=list)
    note: str | None = None


@tool("Log a vocabulary gap", Limit.WRITE, writes=True)
def log_vocabulary_gap(workspace: Workspace, request: LogRequest, _: Checkpoint) -> Logged:
    """Log that a word, a tool or a primitive was missing, when you improvise around it.

    Say what the person asked for, what would have been right, and what you did instead. The answer has the
    gap_id, and the nearest entries that exist: use one of them if it does what you need.
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
    )
    with suppress(Exception):  # the gap is logged, and must not be logged again
        answer.note = unknown_category(answer.intent_category, workspace.settings, workspace.out) or None
        answer.exists = fitting(
            [
                Existing(match.entry.name, match.entry.description, round(match.explained, 3))
                for match in workspace.entries().covering(need_of(logged.record))
            ]
        )
    return answer


class ReportRequest(Request):
    """The filters of the records that are ranked."""

    limit: Annotated[int, Meta(ge=1, le=MOST_CAPABILITIES, description="How many capabilities to list.")] = (
        DEFAULT_TOP
    )


if TYPE_CHECKING:
    _Columns = msgspec.Struct
else:
    ReportRequest = with_fields(ReportRequest, filter_fields("mcp"))
    _Columns = msgspec.defstruct(
        "_Columns", [(name, get_type_hints(Capability).get(name, int)) for name in _SAME]
    )


class Ranked(_Columns):
    """A missing capability in its place; the fields mean what they mean in `capabilities.parquet`.

    Attributes:
        covered: The entries that probably cover some of its wordings, the one that covers most first.
    """

    operations: list[Tally]
    wordings: list[Wording]
    workarounds: list[Workaround]
    covered: list[Covered]

    @classmethod
    def of(cls, capability: Capability) -> Self:
        """Return a capability with the most frequent of its operations, wordings and workarounds."""
        return cls(
            **{name: getattr(capability, name) for name in _SAME},
            operations=list(capability.operations[:_FIRST]),
            wordings=list(capability.variants[:_FIRST]),
            workarounds=list(capability.workarounds[:_FIRST]),
            covered=list(capability.covered[:_FIRST]),
        )


class Report(Answer, kw_only=True):
    """A ranking.

    Attributes:
        capabilities: The capabilities to author, in order of rank.
        left_out: How many more of these there are.
        total: All capabilities.
        mentions: The records that ask for them.
        covered: The capabilities that an entry of the vocabulary probably covers.
        decided: The capabilities that people have dismissed or authored.
        too_few: The capabilities on too few images or in too few sessions to be listed.
        categories: Records by category, most frequent first.
        rejects: Lines of the logs that could not be read.
    """

    capabilities: list[Ranked]
    left_out: int
    total: int
    mentions: int
    covered: int
    decided: int
    too_few: int
    categories: list[Category]
    rejects: int


@tool("Report vocabulary gaps", Limit.COMPUTE)
def report_gaps(workspace: Workspace, request: ReportRequest, checkpoint: Checkpoint) -> Report:
    """Rank the missing capabilities of all images: what agents most often reached for and did not find.

    The same need counts once, however it was worded. Use it to decide what to author next.
    """
    settings, now = workspace.settings, datetime.now(UTC)
    selection = Selection.asked(msgspec.structs.asdict(request), now)
    analysis = workspace.rankings.of(selection, checkpoint)
    scan, number = analysis.scan, analysis.ranked.height
    rendering = Rendering(request.limit, settings.rank.by.value, "")
    manifest = new_manifest(now, number, rendering, Parameters(settings, selection))
    summary = summarise(Tables(analysis.ranked, scan.gaps, scan.rejects), manifest, scan.summary)
    listed = fitting([Ranked.of(each) for each in summary.capabilities])
    return Report(
        capabilities=listed,
        left_out=summary.open_total - len(listed),
        total=summary.total,
        mentions=summary.mentions,
        covered=summary.covered_total,
        decided=summary.settled_total,
        too_few=summary.hidden,
        categories=list(summary.categories[:MOST_CAPABILITIES]),
        rejects=0 if summary.account is None else summary.account.rejects,
    )


class GapRow(msgspec.Struct):
    """One record; `gap_id` is its identity, and the other fields are those of the record."""

    gap_id: str

    @classmethod
    def all_of(cls, records: pl.DataFrame) -> list[Self]:
        """Return the rows of a frame with the columns of table `records`."""
        names = [name for name in cls.__struct_fields__ if name != "gap_id"]
        rows = records.select(pl.col("record_id").alias("gap_id"), *names).iter_rows(named=True)
        return [cls(**{**row, **{name: _first(row[name] or []) for name in LIST_FIELDS}}) for row in rows]


def _first(names: list[str]) -> list[str]:
    """Return the first names, and how many there are."""
    return names if len(names) <= MOST_NAMES else [*names[:MOST_NAMES], f"… ({len(names):,} names)"]


class ListRequest(Request):
    """The filters of the records; several of them narrow the list."""

    limit: Annotated[int, Meta(ge=1, le=MOST_GAPS, description="How many to list, newest first.")] = (
        DEFAULT_LISTED
    )


if not TYPE_CHECKING:
    ListRequest = with_fields(ListRequest, filter_fields("mcp"))
    GapRow = msgspec.defstruct(
        "GapRow",
        [(field.name, field.type) for field in msgspec.structs.fields(GapRecord)],
        bases=(GapRow,),
        namespace={"__doc__": GapRow.__doc__},
    )


class ListedGap(GapRow):
    """A record with the capability of the published report that it asks for; null if none is known."""

    capability_id: str | None
    capability: str | None


class Listed(Answer, kw_only=True):
    """Records.

    Attributes:
        gaps: The records, newest first.
        left_out: How many more there are.
        session: The newest session, if that was asked for and one is known.
        notes: Notes, for instance on filters that no record matches.
    """

    gaps: list[ListedGap]
    left_out: int
    session: str | None
    notes: list[str]


@tool("List logged gaps", Limit.LOOK)
def list_gaps(workspace: Workspace, request: ListRequest, checkpoint: Checkpoint) -> Listed:
    """List the gaps that were logged, newest first.

    Narrow them by image, time, operation, category, session or satisfaction. With session `last` it is the
    review at the end of a session.
    """
    selection = Selection.asked(msgspec.structs.asdict(request), datetime.now(UTC))
    checkpoint()
    answer = listing(workspace.root, selection, limit=request.limit, settings=workspace.settings)
    checkpoint()
    gaps = fitting(ListedGap.all_of(answer.gaps))
    return Listed(
        gaps=gaps,
        left_out=answer.totals.records - len(gaps),
        session=answer.session,
        notes=list(answer.notes[:MOST_NOTES]),
    )


class ShowRequest(Request, kw_only=True):
    """The capability to show, and the number of its records."""

    capability: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=2_000,
            description="Its identifier, or the beginning of it; its label; or any of its wordings.",
        ),
    ]
    records: Annotated[
        int, Meta(ge=0, le=MOST_RECORDS, description="How many of its records to list, newest first.")
    ] = 10


class ShownCapability(Answer, kw_only=True):
    """A capability with its evidence.

    Attributes:
        capability: Its place in the ranking.
        rank_low: Best end of the 90 % interval of the rank; if pinned, of the rank without the pin.
        rank_high: Worst end of it.
        categories: All its categories, most frequent first.
        vocabulary_used: Entries that were used instead, most frequent first.
        wordings: Its wordings, most frequent first.
        combinations: Sets of operations that recur together.
        nearest: Near entries of the vocabulary, the nearest first.
        decisions: The decisions about it.
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
    nearest: list[Cover]
    decisions: list[str]
    records: list[GapRow]
    left_out: int


@tool("Show a missing capability", Limit.COMPUTE)
def show_capability(workspace: Workspace, request: ShowRequest, checkpoint: Checkpoint) -> ShownCapability:
    """Show one missing capability of the ranking with its evidence.

    The evidence is its wordings, the operations and workarounds that stood in for it, the nearest entries of
    the vocabulary, and its records.
    """
    analysis = workspace.rankings.of(Selection(), checkpoint)
    row = find_capability(analysis.ranked, request.capability).row(0, named=True)
    capability = Capability.of(row, workspace.settings.vocabulary.threshold)
    gaps = with_capabilities(analysis.scan.gaps, analysis.ranked)
    records = gaps.filter("counted", capability_id=capability.capability_id)
    rows = fitting(GapRow.all_of(newest(records, request.records)))
    return ShownCapability(
        capability=Ranked.of(capability),
        rank_low=capability.rank_low,
        rank_high=capability.rank_high,
        categories=list(capability.categories[:MOST_NAMES]),
        vocabulary_used=list(capability.vocabulary_used[:MOST_NAMES]),
        wordings=list(capability.variants[:MOST_NAMES]),
        combinations=list(capability.combinations[:MOST_NAMES]),
        nearest=list(capability.covered_by),
        decisions=list(capability.decisions[:MOST_NAMES]),
        records=rows,
        left_out=records.height - len(rows),
    )
