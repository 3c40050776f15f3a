"""The forms of a file that a person names: JSON lines, a JSON document, a table with a header, or Parquet.

The content of a file decides its form, not its name. Rows of tables become lines with one JSON object each.
"""

import codecs
import csv
import io
import re
import sys
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import polars as pl

from vocabgap.errors import InvalidInputError
from vocabgap.files.budget import MIB, MOST_WHOLE, Budget, OverBudgetError, require_decodable
from vocabgap.files.parquet import bytes_of, hide_arrow, spend_parquet
from vocabgap.ingest.decoding import (
    DECODER,
    NATIVE_FIELDS,
    FieldMap,
    Rejected,
    is_unclear,
    no_json,
    ungrouped,
)
from vocabgap.ingest.reading import COMPRESSIONS, UNKNOWN_OFFSET, Block, OpenLog, blocks, decoded, encoded
from vocabgap.model.record import FIELDS, LIST_FIELDS, MAX_LINE_BYTES, PHRASE_FIELDS, RejectReason
from vocabgap.model.sources import Source, parsed, several
from vocabgap.text import count, excerpt, printable_name

_DATA_SUFFIXES: Final = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".log", ".txt")
_DELIMITERS: Final = ",;\t"
_FOREIGN: Final = {  # the first bytes of files that hold tables, but are no data file
    b"PK\x03\x04": "a workbook or an archive",
    b"\xd0\xcf\x11\xe0": "a workbook of an old Excel",
    b"SQLite format 3\0": "an SQLite database",
    b"%PDF": "a PDF file",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ\0": "compressed by xz",
    **dict.fromkeys((b"{\0", b"\0{", b"[\0", b"\0["), "UTF-16 without a byte order mark"),
}
_ROWS: Final = 1_000  # in a block, or in a slice of a Parquet file
_MOST_HELD: Final = 16 * MIB  # of the rows that are held at once
_AGAIN: Final = 4 * MAX_LINE_BYTES  # of bad rows that are read again; after that, no row has several lines
# What a program writes before the JSON of a line, with the time and with the name of an MCP server.
_PREFIX: Final = re.compile(r'(.{0,256}?)\{\s*["}]')
_TIME: Final = re.compile(
    r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d)\b)?"
    r"|\d\d[ /-][A-Z][a-z]{2}[ /-]\d{4}[: ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: [+-]\d{4})?"
)
_SERVER: Final = re.compile(r"\[([^\]]+)\] \[\w+\] Message from ")
_NODE: Final = re.compile(r"( \{ metadata: \w+ \})?\s*")  # what the log of an MCP server has after it
_EXPORT: Final = "export it as CSV or JSON Lines in UTF-8, and name that file"


class Form(StrEnum):
    """The form of a file."""

    LINES = "JSON Lines"
    DOCUMENT = "JSON"
    TABLE = "a table"
    PARQUET = "Parquet"
    LOG = "lines of a log with JSON"
    QUERY = "the answer of a query, with columns and results"


class FormError(InvalidInputError):
    """The content of a file cannot be read in any form; the message does not name the file."""


class Content(NamedTuple):
    """The form of a file's content, and what has to be undone before it is read."""

    form: Form = Form.LINES
    compression: str = ""
    is_utf16: bool = False

    def in_utf8(self, chunks: Iterable[bytes]) -> Iterable[bytes]:
        """Return content of this form in UTF-8."""
        return _as_utf8(chunks) if self.is_utf16 else chunks


_LINES: Final = Content()


def compression_of(name: str) -> str:
    """Return the compression that the ending of a name shows; empty for none."""
    stem, _, suffix = name.rpartition(".")
    return suffix if stem and suffix in COMPRESSIONS else ""


def is_data_file(name: str) -> bool:
    """Tell whether the name of a file is one of a data file, which may be a log."""
    return name.removesuffix(f".{compression_of(name)}").casefold().endswith(_DATA_SUFFIXES)


