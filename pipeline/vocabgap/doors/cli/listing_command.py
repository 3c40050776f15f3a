"""`vocabgap list` and `show`: what was logged, and all that is known of one thing by its name."""

import shlex
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from vocabgap.doors.cli.options import (
    CategoriesOption,
    FormerOperationsOption,
    ImagesOption,
    MatchOption,
    OperationsOption,
    PresentOption,
    Reading,
    RootsArgument,
    RunOption,
    SatisfactionOption,
    SessionsOption,
    SinceOption,
    UntilOption,
    note_scan,
    reading_arguments,
    require_whose,
    roots_of,
    selection_of,
    settings_of,
    with_options,
)
from vocabgap.doors.cli.output import (
    Output,
    account_line,
    available_width,
    comma_separated,
    folder_line,
    indented,
    output_of,
    ruled,
)
from vocabgap.doors.verbs import Panel
from vocabgap.errors import whole_number
from vocabgap.model.moments import in_seconds, iso, known_present, parse_present
from vocabgap.model.record import LIST_FIELDS, RATING_NAMES, need_of
from vocabgap.model.settings import DEFAULT_LISTED
from vocabgap.text import count, escape_unseen, excerpt, printable_name, visible

if TYPE_CHECKING:
    import polars as pl

    from vocabgap.listing.records import Belonging, Listing, Totals
    from vocabgap.listing.showing import Shown
    from vocabgap.model.capability import Capability

_ID_DIGITS: Final = 12  # of the identity of a record: `show` takes them
_WIDE: Final = 110  # columns of a terminal from where ids of sessions fit
_WIDEST: Final = 40  # characters; a longer cell moves the rest of its line alone
_SAID: Final = {"missing": "", "workaround": "workaround: ", "capability": "capability: "}  # and its prefix
_MOST_CAPABILITIES: Final = 10
_MOST_WORDINGS: Final = 25


class ListFormat(StrEnum):
    """How records are listed."""

    TABLE = "table"
    CSV = "csv"


@with_options(Reading)
def list_records(
    context: typer.Context,
    roots: RootsArgument = None,
    image: ImagesOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    operation: OperationsOption = None,
    module: FormerOperationsOption = None,
    match: MatchOption = None,
    category: CategoriesOption = None,
    session: SessionsOption = None,
    satisfaction: SatisfactionOption = None,
    limit: Annotated[int, Panel.WRITE.option(help="Records to list; 0 lists all.")] = DEFAULT_LISTED,
    text_format: Annotated[
        ListFormat, Panel.WRITE.option("--format", help="How to print them.")
    ] = ListFormat.TABLE,
    run: RunOption = None,
    now: PresentOption = None,
) -> None:
    """List what was logged, newest first."""
    output = output_of(context)
    settings = settings_of(context).settings
    present, most, roots = parse_present(now), _most(limit), roots_of(context, settings)
    selection_of(context, known_present(present))  # told without waiting for what follows
    from vocabgap.listing.records import listing

    listed = listing(
        roots,
        partial(selection_of, context),
        now=present,
        limit=most,
        out=run,
        settings=settings,
    )
    require_whose(context, listed.scan)
    _print_listing(output, listed, text_format)
    note_scan(output, listed.scan)
    for note in listed.notes:
        output.note(escape_unseen(note))


@with_options(Reading)
def show(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(help="An image, a session, a capability (identifier, label or wording) or a record."),
    ],
    roots: RootsArgument = None,
    kind: Annotated[
        str | None, Panel.SELECT.option(help="What is meant: image, session, capability or record.")
    ] = None,
    limit: Annotated[int, Panel.WRITE.option(help="Records to list; 0 lists all.")] = DEFAULT_LISTED,
    run: RunOption = None,
    now: PresentOption = None,
) -> None:
    """Show one image, session, capability or record with its evidence."""
    output = output_of(context)
    settings = settings_of(context).settings
    present, most, roots = parse_present(now), _most(limit), roots_of(context, settings)
    from vocabgap.listing import showing

    shown = showing.show(
        roots,
        printable_name(name),
        kind=kind,
        out=run,
        now=present,
        settings=settings,
        deciding=_deciding(context),
        **reading_arguments(context),
    )
    _print_shown(output, shown, most)
    note_scan(output, shown.scan)
    for note in shown.notes:
        output.note(escape_unseen(note))


def _deciding(context: typer.Context) -> str:
    """The options with which `vocabgap decide` follows the same settings."""
    config, trust = context.params["config"], context.params["trust"]
    if config is not None:
        return f"--config {shlex.quote(printable_name(str(config)))}"
    return "--trust" if trust else ""


def _most(limit: int) -> int | None:
    """How many records are listed; null for all."""
    return whole_number("--limit", limit, hint="0 lists all") or None


