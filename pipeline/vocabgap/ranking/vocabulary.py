"""Vocabularies: the entries that agents can already ask for, read from files."""

import csv
import hashlib
import io
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from vocabgap.errors import (
    AccessDeniedError,
    Hint,
    InvalidInputError,
    NotFoundError,
    converted,
    expanded,
    require_kind,
    require_text,
)
from vocabgap.files.budget import MOST_LISTED, Budget, weight_of
from vocabgap.files.refusals import FileKind, existing_content, file_kind, refusing
from vocabgap.model.sources import pointer_of, value_at
from vocabgap.text import count, printable_name, shortened

_MANIFESTS: Final = ("manifest.json", "manifest.yaml", "manifest.yml")
_SKILL: Final = "SKILL.md"
_FOUND: Final = (*_MANIFESTS, _SKILL)  # the files that a folder stands for
# A plain text of one line in a front matter; people write it with colons, which YAML refuses.
_PLAIN: Final = re.compile(
    r"^([\w-]+):[ \t]+([^\s\"'\[{|>&*!#%@`](?:(?! #).)*)(?<!: null)(?<!: ~)$(?!\n[ \t])", re.MULTILINE
)
_METHODS: Final = frozenset(["get", "put", "post", "delete", "options", "head", "patch", "trace"])
_CHECK: Final = "check the paths of [vocabulary] in the settings"
_PATH_HINT: Final = Hint("check the path, or [vocabulary] in the settings", (), for_tools=_CHECK)
_WANTED: Final = 'expected objects with a "name": a list of them, alone or under "entries" or "tools"'
_NOTHING: Final = {"jsonrpc": "2.0"}  # a message without entries stands for a line without any


class Form(StrEnum):
    """The form in which people write an entry."""

    SKILL = "skill"
    TOOL = "tool"
    MANIFEST = "manifest"


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a vocabulary, or a tool that agents can call."""

    name: str  # unique in the vocabulary
    description: str = ""  # what it does
    tags: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()  # operations that it touches
    pack: str = ""  # the pack that it comes from


class _Listed(msgspec.Struct, frozen=True):
    """An entry as a manifest or a list of tools has it."""

    name: str
    description: str | None = None
    title: str | None = None
    annotations: dict[str, Any] | None = None  # of a tool, with another title
    tags: str | tuple[str, ...] | None = None
    touches: str | tuple[str, ...] | None = None
    operations: str | tuple[str, ...] | None = None
    schema: Any = msgspec.field(default=None, name="inputSchema")  # of a tool


class VocabularyFile(msgspec.Struct, frozen=True):
    """One file that entries were read from."""

    pack: Annotated[str, msgspec.Meta(description="name of a manifest's folder, else of the file")]
    name: str
    entries: int
    sha256: str


@dataclass(frozen=True, repr=False)
class Vocabulary:
    """The entries of some packs.

    Attributes:
        entries: Entries of different names, sorted by name.
        files: The files that they were read from, sorted by pack and name.
        form: The form of most entries.
    """

    entries: tuple[Entry, ...] = ()
    files: tuple[VocabularyFile, ...] = ()
    form: Form = Form.MANIFEST


def load_vocabulary(paths: str | Path | Iterable[str | Path]) -> Vocabulary:
    """Read what agents can already ask for.

    An entry has `name`, `description`, `tags` and `touches` as in manifests. It may be a skill, a tool of
    an MCP server, or an operation of OpenAPI. A skill is read from the front matter of its file.

    Args:
        paths: Files (`.json`, `.jsonl`, `.yaml`, `.yml`, `.csv`, `.md`) or folders. A folder stands for all
            files `manifest.json`, `manifest.yaml`, `manifest.yml` or `SKILL.md` at any depth, except below
            names that start with a dot. A file that is reached twice counts once. Equal entries count once.

    Returns:
        The entries, sorted by name.

    Raises:
        NotFoundError: A path does not exist, or a folder has no such file.
        AccessDeniedError: The system denies access.
        InvalidInputError: A file or an entry has the wrong format, or two entries of one name differ. The
            error names file and entry.
        StateError: The disk fails.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    require_kind("paths", given, Iterable, "paths of vocabularies")
    by_name: dict[str, tuple[Entry, str]] = {}
    files = []
    forms: Counter[Form] = Counter()
    for path in dict.fromkeys(file for each in given for file in _files(expanded(each))):
        content = existing_content(path, "vocabulary", _PATH_HINT)
        # A manifest is in the folder of its pack, a skill in a folder of its own.
        place = {_SKILL: path.parent.parent.name}.get(path.name, path.stem)
        pack = printable_name(path.parent.name if path.name in _MANIFESTS else place)
        with _naming(f"vocabulary '{path}'", "correct the file"):
            listed = _listed(path, content)
            if not listed:
                raise InvalidInputError("there is no entry in it", hint="add an entry, or leave the file out")
            entries = [_entry(each, pack) for each in listed]
        usual = Form.SKILL if path.suffix.casefold() == ".md" else Form.MANIFEST
        forms.update(usual if each.schema is None else Form.TOOL for each in listed)
        digest = hashlib.sha256(content).hexdigest()
        files.append(VocabularyFile(pack, printable_name(path.name), len(entries), digest))
        for number, entry in enumerate(entries, start=1):
            origin = f"'{path}' (entry {number})"
            first, other = by_name.setdefault(entry.name, (entry, origin))
            if replace(first, pack=entry.pack) != entry:
                raise InvalidInputError(
                    f"two entries are called '{shortened(entry.name)}': one in {other}, one in {origin}",
                    hint="a name stands for one entry: rename one, or leave one of the files out",
                )
    ordered = sorted((entry for entry, _ in by_name.values()), key=lambda entry: entry.name)
    files.sort(key=lambda file: (file.pack, file.name, file.sha256))
    return Vocabulary(tuple(ordered), tuple(files), max(reversed(Form), key=forms.__getitem__))


