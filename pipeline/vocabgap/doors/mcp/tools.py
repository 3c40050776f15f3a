"""The tools of the server: one tool logs a gap, the others read."""

from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self, get_type_hints

import msgspec
import polars as pl
from msgspec import Meta

from vocabgap.doors.mcp.tool import Answer, Checkpoint, Limit, fitting, tool, with_fields
from vocabgap.doors.mcp.workspace import Workspace
from vocabgap.doors.verbs import Request
from vocabgap.ingest.scanning import newest, unmatched
from vocabgap.listing.records import listing, unknown_category
from vocabgap.logbook.log import log_gap
from vocabgap.model.capability import Capability, Cover, Covered, Recurring, Tally, Wording, Workaround
from vocabgap.model.lookup import find_capability
from vocabgap.model.record import LIST_FIELDS, GapRecord, given_fields, need_of
from vocabgap.model.selection import Selection, filter_fields
from vocabgap.model.settings import DEFAULT_LISTED, DEFAULT_TOP
from vocabgap.model.tables import counted
from vocabgap.reporting.manifest import Parameters, Rendering, new_manifest
from vocabgap.reporting.overviews import Category, Ungranted
from vocabgap.reporting.summary import Tables, summarise
from vocabgap.reporting.writing import with_capabilities

MOST_CAPABILITIES: Final = 50
MOST_GAPS: Final = 100
MOST_RECORDS: Final = 50
MOST_NAMES: Final = 50  # of a record, or of a capability
MOST_NOTES: Final = 10
_FIRST: Final = 5  # operations, wordings and workarounds of a listed capability
_SAME: Final = (
    "rank", "capability_id", "label", "mentions", "images", "sessions", "unsatisfied", "rated", "first_seen",
    "last_seen", "trend", "priority", "status", "intent_category", "mentions_low", "mentions_high", "mixed",
    "pinned_by", "unpinned_rank", "largest_session",
)  # fmt: skip
_Text = Annotated[str, Meta(min_length=1, max_length=65_536)]