def _print_listing(output: Output, listing: "Listing", text_format: ListFormat) -> None:
    gaps, published = listing.gaps, listing.published
    _print_events(output, gaps)
    output.event(
        "result",
        listed=gaps.height,
        totals=listing.totals,
        belonging=listing.belonging,
        session=listing.session,
        run=None if published is None else printable_name(str(published.folder)),
        notes=listing.notes,
    )
    if output.as_json:
        return
    if text_format is ListFormat.CSV:
        rows = [[_cell(name, value) for name, value in row.items()] for row in gaps.iter_rows(named=True)]
        output.text(comma_separated(gaps.columns, rows))
        if gaps.is_empty():
            output.note(_why_empty(listing))
        return
    if listing.session is not None:
        output.text(f"session {visible(listing.session)}\n")
    if gaps.is_empty():
        output.text(_why_empty(listing))
        return
    output.text(_records_text(gaps, without=() if listing.session is None else ("session",)) + "\n")
    lines = _totals_lines(listing.totals)
    if published is not None and published.folder is not None and published.now is not None:
        where = f"the run in {folder_line(published.folder)}, as of {in_seconds(published.now)}"
        lines += _belonging_lines(listing.belonging, gaps, where)
    left = listing.totals.records - gaps.height
    if left:
        lines.append(_left_line(left))
    output.text("\n".join(lines))


def _why_empty(listing: "Listing") -> str:
    from vocabgap.reporting.wording import phrase

    if listing.scan.summary.records:
        return f"No record fits, of {listing.scan.summary.records:,}."
    return f"{phrase('nothing', listing.scan.summary)}.\n{account_line(listing.scan.summary)}"


def _print_shown(output: Output, shown: "Shown", most: int | None) -> None:
    listed = shown.gaps if most is None else shown.gaps.head(min(most, shown.gaps.height))
    _print_events(output, listed)
    output.event(
        "result",
        kind=shown.kind,
        name=shown.name,
        listed=listed.height,
        totals=shown.totals,
        left_out=shown.left_out,
        belonging=shown.belonging,
        capability=shown.capability,
        told=shown.lineage,
        commands=shown.commands,
        places=shown.places,
        superseded_by=shown.superseded_by,
        supersedes=shown.supersedes,
        run=None if shown.run is None else printable_name(str(shown.run)),
        notes=shown.notes,
    )
    if output.as_json:
        return
    if shown.kind == "record":
        output.text("\n".join(_record_lines(shown)))
        return
    if shown.capability is None:
        output.text(f"{shown.kind} {visible(shown.name)}\n")
    else:
        output.text("\n".join(_capability_lines(shown.capability, shown.lineage)) + "\n")
    if listed.height:
        output.text(_records_text(listed, without=(shown.kind,)) + "\n")
    output.text("\n".join(_closing(shown, listed.height)))


def _capability_lines(capability: "Capability", lineage: tuple[str, ...]) -> list[str]:
    """The evidence for a capability, a line each."""
    from vocabgap.reporting.wording import SEVERAL, day, phrase

    images, sessions = count(capability.images, "image"), count(capability.sessions, "session")
    sure = f"{SEVERAL}, " if capability.mixed else ""
    likely = phrase("likely", capability)
    spread = f"{capability.mentions:,} ({sure}likely {likely}) on {images} in {sessions}"
    lines = [
        f"{capability.capability_id}  {excerpt(capability.label)}",
        f"status: {capability.status}",
        f"rank: {phrase('rank', capability, 'the counts')}",
        f"mentions: {spread}; {phrase('satisfaction', capability)}",
        f"seen: {day(capability.first_seen)} to {day(capability.last_seen)}; {phrase('trend', capability)}",
        f"category: {visible(capability.intent_category)}",
    ]
    if capability.operations:
        lines.append(f"operations: {_tallies(capability.operations)}")
    if capability.vocabulary_used:
        lines.append(f"entries used: {_tallies(capability.vocabulary_used)}")
    lines += [
        f"near: {visible(each.entry)} of {visible(each.pack)} explains {100 * each.explained:.0f} %"
        for each in capability.covered_by
    ]
    lines += [f"decided: {visible(each)}" for each in capability.decisions]
    lines += [f"lineage: {visible(each)}" for each in lineage]
    lines.append("worded:")
    for wording in capability.variants[:_MOST_WORDINGS]:
        lines.append(f"  {wording.mentions:,} × {excerpt(wording.wording)}")
    if len(capability.variants) > _MOST_WORDINGS:
        lines.append(f"  and {len(capability.variants) - _MOST_WORDINGS:,} more")
    return lines


def _tallies(tallies: tuple[Any, ...]) -> str:
    return ", ".join(f"{excerpt(each.name)} {each.mentions:,}" for each in tallies[:_MOST_WORDINGS])


def _closing(shown: "Shown", listed: int) -> list[str]:
    lines = _totals_lines(shown.totals) if shown.totals.records else ["no record of these logs counts"]
    if shown.left_out:
        lines.append("beside them: " + ", ".join(f"{n:,} {why}" for why, n in shown.left_out.items()))
    if shown.capability is None and shown.run is not None and shown.gaps.height:
        where = f"the run in {folder_line(shown.run)}"
        lines += _belonging_lines(shown.belonging, shown.gaps, where)
    if shown.gaps.height > listed:
        lines.append(_left_line(shown.gaps.height - listed))
    if shown.commands:
        return [*lines, "to decide about it:", *(f"  {each}" for each in shown.commands)]
    if shown.capability is not None:
        lines.append("to decide about it, publish it first: `vocabgap report ROOTS`")
    return lines