@dataclass(frozen=True, slots=True)
class LogKind:
    """A kind of gap log: its source, its field map and the form of its content."""

    source: str = ""  # its name; empty if a root is a file that fits none
    fields: FieldMap = NATIVE_FIELDS
    content: Content = _LINES
    is_named: bool = False  # the name of the log tells it
    by_pattern: bool = False  # a folder may have such a name, too
    unless: tuple[str, ...] = ()  # other logs that it repeats
    within: tuple[str, ...] = ()  # globs of folders that are a part of the folder above
    adapter: str = ""  # the function that makes objects of its documents

    @classmethod
    def of(cls, name: str, source: Source) -> "LogKind":
        """Return the kind of the logs of a source."""
        unless, within = several(source.unless), several(source.within)
        return cls(name, FieldMap.of(source), unless=unless, within=within, adapter=source.adapter)

    def packed_as(self, name: str) -> "LogKind":
        """Return the kind of a log with the compression that its name shows."""
        return replace(self, content=Content(compression=compression_of(name)))

    def folder_of(self, path: str) -> str:
        """Return the name of the folder of a log."""
        *folders, _ = path.split("/")
        while len(folders) > 1 and any(fnmatchcase(folders[-1], glob) for glob in self.within):
            folders.pop()
        return printable_name(folders[-1])


def recognised(path: str, max_expanded: int, *, is_known: bool = False) -> Content:
    """Return the form of a file by its first bytes; refuse a binary file.

    A file whose name is known holds JSON unless it is a Parquet file, or is called like a table.

    Raises:
        FormError: The file is binary.
        OSError: The file cannot be read.
    """
    start = _start(path)
    magic = {b"\x1f\x8b": "gz", b"\x28\xb5\x2f\xfd": "zst"}
    compression = next((name for begin, name in magic.items() if start.startswith(begin)), "")
    if compression:
        start = _start(path, compression, max_expanded)
    if start.startswith(b"PAR1"):
        return Content(Form.PARQUET, compression)
    is_utf16 = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and not is_known
    head = b"".join(_as_utf8([start])) if is_utf16 else start.removeprefix(codecs.BOM_UTF8)
    form = _form_of(head, is_whole=len(start) < MAX_LINE_BYTES)
    is_json = head.lstrip().startswith((b"{", b"["))
    if not is_json and {".csv", ".tsv"} & {*Path(path).suffixes}:
        form = Form.TABLE
    elif is_known:
        form = Form.LINES if form is Form.TABLE else form
    elif (b"\0" in head and b"{" not in head) or head.startswith(tuple(_FOREIGN)):
        kind = next((kind for magic, kind in _FOREIGN.items() if head.startswith(magic)), "binary")
        raise FormError(f"the content is {kind}", hint=_EXPORT)
    return Content(form, compression, is_utf16)


def is_log(head: bytes) -> bool:
    """Tell whether lines at the beginning of a file have something around their JSON, and are no table."""
    first, *others = head.removeprefix(codecs.BOM_UTF8).lstrip().split(b"\n")
    if first.startswith(b"{"):
        return False
    sign = _delimiter(first)
    for line in (first, *others[: 0 if first.startswith(b"[") else _ROWS]):
        with suppress(ValueError, RecursionError):
            before, value, behind = _logged(line)
            if value and before.strip("\ufeff [") and not {*'{"'} & {*before} and _NODE.fullmatch(behind):
                cells = re.sub(r",\d{3}\b", "", before).count(sign)  # not those of milliseconds
                return line is first or not 0 < cells == first.count(sign.encode())
    return False


def _start(path: str, compression: str = "", max_expanded: int = sys.maxsize) -> bytes:
    with OpenLog.open(path, compression, max_expanded) as log:
        return next(log.chunks(), b"")


def _form_of(head: bytes, *, is_whole: bool) -> Form:
    lines = [line.rstrip() for line in head.split(b"\n") if line.strip()]
    first = lines[0].lstrip() if lines else b""
    if is_log(head):
        return Form.LOG
    if first.startswith(b"["):
        return Form.DOCUMENT
    has_object = any(line.startswith(b"{") and decoded(line) is not None for line in lines)
    if not first.startswith(b"{"):
        has_cells = any(sign.encode() in first for sign in _DELIMITERS)
        return Form.TABLE if has_cells and len(lines) > 1 and not has_object else Form.LINES
    parts = (rb'"columns"\s*:\s*\[\s*"', rb'"results"\s*:\s*\[\s*\[')
    if all(re.search(part, head) for part in parts):
        return Form.QUERY
    goes_on = first.endswith((b"{", b"[", b",")) or (len(lines) == 1 and not is_whole)
    is_torn = goes_on and not (is_whole and has_object)
    return Form.DOCUMENT if not decoded(first) and (is_torn or decoded(head)) else Form.LINES


