"""What the command line prints: data on stdout, messages on stderr, as text or as NDJSON."""

import csv
import io
import json
import os
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

import msgspec
import typer

from vocabgap import SCHEMA_VERSION
from vocabgap.errors import VocabgapError
from vocabgap.progress import heard_by
from vocabgap.text import carried, count, escape_unseen, escape_unseen_in_json, excerpt, visible

if TYPE_CHECKING:
    from vocabgap.ingest.accounting import ScanSummary
    from vocabgap.reporting.overviews import Account
    from vocabgap.reporting.writing import Published


PROGRAM: Final = "vocabgap"
PIPE_WIDTH: Final = 110
MIN_WIDTH: Final = 70
_NULL: Final = "–"
_INDENT: Final = "    "
_SHOWN_EVERY: Final = 0.2  # seconds


@dataclass(slots=True)
class Output:
    """Where a command's words go.

    Attributes:
        as_json: NDJSON on stdout, one event a line, the last one `result` or `error`.
        quiet: Nothing but errors, and the data of `as_json`.
    """

    as_json: bool = False
    quiet: bool = False

    def event(self, name: str, /, **fields: object) -> None:
        """Print one event, if events are wanted."""
        if self.as_json:
            _print(_encode({"schema_version": SCHEMA_VERSION, "event": name, **fields}))

    def text(self, text: str) -> None:
        """Print data for a person, if text is wanted."""
        if not self.as_json and not self.quiet:
            _print(text)

    def result(self, text: str, /, **fields: object) -> None:
        """Print the outcome: the last event, or the text that says the same to a person."""
        self.event("result", **fields)
        self.text(text)

    def note(self, message: str) -> None:
        """Tell a person something beside the data."""
        if not self.as_json and not self.quiet:
            _tell(message)

    def telling_of_wait(self, place: str) -> Callable[[], None]:
        """What tells that another writer is at a file."""

        def tell() -> None:
            self.event("waiting", file=place)
            self.note(f"waiting for another writer of {escape_unseen(place)}")

        return tell

    def error(self, error: VocabgapError) -> None:
        """Say what went wrong and what to do."""
        if self.as_json:
            with suppress(OSError):  # stdout itself may be what failed
                self.event("error", code=int(error.exit_code), message=error.message, hint=error.hint)
            return
        _tell(f"{PROGRAM}: {visible(error.message)}")
        if error.hint:
            _tell(f"  {visible(error.hint)}")

    @contextmanager
    def progress(self, stages: tuple[str, ...]) -> Iterator[Callable[[str], None]]:
        """A listener that shows the stage at work, where stderr is a terminal, until an empty one comes.

        Beside the stage stands how far it is, where it tells.
        """
        if self.as_json:
            yield lambda stage: self.event("stage", stage=stage)
            return
        if self.quiet or not sys.stderr.isatty():
            yield lambda _: None
            return
        from rich.console import Console

        status = Console(stderr=True, highlight=False).status("")
        at_work, counting, began, shown = "", ("", 0), 0.0, 0.0

        def show(stage: str) -> None:
            nonlocal at_work
            at_work = f"{stages.index(stage) + 1}/{len(stages)} {stage}" if stage else ""
            with suppress(OSError):  # the terminal has gone; the work has not
                if not stage:
                    status.stop()
                    return
                status.update(at_work)
                status.start()

        def hear(what: str, done: int, total: int) -> None:
            nonlocal counting, began, shown
            now = time.monotonic()
            if counting != (what, total):
                counting, began = (what, total), now
            if at_work and now - shown >= _SHOWN_EVERY:
                shown = now
                left = (now - began) * (total - done) / done if done else 0.0
                rest = f", some {left:,.0f} s left" if left >= 1.0 else ""
                with suppress(OSError):
                    status.update(f"{at_work}: {done:,} of {total:,} {what}{rest}")

        try:
            with heard_by(hear):
                yield show
        finally:
            with suppress(OSError):
                status.stop()


def _tell(message: str) -> None:
    """Print on stderr. Where that fails nobody can be told, but the exit code still says what happened."""
    try:
        print(message, file=sys.stderr, flush=True)
    except OSError:
        _give_up(sys.stderr)


