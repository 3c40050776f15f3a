"""The tools of the server: one tool logs a gap, the others read."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self, get_type_hints

import msgspec
import polars as pl
from msgspec import Meta

from vocabgap.doors.mcp.tool import (
    MOST_BYTES,
    Answer,
    Checkpoint,
    Limit,
    Row,
    fitting,
    size_of,
    tool,
    with_fields,
)
from vocabgap.doors.mcp.workspace import Workspace
from vocabgap.doors.verbs import Request
from vocabgap.ingest.scanning import newest, unmatched
from vocabgap.listing.records import listing, no_cursor, unknown_category
from vocabgap.logbook.log import log_gap
from vocabgap.model.capability import Capability, Cover, Covered, Recurring, Tally, Wording, Workaround
from vocabgap.model.lookup import find_capability
from vocabgap.model.record import LIST_FIELDS, GapRecord, given_fields, need_of
from vocabgap.model.selection import Selection, filter_fields
from vocabgap.model.tables import counted
from vocabgap.reporting.listed import TO_AUTHOR
from vocabgap.reporting.manifest import Parameters, Rendering, new_manifest
from vocabgap.reporting.overviews import Category, Ungranted
from vocabgap.reporting.summary import Tables, summarise

MOST_CAPABILITIES: Final = 50
MOST_GAPS: Final = 100
MOST_RECORDS: Final = 50
MOST_NAMES: Final = 50  # of a record, or of a capability
REPORT_BYTES: Final = 6_000  # of an answer without `limit`, as JSON
LIST_BYTES: Final = 4_000
_ENVELOPE: Final = 200  # bytes around the rows: success, error, numbers with more digits
_PART: Final = 8  # notes, and other lists beside the rows, each have at most this part of the bytes
_FIRST: Final = 5  # operations, wordings and workarounds of a capability, or names of a listed record
_IN_RANKING: Final = (
    "rank", "capability_id", "label", "mentions", "images", "sessions", "unsatisfied", "rated", "last_seen",
    "trend", "status", "intent_category",
)  # fmt: skip
_SHOWN: Final = (
    *_IN_RANKING, "first_seen", "priority", "mentions_low", "mentions_high", "mixed", "pinned_by",
    "unpinned_rank", "largest_session",
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


_Cursor = Annotated[str | None, Meta(description="The cursor of the answer before, for the next ones.")]


class Page(Answer, kw_only=True):
    """Base of answers that list something.

    Attributes:
        left_out: The number of the next ones.
        cursor: Pass it to get the next ones; null if there are none.
    """

    left_out: int
    cursor: str | None = None

    def fill(self, name: str, rows: Sequence[Row], identifier: str, most: int) -> Self:
        """Set the field of the rows to those that fit into `most` bytes, together with the other fields."""
        listed = fitting(rows, most - _ENVELOPE - size_of(self))
        setattr(self, name, listed)
        self.left_out += len(rows) - len(listed)
        self.cursor = getattr(listed[-1], identifier) if listed and self.left_out else None
        return self


class ReportRequest(Request):
    """The filters of the records that are ranked."""

    limit: Annotated[
        Annotated[int, Meta(ge=1, le=MOST_CAPABILITIES)] | None,
        Meta(description=f"Number of capabilities; by default those that fit into {REPORT_BYTES:,} bytes."),
    ] = None
    cursor: _Cursor = None


if TYPE_CHECKING:
    _Ranked = msgspec.Struct
    _Columns = msgspec.Struct
else:
    ReportRequest = with_fields(ReportRequest, filter_fields("mcp"))
    _Ranked, _Columns = (
        msgspec.defstruct("_Columns", [(name, get_type_hints(Capability).get(name, int)) for name in names])
        for names in (_IN_RANKING, _SHOWN)
    )


class Ranked(_Ranked):
    """A ranked capability; `show_capability` shows the rest. The fields mean the same as in its answer.

    Attributes:
        operations: The operations that were used instead, most frequent first.
        workaround: The most frequent workaround.
    """

    operations: list[str]
    workaround: str | None

    @classmethod
    def of(cls, capability: Capability) -> Self:
        """Return the row of a capability."""
        return cls(
            **{name: getattr(capability, name) for name in _IN_RANKING},
            operations=[each.name for each in capability.operations[:_FIRST]],
            workaround=next((each.workaround for each in capability.workarounds), None),
        )


class Shown(_Columns):
    """A capability; the fields mean the same as in `capabilities.parquet`.

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
            **{name: getattr(capability, name) for name in _SHOWN},
            operations=list(capability.operations[:_FIRST]),
            wordings=list(capability.variants[:_FIRST]),
            workarounds=list(capability.workarounds[:_FIRST]),
            covered=list(capability.covered[:_FIRST]),
        )


