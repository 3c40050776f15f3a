"""The tools of the server: each one does the work of a verb in a workspace, and answers like it."""

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from msgspec import NODEFAULT, Meta, structs

from vocabgap.doors.listing import list_answer, list_records, show, show_answer
from vocabgap.doors.mcp.tool import Limit, Rows, tool
from vocabgap.doors.mcp.workspace import Workspace
from vocabgap.doors.recording import log, log_answer
from vocabgap.doors.report import report, report_answer
from vocabgap.doors.verbs import Answer
from vocabgap.ingest.scanning import unmatched
from vocabgap.listing.records import listing, no_cursor, unknown_category
from vocabgap.listing.showing import ranked_capability
from vocabgap.logbook.log import log_gap
from vocabgap.model.record import given_fields, need_of
from vocabgap.model.selection import Selection, filter_fields
from vocabgap.reporting.manifest import Parameters, Rendering, new_manifest
from vocabgap.reporting.summary import Tables, summarise

MOST_CAPABILITIES: Final = 50
MOST_GAPS: Final = 100
# Of a capability in a ranking; `show_capability` answers the other columns, too.
_COLUMNS: Final = (
    "rank", "capability_id", "label", "mentions", "images", "sessions", "unsatisfied", "unrated",
    "last_seen", "trend", "status", "intent_category", "operations",
)  # fmt: skip
_RANKED: Final = Rows("capability", _COLUMNS, "capability_id", 6_000)
_LISTED: Final = Rows("gap", (), "record_id", 4_000)


def _text(name: str, description: str) -> tuple[str, Any, None]:
    return name, Annotated[str | None, Meta(description=description)], None


def _paged(most: int, rows: Rows, noun: str) -> list[tuple[str, Any, Any]]:
    """Return the arguments of a tool that lists: the number of rows, the cursor and the filters."""
    meaning = f"Number of {noun}; by default those that fit into {rows.most:,} bytes."
    limit = Annotated[Annotated[int, Meta(ge=1, le=most)] | None, Meta(description=meaning)]
    cursor = _text("cursor", "The cursor of the answer before, for the next ones.")
    return [("limit", limit, None), cursor, *filter_fields("mcp")]


_RECORD: Final = (
    _text("image_id", "Name of a folder in the root, such as that of an image; by default the root."),
    _text("corrects", "record_id of the record of the same log that this gap replaces."),
    *(field for field in given_fields("mcp") if field[0] != "image_id"),
)


@tool(log, Limit.WRITE, _RECORD, Rows())
def log_vocabulary_gap(workspace: Workspace, request: Any) -> Answer:  # noqa: ANN401
    """Log that a word, a tool or a primitive was missing, when you work around it.

    Give what the person asked for, what would have been right, and what you did instead. The answer has the
    gap_id and the nearest existing entries: use one if it does what you need.
    """
    fields = structs.asdict(request)
    logged = log_gap(workspace.image(fields.pop("image_id")), **fields)
    workspace.logged += 1
    note, entries = "", []
    with suppress(Exception):  # after an error the client would log the gap again
        note = unknown_category(logged.record["intent_category"], workspace.settings, workspace.out)
        entries = workspace.entries().covering(need_of(logged.record))
    answer = log_answer(logged, note)
    exists = [
        {"name": near.entry.name, "description": near.entry.description, "explained": near.explained}
        for near in entries
    ]
    return replace(answer, result={**answer.result, "exists": exists})


@tool(report, Limit.COMPUTE, _paged(MOST_CAPABILITIES, _RANKED, "capabilities"), _RANKED)
def report_gaps(workspace: Workspace, request: Any) -> Answer:  # noqa: ANN401
    """Rank the missing capabilities of all logs: what agents needed most often and did not find.

    Different wordings of one need count together. Use it to decide what to author next.
    """
    settings, now = workspace.settings, datetime.now(UTC)
    analysis = workspace.ranking(Selection.asked(structs.asdict(request), now))
    selection, scan = analysis.selection, analysis.scan  # with the newest session for `last`
    most = request.limit or MOST_CAPABILITIES
    rendering = Rendering(0 if request.cursor else most, settings.rank.by.value, "")
    manifest = new_manifest(now, analysis.ranked.height, rendering, Parameters(settings, selection))
    summary = summarise(Tables(analysis.ranked, scan.lines, scan.rejects), manifest, scan.summary)
    unit = settings.unit(scan.sources)
    notes = [*unmatched(scan.lines, selection, unit, **settings.aliases_by_argument)]
    names = [each.capability_id for each in summary.capabilities]
    if request.cursor is not None and request.cursor not in names:
        raise no_cursor(request.cursor)
    place = 0 if request.cursor is None else names.index(request.cursor) + 1
    page, left = summary.capabilities[place:][:most], summary.open_total - place
    return report_answer(structs.replace(summary, capabilities=page, open_total=left, unit=unit), notes)


@tool(list_records, Limit.LOOK, _paged(MOST_GAPS, _LISTED, "records"), _LISTED)
def list_gaps(workspace: Workspace, request: Any) -> Answer:  # noqa: ANN401
    """List the logged gaps, newest first.

    Filter by image, time, operation, category, session or satisfaction. Use session `last` to review the
    session at its end.
    """
    selection = Selection.asked(structs.asdict(request), datetime.now(UTC))
    most, settings = request.limit or MOST_GAPS, workspace.settings
    listed = listing(workspace.root, selection, limit=most, after=request.cursor, settings=settings)
    return list_answer(listed)


_NAME = Annotated[
    str,
    Meta(min_length=1, max_length=2_000, description="Identifier, its first characters, label or wording."),
]
_RECORDS = Annotated[int, Meta(ge=0, le=50, description="Number of its records to list, newest first.")]


@tool(show, Limit.COMPUTE, [("capability", _NAME, NODEFAULT), ("limit", _RECORDS, 10)], Rows("gap"))
def show_capability(workspace: Workspace, request: Any) -> Answer:  # noqa: ANN401
    """Show one missing capability with its evidence.

    The evidence is its wordings, the operations and workarounds that agents used instead, the nearest
    entries of the vocabulary, and its records.
    """
    analysis = workspace.ranking(Selection())
    shown = ranked_capability(analysis, request.capability, workspace.settings)
    return show_answer(shown, shown.gaps.head(request.limit))
