"""Files that several writers add lines to: one at a time, each line whole, and on the disk when done."""

import errno
import os
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Final, NamedTuple

from vocabgap.errors import AccessDeniedError, StateError, VocabgapError
from vocabgap.files.atomic import locked, sync_folder
from vocabgap.files.refusals import FileKind, file_kind

# Seconds for which another writer is waited for: until that is told, and until it is given up.
SILENT_WAIT: Final = 1.0
LONGEST_WAIT: Final = 30.0
_BETWEEN_TRIES: Final = 0.05


class Kind(NamedTuple):
    """What a file is, for what is said of it.

    Attributes:
        name: What it is called: `decisions file`.
        otherwise: What to do where it cannot be used.
        undone: What did not happen: `nothing was decided`.
        again: What to do when another writer is done.
    """

    name: str
    otherwise: str
    undone: str
    again: str


@contextmanager
def alone(path: Path, kind: Kind, on_wait: Callable[[], None] = lambda: None) -> Iterator[FileIO]:
    """The file, open to be read and added to, at its beginning, while nobody else adds to it.

    Args:
        path: The file; it is made where it does not exist, in a folder that does.
        kind: What it is.
        on_wait: Called once where another writer has held the file for `SILENT_WAIT` seconds.

    Raises:
        StateError: It is no file, or another writer has held it for `LONGEST_WAIT` seconds.
        OSError: The system refused.
    """
    start = time.monotonic()
    told = False
    while True:
        found = file_kind(path)
        if found not in {FileKind.FILE, FileKind.NOTHING}:
            raise no_file(path, kind, found)
        with FileIO(path, "a+") as file:
            while not locked(file.fileno()):
                waited = time.monotonic() - start
                if waited >= LONGEST_WAIT:
                    raise _still_locked(path, kind)
                if waited >= SILENT_WAIT and not told:
                    on_wait()
                    told = True
                time.sleep(_BETWEEN_TRIES)
            # Another file may have taken its place meanwhile, such as the one that git writes anew.
            if path.exists() and path.stat().st_ino == os.fstat(file.fileno()).st_ino:
                file.seek(0)
                yield file
                return


def add_line(file: FileIO, path: Path, line: bytes, *, durable: bool = True) -> None:
    """Add a line at the end of a file that nobody else adds to, whole or not at all.

    Args:
        file: The file, as `alone` gives it.
        path: Where it lies.
        line: The line, with its end.
        durable: Whether to wait until it is on the disk.

    Raises:
        OSError: The system refused, or the disk is full.
    """
    size = file.seek(0, os.SEEK_END)
    # An editor, or a writer that was stopped, may have left the last line without its end.
    whole = line if not size or os.pread(file.fileno(), 1, size - 1) == b"\n" else b"\n" + line
    if file.write(whole) != len(whole):
        file.truncate(size)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    if not durable:
        return
    try:
        os.fsync(file.fileno())
        if not size:
            sync_folder(path.parent)
    except OSError:
        # Who is told that it failed adds it again.
        with suppress(OSError):
            file.truncate(size)
        raise


def no_file(path: Path, kind: Kind, found: FileKind) -> StateError:
    """What is said where something else than a file lies there."""
    return StateError(
        f"{kind.name} '{path}' is {found}, expected a regular file",
        hint="move it out of the way, or name another place",
    )


@contextmanager
def naming(path: Path, kind: Kind, done: str) -> Iterator[None]:
    """Let what the system refuses name the file and say what to do.

    Args:
        path: The file.
        kind: What it is.
        done: What was to be done with it: `read`, `written`.

    Raises:
        AccessDeniedError: The system did not permit it.
        StateError: It could not be done.
    """
    try:
        yield
    except OSError as error:
        told: type[VocabgapError] = AccessDeniedError if isinstance(error, PermissionError) else StateError
        raise told(
            f"{kind.name} '{path}' cannot be {done}: {error.strerror or error}", hint=kind.otherwise
        ) from error


def _still_locked(path: Path, kind: Kind) -> StateError:
    return StateError(
        f"{kind.name} '{path}' is held by another writer, for {LONGEST_WAIT:g} seconds by now; {kind.undone}",
        hint=f"{kind.again}; `fuser {shlex.quote(str(path))}` says which process it is",
    )