class Report(Page, kw_only=True):
    """A ranking.

    Attributes:
        capabilities: The capabilities to author, in order of rank.
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
    most = REPORT_BYTES if request.limit is None else MOST_BYTES
    settings, now = workspace.settings, datetime.now(UTC)
    selection = Selection.asked(msgspec.structs.asdict(request), now)
    analysis = workspace.rankings.of(selection, checkpoint)
    selection = analysis.selection  # with the newest session for `last`
    scan, number = analysis.scan, analysis.ranked.height
    unit = settings.unit(scan.sources)
    rendering = Rendering(1, settings.rank.by.value, "")
    manifest = new_manifest(now, number, rendering, Parameters(settings, selection))
    summary = summarise(Tables(analysis.ranked, scan.lines, scan.rejects), manifest, scan.summary)
    listed = [each.capability for each in summary.everything if each.group == TO_AUTHOR]
    place = _after(request.cursor, listed)
    rows = [Ranked.of(each) for each in listed[place:][: request.limit or MOST_CAPABILITIES]]
    report = Report(
        capabilities=[],
        left_out=summary.open_total - place - len(rows),
        total=summary.total,
        mentions=summary.mentions,
        covered=summary.covered_total,
        decided=summary.settled_total,
        too_few=summary.hidden,
        categories=fitting(summary.categories, most // _PART),
        not_granted=[] if summary.account is None else fitting(summary.account.ungranted, most // _PART),
        rejects=0 if summary.account is None else summary.account.rejects,
        unit=unit,
        notes=fitting(unmatched(scan.lines, selection, unit, **settings.aliases_by_argument), most // _PART),
    )
    return report.fill("capabilities", rows, "capability_id", most)


def _after(cursor: str | None, listed: Sequence[Capability]) -> int:
    """Return the place after the capability of a cursor."""
    if cursor is None:
        return 0
    places = (place for place, each in enumerate(listed, start=1) if each.capability_id == cursor)
    place = next(places, None)
    if place is None:
        raise no_cursor(cursor)
    return place


class GapRow(msgspec.Struct):
    """One record: `gap_id` is its identity; the other fields are the fields of the record."""

    gap_id: str

    @classmethod
    def all_of(cls, records: pl.DataFrame, most: int = MOST_NAMES) -> list[Self]:
        """Return the rows of a frame that has the columns of table `records`, with `most` names in a list."""
        names = [name for name in cls.__struct_fields__ if name != "gap_id"]
        rows = records.select(pl.col("record_id").alias("gap_id"), *names).iter_rows(named=True)
        return [
            cls(**{**row, **{name: _first(row[name] or [], most) for name in LIST_FIELDS}}) for row in rows
        ]


def _first(names: list[str], most: int) -> list[str]:
    """Return the first names; if some are left out, add the number of all names."""
    return names if len(names) <= most else [*names[:most], f"… ({len(names):,} names)"]


class ListRequest(Request):
    """The filters of the records; each filter narrows the list."""

    limit: Annotated[
        Annotated[int, Meta(ge=1, le=MOST_GAPS)] | None,
        Meta(description=f"Number of records; by default those that fit into {LIST_BYTES:,} bytes."),
    ] = None
    cursor: _Cursor = None


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


class Listed(Page, kw_only=True):
    """Records.

    Attributes:
        gaps: The records, newest first.
        session: The newest session, if `last` was asked for and a session is known.
        notes: Notes, for example on filters that match no record.
    """

    gaps: list[ListedGap]
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
    answer = listing(
        workspace.root,
        selection,
        limit=request.limit or MOST_GAPS,
        after=request.cursor,
        settings=workspace.settings,
    )
    checkpoint()
    most, names = (LIST_BYTES, _FIRST) if request.limit is None else (MOST_BYTES, MOST_NAMES)
    listed = Listed(
        gaps=[],
        left_out=answer.left_out,
        session=answer.session,
        notes=fitting(answer.notes, most // _PART),
    )
    return listed.fill("gaps", ListedGap.all_of(answer.gaps, names), "gap_id", most)


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
    limit: Annotated[
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

    capability: Shown
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
    from vocabgap.reporting.writing import with_capabilities  # loads SciPy and Jinja

    gaps = with_capabilities(analysis.scan.lines, analysis.ranked)
    records = gaps.then(partial(counted, capability_id=capability.capability_id)).collect()
    rows = fitting(GapRow.all_of(newest(records, request.limit)))
    return ShownCapability(
        capability=Shown.of(capability),
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
