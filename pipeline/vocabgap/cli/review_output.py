"""What `vocabgap list` and `vocabgap show` print of records: a table, CSV, or an event a record."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from vocabgap.cli.output import Output
from vocabgap.records.moments import iso
from vocabgap.records.record import RATINGS, need_of
from vocabgap.text import count, shortened, visible

if TYPE_CHECKING:
    import polars as pl

    from vocabgap.gaplog.review import Belonging, Totals

ID_DIGITS: Final = 12  # of the identity of a record: `show` takes them
NARROW: Final = 100
WIDE: Final = 140  # from where the ids of sessions do not crowd out what was said
_LISTS: Final = ("operations_involved", "vocabulary_used")
_WHOLE: Final = ("record", "when", "rated")  # columns that are never broken
SHOWN_CAPABILITIES: Final = 10


def print_events(output: Output, listed: "pl.DataFrame") -> None:
    """Print an event for each record, all its fields as they were logged."""
    if output.as_json:
        for row in listed.iter_rows(named=True):
            output.event("gap", **row)


def csv_text(listed: "pl.DataFrame") -> str:
    """The records as CSV, lists as text with semicolons."""
    from vocabgap.cli.output import comma_separated  # noqa: PLC0415 - loads rich

    rows = [[_cell(name, value) for name, value in row.items()] for row in listed.iter_rows(named=True)]
    return comma_separated(listed.columns, rows)


def records_table(listed: "pl.DataFrame", *, without: tuple[str, ...] = ()) -> str:
    """The records as a table.

    Args:
        listed: Table `listed`.
        without: Columns of the table that would say the same in every row.
    """
    from vocabgap.cli.output import available_width, table  # noqa: PLC0415 - loads rich

    width = available_width()
    spared = (*without, *("category",) * (width < NARROW), *("session",) * (width < WIDE))
    if not listed["capability"].is_not_null().any():
        spared = (*spared, "capability")
    rows = [_row(row) for row in listed.iter_rows(named=True)]
    headings = [heading for heading in rows[0] if heading not in spared]
    cells = [[row[heading] for heading in headings] for row in rows]
    return table(headings, cells, dates=_WHOLE)


def totals_lines(totals: "Totals") -> list[str]:
    """What a person wants to know of some records, a line each."""
    spread = f"{count(totals.records, 'record')} on {count(totals.images, 'image')}"
    if totals.sessions:
        spread += f" in {count(totals.sessions, 'session')}"
    if totals.first is not None and totals.last is not None:
        spread += f", {_span(totals.first, totals.last)}"
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


def belonging_lines(found: "tuple[Belonging, ...]", listed: "pl.DataFrame", where: str) -> list[str]:
    """Which of the records belong to a known capability, and to which."""
    if not found:
        return [f"none of {listed.height:,} belongs to a known capability of {where}"]
    known = sum(each.records for each in found)
    capabilities = count(len(found), "known capability", "known capabilities")
    lines = [f"{known:,} of {listed.height:,} belong to {capabilities} of {where}:"]
    for each in found[:SHOWN_CAPABILITIES]:
        whole = "" if each.mentions is None else f" of {count(each.mentions, 'mention')}, {each.status}"
        lines.append(f"  {each.capability_id}  {shortened(visible(each.label))}: {each.records:,}{whole}")
    if len(found) > SHOWN_CAPABILITIES:
        lines.append(f"  and {len(found) - SHOWN_CAPABILITIES:,} more")
    return lines


def left_line(left: int) -> str:
    """How many records a limit leaves out."""
    return f"{count(left, 'more record')}; --limit 0 lists all"


def _row(row: dict[str, Any]) -> dict[str, object]:

    moment = row["timestamp"]
    return {
        "record": row["record_id"][:ID_DIGITS],
        "when": None if moment is None else f"{moment:%Y-%m-%d %H:%M}",
        "image": row["image_id"],
        "missing": need_of(row) or None,
        "workaround": row["workaround"].strip() or None,
        "rated": RATINGS[row["satisfaction"]],
        "category": row["category"],
        "session": row["session_id"],
        "capability": row["capability"],
    }


def _cell(name: str, value: object) -> object:
    if isinstance(value, datetime):
        return iso(value)
    return "; ".join(map(str, value)) if name in _LISTS and isinstance(value, list) else value


def _span(first: datetime, last: datetime) -> str:
    begun, ended = f"{first:%Y-%m-%d %H:%M}", f"{last:%Y-%m-%d %H:%M}"
    return f"{begun} UTC" if begun == ended else f"{begun} to {ended} UTC"
