"""Reading vocabularies: files, and folders of packs with a manifest each."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError, expanded, require_kind
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.settings.model import VocabularyFields
from vocabgap.text import printable_name, shortened
from vocabgap.vocabulary.documents import Item, read_content, read_items
from vocabgap.vocabulary.entry import Entry, Vocabulary, VocabularyFile
from vocabgap.vocabulary.mapping import entry_of, require_led

_MANIFEST: Final = "manifest"
_MANIFESTS: Final = frozenset(f"{_MANIFEST}{suffix}" for suffix in (".json", ".yaml", ".yml"))
_COLLISION_HINT: Final = "a name stands for one entry: rename one of the two, or leave one of the files out"


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
    listed = vocabulary_files(paths)
    where = VocabularyFields() if fields is None else fields
    require_kind("fields", where, VocabularyFields, "a VocabularyFields")
    files: list[VocabularyFile] = []
    found: dict[str, tuple[Entry, str]] = {}
    read: list[Item] = []
    for path in listed:
        content = read_content(path)
        pack = _pack(path)
        items = read_items(path, content, entries)
        for item in items:
            try:
                entry = entry_of(item, where, pack)
            except InvalidInputError as error:
                raise InvalidInputError(f"vocabulary '{path}': {error.message}", hint=error.hint) from error
            origin = f"'{path}' ({item.place})"
            if entry.name in found:
                other = found[entry.name][1]
                raise InvalidInputError(
                    f"two entries are called '{shortened(entry.name)}': one in {other}, one in {origin}",
                    hint=_COLLISION_HINT,
                )
            found[entry.name] = (entry, origin)
        read.extend(items)
        digest = hashlib.sha256(content).hexdigest()
        files.append(VocabularyFile(pack, printable_name(path.name), len(items), digest))
    require_led(read, where)
    ordered = sorted((entry for entry, _ in found.values()), key=lambda entry: entry.name)
    return Vocabulary(
        tuple(ordered), tuple(sorted(files, key=lambda file: (file.pack, file.name, file.sha256)))
    )


def vocabulary_files(paths: str | Path | Iterable[str | Path]) -> list[Path]:
    """The files that a vocabulary is read from, each once.

    Args:
        paths: Files and folders, as `load_vocabulary` takes them.

    Raises:
        NotFoundError: A folder holds no manifest.
        AccessDeniedError: The system does not let something be reached.
        InvalidInputError: These are no paths.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    require_kind("paths", given, Iterable, "paths of vocabularies")
    return list(dict.fromkeys(file for each in given for file in _files(expanded(each))))


def _files(path: Path) -> Iterator[Path]:
    """The files that a path stands for; links are followed for a path that is named, not below it."""
    try:
        kind = file_kind(path)
    except OSError as error:
        raise AccessDeniedError(
            f"vocabulary '{path}' cannot be reached: {error.strerror}",
            hint="check the permissions on the way",
        ) from error
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


def _pack(path: Path) -> str:
    """The name of a file's pack: that of its folder for a manifest, else its own without the ending."""
    return printable_name(path.parent.name if path.name in _MANIFESTS else path.stem)
