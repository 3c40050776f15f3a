"""`list` and `show`: the records, and all that is known of one image, session, capability or record."""

from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

from msgspec import Meta

from vocabgap.doors.verbs import (
    PRESENT,
    RUN,
    WHOSE,
    Answer,
    Event,
    OverRoots,
    Panel,
    Place,
    argument,
    filtered,
    option,
    selection_of,
    verb,
)
from vocabgap.model.moments import iso, known_present, parse_present
from vocabgap.model.record import LIST_FIELDS, RATING_NAMES, need_of
from vocabgap.model.settings import DEFAULT_LISTED
from vocabgap.text import printable_name, visible

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import polars as pl

    from vocabgap.doors.cli.calls import Call
    from vocabgap.listing.showing import Shown

_ID_DIGITS: Final = 12  # of a record_id; `show` takes them
_LIMIT: Final = option("Records to list; 0 lists all.", panel=Panel.WRITE)
_Limit = Annotated[int, Meta(ge=0), _LIMIT]


class ListFormat(StrEnum):
    """How records are listed."""

    TABLE = "table"
    CSV = "csv"


class ListRecords(OverRoots):
    """What `list` takes beside the filters."""

    limit: _Limit = DEFAULT_LISTED
    text_format: Annotated[ListFormat, option("How to print them.", "--format", panel=Panel.WRITE)] = (
        ListFormat.TABLE
    )
    run: Annotated[Place | None, RUN] = None
    now: Annotated[str | None, PRESENT] = None


@verb(filtered(ListRecords), name="list", settings=("ingest",))
def list_records(call: "Call", request: ListRecords) -> Answer:
    """List what was logged, newest first."""
    present, roots = parse_present(request.now), call.roots(request.roots)
    asked = selection_of(request, known_present(present))  # bad filters are an error before Polars is loaded
    from vocabgap.doors.cli.views import comma_separated, rendered
    from vocabgap.listing.records import listing

    listed = listing(
        roots,
        partial(selection_of, request),
        now=present,
        limit=request.limit or None,
        out=request.run,
        settings=call.settings,
    )
    call.require_owners(listed.scan, asked)
    call.note_unread(listed.scan)
    gaps, published = listed.gaps, listed.published
    is_csv = request.text_format is ListFormat.CSV
    why_empty = (
        rendered("list-empty.txt.j2", {"account": listed.scan.summary}) if is_csv and gaps.is_empty() else ""
    )
    return Answer(
        events=_events(gaps),
        result={
            "listed": gaps.height,
            "totals": listed.totals,
            "belonging": listed.belonging,
            "session": listed.session,
            "run": _place(published.folder if published else None),
            "notes": listed.notes,
        },
        view="list.txt.j2",
        shown=lambda: {
            "rows": [] if is_csv else [*map(_row, gaps.iter_rows(named=True))],
            "csv": comma_separated(gaps.columns, [*map(_cells, gaps.iter_rows(named=True))])
            if is_csv
            else "",
            "folder": published and published.folder,
            "now": published and published.now,
            "account": listed.scan.summary,
        },
        notes=[*filter(None, [why_empty]), *listed.notes],
    )


class Show(OverRoots, kw_only=True):
    """What `show` takes."""

    name: Annotated[
        str, argument("An image, a session, a capability (identifier, label or wording) or a record.")
    ]
    kind: Annotated[
        str | None, option("What is meant: image, session, capability or record.", panel=Panel.SELECT)
    ] = None
    limit: _Limit = DEFAULT_LISTED
    run: Annotated[Place | None, RUN] = None


@verb(filtered(Show, *WHOSE), settings=("ingest",))
def show(call: "Call", request: Show) -> Answer:
    """Show one image, session, capability or record with its evidence."""
    roots, selection = call.roots(request.roots), selection_of(request)
    from vocabgap.listing import showing

    shown = showing.show(
        roots,
        request.name,
        kind=request.kind,
        out=request.run,
        tenants=selection.tenants,
        repositories=selection.repositories,
        settings=call.settings,
        deciding=call.following,
    )
    call.note_unread(shown.scan)
    height = shown.gaps.height
    listed = shown.gaps.head(min(request.limit or height, height))
    return Answer(
        events=_events(listed),
        result={
            "kind": shown.kind,
            "name": shown.name,
            "listed": listed.height,
            "totals": shown.totals,
            "left_out": shown.left_out,
            "belonging": shown.belonging,
            "capability": shown.capability,
            "told": shown.lineage,
            "commands": shown.commands,
            "places": shown.places,
            "superseded_by": shown.superseded_by,
            "supersedes": shown.supersedes,
            "run": _place(shown.run),
            "notes": shown.notes,
        },
        view="show-record.txt.j2" if shown.kind == "record" else "show.txt.j2",
        shown=lambda: _shown(shown, listed),
        notes=shown.notes,
    )


def _shown(shown: "Shown", listed: "pl.DataFrame") -> dict[str, object]:
    """Return the values that only the text needs."""
    if shown.kind == "record":
        from vocabgap.listing.showing import Place as Line
        from vocabgap.model.tables import RECORDS

        row = shown.gaps.row(0, named=True)
        fields = {name: _in_words(name, row[name]) for name in RECORDS.names}
        for name in ("record_id", *Line.__struct_fields__):  # which stand elsewhere in the text
            fields.pop(name, None)
        return {"fields": fields, "capability_id": row["capability_id"], "label": row["capability"]}
    rows = [*map(_row, listed.iter_rows(named=True))]
    return {"rows": rows, "total": shown.gaps.height, "folder": shown.run}


def _events(listed: "pl.DataFrame") -> "Iterable[Event]":
    return (Event("gap", row) for row in listed.iter_rows(named=True))


def _place(folder: "Path | None") -> str | None:
    return None if folder is None else printable_name(str(folder))


def _row(row: dict[str, Any]) -> dict[str, str | None]:
    moment = row["timestamp"]
    return {
        "record": row["record_id"][:_ID_DIGITS],
        "when": None if moment is None else f"{moment:%Y-%m-%d %H:%M}",
        "image": row["image_id"],
        "missing": need_of(row) or None,
        "workaround": row["workaround"].strip() or None,
        "rated": RATING_NAMES[row["satisfaction"]],
        "category": row["category"],
        "session": row["session_id"],
        "capability": row["capability"],
    }


def _cells(row: dict[str, Any]) -> list[object]:
    return [_cell(name, value) for name, value in row.items()]


def _cell(name: str, value: object) -> object:
    if isinstance(value, datetime):
        return iso(value)
    return "; ".join(map(str, value)) if name in LIST_FIELDS and isinstance(value, list) else value


def _in_words(name: str, value: Any) -> str:  # noqa: ANN401 - of any column
    """Return a field of a record as text for a person."""
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    elif isinstance(value, datetime):
        value = iso(value)
    text = "–" if value is None or value == "" else visible(str(value))
    return f"{text} ({RATING_NAMES[value]})" if name == "satisfaction" else text
