"""Vocabularies: what agents can already ask for, read from the files that list it."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from reprlib import repr as short_repr
from typing import Annotated, Any, Final

import msgspec

from vocabgap.errors import (
    AccessDeniedError,
    InvalidInputError,
    NotFoundError,
    expanded,
    require_kind,
    require_text,
)
from vocabgap.files.refusals import FileKind, file_kind, refusing
from vocabgap.model.settings import VocabularyFields, VocabularySettings
from vocabgap.model.sources import PATH_HINT, pointer_of, value_at
from vocabgap.ranking.vocabulary_files import Item, read_content, read_items
from vocabgap.text import count, printable_name, shortened

# Where manifests and MCP servers have the fields; tried where a mapping leads to nothing.
_USUAL: Final[Mapping[str, tuple[str, ...]]] = {
    "name": ("name",),
    "description": ("description",),
    "tags": ("tags",),
    "operations": ("touches", "operations"),
}
# What an MCP server calls a tool for people; it says what the tool is, like the first sentence about it.
_TITLES: Final = ("title", "annotations.title")
_SEPARATORS: Final = re.compile(r"[,;|]")
_NAME_HINT: Final = (
    "[vocabulary.fields] says where the name lies; the first line of a table names its columns"
)
_LIST_HINT: Final = "expected a list of texts, or one text that is split at commas, semicolons and bars"
_KEYS_TOLD: Final = 5
_END: Final = (".", "!", "?")
_MANIFEST: Final = "manifest"
_MANIFESTS: Final = frozenset(f"{_MANIFEST}{suffix}" for suffix in (".json", ".yaml", ".yml"))
_COLLISION_HINT: Final = "a name stands for one entry: rename one of the two, or leave one of the files out"


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a vocabulary, or a tool that agents can call.

    Attributes:
        name: Unique in the vocabulary.
        description: What it does; may be empty.
        tags: Key words.
        operations: The operations it touches.
        pack: The pack that it comes from.
    """

    name: str
    description: str = ""
    tags: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    pack: str = ""


class VocabularyFile(msgspec.Struct, frozen=True):
    """One file that entries were read from."""

    pack: Annotated[str, msgspec.Meta(description="its folder's name for a manifest, else its own")]
    name: str
    entries: int
    sha256: str


@dataclass(frozen=True, repr=False)
class Vocabulary:
    """The entries of some packs.

    Attributes:
        entries: Entries of different names, in the order of these.
        files: The files that they were read from, in order of pack and name.
    """

    entries: tuple[Entry, ...] = ()
    files: tuple[VocabularyFile, ...] = ()

    def __repr__(self) -> str:
        """How many entries there are, in one line."""
        entries, files = count(len(self.entries), "entry", "entries"), count(len(self.files), "file")
        return f"Vocabulary({entries} of {files})"


def load_vocabulary(
    paths: str | Path | Iterable[str | Path],
    *,
    fields: VocabularyFields | None = None,
    entries: str | None = None,
) -> Vocabulary:
    """Read what agents can already ask for.

    Args:
        paths: Files (`.json`, `.jsonl`, `.yaml`, `.yml`, `.csv`, `.tsv`), or folders, of which every
            `manifest.json`, `manifest.yaml` or `manifest.yml` at any depth is read, those below names that
            start with a dot aside. A file that is reached twice counts once.
        fields: Where name, description, tags and operations lie in an entry, if they are called otherwise
            than in manifests (`name`, `description`, `tags`, `touches`) and in tools lists of MCP servers:
            keys joined by dots, or JSON pointers.
        entries: Where a document that is an object holds its entries, written the same way; by default
            `entries`, `tools` or `result.tools`.

    Returns:
        The entries, in order of their names whatever the order of the paths.

    Raises:
        NotFoundError: A path leads to nothing, or a folder holds no manifest.
        AccessDeniedError: The system does not let something be read.
        InvalidInputError: A file is not in its format, an entry is not one, or two have the same name; the
            error names file and entry. Or a field is said to lie where no entry has anything.
        StateError: The disk does not give a file.
    """
    where = VocabularyFields() if fields is None else fields
    require_kind("fields", where, VocabularyFields, "a VocabularyFields")
    files: list[VocabularyFile] = []
    by_name: dict[str, tuple[Entry, str]] = {}
    read: list[Item] = []
    for path in vocabulary_files(paths):
        content = read_content(path)
        # A manifest's pack has the name of its folder, another file's its own without the ending.
        pack = printable_name(path.parent.name if path.name in _MANIFESTS else path.stem)
        items = read_items(path, content, entries)
        for item in items:
            try:
                entry = entry_of(item, where, pack)
            except InvalidInputError as error:
                raise InvalidInputError(f"vocabulary '{path}': {error.message}", hint=error.hint) from error
            origin = f"'{path}' ({item.place})"
            known, other = by_name.setdefault(entry.name, (entry, origin))
            if known is not entry:
                raise InvalidInputError(
                    f"two entries are called '{shortened(entry.name)}': one in {other}, one in {origin}",
                    hint=_COLLISION_HINT,
                )
        read.extend(items)
        digest = hashlib.sha256(content).hexdigest()
        files.append(VocabularyFile(pack, printable_name(path.name), len(items), digest))
    require_led(read, where)
    ordered = sorted((entry for entry, _ in by_name.values()), key=lambda entry: entry.name)
    files.sort(key=lambda file: (file.pack, file.name, file.sha256))
    return Vocabulary(tuple(ordered), tuple(files))


