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
    expanded,
    require_kind,
    require_text,
)
from vocabgap.files.refusals import FileKind, existing_content, file_kind, refusing
from vocabgap.model.sources import pointer_of, value_at
from vocabgap.text import printable_name, shortened

_MANIFESTS: Final = ("manifest.json", "manifest.yaml", "manifest.yml")
_SKILL: Final = "SKILL.md"
_FOUND: Final = (*_MANIFESTS, _SKILL)  # the files that a folder stands for
_FRONT_MATTER: Final = re.compile(r"---\s*\n.*?\n(?=---\s*(?:\n|\Z))", re.DOTALL)
_METHODS: Final = frozenset(["get", "put", "post", "delete", "options", "head", "patch", "trace"])
_PATH_HINT: Final = Hint(
    "check the paths of --vocabulary and of [vocabulary] in the settings",
    (),
    for_tools="check the paths of [vocabulary] in the settings",
)


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

    name: Annotated[str, msgspec.Meta(pattern=r"\S")]
    description: str | None = None
    title: str | None = None
    annotations: dict[str, Any] | None = None  # of a tool, with another title
    tags: str | tuple[str, ...] | None = None
    touches: str | tuple[str, ...] | None = None
    operations: str | tuple[str, ...] | None = None
    inputSchema: Any = None  # noqa: N815 - of a tool, and its name there


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
        with _naming(f"vocabulary '{path}'", "correct the file, or save it in UTF-8"):
            listed = _listed(path, content)
            entries = [_entry(each, pack) for each in listed]
        usual = Form.SKILL if path.suffix.casefold() == ".md" else Form.MANIFEST
        forms.update(usual if each.inputSchema is None else Form.TOOL for each in listed)
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
    return Vocabulary(tuple(ordered), tuple(files), max(Form, key=lambda form: (forms[form], form)))


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
def _naming(place: str, hint: str) -> Iterator[None]:
    try:
        yield
    except InvalidInputError as error:
        raise InvalidInputError(f"{place}: {error.message}", hint=error.hint) from error
    except (ValueError, RecursionError, csv.Error) as error:
        raise InvalidInputError(f"{place}: {error}", hint=hint) from error


def _listed(path: Path, content: bytes) -> list[_Listed]:
    """Return the entries of a file, as it has them."""
    parse = _PARSERS.get(path.suffix.casefold())
    if parse is None:
        raise InvalidInputError(
            f"the format of '{path.suffix or path.name}' files is not known",
            hint=f"expected one of {', '.join(_PARSERS)}",
        )
    value = parse(content.decode("utf-8-sig"))
    if path.name == _SKILL and isinstance(value, list):
        value = [{"name": path.parent.name, **fields} for fields in value]
    if isinstance(value, Mapping):
        value = _held(value)
        if value is None:
            wanted = " or ".join(f'"{place}"' for place in _SHAPES)
            raise InvalidInputError(
                f"there is no {wanted}", hint='expected a list of objects, or one under "entries" or "tools"'
            )
    return msgspec.convert(value, list[_Listed])


def _held(value: object) -> object:
    """Return the entries that an object holds in one of the shapes; None without any."""
    parts = ((value_at(value, pointer_of(place)), read) for place, read in _SHAPES.items())
    return next((read(part) for part, read in parts if part is not None), None)


def _named(value: object) -> object:
    """Return a list of entries; an object maps their names to the rest."""
    if not isinstance(value, Mapping):
        return value
    parts = msgspec.convert(value, dict[str, dict[str, Any]])
    return [{"name": name, **fields} for name, fields in parts.items()]


def _operations(value: object) -> object:
    """Return the operations of OpenAPI as tools; only the HTTP methods of a path are operations."""
    tools = []
    for path, item in msgspec.convert(value, dict[str, dict[str, Any]]).items():
        for method in sorted(_METHODS & item.keys()):
            fields = msgspec.convert(item[method], dict[str, Any])
            name = fields.get("operationId") or f"{method} {path}"
            text = fields.get("summary") or fields.get("description")
            tools.append({"name": name, "description": text, "tags": fields.get("tags"), "inputSchema": ()})
    return tools


_SHAPES: Final[Mapping[str, Callable[[object], object]]] = {
    "entries": _named,  # a manifest
    "entry": lambda entry: [entry],  # what `draft` prints
    "tools": _named,  # an MCP server's answer to tools/list ...
    "result.tools": _named,  # ... in its JSON-RPC envelope
    "paths": _operations,  # OpenAPI
}


def _lines(text: str) -> list[object]:
    """Return one entry per line, or the entries that it holds; messages between them are passed over."""
    values: list[object] = []
    for number, line in enumerate(text.split("\n"), start=1):
        with _naming(f"line {number}", "write one JSON object per line"):
            value = json.loads(line) if line.strip() else {"jsonrpc": "2.0"}
            held = _held(value)
            is_message = isinstance(value, Mapping) and "jsonrpc" in value
            own = held if held is not None else () if is_message else [value]
            values += msgspec.convert(own, list[_Listed])
    return values


def _yaml(text: str) -> object:
    from vocabgap.files.yaml import parse_yaml  # noqa: PLC0415 - loads what only these files need

    return parse_yaml(text)


def _table(text: str) -> object:
    rows = csv.DictReader(io.StringIO(text, newline=""))
    return [{name: cell for name, cell in row.items() if name and cell} for row in rows]


def _front_matter(text: str) -> object:
    matter = _FRONT_MATTER.match(text)
    fields = msgspec.convert(_yaml(matter[0]), dict[str, Any]) if matter else {}
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
