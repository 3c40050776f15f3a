"""`list`, `show` and `check`: the records of the logs, the evidence of one thing, and the bad lines."""

from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

from vocabgap.doors.verbs import (
    AS_OF,
    RUN,
    WHOSE,
    Answer,
    Event,
    Limit,
    OverRoots,
    Panel,
    Place,
    SelectionAt,
    argument,
    filtered,
    option,
    verb,
)
from vocabgap.errors import ExitCode, InvalidInputError, StateError
from vocabgap.model.moments import iso, known_present, parse_present
from vocabgap.model.record import RATING_NAMES, need_of, rating
from vocabgap.model.settings import DEFAULT_LISTED
from vocabgap.text import printable_name, short_hash, visible

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import polars as pl

    from vocabgap.doors.cli.calls import Call
    from vocabgap.listing.records import Listing
    from vocabgap.listing.showing import Shown


class ListRecords(OverRoots):
    """The request of `list`, without the filters."""

    limit: Limit = DEFAULT_LISTED
    run: Annotated[Place | None, RUN] = None
    now: Annotated[str | None, AS_OF] = None
    like: Annotated[str | None, option("Records of needs like this text first.", panel=Panel.SELECT)] = None


@verb(filtered(ListRecords), name="list", settings=("ingest",))
def list_records(call: "Call", request: ListRecords, selection_at: SelectionAt) -> Answer:
    """List the logged gaps, newest first."""
    present, roots = parse_present(request.now), call.roots(request.roots)
    asked = selection_at(known_present(present))  # bad filters are an error before Polars is loaded
    from vocabgap.listing.records import listing

    listed = listing(
        roots,
        selection_at,
        now=present,
        limit=request.limit or None,
        out=request.run,
        like=request.like,
        settings=call.settings,
    )
    call.require_owners(listed.scan, asked)
    call.note_unread(listed.scan)
    gaps, published = listed.gaps, listed.published
    return replace(
        list_answer(listed),
        view="list.txt.j2",
        shown=lambda: {
            "rows": [*map(_row, gaps.iter_rows(named=True))],
            "folder": published and published.folder,
            "now": published and published.manifest.now,
            "account": listed.scan.summary,
            "unit": call.settings.unit(listed.scan.sources),
        },
    )


def list_answer(listed: "Listing") -> Answer:
    """Return listed records as events, and their totals."""
    return Answer(
        events=_events(listed.gaps),
        result={
            "listed": listed.gaps.height,
            "left_out": listed.left_out,
            "totals": listed.totals,
            "belonging": listed.belonging,
            "nearest": listed.nearest,
            "session": listed.session,
            "run": _place(listed.published.folder if listed.published else None),
            "notes": listed.notes,
        },
        notes=listed.notes,
    )


class Show(OverRoots, kw_only=True):
    """The request of `show`."""

    name: Annotated[
        str, argument("Name of an image, session, record or capability (identifier, label or wording).")
    ]
    kind: Annotated[
        str | None, option("Kind of the name: image, session, capability or record.", panel=Panel.SELECT)
    ] = None
    limit: Limit = DEFAULT_LISTED
    run: Annotated[Place | None, RUN] = None


@verb(filtered(Show, *WHOSE), settings=("ingest",))
def show(call: "Call", request: Show, selection_at: SelectionAt) -> Answer:
    """Show one image, session, capability or record in detail.

    Without ROOTS, here and in the settings, it shows the records of the published run.
    """
    is_told = request.roots or call.settings.ingest.roots
    roots, selection = call.roots(request.roots) if is_told else [], selection_at()
    from vocabgap.listing import showing

    shown = showing.show(
        roots, request.name, kind=request.kind, out=request.run, settings=call.settings, **selection.owners
    )
    call.note_unread(shown.scan)
    listed = shown.gaps[: request.limit or None]
    return replace(
        show_answer(shown, listed),
        view="show-record.txt.j2" if shown.kind == "record" else "show.txt.j2",
        shown=lambda: {**_shown(shown, listed), "unit": shown.unit, "ranked_by": shown.ranked_by},
    )


def show_answer(shown: "Shown", listed: "pl.DataFrame") -> Answer:
    """Return some records of a thing as events, and the facts about the thing."""
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
            "effects": shown.effects,
            "places": shown.places,
            "superseded_by": shown.superseded_by,
            "supersedes": shown.supersedes,
            "run": _place(shown.run),
            "notes": shown.notes,
        },
        notes=shown.notes,
    )


def _shown(shown: "Shown", listed: "pl.DataFrame") -> dict[str, object]:
    """Return further values for the text."""
    if shown.kind == "record":
        from vocabgap.listing.showing import Place as Line
        from vocabgap.model.tables import RECORDS

        row = shown.gaps.row(0, named=True)
        fields = {name: _in_words(name, row[name]) for name in RECORDS.names}
        for name in ("record_id", *Line.__struct_fields__):  # which the text shows elsewhere
            fields.pop(name, None)
        if row["count"] == 1:
            del fields["count"]
        return {"fields": fields, "capability_id": row["capability_id"], "label": row["capability"]}
    rows = [*map(_row, listed.iter_rows(named=True))]
    return {"rows": rows, "total": shown.gaps.height, "folder": shown.run}


