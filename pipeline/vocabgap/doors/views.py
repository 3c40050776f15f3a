"""Views: templates for the text of an answer, their filters, and the layout of tables."""

import csv
import io
import os
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vocabgap.doors.cli.output import PIPE_WIDTH
from vocabgap.extensions import extensions
from vocabgap.files.refusals import current_folder
from vocabgap.ingest.roots import origin_of
from vocabgap.model.moments import in_seconds, iso
from vocabgap.model.record import RATING_NAMES, UNCATEGORIZED
from vocabgap.text import FILTERS, carried, escape_unseen, excerpt, in_units, unit_names, visible

if TYPE_CHECKING:
    import jinja2

TEMPLATES: Final = "templates"
_NULL: Final = "–"
_EMPTY: Final = (None, 0, "", UNCATEGORIZED, RATING_NAMES[None])  # cells that tell nothing
_GAP: Final = "   "  # between two columns
_WIDEST: Final = 40  # characters of a field; a longer field moves the rest of its line


@cache
def _environment() -> "jinja2.Environment":
    import jinja2

    folders = [Path(__file__).parent / TEMPLATES, *(each.folder / TEMPLATES for each in extensions())]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - a terminal shows text, not HTML
    )
    environment.filters |= FILTERS | {
        "day": _day,
        "excerpt": lambda text, *most: excerpt(str(text), *most),
        "folder": folder_line,
        "iso": iso,
        "minute": lambda moment: f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}",
        "number": "{:,}".format,
        "seconds": in_seconds,
        "units": in_units,
        "unseen": lambda text: escape_unseen(str(text)),
        "visible": lambda text: visible(str(text)),
    }
    environment.globals |= {
        "aligned": aligned,
        "glyphs": _glyphs,
        "phrase": _phrase,
        "table": table,
        "toml": _toml,
        "unit_names": unit_names,
    }
    return environment


def rendered(name: str, values: Mapping[str, Any]) -> str:
    """Render a template for the terminal, without a final line break."""
    return _environment().get_template(name).render(values).rstrip("\n")


def _phrase(name: str, *values: object, **unit: str) -> str:
    """Return a phrase that reports also use."""
    from vocabgap.reporting.wording import phrase

    return phrase(name, *values, **unit)


def _day(moment: datetime | None) -> str:
    from vocabgap.reporting.wording import day

    return day(moment)


def _toml(settings: Mapping[str, object]) -> str:
    """Return settings as TOML, with unseen characters escaped."""
    import tomli_w

    return "\n".join(map(escape_unseen, tomli_w.dumps(settings).strip().split("\n")))


def _glyphs(wanted: str, plain: str) -> str:
    """Return the wanted characters if the terminal can show them, else the plain ones."""
    return wanted if carried(wanted, _encoding()) == wanted else plain


def _encoding() -> str:
    return sys.stdout.encoding or "utf-8"


