"""One writer at a time.

The lock file says who that is; the lock itself is the system's, and ends with the process that holds it.
"""

import getpass
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from vocabgap.corpus.manifest import LOCK
from vocabgap.corpus.refusals import writing
from vocabgap.errors import StateError
from vocabgap.files.atomic import locked

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
