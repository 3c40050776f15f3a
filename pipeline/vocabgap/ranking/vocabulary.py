"""Vocabularies: the entries that agents can already ask for, read from files."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
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

# Places of the entries in an object: in a manifest, and in an MCP server's answer to tools/list, with or
# without its JSON-RPC envelope.
_HOLDERS: Final = ("entries", "tools", "result.tools")
_MANIFESTS: Final = ("manifest.json", "manifest.yaml", "manifest.yml")
_PATH_HINT: Final = Hint(
    "check the paths of --vocabulary and of [vocabulary] in the settings",
    (),
    for_tools="check the paths of [vocabulary] in the settings",
)


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
    """

    entries: tuple[Entry, ...] = ()
    files: tuple[VocabularyFile, ...] = ()


def load_vocabulary(paths: str | Path | Iterable[str | Path]) -> Vocabulary:
    """Read what agents can already ask for.

    An entry has `name`, `description`, `tags` and `touches` as in manifests, or is a tool as MCP servers list
    them. An object holds its entries under `entries`, `tools` or `result.tools`.

    Args:
        paths: Files (`.json`, `.jsonl`, `.yaml`, `.yml`) or folders. A folder stands for all files
            `manifest.json`, `manifest.yaml` or `manifest.yml` at any depth, except below names that start
            with a dot. A file that is reached twice counts once.

    Returns:
        The entries, sorted by name.

    Raises:
        NotFoundError: A path does not exist, or a folder has no manifest.
        AccessDeniedError: The system denies access.
        InvalidInputError: A file or an entry has the wrong format, or two entries have the same name. The
            error names file and entry.
        StateError: The disk fails.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    require_kind("paths", given, Iterable, "paths of vocabularies")
    by_name: dict[str, tuple[Entry, str]] = {}
    files = []
    for path in dict.fromkeys(file for each in given for file in _files(expanded(each))):
        content = existing_content(path, "vocabulary", _PATH_HINT)
        # The pack of a manifest is its folder's name, the pack of another file its name without the ending.
        pack = printable_name(path.parent.name if path.name in _MANIFESTS else path.stem)
        with _naming(path):
            entries = [_entry(listed, pack) for listed in _listed(path, content)]
        digest = hashlib.sha256(content).hexdigest()
        files.append(VocabularyFile(pack, printable_name(path.name), len(entries), digest))
        for number, entry in enumerate(entries, start=1):
            origin = f"'{path}' (entry {number})"
            first, other = by_name.setdefault(entry.name, (entry, origin))
            if first is not entry:
                raise InvalidInputError(
                    f"two entries are called '{shortened(entry.name)}': one in {other}, one in {origin}",
                    hint="a name stands for one entry: rename one, or leave one of the files out",
                )
    ordered = sorted((entry for entry, _ in by_name.values()), key=lambda entry: entry.name)
    files.sort(key=lambda file: (file.pack, file.name, file.sha256))
    return Vocabulary(tuple(ordered), tuple(files))


def _files(path: Path) -> list[Path]:
    """List the vocabulary files of a path. The path may be a link; the files below it may not."""
    with refusing(f"vocabulary '{path}' cannot be accessed", hint="check the permissions of its folders"):
        kind = file_kind(path)
    if kind is not FileKind.FOLDER:
        return [path.resolve() if kind is FileKind.FILE else path]
    manifests = sorted(_manifests(path.resolve()))
    if not manifests:
        raise NotFoundError(
            f"vocabulary '{path}' has no manifest",
            hint=f"expected {' or '.join(_MANIFESTS)} below it; give another file by its own path",
        )
    return manifests


def _manifests(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        problem = f"folder '{error.filename}' of a vocabulary cannot be read"
        raise AccessDeniedError(problem, hint="check its permissions") from error

    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(place, name) for name in names if name in _MANIFESTS)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except InvalidInputError as error:
        raise InvalidInputError(f"vocabulary '{path}': {error.message}", hint=error.hint) from error
    except (ValueError, RecursionError) as error:
        hint = "correct the file, or save it in UTF-8"
        raise InvalidInputError(f"vocabulary '{path}': {error}", hint=hint) from error


def _listed(path: Path, content: bytes) -> list[_Listed]:
    """Return the entries of a list, or of an object that holds the list or maps names to the rest."""
    parse = _PARSERS.get(path.suffix.casefold())
    if parse is None:
        raise InvalidInputError(
            f"the format of '{path.suffix or path.name}' files is not known",
            hint=f"expected one of {', '.join(_PARSERS)}",
        )
    value = parse(content.decode("utf-8-sig"))
    if isinstance(value, Mapping):
        holders = (value_at(value, pointer_of(holder)) for holder in _HOLDERS)
        value = next((held for held in holders if held is not None), None)
        if value is None:
            wanted = " or ".join(f'"{holder}"' for holder in _HOLDERS)
            raise InvalidInputError(
                f"there is no {wanted}", hint='expected a list of objects, or one under "entries" or "tools"'
            )
    if isinstance(value, Mapping):
        parts = msgspec.convert(value, dict[str, dict[str, Any]])
        value = [{"name": name, **fields} for name, fields in parts.items()]
    return msgspec.convert(value, list[_Listed])


def _lines(text: str) -> list[object]:
    values: list[object] = []
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            values += [json.loads(line)] if line.strip() else []
        except ValueError as error:
            hint = "write one JSON object per line"
            raise InvalidInputError(f"line {number}: {error}", hint=hint) from error
    return values


def _yaml(text: str) -> object:
    from vocabgap.files.yaml import parse_yaml  # noqa: PLC0415 - loads what only these files need

    return parse_yaml(text)


_PARSERS: Final[Mapping[str, Callable[[str], object]]] = {
    ".json": json.loads,
    ".jsonl": _lines,
    ".yaml": _yaml,
    ".yml": _yaml,
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
