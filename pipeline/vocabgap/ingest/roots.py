"""The roots of a scan: folders, files, and standard input, which becomes a temporary file."""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Final

from vocabgap.errors import (
    AccessDeniedError,
    InvalidInputError,
    NotFoundError,
    VocabgapError,
    alike,
    full_address,
    require_kind,
    require_local,
)
from vocabgap.files import STANDARD_INPUT
from vocabgap.files.refusals import FileKind, current_folder, file_kind, refusing
from vocabgap.text import printable_name

_COPY: Final = "stdin"
_COPIES: Final = "vocabgap-stdin-"
MIRRORS: Final = "vocabgap-store-"
"""The beginning of the name of a folder that mirrors addresses: `s3a/bucket/photos` is one below it."""
Mirror = Callable[[str], Path]
"""A function that returns the local root for an address."""


def resolve_roots(roots: str | Path | Iterable[str | Path], mirror: Mirror | None = None) -> list[Path]:
    """Return the absolute paths of the roots, sorted, each once; `~` is the home folder unless it exists.

    Without a mirror, an address is an error.
    """
    require_kind("roots", roots, (str, Path, Iterable), "paths")
    several = [roots] if isinstance(roots, str | Path) else list(roots)
    for root in several:
        require_kind("roots", root, (str, os.PathLike), "paths")
        if not str(root).strip():  # as from an unset variable
            hint = "name a folder or a log file; the current folder is ."
            raise InvalidInputError("a root has an empty name", hint=hint)
    bases = sorted({_resolve(Path(root), mirror) for root in several})
    if not bases:
        raise InvalidInputError("no root to scan", hint="name at least one folder or log file")
    return bases


def repository_slugs(folders: list[Path]) -> list[str]:
    """Return a short name for each folder: its own, with parents if others have the same name."""
    distinct = set(folders)

    @cache
    def tails(depth: int) -> Counter[tuple[str, ...]]:
        return Counter(folder.parts[-depth:] for folder in distinct)

    def slug(folder: Path) -> str:
        parts = tuple(part for part in folder.parts if part != folder.anchor) or (folder.anchor,)
        depths = range(1, len(parts) + 1)
        depth = next((depth for depth in depths if tails(depth)[parts[-depth:]] == 1), len(parts))
        return printable_name("/".join(parts[-depth:]))

    return [slug(folder) for folder in folders]


def shown_root(root: Path) -> str:
    """Return a root for a message or a command: `-` for standard input, else its path from here."""
    if origin := origin_of(root):
        return origin
    here = current_folder()
    shown = printable_name(str(root.relative_to(here) if root.is_relative_to(here) else root))
    return f"./{shown}" if shown == STANDARD_INPUT else shown


def quoted(shown: str) -> str:
    """Return a shown root in quotes, or the words for standard input."""
    return "standard input" if shown == STANDARD_INPUT else f"'{shown}'"


def origin_of(root: Path) -> str:
    """Return `-` for the copy of standard input, the address of a mirrored file, or nothing."""
    folder, above = root.parent, root.parent.parent
    if root.name == STANDARD_INPUT and folder.name == _COPY and above.name.startswith(_COPIES):
        return STANDARD_INPUT
    mirror = next((place for place in root.parents if place.name.startswith(MIRRORS)), None)
    address = "" if mirror is None else root.relative_to(mirror).as_posix().replace("/", ":/", 1)
    return printable_name(full_address(address))


@contextmanager
def copied_input(stream: BinaryIO) -> Iterator[Path]:
    """Copy a stream to a private temporary file for as long as the block lasts."""
    with TemporaryDirectory(prefix=_COPIES) as above:
        copy = Path(above, _COPY, STANDARD_INPUT)
        copy.parent.mkdir()
        with refusing("standard input cannot be copied to a temporary file"), copy.open("wb") as file:
            shutil.copyfileobj(stream, file)
        yield copy


def _resolve(path: Path, mirror: Mirror | None) -> Path:
    if mirror is None:
        require_local("root", path)
    elif address := full_address(path):
        path = mirror(address)
    try:
        resolved = (path if os.path.lexists(path) else path.expanduser()).resolve(strict=True)
    except PermissionError as error:
        raise AccessDeniedError(f"root '{path}' cannot be read: {error.strerror}") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise _unresolved(path) from error
    if resolved.is_dir() and not os.access(resolved, os.R_OK | os.X_OK):
        raise AccessDeniedError(f"root '{path}' cannot be read", hint="check the folder's permissions")
    return resolved


def _unresolved(path: Path) -> VocabgapError:
    """Return the error for a root without a real path; it may exist, like `<(command)`."""
    near, state = [], "does not exist"
    with suppress(OSError):
        kind = file_kind(path)
        if kind is FileKind.DANGLING:
            state = f"is {kind}"
        elif kind not in {FileKind.NOTHING, FileKind.FILE, FileKind.FOLDER}:
            hint = "save its content in a file, and name the file; or name -, and write to standard input"
            return InvalidInputError(f"root '{path}' is {kind}, expected a folder or a log file", hint=hint)
        names = sorted(entry.name for entry in path.parent.iterdir() if entry.name != path.name)
        near = alike(path.name, names, 1)
    elsewhere = "check the path and its disk; [ingest] roots in the settings may name it"
    hint = f"did you mean '{path.with_name(near[0])}'?" if near else elsewhere
    return NotFoundError(f"root '{path}' {state}", hint=hint)
