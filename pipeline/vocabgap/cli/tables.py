"""Tables for a terminal. Text from logs is data: it is made visible and never read as markup."""

import csv
import io
import os
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from vocabgap.text import carried, count, shortened, visible

if TYPE_CHECKING:
    from vocabgap.ingest import ScanSummary
    from vocabgap.reporting.overviews import Account

PIPE_WIDTH: Final = 110
MIN_WIDTH: Final = 70
_RULED: Final = box.SIMPLE_HEAD
_PLAIN: Final = box.Box(str(_RULED).replace("─", "-"), ascii=True)
_NULL: Final = "–"


def available_width() -> int:
    """Columns that a table may take: the terminal's; in a pipe what COLUMNS says, or a fixed number."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
    else:
        asked = os.environ.get("COLUMNS", "")
        width = int(asked) if asked.isdecimal() and int(asked) else PIPE_WIDTH
    # Narrower than that whole columns would vanish; the terminal may break the lines instead.
    return max(width, MIN_WIDTH)


def table(
    headings: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    numbers: Sequence[str] = (),
    dates: Sequence[str] = (),
) -> str:
    """Lay out a table for the available width.

    Args:
        headings: Column headings.
        rows: Cells; null shows as a dash.
        numbers: Headings of the columns that are aligned to the right and never broken.
        dates: Headings of the other columns that are never broken.
    """
    encoding = sys.stdout.encoding or "utf-8"
    is_plain = carried(_NULL, encoding) != _NULL or carried("─", encoding) != "─"
    laid_out = Table(box=_PLAIN if is_plain else _RULED, pad_edge=False, show_edge=False)
    for heading in headings:
        laid_out.add_column(
            heading,
            justify="right" if heading in numbers else "left",
            no_wrap=heading in numbers or heading in dates,
            overflow="fold",
        )
    for row in rows:
        texts = (
            ("-" if is_plain else _NULL) if cell is None else shortened(visible(str(cell))) for cell in row
        )
        laid_out.add_row(*(Text(carried(text, encoding)) for text in texts))
    target = io.StringIO()
    console = Console(
        file=target,
        width=available_width(),
        force_terminal=sys.stdout.isatty(),
        highlight=False,
        emoji=False,
    )
    console.print(laid_out)
    return "\n".join(line.rstrip() for line in target.getvalue().splitlines())


def account_line(account: "ScanSummary | Account") -> str:
    """Where every line went, in one sentence that adds up."""
    parts = (
        count(account.records, "record"),
        count(account.duplicates, "duplicate"),
        f"{account.superseded:,} superseded",
        count(account.rejects, "reject"),
    )
    whole = f"{count(account.lines, 'line')} in {count(account.files, 'log')} = {' + '.join(parts)}"
    unread = count(account.unreadable, "log, folder or link", "logs, folders or links")
    passed_over = count(account.passed_over, "line")
    return (
        whole
        + (f"; {passed_over} passed over" if account.passed_over else "")
        + (f"; {unread} not read" if account.unreadable else "")
    )


def comma_separated(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The same as CSV; a cell that a spreadsheet would read as a formula is quoted with an apostrophe."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows([[_harmless(cell) for cell in row] for row in rows])
    return target.getvalue().rstrip("\n")


def _harmless(cell: object) -> object:
    if not isinstance(cell, str):
        return "" if cell is None else cell
    text = visible(cell)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