def _events(listed: "pl.DataFrame") -> "Iterable[Event]":
    return (Event("gap", row) for row in listed.iter_rows(named=True))


def _place(folder: "Path | None") -> str | None:
    return None if folder is None else printable_name(str(folder))


def _row(row: dict[str, Any]) -> dict[str, str | None]:
    moment, need, description = row["timestamp"], need_of(row), (row["description"] or "").strip()
    return {
        "record": short_hash(row["record_id"]),
        "when": None if moment is None else f"{moment:%Y-%m-%d %H:%M}",
        "image": row["image_id"],
        "missing": need or None,
        "description": None if description.casefold() == need.strip().casefold() else description,
        "workaround": row["workaround"].strip() or None,
        "rated": rating(row["satisfaction"], row["count"], mediocre=row["mediocre"]),
        "category": row["category"],
        "session": row["session_id"],
        "capability": row["capability"],
    }


def _in_words(name: str, value: Any) -> str:  # noqa: ANN401 - of any column
    """Return a field of a record as text."""
    if isinstance(value, datetime):
        value = iso(value)
    elif isinstance(value, list):
        value = "; ".join(map(str, value))
    text = "–" if value is None or value == "" else visible(str(value))
    return f"{text} ({RATING_NAMES[value]})" if name == "satisfaction" else text


class Check(OverRoots):
    """The request of `check`."""

    repairs: Annotated[
        bool, option("Also list the repaired lines of logs; not those of shared corpora.", panel=Panel.WRITE)
    ] = False
    write_baseline: Annotated[
        bool, option("Write all bad lines to the file of --baseline; exit with 0.", panel=Panel.WRITE)
    ] = False


@verb(filtered(Check, *WHOSE), settings=("ingest", "check"))
def check(call: "Call", request: Check, selection_at: SelectionAt) -> Answer:
    """List the bad lines of logs; exit with 2 if there are any."""
    settings, roots = call.settings, call.roots(request.roots)
    known = () if request.write_baseline else call.known_lines()
    import polars as pl

    from vocabgap.ingest.checking import (
        is_known,
        repaired_lines,
        unclear_lines,
        unreadable_times,
        write_baseline,
    )
    from vocabgap.ingest.scanning import nothing_read, scan, silent_files, unmatched
    from vocabgap.model.other import texts_at

    selection = selection_at()
    scanned = scan(roots, settings=settings.scan, **selection.owners)
    call.require_owners(scanned, selection)
    if unreadable := unreadable_times(scanned, roots, settings.scan):
        call.note(unreadable)
    summary, file = scanned.summary, settings.check.baseline
    missing: tuple[str, ...] = ()
    if not (summary.files or summary.unreadable):
        problem, hint = nothing_read(scanned, roots, settings)
        if file is not None:
            raise StateError(problem, hint=hint)
        missing = problem, f"  {hint}"
    if request.write_baseline:
        if file is None:
            raise InvalidInputError("--write-baseline needs a file", hint="add --baseline FILE")
        write_baseline(file, scanned.rejects)
    keys = scanned.lines.each(lambda part: part.select(texts_at().alias("key")).explode("key").drop_nulls())
    other = keys["key"].value_counts().sort("count", "key", descending=[True, False])
    ignored = is_known(scanned.rejects, known)
    rejects = scanned.rejects.with_columns(ignored=pl.when(ignored).then(pl.lit("baseline")))
    counted = rejects.filter(~ignored)
    repaired = []
    if request.repairs and summary.repairs:
        repaired = [*repaired_lines(roots, settings.scan), *unclear_lines(scanned)]
    fails = counted.height and not request.write_baseline
    return Answer(
        events=chain(
            (Event("reject", row) for row in rejects.iter_rows(named=True)),
            (Event("mended", {"mended": line}) for line in repaired),
        ),
        result={
            "summary": summary,
            "looked_for": [glob for source in settings.sources.values() for glob in source.globs],
            "counted": counted.height,
            "other": dict(other.iter_rows()),
        },
        view="check.txt.j2",
        shown={
            "rejects": counted.to_dicts(),
            "repaired": repaired,
            "lists_repairs": request.repairs,
            "names_roots": len({*scanned.files["repo_slug"], *scanned.rejects["repo_slug"]}) > 1,
            "baseline": file,
            "in_baseline": ignored.sum(),
            "written": rejects.height if request.write_baseline else None,
        },
        notes=(*missing, *silent_files(scanned, settings.sources), *unmatched(scanned.lines, selection)),
        exit_code=ExitCode.INVALID_INPUT if fails else ExitCode.DONE,
    )