class LogRequest(Request, kw_only=True):
    """The fields of a gap record; its time is the current time."""

    image_id: Annotated[
        Annotated[str, Meta(min_length=1, max_length=255)] | None,
        Meta(description="Name of a folder in the root, such as that of an image; by default the root."),
    ] = None
    corrects: Annotated[
        str | None, Meta(description="gap_id of the record of the same log that this gap replaces.")
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
        success: Always true.
        gap_id: The identity of the record.
        image_id: The name of the log's folder.
        intent_category: The category, classified if none was given.
        exists: The nearest entries of the vocabulary; check if one fits.
        note: A note on an unknown category.
    """

    success: Literal[True] = True
    gap_id: str
    image_id: str
    intent_category: str
    exists: list[Existing] = msgspec.field(default_factory=list)
    note: str | None = None


@tool("Log a vocabulary gap", Limit.WRITE, writes=True)
def log_vocabulary_gap(workspace: Workspace, request: LogRequest, _: Checkpoint) -> Logged:
    """Log that a word, a tool or a primitive was missing, when you work around it.

    Give what the person asked for, what would have been right, and what you did instead. The answer has the
    gap_id and the nearest existing entries: use one if it does what you need.
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
    with suppress(Exception):  # after an error the client would log the gap again
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

    limit: Annotated[int, Meta(ge=1, le=MOST_CAPABILITIES, description="Number of capabilities to list.")] = (
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
    """A ranked capability; the fields mean the same as in `capabilities.parquet`.

    Attributes:
        covered: The entries that probably cover some of its wordings; the entry that covers most is first.
    """

    operations: list[Tally]
    wordings: list[Wording]
    workarounds: list[Workaround]
    covered: list[Covered]

    @classmethod
    def of(cls, capability: Capability) -> Self:
        """Return a capability with its most frequent operations, wordings and workarounds."""
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
        left_out: The number of further capabilities to author.
        total: The number of all capabilities.
        mentions: The number of mentions of them.
        covered: The number of capabilities that an entry probably covers.
        decided: The number of capabilities that people have dismissed or authored.
        too_few: The number of capabilities on too few images or in too few sessions to be listed.
        categories: Mentions by category, most frequent first.
        not_granted: Tools that exist but that agents may not use, most records first; they are not ranked.
        rejects: The number of lines that could not be read.
        unit: What `images` counts, such as image or project.
        notes: Filters that no record matches, with similar names.
    """

    capabilities: list[Ranked]
    left_out: int
    total: int
    mentions: int
    covered: int
    decided: int
    too_few: int
    categories: list[Category]
    not_granted: list[Ungranted]
    rejects: int
    unit: str
    notes: list[str]


@tool("Report vocabulary gaps", Limit.COMPUTE)
def report_gaps(workspace: Workspace, request: ReportRequest, checkpoint: Checkpoint) -> Report:
    """Rank the missing capabilities of all logs: what agents needed most often and did not find.

    Different wordings of one need count together. Use it to decide what to author next.
    """
    settings, now = workspace.settings, datetime.now(UTC)
    selection = Selection.asked(msgspec.structs.asdict(request), now)
    analysis = workspace.rankings.of(selection, checkpoint)
    selection = analysis.selection  # with the newest session for `last`
    scan, number = analysis.scan, analysis.ranked.height
    unit = settings.unit(scan.sources)
    rendering = Rendering(request.limit, settings.rank.by.value, "")
    manifest = new_manifest(now, number, rendering, Parameters(settings, selection))
    summary = summarise(Tables(analysis.ranked, scan.lines, scan.rejects), manifest, scan.summary)
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
        not_granted=[] if summary.account is None else fitting([*summary.account.ungranted]),
        rejects=0 if summary.account is None else summary.account.rejects,
        unit=unit,
        notes=list(unmatched(scan.lines, selection, unit, **settings.aliases_by_argument))[:MOST_NOTES],
    )


class GapRow(msgspec.Struct):
    """One record: `gap_id` is its identity; the other fields are the fields of the record."""

    gap_id: str

    @classmethod
    def all_of(cls, records: pl.DataFrame) -> list[Self]:
        """Return the rows of a frame that has the columns of table `records`."""
        names = [name for name in cls.__struct_fields__ if name != "gap_id"]
        rows = records.select(pl.col("record_id").alias("gap_id"), *names).iter_rows(named=True)
        return [cls(**{**row, **{name: _first(row[name] or []) for name in LIST_FIELDS}}) for row in rows]


def _first(names: list[str]) -> list[str]:
    """Return the first names; if some are left out, add the number of all names."""
    return names if len(names) <= MOST_NAMES else [*names[:MOST_NAMES], f"… ({len(names):,} names)"]


class ListRequest(Request):
    """The filters of the records; each filter narrows the list."""

    limit: Annotated[
        int, Meta(ge=1, le=MOST_GAPS, description="Number of records to list, newest first.")
    ] = DEFAULT_LISTED


if not TYPE_CHECKING:
    ListRequest = with_fields(ListRequest, filter_fields("mcp"))
    GapRow = msgspec.defstruct(
        "GapRow",
        [(field.name, field.type) for field in msgspec.structs.fields(GapRecord)],
        bases=(GapRow,),
        namespace={"__doc__": GapRow.__doc__},
    )


class ListedGap(GapRow):
    """A record and the capability of the published report that it asks for; null if unknown."""

    capability_id: str | None
    capability: str | None


class Listed(Answer, kw_only=True):
    """Records.

    Attributes:
        gaps: The records, newest first.
        left_out: The number of further records.
        session: The newest session, if `last` was asked for and a session is known.
        notes: Notes, for example on filters that match no record.
    """

    gaps: list[ListedGap]
    left_out: int
    session: str | None
    notes: list[str]


@tool("List logged gaps", Limit.LOOK)
def list_gaps(workspace: Workspace, request: ListRequest, checkpoint: Checkpoint) -> Listed:
    """List the logged gaps, newest first.

    Filter by image, time, operation, category, session or satisfaction. Use session `last` to review the
    session at its end.
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
            description="Identifier (or its first characters), label, or any wording.",
        ),
    ]
    records: Annotated[
        int, Meta(ge=0, le=MOST_RECORDS, description="Number of its records to list, newest first.")
    ] = 10


class ShownCapability(Answer, kw_only=True):
    """A capability with its evidence.

    Attributes:
        capability: The capability as in the ranking.
        rank_low: Best rank in the 90 % interval; if pinned, of the rank without the pin.
        rank_high: Worst rank in the interval.
        categories: All its categories, most frequent first.
        vocabulary_used: Entries that were used instead, most frequent first.
        wordings: Its wordings, most frequent first.
        combinations: Sets of operations that recur together.
        nearest: The nearest entries of the vocabulary, nearest first.
        decisions: The decisions about it.
        records: Its records, newest first.
        left_out: The number of further records.
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
    """Show one missing capability with its evidence.

    The evidence is its wordings, the operations and workarounds that agents used instead, the nearest
    entries of the vocabulary, and its records.
    """
    analysis = workspace.rankings.of(Selection(), checkpoint)
    row = find_capability(analysis.ranked, request.capability).row(0, named=True)
    capability = Capability.of(row, workspace.settings.vocabulary.threshold)
    gaps = with_capabilities(analysis.scan.lines, analysis.ranked)
    records = gaps.then(partial(counted, capability_id=capability.capability_id)).collect()
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