def _record_lines(shown: "Shown") -> list[str]:
    from vocabgap.listing.showing import Place
    from vocabgap.model.tables import RECORDS

    row = shown.gaps.row(0, named=True)
    lines = [f"record {shown.name}"]
    told = {"record_id", *Place.__struct_fields__}  # above, and with each of its lines below
    for name in RECORDS.names:
        if name in told:
            continue
        value = row[name]
        if isinstance(value, list):
            value = ", ".join(map(str, value))
        elif isinstance(value, datetime):
            value = iso(value)
        text = "–" if value is None or value == "" else visible(str(value))
        lines.append(f"{name}: {text}" + (f" ({RATING_NAMES[value]})" if name == "satisfaction" else ""))
    for place in shown.places:
        offset = "" if place.byte_offset is None else f", byte {place.byte_offset:,}"
        where = escape_unseen(f"{place.repo_slug}/{place.source_path}:{place.line}")
        lines.append(f"line: {where}{offset}, {place.state}")
    lines += [f"superseded by: {each}" for each in shown.superseded_by]
    lines += [f"supersedes: {each}" for each in shown.supersedes]
    if row["capability_id"] is not None:
        lines.append(f"capability: {row['capability_id']} ({excerpt(row['capability'])})")
    return lines


def _print_events(output: Output, listed: "pl.DataFrame") -> None:
    """Print an event for each record, all its fields as they were logged."""
    if output.as_json:
        for row in listed.iter_rows(named=True):
            output.event("gap", **row)


def _records_text(listed: "pl.DataFrame", *, without: tuple[str, ...] = ()) -> str:
    """A line of short fields for each record, aligned, and what was said below it.

    Left out is what would be the same for each, and a session where it does not fit.
    """
    rows = [_row(row) for row in listed.iter_rows(named=True)]
    spared = (*without, *("session",) * (available_width() < _WIDE))
    headings = [heading for heading in rows[0] if heading not in (*_SAID, *spared)]
    cells = [headings, *([excerpt(row[heading] or "–") for heading in headings] for row in rows)]
    widths = [min(max(map(len, column)), _WIDEST) for column in zip(*cells, strict=True)]
    lines = ["   ".join(map(str.ljust, each, widths)).rstrip() for each in cells]
    below = {name: before for name, before in _SAID.items() if name not in spared}
    said = [[before + excerpt(text) for name, before in below.items() if (text := row[name])] for row in rows]
    blocks = ["\n".join([line, *map(indented, texts)]) for line, texts in zip(lines[1:], said, strict=True)]
    return "\n".join([lines[0], ruled(max(map(len, lines))), *blocks])


def _totals_lines(totals: "Totals") -> list[str]:
    """What a person wants to know of some records, a line each."""
    spread = f"{count(totals.records, 'record')} on {count(totals.images, 'image')}"
    if totals.sessions:
        spread += f" in {count(totals.sessions, 'session')}"
    if totals.first is not None and totals.last is not None:
        begun, ended = f"{totals.first:%Y-%m-%d %H:%M}", f"{totals.last:%Y-%m-%d %H:%M}"
        spread += f", {begun} UTC" if begun == ended else f", {begun} to {ended} UTC"
    ratings = {
        "unsatisfied": totals.unsatisfied,
        "neutral": totals.neutral,
        "satisfied": totals.satisfied,
        "not rated": totals.unrated,
    }
    rated = ", ".join(f"{number:,} {name}" for name, number in ratings.items() if number)
    around = f"{totals.worked_around:,} worked around, {totals.records - totals.worked_around:,} not"
    named = ", ".join(f"{visible(each.name)} {each.mentions:,}" for each in totals.categories)
    return [spread, f"{rated}; {around}", f"categories: {named}"]


def _belonging_lines(capabilities: "tuple[Belonging, ...]", listed: "pl.DataFrame", where: str) -> list[str]:
    """Which of the records belong to a known capability, and to which."""
    if not capabilities:
        return [f"none of {listed.height:,} belongs to a known capability of {where}"]
    known = sum(each.records for each in capabilities)
    number = count(len(capabilities), "known capability", "known capabilities")
    lines = [f"{known:,} of {listed.height:,} belong to {number} of {where}:"]
    for each in capabilities[:_MOST_CAPABILITIES]:
        whole = "" if each.mentions is None else f" of {count(each.mentions, 'mention')}, {each.status}"
        lines.append(f"  {each.capability_id}  {excerpt(each.label)}: {each.records:,}{whole}")
    if len(capabilities) > _MOST_CAPABILITIES:
        lines.append(f"  and {len(capabilities) - _MOST_CAPABILITIES:,} more")
    return lines


def _left_line(left: int) -> str:
    """How many records a limit leaves out."""
    return f"{count(left, 'more record')}; --limit 0 lists all"


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


def _cell(name: str, value: object) -> object:
    if isinstance(value, datetime):
        return iso(value)
    return "; ".join(map(str, value)) if name in LIST_FIELDS and isinstance(value, list) else value
