"""The manifest of a corpus: the list of files of its newest version. It is replaced whole, and last.

A version is parts that hold chunks, and up to four tables, each in a file: deleted rows of the parts, path
snapshots, parts of logs that are no chunk, and hashes of forgotten records. A file never changes once it is
written.
"""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import msgspec

from vocabgap.errors import StateError
from vocabgap.files.atomic import sync
from vocabgap.files.refusals import refusal
from vocabgap.files.signals import deferred_signals

MANIFEST: Final = "manifest.json"
FORMAT: Final = "vocabgap-corpus"
FORMAT_VERSION: Final = 1
LOCK: Final = "writer.lock"
COPY_HINT: Final = "put it back from a copy of the folder, or restore a backup into a new one"
_TEMPORARY: Final = "manifest.json.new"
_TABLE_KINDS: Final = ("deleted", "paths", "logs", "forgotten")
_NUMBERED: Final = rf"(chunks|{'|'.join(_TABLE_KINDS)})-(?P<number>[0-9]{{6,}})\.parquet"
# A killed writer may leave these files, and the next one removes them; no other file is ever removed.
NUMBERED: Final = re.compile(_NUMBERED)
OURS: Final = re.compile(rf"{_NUMBERED}|manifest\.json(\.new)?|writer\.lock")

_Count = Annotated[int, msgspec.Meta(ge=0)]
_Number = Annotated[int, msgspec.Meta(ge=1)]


class FileEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of a version: its number, which no other file ever has, its size and its digest."""

    number: _Number
    rows: _Count
    bytes: _Count
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class PartEntry(FileEntry, frozen=True, forbid_unknown_fields=True):
    """A file of chunks; `dimension` is the length of its vectors, if it has any."""

    dimension: _Number | None = None


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A version of a corpus: its parts, oldest first, its tables, and the configurations of each tenant."""

    version: _Count = 0
    next_number: _Number = 1
    parts: tuple[PartEntry, ...] = ()
    deleted: FileEntry | None = None
    paths: FileEntry | None = None
    logs: FileEntry | None = None
    forgotten: FileEntry | None = None
    config_versions: dict[str, int] = {}

    @property
    def files(self) -> dict[str, FileEntry]:
        """Every file of the version, by name."""
        files: dict[str, FileEntry] = {file_name("chunks", part.number): part for part in self.parts}
        return files | {file_name(kind, entry.number): entry for kind, entry in self.tables.items()}

    @property
    def tables(self) -> dict[str, FileEntry]:
        """The tables that are not empty."""
        return {kind: entry for kind in _TABLE_KINDS if (entry := getattr(self, kind)) is not None}


class _Format(msgspec.Struct, frozen=True):
    format: str
    format_version: int = 0


class _Written(_Format, frozen=True, forbid_unknown_fields=True, kw_only=True):
    corpus: Manifest
    sha256: str  # of `corpus`


def file_name(kind: str, number: int) -> str:
    """Return the name of a file of `chunks`, or of a table of a version."""
    return f"{kind}-{number:06d}.parquet"


def is_corpus(folder: Path) -> bool:
    """Check whether a folder holds a shared corpus, even a damaged one.

    A file `manifest.json` alone proves nothing: many tools write one.
    """
    try:
        content = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        return False
    except OSError:
        content = b""
    if FORMAT.encode() in content or (folder / LOCK).is_file():
        return True
    # The content is lost, and the parts beside it show what it was.
    return not content.strip(b"\0") and any(
        NUMBERED.fullmatch(path.name) for path in folder.glob("*.parquet")
    )


def read_manifest(folder: Path) -> Manifest | None:
    """Read the manifest of a corpus; None if there is none."""
    path = folder / MANIFEST
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        head = msgspec.json.decode(content, type=_Format)
        if head.format != FORMAT:
            raise StateError(
                f"'{path}' is the manifest of something else: format '{head.format}', expected '{FORMAT}'",
                hint="name another folder",
            )
        if head.format_version > FORMAT_VERSION:
            raise StateError(
                f"'{path}' was written by a newer vocabgap: format version {head.format_version},"
                f" this one reads {FORMAT_VERSION}",
                hint="install that vocabgap",
            )
        written = msgspec.json.decode(content, type=_Written)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"'{path}' is damaged, or no manifest of a corpus: {error}"
        raise StateError(message, hint=COPY_HINT) from error
    if written.sha256 != _digest(written.corpus):
        raise StateError(f"'{path}' is damaged: its digest is wrong", hint=COPY_HINT)
    return written.corpus


def _digest(manifest: Manifest) -> str:
    return hashlib.sha256(msgspec.json.encode(manifest, order="sorted")).hexdigest()


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Make a version the newest one. Its files are on the disk already."""
    temporary = folder / _TEMPORARY
    digest = _digest(manifest)
    written = _Written(format=FORMAT, format_version=FORMAT_VERSION, corpus=manifest, sha256=digest)
    temporary.write_bytes(msgspec.json.format(msgspec.json.encode(written), indent=1) + b"\n")
    sync(temporary)
    with deferred_signals():
        temporary.replace(folder / MANIFEST)
        try:
            sync(folder)
        except OSError as error:
            raise StateError(
                f"corpus '{folder}' is changed, but the disk did not confirm it: {error.strerror or error}",
                hint="check the disk: if it loses power now, the change may be lost",
            ) from error


def remove_unnamed(folder: Path, manifest: Manifest) -> None:
    """Remove the files of a corpus that a version does not need. The caller holds the lock.

    Files of earlier versions go after the disk confirms this manifest: until then a loss of power may bring
    the older one back.
    """
    earlier: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.name == _TEMPORARY:
            path.unlink()
        elif (numbered := NUMBERED.fullmatch(path.name)) and path.name not in manifest.files:
            if int(numbered["number"]) < manifest.next_number:
                earlier.append(path)
            else:  # left by an unfinished change: no manifest ever named it
                path.unlink()
    if earlier:
        sync(folder)
    for path in earlier:
        path.unlink()


@contextmanager
def reading(folder: Path, done: str = "read", hint: str = "") -> Iterator[None]:
    """Turn an error of the system into one that names the corpus and the file."""
    try:
        yield
    except OSError as error:
        name = Path(error.filename or "").name
        problem = f"corpus '{folder}' cannot be {done}" + (f": {name}" if name else "")
        raise refusal(problem, error, hint=hint) from error


writing = partial(reading, done="changed", hint="nothing was changed")
"""The same for a change: nothing is changed before the manifest is replaced."""