def _give_up(stream: TextIO) -> None:
    """Let a stream that has failed go nowhere: what is buffered would be tried again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def output_of(context: typer.Context) -> Output:
    """The output that the root command prepared."""
    output = context.find_object(Output)
    return Output() if output is None else output


def _encode(event: dict[str, object]) -> str:
    try:
        line = msgspec.json.encode(event).decode("utf-8")
        line.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        # An argument or a path that is not UTF-8, or a terminal of few characters; only escapes carry it.
        return json.dumps(msgspec.to_builtins(event))
    return escape_unseen_in_json(line)


def _print(text: str) -> None:
    """Print to stdout; a reader who has heard enough (`| head`) does not stop the work."""
    try:
        print(text, flush=True)
    except OSError as error:
        _give_up(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            raise


def available_width() -> int:
    """Columns that a table may take: the terminal's; in a pipe what COLUMNS says, or a fixed number."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
    else:
        columns = os.environ.get("COLUMNS", "")
        width = int(columns) if columns.isdecimal() and int(columns) else PIPE_WIDTH
    # Narrower than that whole columns would vanish; the terminal may break the lines instead.
    return max(width, MIN_WIDTH)


def table(
    headings: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    numbers: Sequence[str] = (),
    dates: Sequence[str] = (),
) -> str:
    """Lay out a table for the available width. Text from logs is made visible, and never read as markup.

    Args:
        headings: Column headings.
        rows: Cells; null shows as a dash.
        numbers: Headings of the columns that are aligned to the right and never broken.
        dates: Headings of the other columns that are never broken.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    encoding = sys.stdout.encoding or "utf-8"
    is_plain = carried(_NULL, encoding) != _NULL or carried("─", encoding) != "─"
    simple = box.SIMPLE_HEAD
    plain = box.Box(str(simple).replace("─", "-"), ascii=True)
    laid_out = Table(box=plain if is_plain else simple, pad_edge=False, show_edge=False)
    for heading in headings:
        laid_out.add_column(
            heading,
            justify="right" if heading in numbers else "left",
            no_wrap=heading in numbers or heading in dates,
            overflow="fold",
        )
    for row in rows:
        texts = (("-" if is_plain else _NULL) if cell is None else excerpt(str(cell)) for cell in row)
        laid_out.add_row(*(Text(carried(text, encoding)) for text in texts))
    target = io.StringIO()
    console = Console(
        file=target, width=available_width(), force_terminal=sys.stdout.isatty(), highlight=False, emoji=False
    )
    console.print(laid_out)
    return "\n".join(line.rstrip() for line in target.getvalue().splitlines())


def lines_of(headings: Sequence[str], columns: Iterable[Iterable[str]], *, widest: int) -> str:
    """Lay out rows that may be many, each on one line; of the last column what fits, and `widest` characters.

    Laying out a table takes a hundred times as long.
    """
    encoding = sys.stdout.encoding or "utf-8"
    cells = [_shown(heading, column, encoding) for heading, column in zip(headings, columns, strict=True)]
    *others, last = cells
    widths = [max(map(len, column)) for column in others]
    most = min(max(available_width() - sum(widths) - 3 * len(widths), MIN_WIDTH // 3), widest)
    cut = [cell if len(cell) <= most else carried(f"{cell[: most - 1]}…", encoding) for cell in last]
    row = "   ".join([f"%-{width}s" for width in widths] + ["%s"])
    lines = [row % cells for cells in zip(*others, cut, strict=True)]
    return "\n".join([lines[0], ruled(max(map(len, lines))), *lines[1:]])


def ruled(width: int) -> str:
    """A line below headings."""
    return width * ("─" if carried("─", sys.stdout.encoding or "utf-8") == "─" else "-")


def indented(text: str) -> str:
    """Text below the line that it belongs to: wrapped for a terminal, whole for a program (`| grep`)."""
    if not sys.stdout.isatty():
        return f"{_INDENT}{text}"
    return textwrap.fill(
        text,
        available_width(),
        initial_indent=_INDENT,
        subsequent_indent=_INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _shown(heading: str, column: Iterable[str], encoding: str) -> list[str]:
    cells = [heading, *column]
    whole = "".join(cells)
    is_plain = whole.isascii() and whole.isprintable()  # nearly always
    return cells if is_plain else [carried(visible(cell), encoding) for cell in cells]


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


def published_line(published: "Published") -> str:
    """The folder, as seen from the current one, the names of the files in it, and what is not shared."""
    line = f"{folder_line(published.folder)}: {', '.join(published.files)}"
    withheld = published.shared and published.shared.withheld
    if not withheld or not withheld.capabilities:
        return line
    left_out = count(withheld.capabilities, "capability", "capabilities")
    few = f"fewer than {withheld.fewest} images or folders of logs"
    return f"{line}\nLeft out of share.html: {left_out} on {few}."


def folder_line(folder: Path) -> str:
    """A folder, as seen from the current one where it is within."""
    with suppress(OSError, ValueError):  # the current folder is gone, or does not hold it
        folder = folder.relative_to(Path.cwd())
    return escape_unseen(str(folder))