def _files(path: Path) -> list[Path]:
    """List the vocabulary files of a path. The path may be a link; the files below it may not."""
    with refusing(f"vocabulary '{path}' cannot be accessed", hint="check the permissions of its folders"):
        kind = file_kind(path)
    if kind is not FileKind.FOLDER:
        return [path.resolve() if kind is FileKind.FILE else path]
    files = sorted(_found(path.resolve()))
    if not files:
        raise NotFoundError(
            f"vocabulary '{path}' has no manifest and no skill",
            hint=f"expected {' or '.join(_FOUND)} below it, in folders without a dot before their name;"
            " give another file, or a folder such as .claude/skills, by its own path",
        )
    return files


def _found(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        problem = f"folder '{error.filename}' of a vocabulary cannot be read"
        raise AccessDeniedError(problem, hint="check its permissions") from error

    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(place, name) for name in names if name in _FOUND)


@contextmanager
def _naming(place: str, hint: str = "correct it") -> Iterator[None]:
    try:
        yield
    except InvalidInputError as error:
        raise InvalidInputError(f"{place}: {error.message.removeprefix('[] ')}", hint=error.hint) from error
    except (ValueError, RecursionError) as error:
        remedy = "save the file in UTF-8" if isinstance(error, UnicodeError) else hint
        raise InvalidInputError(f"{place}: {error}", hint=remedy) from error


def _listed(path: Path, content: bytes) -> list[_Listed]:
    """Return the entries of a file, as it has them."""
    parse = _PARSERS.get(path.suffix.casefold())
    if parse is None:
        raise InvalidInputError(
            f"the format of '{path.suffix or path.name}' files is not known",
            hint=f"expected one of {', '.join(_PARSERS)}",
        )
    budget = Budget(MOST_LISTED, "the file", "divide it into several files")
    budget.spend(weight_of(content), content.count(b"\n"))
    value = parse(content.decode("utf-8-sig"))
    if path.name == _SKILL and isinstance(value, list):
        value = [{"name": path.parent.name, **fields} for fields in value]
    pages = value if isinstance(value, list) else [value] if value else []
    listed: list[_Listed] = []
    is_by_line, cursor = path.suffix.casefold() in {".csv", ".jsonl"}, None
    for number, page in enumerate(pages, start=1):
        fields = _object(page)
        tools = _object(fields.get("result")) or fields
        cursor = tools.get("nextCursor") if "tools" in tools else cursor
        # A member of a list is an entry, even if it has a field such as `tools`.
        for each in [page] if page is not value and "name" in fields else _held(page):
            with _naming(f"line {number}" if is_by_line else f"entry {len(listed) + 1}"):
                listed.append(_checked(each))
    if cursor:
        hint = "ask the server for them with nextCursor, and save one answer per line in a file .jsonl"
        raise InvalidInputError("the last answer says that further pages of tools follow", hint=hint)
    return listed


def _checked(value: Any) -> _Listed:  # noqa: ANN401 - whatever a file may hold
    name = str(_object(value).get("name") or "").strip()
    if not name:
        only = ", ".join(map(str, value)) if isinstance(value, dict) else value
        raise InvalidInputError(f'there is no "name", only {shortened(str(only))}', hint=_WANTED)
    with _naming(f"'{shortened(name)}'"):
        listed: _Listed = converted(value, _Listed, hint="correct the field")
    return listed