def available_width(in_pipe: int = PIPE_WIDTH) -> int:
    """Return the width of the terminal; in a pipe the value of COLUMNS, or the given width."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
    else:
        columns = os.environ.get("COLUMNS", "")
        width = int(columns) if columns.isdecimal() and int(columns) else in_pipe
    return max(width, 70)  # in fewer columns, cells would vanish


def table(
    headings: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    numbers: Sequence[str] = (),
    dates: Sequence[str] = (),
    spare: Sequence[str] = (),
) -> str:
    """Lay out a table for the available width. Text from logs is never read as markup.

    A column without a value is omitted, unless it is one of the first two.

    Args:
        headings: Column headings.
        rows: Cells; None is shown as a dash.
        numbers: Headings of columns that are aligned to the right and not wrapped.
        dates: Headings of other columns that are not wrapped.
        spare: Headings of columns to omit, in this order, until the others are readable.
    """
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    null, line = _glyphs(_NULL, "-"), _glyphs("─", "-")
    filled = _filled(rows)
    headings = [headings[at] for at in filled]
    texts = [
        [null if row[at] is None else carried(excerpt(str(row[at])), _encoding()) for at in filled]
        for row in rows
    ]
    columns = list(zip(headings, *texts, strict=True))
    wants = [max(map(cell_len, column)) for column in columns]
    readable = 20  # characters; texts in a narrower column are hard to read
    longest = [max((len(word) for text in column for word in text.split()), default=0) for column in columns]
    needs = [
        want if heading in {*numbers, *dates} else min(want, max(readable, min(_WIDEST, word)))
        for heading, want, word in zip(headings, wants, longest, strict=True)
    ]
    width = available_width()
    kept = _fitting(headings, needs, spare, width)
    widths = _narrowed([wants[at] for at in kept], [needs[at] for at in kept], width)
    lines = box.SIMPLE_HEAD if line == "─" else box.Box(str(box.SIMPLE_HEAD).replace("─", "-"), ascii=True)
    laid_out = Table(box=lines, pad_edge=False, show_edge=False)
    for at, wide in zip(kept, widths, strict=True):
        is_number = headings[at] in numbers
        laid_out.add_column(
            headings[at], justify="right" if is_number else "left", overflow="fold", width=wide
        )
    for row in texts:
        laid_out.add_row(*(Text(row[at]) for at in kept))
    target = io.StringIO()
    Console(file=target, width=width, force_terminal=sys.stdout.isatty(), highlight=False, emoji=False).print(
        laid_out
    )
    return "\n".join(line.rstrip() for line in target.getvalue().splitlines())


def _filled(rows: Sequence[Sequence[object]]) -> list[int]:
    """Return the places of the first two columns, and of those with a value."""
    return [at for at, cells in enumerate(zip(*rows, strict=True)) if at < 2 or {*cells}.difference(_EMPTY)]  # noqa: PLR2004


def _fitting(headings: Sequence[str], needs: Sequence[int], spare: Sequence[str], width: int) -> list[int]:
    """Return the places of the columns to show. Columns in `spare` are omitted until the others fit."""
    kept = [*range(len(headings))]
    for heading in spare:
        if sum(needs[at] for at in kept) <= _room(kept, width):
            break
        kept = [at for at in kept if headings[at] != heading]
    return kept


def _narrowed(wants: Sequence[int], needs: Sequence[int], width: int) -> list[int]:
    """Return widths that fit. The widest column is narrowed first, below its need only if all have theirs."""
    widths = [*wants]
    while sum(widths) > _room(widths, width):
        at = max(range(len(widths)), key=lambda each: (widths[each] > needs[each], widths[each]))
        widths[at] -= 1
    return widths


def _room(columns: Sequence[int], width: int) -> int:
    return width - len(_GAP) * (len(columns) - 1)


def aligned(
    rows: Sequence[Mapping[str, str | None]],
    below: Mapping[str, str],
    without: Sequence[str] = (),
    names: Mapping[str, str] = {},
    spare: Sequence[str] = (),
) -> str:
    """Lay out each row as a line of short fields, with longer texts below the line.

    Columns without a value are omitted, as in `table`.

    Args:
        rows: Fields by heading.
        below: The headings of the longer texts, and the words before each text.
        without: The headings to omit.
        names: Other words for some headings.
        spare: The headings to omit, in this order, until the others fit. A pipe has room for all.
    """
    wanted = [heading for heading in rows[0] if heading not in {*below, *without}]
    filled = _filled([[row[heading] for heading in wanted] for row in rows])
    headings = [wanted[at] for at in filled]
    cells = [
        [names.get(heading, heading) for heading in headings],
        *([excerpt(row[heading] or _glyphs(_NULL, "-")) for heading in headings] for row in rows),
    ]
    widths = [min(max(map(len, column)), _WIDEST) for column in zip(*cells, strict=True)]
    kept = _fitting(headings, widths, spare, available_width(in_pipe=sys.maxsize))
    first, *lines = [_GAP.join(each[at].ljust(widths[at]) for at in kept).rstrip() for each in cells]
    blocks = [first, max(map(len, (first, *lines))) * _glyphs("─", "-")]
    for line, row in zip(lines, rows, strict=True):
        texts = ((before, row[name]) for name, before in below.items() if name not in without)
        blocks += [line, *(_indented(before + excerpt(text)) for before, text in texts if text)]
    return "\n".join(blocks)


def _indented(text: str) -> str:
    """Indent a text: wrapped on a terminal, on one line in a pipe (`| grep`)."""
    indent = "    "
    if not sys.stdout.isatty():
        return f"{indent}{text}"
    return textwrap.fill(
        text,
        available_width(),
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def comma_separated(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return rows as CSV. An apostrophe precedes a cell that a spreadsheet would read as a formula."""
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


def folder_line(folder: Path) -> str:
    """Return a folder, relative if it is inside the current folder, or its address."""
    with suppress(OSError, ValueError):  # the current folder is gone, or does not contain it
        folder = folder.relative_to(current_folder())
    return origin_of(folder) or escape_unseen(str(folder))