def configured_vocabulary(settings: VocabularySettings) -> Vocabulary:
    """The vocabulary that settings name, as `load_vocabulary` reads it."""
    return load_vocabulary(settings.paths, fields=settings.fields, entries=settings.entries)


def vocabulary_files(paths: str | Path | Iterable[str | Path]) -> list[Path]:
    """The files that a vocabulary is read from, each once."""
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    require_kind("paths", given, Iterable, "paths of vocabularies")
    return list(dict.fromkeys(file for each in given for file in _files(expanded(each))))


def _files(path: Path) -> Iterator[Path]:
    """The files that a path stands for; links are followed for a path that is named, not below it."""
    with refusing(f"vocabulary '{path}' cannot be reached", hint="check the permissions on the way"):
        kind = file_kind(path)
    if kind is not FileKind.FOLDER:
        yield path.resolve() if kind is FileKind.FILE else path
        return
    manifests = sorted(_manifests(path.resolve()))
    if not manifests:
        raise NotFoundError(
            f"vocabulary '{path}' holds no {_MANIFEST}",
            hint=f"expected files called {', '.join(sorted(_MANIFESTS))}; name another file outright",
        )
    yield from manifests


def _manifests(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise AccessDeniedError(
            f"folder '{error.filename}' of a vocabulary may not be read", hint="check its permissions"
        ) from error

    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(place, name) for name in names if name in _MANIFESTS)


def entry_of(item: Item, fields: VocabularyFields, pack: str) -> Entry:
    """The entry that an object of a file stands for."""
    name = _text(item, "name", fields)
    if not name:
        tried = " or ".join(f"'{path}'" for path in _paths("name", fields))
        keys = ", ".join(short_repr(key) for key in islice(item.fields, _KEYS_TOLD)) or "none"
        raise InvalidInputError(
            f"{item.place}: there is no name at {tried}; its first keys are {keys}", hint=_NAME_HINT
        )
    short = shortened(name)
    item_of_name = Item(
        item.place if f"'{short}'" in item.place else f"{item.place} ('{short}')", item.fields
    )
    titles = (value_at(item.fields, pointer_of(path)) for path in _TITLES)
    title = next((title.strip() for title in titles if isinstance(title, str) and title.strip()), "")
    description = _text(item_of_name, "description", fields)
    if title and title.casefold() not in {name.casefold(), description.casefold()}:
        ended = title if title.endswith(_END) else f"{title}."
        description = f"{ended} {description}".strip()
    entry = Entry(
        name=name,
        description=description,
        tags=_texts(item_of_name, "tags", fields),
        operations=_texts(item_of_name, "operations", fields),
        pack=pack,
    )
    for text in (name, description, *entry.tags, *entry.operations):
        require_text(item.place, text)
    return entry


def require_led(items: Sequence[Item], fields: VocabularyFields) -> None:
    """Refuse a mapping that leads nowhere: what it is meant to find would be missed without a word."""
    for field in VocabularyFields.__struct_fields__:
        paths = _own_paths(field, fields)
        pointers = [pointer_of(path) for path in paths]
        led = any(value_at(item.fields, pointer) is not None for item in items for pointer in pointers)
        if items and paths and not led:
            listed = " and ".join(f"'{path}'" for path in paths)
            raise InvalidInputError(
                f"[vocabulary.fields] {field}: {listed} led to nothing in any entry", hint=PATH_HINT
            )


def _own_paths(field: str, fields: VocabularyFields) -> tuple[str, ...]:
    own: str | tuple[str, ...] = getattr(fields, field)
    return (own,) if isinstance(own, str) else own


def _paths(field: str, fields: VocabularyFields) -> tuple[str, ...]:
    return (*_own_paths(field, fields), *_USUAL[field])


def _values(item: Item, field: str, fields: VocabularyFields) -> Iterator[tuple[str, Any]]:
    for path in _paths(field, fields):
        value = value_at(item.fields, pointer_of(path))
        if value is not None and value != "":
            yield path, value


def _text(item: Item, field: str, fields: VocabularyFields) -> str:
    path, value = next(_values(item, field, fields), ("", ""))
    if not isinstance(value, str):
        raise InvalidInputError(
            f"{item.place}: {path}: expected text, found {short_repr(value)}", hint="put the value in quotes"
        )
    return value.strip()


def _texts(item: Item, field: str, fields: VocabularyFields) -> tuple[str, ...]:
    path, value = next(_values(item, field, fields), ("", ()))
    parts = _SEPARATORS.split(value) if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise InvalidInputError(
            f"{item.place}: {path}: expected texts, found {short_repr(value)}", hint=_LIST_HINT
        )
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
