"""A shared corpus in a folder of Parquet files, for which no server is needed.

A manifest says which files are a version: parts that hold chunks, one file of what is deleted of them, and
one of path snapshots. All are written once and never changed. The manifest is replaced when they are on the
disk; so readers, who take no lock, see the version before or the version after.
"""

import getpass
import os
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from vocabgap.corpus.changes import ParquetChange, newest
from vocabgap.corpus.manifest import (
    LOCK,
    MANIFEST,
    OURS,
    Manifest,
    read_manifest,
    remove_unnamed,
    write_manifest,
)
from vocabgap.corpus.parts import PartsVersion
from vocabgap.corpus.store import Measures, writing
from vocabgap.errors import StateError
from vocabgap.files.atomic import deferred_signals, locked
from vocabgap.text import printable_name

# Folders that are to be a corpus: nothing else may be in them.


def require_own(folder: Path, mark: str, but: re.Pattern[str]) -> None:
    """Refuse a folder that is no corpus and holds something else: it is not to be strewn among other files.

    Args:
        folder: The folder.
        mark: The name in it that every corpus of the kind has.
        but: Names of files that may be there, left by a first change that was killed.

    Raises:
        StateError: It does.
        OSError: The system refused.
    """
    if (folder / mark).exists():
        return
    strange = sorted(path.name for path in folder.iterdir() if not but.fullmatch(path.name))
    # What is strange may be the corpus that another writer has begun since.
    if strange and not (folder / mark).exists():
        raise StateError(
            f"'{folder}' is no corpus, and holds other files, such as '{printable_name(strange[0])}'",
            hint="name an empty folder, or one that does not exist yet",
        )


# One writer at a time.
#
# The lock file says who that is; the lock itself is the system's, and ends with the process that
# holds it.


# Seconds for which another writer is waited for: until that is told, and until it is given up.
SILENT_WAIT: Final = 1.0
LONGEST_WAIT: Final = 30.0
_BETWEEN_TRIES: Final = 0.05
_MOST_READ: Final = 4096  # bytes; whatever else the file holds, it is no note of ours


class Holder(msgspec.Struct, frozen=True):
    """Who holds a corpus."""

    pid: int
    user: str
    host: str
    purpose: str
    since: str

    def __str__(self) -> str:
        return f"process {self.pid} of {self.user} on {self.host}, since {self.since}: {self.purpose}"


@contextmanager
def alone(
    folder: Path, purpose: str, on_wait: Callable[[str], None] = lambda _: None, *, lock: str = LOCK
) -> Iterator[None]:
    """Be the only writer of a corpus.

    Args:
        folder: The corpus; it exists.
        purpose: What is being done.
        on_wait: Called once, with who holds it, where another writer has for `SILENT_WAIT` seconds.
        lock: The name of the lock file.

    Raises:
        StateError: Another writer has held it for `LONGEST_WAIT` seconds, or the disk failed.
        AccessDeniedError: The corpus may not be written.
    """
    with ExitStack() as opened:
        with writing(folder):
            descriptor = os.open(folder / lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            opened.callback(os.close, descriptor)
            _wait(descriptor, folder, on_wait)
            _note(descriptor, msgspec.json.encode(_me(purpose)))
        try:
            yield
        finally:
            with suppress(OSError):
                _note(descriptor, b"")


def _wait(descriptor: int, folder: Path, on_wait: Callable[[str], None]) -> None:
    start = time.monotonic()
    told = False
    while not locked(descriptor):
        waited = time.monotonic() - start
        if waited >= LONGEST_WAIT:
            raise StateError(
                f"corpus '{folder}' is held by {_holder(descriptor)}",
                hint=f"waited {LONGEST_WAIT:g} seconds; nothing was changed, try again when that one is done",
            )
        if waited >= SILENT_WAIT and not told:
            on_wait(_holder(descriptor))
            told = True
        time.sleep(_BETWEEN_TRIES)


def _me(purpose: str) -> Holder:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container may know no name for its user
        user = f"user {os.getuid()}"
    since = datetime.now(UTC).isoformat(timespec="seconds")
    return Holder(os.getpid(), user, socket.gethostname(), purpose, since)


def _note(descriptor: int, content: bytes) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, content, 0)


def _holder(descriptor: int) -> str:
    try:
        return str(msgspec.json.decode(os.pread(descriptor, _MOST_READ, 0), type=Holder))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return "another writer"


class ParquetStore:
    """A corpus in a folder. The folder is made by the first change.

    Args:
        folder: Where it is.
        on_wait: Called once, with who holds it, where a change has to wait for another writer.
    """

    def __init__(self, folder: Path, on_wait: Callable[[str], None] = lambda _: None) -> None:
        self.folder = folder
        self._on_wait = on_wait

    def version(self) -> PartsVersion:
        """As `Store.version`.

        Raises:
            NotFoundError: There is no corpus.
            StateError: It is damaged, or of a newer format.
            AccessDeniedError: It may not be read.
        """
        return newest(self.folder)

    @contextmanager
    def changing(self, purpose: str) -> Iterator[ParquetChange]:
        """As `Store.changing`.

        Raises:
            StateError: As there; or the folder holds something else.
            AccessDeniedError: The system does not let it be written.
        """
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            require_own(self.folder, MANIFEST, OURS)
        with alone(self.folder, purpose, self._on_wait):
            change = self._begun()
            try:
                yield change
                with writing(self.folder):
                    manifest = change.manifest()
                    if manifest != change.base:
                        write_manifest(self.folder, manifest)
            finally:
                # What is not removed now is by the next writer.
                with suppress(OSError, StateError):
                    self._clear()

    def compact(self) -> Measures:
        """As `Store.compact`.

        Raises:
            NotFoundError: There is no corpus.
            StateError: As there.
            AccessDeniedError: The system does not let it be written.
        """
        self.version()
        with self.changing("compact") as change:
            before = change.base.files
            change.rewrite()
        named = (read_manifest(self.folder) or Manifest()).files
        left = [name for name in before if name not in named and (self.folder / name).exists()]
        if left:
            raise StateError(
                f"corpus '{self.folder}' is compacted, but '{left[0]}', which still holds what was deleted,"
                " could not be removed",
                hint="see to it that files may be removed there, and compact it again",
            )
        return self.version().measures

    def _begun(self) -> ParquetChange:
        """A change of the newest version, once what a writer that was killed has left is gone."""
        with writing(self.folder):
            self._clear()
            return ParquetChange(self.folder, read_manifest(self.folder) or Manifest())

    def _clear(self) -> None:
        with deferred_signals():
            remove_unnamed(self.folder, read_manifest(self.folder) or Manifest())