def _held(value: object) -> list[Any]:
    """Return the entries that an object holds in one of the shapes, else itself; a message may hold none."""
    parts = ((value_at(value, pointer_of(place)), read) for place, read in _SHAPES.items())
    itself = [] if "jsonrpc" in _object(value) else [value]
    return next((read(part) for part, read in parts if part is not None), itself)


def _named(value: Any) -> list[Any]:  # noqa: ANN401 - whatever a file may hold
    """Return a list of entries; an object maps their names to the rest, or to what they do."""
    rest = _object(value).items()
    named = [{"name": name, **(_object(each) or {"description": each or None})} for name, each in rest]
    return value if isinstance(value, list) else named


def _object(value: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever a file may hold
    return value if isinstance(value, dict) else {}


def _operations(value: Any) -> list[Any]:  # noqa: ANN401 - whatever a file may hold
    """Return the operations of OpenAPI as tools: the HTTP methods of a path. Anything else is passed over."""
    tools: list[Any] = []
    for path in [path for path in _object(value) if str(path).startswith("/")]:
        item = _object(value[path])
        for method in sorted(_METHODS & item.keys()):
            fields = _object(item[method])
            tags, text = fields.get("tags"), fields.get("summary") or fields.get("description")
            told = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
            named = {"name": fields.get("operationId") or f"{method} {path}", "description": text}
            tools.append({**named, "tags": told, "inputSchema": {}})
    return tools


_SHAPES: Final[Mapping[str, Callable[[Any], list[Any]]]] = {
    "entries": _named,  # a manifest
    "entry": lambda entry: [entry],  # what `draft` prints
    "tools": _named,  # an MCP server's answer to tools/list ...
    "result.tools": _named,  # ... in its JSON-RPC envelope
    "paths": _operations,  # OpenAPI
}


def _lines(text: str) -> object:
    values: list[object] = []
    for line in text.split("\n"):
        with _naming(f"line {len(values) + 1}", "write one JSON object per line"):
            values.append(json.loads(line) if line.strip() else _NOTHING)
    return values


def _yaml(text: str) -> object:
    from vocabgap.files.yaml import parse_yaml  # noqa: PLC0415 - loads what only these files need

    return parse_yaml(text)


def _table(text: str) -> object:
    rows, values = csv.DictReader(io.StringIO(text, newline=""), strict=True), list[object]()
    hint = "put a text with commas between quotes, and double each quote in it"
    try:
        for row in rows:
            if None in row:
                raise csv.Error(f"{count(len(row[None]), 'cell')} without a column")  # noqa: TRY301
            values += [_NOTHING] * (rows.reader.line_num - len(values) - 1)
            values.append({name: cell for name, cell in row.items() if name and cell})
    except csv.Error as error:
        raise InvalidInputError(f"line {rows.reader.line_num}: {error}", hint=hint) from error
    return values


def _front_matter(text: str) -> object:
    first, *lines = (line.rstrip() for line in text.split("\n"))
    matter = "\n".join([first, *lines[: lines.index("---")]]) if first == "---" and "---" in lines else ""
    plain = _PLAIN.sub(lambda line: f"{line[1]}: {json.dumps(line[2], ensure_ascii=False)}", matter)
    fields = _object(_yaml(plain))
    if not fields.get("description"):
        hint = "begin the file with a line ---, lines for name and description, and another line ---"
        raise InvalidInputError('there is no front matter with a "description"', hint=hint)
    return [fields]


_PARSERS: Final[Mapping[str, Callable[[str], object]]] = {
    ".json": json.loads,
    ".jsonl": _lines,
    ".yaml": _yaml,
    ".yml": _yaml,
    ".csv": _table,
    ".md": _front_matter,
}


def _entry(listed: _Listed, pack: str) -> Entry:
    titles = (listed.description, listed.title, (listed.annotations or {}).get("title"))
    description = next((str(title).strip() for title in titles if title), "")
    touches = _texts(listed.touches or listed.operations)
    entry = Entry(listed.name.strip(), description, _texts(listed.tags), touches, pack)
    for text in (entry.name, entry.description, *entry.tags, *entry.operations):
        require_text("entry", text)
    return entry


def _texts(value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """Return several texts; a single text is split at commas."""
    parts = value.split(",") if isinstance(value, str) else value or ()
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
