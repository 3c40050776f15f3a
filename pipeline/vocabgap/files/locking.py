"""One writer at a time: a second writer waits for half a minute, then an error names the first.

The lock is the system's (`flock`, through filelock) and ends with its process. It locks an open file or
folder: a log itself, or a lock file that names its holder.
"""

import errno
import getpass
import os
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from filelock import lock_descriptor

from vocabgap.errors import StateError
from vocabgap.files import descriptor_of, whole

# Seconds to wait for another writer: until `on_wait` is called, and until an error is raised.
SILENT_WAIT: Final = 1.0
LONGEST_WAIT: Final = 30.0
_NO_LOCKS: Final = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})


@contextmanager
def lock_file(
    path: Path, held: str, *, purpose: str, undone: str, on_wait: Callable[[str], None] = lambda _: None
) -> Iterator[None]:
    """Hold a lock file, in which other writers read the `purpose`. Create the file if it is missing.

    Raises:
        StateError: Another writer has held it for `LONGEST_WAIT` seconds, or the file system has no locks. Or
            it is a link: noting the holder would replace the content of another file.
        OSError: The system refused.
    """
    if path.is_symlink():
        raise StateError(f"the lock file '{path}' is a link, expected a regular file", hint="remove the link")
    descriptor = descriptor_of(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
    try:
        lock(descriptor, held, undone=undone, on_wait=on_wait)
        _note(descriptor, _this_process(purpose).encode(errors="replace"))
        try:
            yield
        finally:
            with suppress(OSError):
                _note(descriptor, b"")
    finally:
        os.close(descriptor)


def lock(
    descriptor: int,
    held: str,
    *,
    undone: str,
    again: str = "try again when the other writer is done",
    on_wait: Callable[[str], None] = lambda _: None,
    longest: float | None = None,
) -> None:
    """Lock an open file or folder until it is closed or the process ends.

    An error names the locked thing (`held`), the work that was not done (`undone`) and what to do (`again`).
    `on_wait` is called once, with the holder, if another writer has held it for `SILENT_WAIT` seconds.
    The error comes after `longest` seconds, by default `LONGEST_WAIT`.
    """
    longest = LONGEST_WAIT if longest is None else longest
    start = time.monotonic()
    is_announced = False
    while not _is_locked(descriptor, held):
        waited = time.monotonic() - start
        if waited >= longest:
            raise StateError(
                f"{held} is held by {_holder(descriptor)}",
                hint=f"waited {longest:g} seconds; {undone}, {again}",
            )
        if waited >= SILENT_WAIT and not is_announced:
            on_wait(_holder(descriptor))
            is_announced = True
        time.sleep(0.05)


def _is_locked(descriptor: int, held: str) -> bool:
    try:
        return lock_descriptor(descriptor, blocking=False)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        raise StateError(
            f"{held} cannot be locked: its file system does not support locks ({error.strerror})",
            hint="move it to a file system that does, such as a local disk",
        ) from error


def _holder(descriptor: int) -> str:
    """Return the holder of a lock, from the lock file or from the system's list of locks."""
    with suppress(OSError, UnicodeDecodeError):
        note = os.pread(descriptor, 4096, 0).decode()
        if re.fullmatch(r"process \d+ of .*", note):
            return note
    with suppress(OSError):
        status = os.fstat(descriptor)
        device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
        for entry in whole(Path("/proc/locks")).decode().splitlines():
            fields = entry.split()
            if fields[1] == "FLOCK" and fields[5] == device and int(fields[4]) > 0:
                return f"process {fields[4]}"
    return "another writer"


def _this_process(purpose: str) -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        user = f"user {os.getuid()}"
    since = datetime.now(UTC).isoformat(timespec="seconds")
    return f"process {os.getpid()} of {user} on {socket.gethostname()}, since {since}: {purpose}"


def _note(descriptor: int, content: bytes) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, content, 0)