def _as_utf8(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Decode UTF-16 with a byte order mark, and yield it in UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    for chunk in chunks:
        yield decoder.decode(chunk).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


ROWS: Final = frozenset((Form.TABLE, Form.PARQUET, Form.LOG, Form.QUERY))


class TableRow(NamedTuple):
    """One row of a table: the line where it begins, and its object, or the reason why there is none."""

    number: int
    value: dict[str, Any]
    rejected: Rejected | None = None
    raw: bytes = b""
    unread: str = ""  # what is behind its object, from the first brace


def rows_of(
    content: Content, chunks: Iterable[bytes], budget: Budget, alone: Container[str] = ()
) -> Iterator[TableRow]:
    """Yield the rows of a file whose form is one of `ROWS`; an empty cell is null.

    A column without a name is left out. Columns of the same name become one with a list. Raise FormError if
    such a name is in `alone`.
    """
    try:
        if content.form is Form.LOG:
            yield from _log_rows(chunks)
        elif content.form is Form.TABLE:
            yield from map(_unflattened, _table_rows(chunks, alone))
        elif content.form is Form.QUERY:
            answer = _gathered(chunks, Budget(MOST_WHOLE, option=_EXPORT))
            yield from map(_unflattened, _query_rows(answer.getvalue()))
        else:
            yield from _parquet_rows(_gathered(chunks, budget), budget)
    except OverBudgetError as error:
        yield TableRow(0, {}, Rejected(RejectReason.EXPANDS_TOO_FAR, str(error)))


def _gathered(chunks: Iterable[bytes], budget: Budget) -> io.BytesIO:
    content = io.BytesIO()
    for chunk in chunks:
        budget.spend(len(chunk))
        content.write(chunk)
    return content


def row_blocks(
    content: Content, chunks: Iterable[bytes], fields: FieldMap, budget: Budget
) -> Iterator[Block]:
    """Yield the rows of a table as blocks of lines with one JSON object each, without its empty cells.

    The last row may be cut, so it is a block of its own that has not ended. Lines of a program's log
    without a need are passed over.
    """
    converters = _converters(fields)
    used = {pointer[0] for pointer in fields.reads} or {*FIELDS}
    lists = {path[0] for name in LIST_FIELDS for path in fields.paths_of(name)}
    needs = [path[-1].encode() for name in PHRASE_FIELDS for path in fields.paths_of(name)]
    begun, lines, size, passed_over = 1, list[bytes](), 0, 0
    asks = re.compile(rf'"(?:{"|".join(re.escape(need.decode()) for need in needs)})\\*"\s*:')
    for number, cells, reason, raw, unread in rows_of(content, chunks, budget, alone=used - lists):
        fault = _NOT_ALONE if unread and asks.search(unread) else reason
        if content.form is Form.LOG and not (
            any(need in raw for need in needs) if fault else fields.may_be_gap(cells)
        ):
            passed_over += 1
            continue
        line, rejected = raw, fault
        if fault is None:
            value = {name: cell for name, cell in cells.items() if cell not in (None, "", [])}
            for name in converters.keys() & value.keys():
                value[name] = converters[name](value[name])
            line, rejected = _line_of(value, used)
        is_full = len(lines) == _ROWS or size > _MOST_HELD
        if lines and (rejected is not None or number != begun + len(lines) or is_full):
            yield Block(begun, UNKNOWN_OFFSET, lines)
            lines, size = [], 0
        if rejected is not None:
            yield Block(number, UNKNOWN_OFFSET, [line] * bool(number), rejected=rejected)
        else:
            begun = begun if lines else number
            lines.append(line)
            size += len(line)
    if len(lines) > 1:
        yield Block(begun, UNKNOWN_OFFSET, lines[:-1])
    if lines:
        yield Block(begun + len(lines) - 1, UNKNOWN_OFFSET, lines[-1:], ended=False)
    if passed_over:
        yield Block(1, UNKNOWN_OFFSET, [], passed_over=passed_over)


def require_columns(path: str, content: Content, fields: FieldMap) -> None:
    """Raise FormError if a header repeats a column of a field that takes one value."""
    with OpenLog.open(path, content.compression) as log:
        next(row_blocks(content, content.in_utf8(log.chunks()), fields, log.budget), None)


def _line_of(value: dict[str, Any], used: Container[str]) -> tuple[bytes, Rejected | None]:
    """Return the line of a row, or the reason why it has none."""
    for name in [name for name, cell in value.items() if isinstance(cell, bytes)]:
        if name in used:
            detail = f"column '{excerpt(name)}': expected text, found binary data"
            return b"", Rejected(RejectReason.WRONG_TYPE, detail)
        del value[name]
    try:
        line = msgspec.json.encode(value)
    except OverflowError:
        line = encoded(value)
    except UnicodeEncodeError:
        detail = "expected UTF-8; save the table as CSV in UTF-8"
        return ascii(value).encode(), Rejected(RejectReason.INVALID_UTF8, detail)
    if len(line) > MAX_LINE_BYTES:
        return line[:MAX_LINE_BYTES], _TOO_LONG
    return line, None


_NOT_ALONE: Final = Rejected(
    RejectReason.INVALID_JSON, "expected one object per line, at most 256 characters before it, found more"
)
_TOO_LONG: Final = Rejected(
    RejectReason.TOO_LONG, f"expected at most {MAX_LINE_BYTES:,} bytes in a row, found more"
)


def _converters(fields: FieldMap) -> dict[str, Callable[[Any], Any]]:
    """Return functions that convert cells to more than text, by the name of their column."""
    pointers = (*fields.reads, *fields.judged_by)
    converters: dict[str, Callable[[Any], Any]] = {each[0]: parsed for each in pointers if len(each) > 1}
    kinds = {**dict.fromkeys(LIST_FIELDS, _names), **_CELLS}
    for path, kind in ((path, kinds[name]) for name in kinds for path in fields.paths_of(name)):
        converters |= {path[0]: kind} if len(path) == 1 else {}
    return converters


def _names(cell: Any) -> Any:  # noqa: ANN401 - here and below: any JSON
    """Return the names in a cell: a JSON list, or texts separated by semicolons."""
    value = parsed(cell)
    if isinstance(value, str):
        return [name for part in value.split(";") if (name := part.strip())]
    return value


def _number(cell: Any) -> Any:  # noqa: ANN401
    number = ungrouped(cell.strip()) if isinstance(cell, str) else ""
    return int(float(number)) if re.fullmatch(r"[+-]?\d{1,18}(\.0+)?", number) else cell


def _flag(cell: Any) -> Any:  # noqa: ANN401
    word = cell.strip().casefold() if isinstance(cell, str) else cell
    return {"true": True, "false": False, "": None}.get(word, cell)


_CELLS: Final[dict[str, Callable[[Any], Any]]] = {
    "satisfaction": _number,
    "count": lambda cell: cell if isinstance(cell, str) and is_unclear(cell) else _number(cell),
    "category_guessed": _flag,
    "mediocre": _flag,
}


class _Text(NamedTuple):
    """One line of the text of a table; a longer one is cut."""

    number: int
    content: bytes
    is_cut: bool


class _Lines:
    """The lines of a table, for `csv`, and those of the row that is being read."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._lines = (
            _Text(number, line, block.rejected is not None)
            for block in blocks(chunks)
            for number, line in enumerate(block.lines, block.number)
        )
        self._again = deque[_Text]()  # lines after a row that was given up
        self.taken: list[_Text] = []
        self._size = 0
        self._left = _AGAIN

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self.is_too_long or (self.taken and self._left < 0):
            raise StopIteration
        line = self._again.popleft() if self._again else next(self._lines)
        self.taken.append(line)
        self._size += len(line.content)
        if self.is_too_long:
            raise StopIteration
        return line.content.decode("utf-8", "surrogateescape") + "\n"

    @property
    def is_too_long(self) -> bool:
        """Tell whether the row is longer than a line may be; `blocks` passes over many blank lines."""
        passed_over = bool(self.taken) and self.taken[-1].number - self.taken[0].number >= len(self.taken)
        return self._size > MAX_LINE_BYTES or passed_over or (bool(self.taken) and self.taken[-1].is_cut)

    def begin(self) -> None:
        """Begin the next row after the lines that were taken."""
        self.taken, self._size = [], 0

    def give_up(self) -> _Text:
        """Return the first line of a bad row; the next row begins after it."""
        first, *others = self.taken
        self._again.extendleft(reversed(others))
        self._left -= self._size * bool(others) + len(others)
        self.begin()
        return first


def _table_rows(chunks: Iterable[bytes], alone: Container[str]) -> Iterator[TableRow]:
    """Yield the rows after the header. After a bad row, the next line begins a row."""
    # The limit belongs to the whole process, so it only grows.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
    chunks, start = iter(chunks), b""
    while b"\n" not in start.lstrip() and len(start) <= MAX_LINE_BYTES and (chunk := next(chunks, b"")):
        start += chunk
    line, _, rest = start.removeprefix(codecs.BOM_UTF8).partition(b"\n")
    separator = re.fullmatch(rb"sep=([,;\t])\s*", line)  # Excel reads such a line before the header
    delimiter = separator[1].decode() if separator else _delimiter(start.lstrip().partition(b"\n")[0])
    lines = _Lines(chain([b"\n" + rest if separator else start], chunks))
    header, repeated = list[str](), set[str]()
    while True:
        fault = ""
        try:
            for cells in csv.reader(lines, delimiter=delimiter, strict=True):
                number, raw = lines.taken[0].number, lines.taken[0].content
                lines.begin()
                if not any(cells):
                    continue  # as programs write empty rows
                if not header:
                    header = _checked_header(cells, alone)
                    repeated = {name for name, times in Counter(filter(None, header)).items() if times > 1}
                elif len(cells) == len(header):
                    yield TableRow(number, _by_name(header, cells, repeated))
                else:
                    yield TableRow(number, {}, _wrong_length(cells, header), raw)
        except csv.Error as error:
            fault = str(error)
        if not lines.taken:
            return
        is_open = fault == "unexpected end of data"
        detail = "a quote is not closed" if is_open else f"not a row of a table: {fault}"
        rejected = _TOO_LONG if lines.is_too_long else Rejected(RejectReason.INVALID_ROW, detail)
        first = lines.give_up()
        if not header:
            raise FormError(f"the header, line {first.number}: {rejected.detail}", hint=_EXPORT)
        yield TableRow(first.number, {}, rejected, first.content)


def _by_name(header: list[str], cells: list[str], repeated: set[str]) -> dict[str, Any]:
    row = [(name, cell) for name, cell in zip(header, cells, strict=True) if name]
    value: dict[str, Any] = {name: cell or None for name, cell in row} | {name: [] for name in repeated}
    for name, cell in row if repeated else ():
        if cell and name in repeated:
            value[name].append(cell)
    return value


def _wrong_length(cells: list[Any], header: list[str]) -> Rejected:
    return Rejected(RejectReason.INVALID_ROW, f"expected {count(len(header), 'cell')}, found {len(cells):,}")


def _delimiter(line: bytes) -> str:
    """Return the sign that separates most cells of a header."""
    unquoted = re.sub(rb'"[^"]*"', b"", line)
    return max(_DELIMITERS, key=lambda sign: unquoted.count(sign.encode()))


def _checked_header(cells: list[str], alone: Container[str]) -> list[str]:
    """Return the names of the columns; raise FormError if one that must stand `alone` is repeated."""
    names = [cell.strip() for cell in cells]
    for name, times in Counter(names).items():
        if times > 1 and name and name in alone:
            hint = "give each another name; only a field with a list, such as operations_involved, reads all"
            raise FormError(f"the header has the name '{excerpt(name)}' {times} times", hint=hint)
        if any("\ud800" <= sign <= "\udfff" for sign in name):
            raise FormError("the header is not UTF-8", hint="save the table as CSV in UTF-8")
    return names


def _log_rows(chunks: Iterable[bytes]) -> Iterator[TableRow]:
    """Yield a row per line: its object, with the time of the line; without an object, the row is empty."""
    for block in blocks(chunks):
        for number, line in enumerate(block.lines, block.number):
            value, rejected, behind = dict[str, Any](), block.rejected, ""
            try:
                _, value, behind = ("", {}, "") if rejected else _logged(line)
            except (ValueError, RecursionError) as fault:
                rejected = no_json(fault, "line")
            if line.strip():
                yield TableRow(number, value, rejected, line, behind.partition("{")[2])


def _logged(line: bytes) -> tuple[str, dict[str, Any], str]:
    """Split a line into the text before its object, the object, and the text behind it.

    The object has the time of the line, unless it has one of its own. Raise ValueError for broken JSON.
    """
    text = line.decode()
    begun = _PREFIX.match(text)
    if begun is None:
        return "", {}, text
    before = begun[1]
    value, end = DECODER.raw_decode(text, len(before))
    time, server = _TIME.search(before), _SERVER.search(before)
    around = {"timestamp": time and time[0], "server": server and server[1]}
    return before, {name: part for name, part in around.items() if part} | value, text[end:]


def _unflattened(row: TableRow) -> TableRow:
    """Return a row with the event of which PostHog makes the columns `*`, `*.event` and `properties.$lib`."""
    if not any(name.startswith(("*", "properties.")) for name in row.value):
        return row
    value = {name.removeprefix("*."): cell for name, cell in row.value.items()}
    event = parsed(value.pop("*", None))
    value = {**event, **value} if isinstance(event, dict) else value
    names = [name for name in value if name.startswith("properties.")]
    if names:
        own = parsed(value.get("properties"))
        flat = {name.removeprefix("properties."): value.pop(name) for name in names}
        value["properties"] = {**own, **flat} if isinstance(own, dict) else flat
    return row._replace(value=value)


def _query_rows(content: bytes) -> Iterator[TableRow]:
    """Yield the rows of an answer of the query API of PostHog; their numbers are their places."""
    try:
        require_decodable(content, "the answer of a query")
        answer = msgspec.json.decode(content, type=_QueryAnswer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormError(f"the answer of a query cannot be read: {error}", hint=_EXPORT) from error
    for number, cells in enumerate(answer.results, 1):
        if len(cells) == len(answer.columns):
            yield TableRow(number, dict(zip(answer.columns, cells, strict=True)))
        else:
            yield TableRow(number, {}, _wrong_length(cells, answer.columns), msgspec.json.encode(cells))


class _QueryAnswer(msgspec.Struct):
    columns: list[str]
    results: list[list[Any]]


def _parquet_rows(file: io.BytesIO, budget: Budget) -> Iterator[TableRow]:
    """Decode about as many rows at once as fill `MOST_WHOLE` bytes, and make objects of a few at a time."""
    before = budget.left
    try:
        spend_parquet(file, budget)
        hide_arrow(file)
        table = pl.scan_parquet(file)
        height = table.select(pl.len()).collect().item()
        step = max(1, height * MOST_WHOLE // (1 + before - budget.left))
        for start in range(0, height, step):
            for place, part in enumerate(table.slice(start, step).collect().iter_slices(_ROWS)):
                sizes = part.select(pl.sum_horizontal(bytes_of(pl.col(n), t) for n, t in part.schema.items()))
                longest = max(sizes.to_series())
                budget.spend(sizes.sum().item(), part.height)
                fits = sizes.to_series() <= MAX_LINE_BYTES
                rows = part.filter(fits).iter_rows(named=True, buffer_size=1 + _MOST_HELD // longest)
                for number, is_short in enumerate(fits, start + place * _ROWS + 1):
                    row = next(rows) if is_short else {}
                    days = {name: cell.isoformat() for name, cell in row.items() if isinstance(cell, date)}
                    yield TableRow(number, row | days, None if is_short else _TOO_LONG)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        why = Rejected(RejectReason.UNREADABLE_FILE, f"the Parquet file cannot be read: {reason}")
        yield TableRow(0, {}, why)
