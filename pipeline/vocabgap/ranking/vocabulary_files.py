"""A vocabulary's file to the objects in it, whatever format it is in."""

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from reprlib import repr as short_repr
from typing import Any, Final

from vocabgap.errors import InvalidInputError, NotFoundError
from vocabgap.files.refusals import FileKind, content_of
from vocabgap.model.sources import pointer_of, value_at
from vocabgap.text import shortened

# Where a document that is an object holds its entries: a manifest, and the answer of an MCP server to
# tools/list as it is or in its JSON-RPC envelope.
_PLACES: Final = ("entries", "tools", "result.tools")
_PATH_HINT: Final = "check the paths of --vocabulary and of [vocabulary] in the settings"
_ENTRIES_HINT: Final = (
    'expected a list of objects, or one under "entries" or "tools"; [vocabulary] entries names another place'
)
_LINES_HINT: Final = (
    "expected a line for each entry, in a table below a line that names the columns; "
    "leave out a file that lists nothing"
)


@dataclass(frozen=True, slots=True)
class Item:
    """One object of a file."""

    place: str  # to be named in an error
    fields: Mapping[str, Any]


def read_content(path: Path) -> bytes:
    """The content of a vocabulary's file."""
    kind = content_of(path, "vocabulary")
    if isinstance(kind, bytes):
        return kind
    if kind in {FileKind.NOTHING, FileKind.DANGLING}:
        problem = "does not exist" if kind is FileKind.NOTHING else f"is {kind}"
        raise NotFoundError(f"vocabulary '{path}' {problem}", hint=_PATH_HINT)
    raise InvalidInputError(f"vocabulary '{path}' is {kind}, expected a file or a folder", hint=_PATH_HINT)


def read_items(path: Path, content: bytes, place: str | None = None) -> list[Item]:
    """The objects of a vocabulary's file."""
    suffix = path.suffix.casefold()
    if suffix not in (*_DOCUMENTS, *_TABLES):
        raise InvalidInputError(
            f"vocabulary '{path}': the format of '{path.suffix or path.name}' files is not known",
            hint=f"expected one of {', '.join([*_DOCUMENTS, *_TABLES])}",
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"vocabulary '{path}': byte {error.start}: expected UTF-8 text",
            hint="save the file in the encoding UTF-8",
        ) from error
    try:
        items = _TABLES[suffix](text) if suffix in _TABLES else [*_listed(_DOCUMENTS[suffix](text), place)]
    except InvalidInputError as error:
        raise InvalidInputError(f"vocabulary '{path}': {error.message}", hint=error.hint) from error
    except RecursionError as error:
        raise InvalidInputError(f"vocabulary '{path}' is nested too deeply", hint=_ENTRIES_HINT) from error
    if suffix in _TABLES and not items:  # a document can say that it holds none
        raise InvalidInputError(f"vocabulary '{path}': there is no entry in it", hint=_LINES_HINT)
    return items


def _listed(value: object, place: str | None) -> Iterator[Item]:
    where = ""
    if isinstance(value, Mapping):
        places = _PLACES if place is None else (place,)
        where = next((path for path in places if value_at(value, pointer_of(path)) is not None), "")
        if not where:
            wanted = " or ".join(f'"{path}"' for path in places)
            raise InvalidInputError(f"there is no {wanted}", hint=_ENTRIES_HINT)
        value = value_at(value, pointer_of(where))
    if isinstance(value, Mapping) and all(isinstance(each, Mapping) for each in value.values()):
        # The way that is usual in YAML: each name leads to the rest.
        for name, fields in value.items():
            yield Item(f"entry '{shortened(str(name))}'", {"name": name, **fields})
        return
    if not isinstance(value, list):
        what = f'"{where}" is' if where else "it holds"
        raise InvalidInputError(f"{what} no list of entries, but {_kind(value)}", hint=_ENTRIES_HINT)
    for number, fields in enumerate(value, start=1):
        yield _item(f"entry {number}", fields)


def _item(place: str, fields: object) -> Item:
    if not isinstance(fields, Mapping):
        raise InvalidInputError(f"{place}: expected an object, found {_kind(fields)}", hint=_ENTRIES_HINT)
    return Item(place, fields)


def _kind(value: object) -> str:
    kinds = {
        Mapping: "an object",
        list: "a list",
        str: "text",
        bool: "true or false",
        int | float: "a number",
    }
    return next((name for kind, name in kinds.items() if isinstance(value, kind)), "nothing")


def _json(text: str, line: int = 0) -> object:
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        at = f"line {line or error.lineno}, column {error.colno}"
        raise InvalidInputError(f"{at}: {error.msg}", hint="expected JSON") from error
    except ValueError as error:  # a number of too many digits
        raise InvalidInputError(f"{error}", hint="expected JSON") from error


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON; of two values under one name the first would be lost without a word."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice = _twice(name for name, _ in pairs)
        raise InvalidInputError(f"an object holds {short_repr(twice)} twice", hint="leave one of the two out")
    return fields


def _twice(names: Iterable[str]) -> str | None:
    """The first name that comes more than once."""
    return next((name for name, often in Counter(names).items() if often > 1), None)


def _json_lines(text: str) -> list[Item]:
    return [
        _item(f"line {number}", _json(line, number))
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]


def _yaml(text: str) -> object:
    from vocabgap.files.yaml import parse_yaml  # noqa: PLC0415 - loads what only these files need

    return parse_yaml(text)


def _table(delimiter: str) -> Callable[[str], list[Item]]:
    def parse(text: str) -> list[Item]:
        first = text.partition("\n")[0]
        used = ";" if delimiter == "," and "," not in first and ";" in first else delimiter
        reader = csv.DictReader(StringIO(text, newline=""), delimiter=used, strict=True)
        items = []
        try:
            headings = [heading.strip() for heading in reader.fieldnames or ()]
            twice = _twice(filter(None, headings))
            if twice is not None:
                raise InvalidInputError(
                    f"line 1: two columns are called {short_repr(twice)}", hint="rename one, or leave it out"
                )
            reader.fieldnames = headings
            for row in reader:
                place = f"line {reader.line_num}"
                if None in row:
                    raise InvalidInputError(
                        f"{place}: more cells than headings", hint="quote a cell that holds the separator"
                    )
                items.append(Item(place, row))
        except csv.Error as error:
            raise InvalidInputError(
                f"line {reader.reader.line_num}: {error}", hint="expected a table with headings"
            ) from error
        return items

    return parse


# The end of a file's name to what reads such a file: one value with the entries in it, or an entry a line.
_DOCUMENTS: Final[Mapping[str, Callable[[str], object]]] = {".json": _json, ".yaml": _yaml, ".yml": _yaml}
_TABLES: Final[Mapping[str, Callable[[str], list[Item]]]] = {
    ".jsonl": _json_lines,
    ".csv": _table(","),
    ".tsv": _table("\t"),
}
