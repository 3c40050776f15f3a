"""What it takes for files to be there whole: on the disk, in their place, by one writer, signals deferred."""

import errno
import fcntl
import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

from vocabgap.errors import AccessDeniedError, StateError, VocabgapError

# Signals that ask a run to end: Ctrl-C, a job's time limit, a terminal that is closed.
#
# This module is loaded first, and therefore loads next to nothing itself.


STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_KILLED = 128  # what shells add to the number of the signal that ended a process


class StoppedError(SystemExit):
    """A signal asked the process to end; what is not caught ends it quietly, with that signal's exit code.

    Args:
        number: The signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(_KILLED + number)


def hold() -> None:
    """Let the signals wait, while there is no thread but this one."""
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)


def release() -> None:
    """Let in those that have waited, and those to come.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed meanwhile.
        StoppedError: Another one came meanwhile, and `raise_stops` was called before.
    """
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)


def raise_stops() -> None:
    """Let the signals that Python leaves to the system be exceptions, so that what they end is tidied up.

    One that is ignored, as `nohup` has it, stays so.
    """
    for number in STOPPING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _stop)


def ignore() -> None:
    """Let them do nothing any more: all is done, or being tidied up.

    Not `hold`, which is for one thread: those of Polars would take them.
    """
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)


def _stop(number: int, _: FrameType | None) -> None:
    ignore()  # a shell that goes may send several
    raise StoppedError(number)


NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What the system says where a file cannot grow."""


def sync(path: Path) -> None:
    """Wait until the content of a file is on the disk.

    Raises:
        OSError: The system refused.
    """
    _sync(path, os.O_RDONLY)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk: those that were given, and those that were taken.

    Raises:
        OSError: The system refused.
    """
    _sync(folder, os.O_RDONLY | os.O_DIRECTORY)


def put_in_place(temporary: Path, path: Path) -> None:
    """Give a file its name once its content is on the disk, and the name too.

    Args:
        temporary: The file, in the folder where it stays.
        path: Its name from now on; what had it is replaced.

    Raises:
        OSError: The system refused.
    """
    sync(temporary)
    temporary.replace(path)
    sync_folder(path.parent)


def write_whole(path: Path, content: bytes, mode: int) -> None:
    """Have a file hold some content, all of it or what it held before.

    Args:
        path: The file; its folder is made where it does not exist.
        content: What it holds from now on.
        mode: Who may read and write it.

    Raises:
        OSError: The system refused; nothing else is left in the folder.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        temporary.chmod(mode)
        put_in_place(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def locked(descriptor: int) -> bool:
    """Whether an open file is now this writer's alone, until it is closed or its process ends."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def deferred_signals() -> Iterator[None]:
    """Let signals that ask the run to end wait until the block is through, whichever way it ends."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    installed = ((number, signal.getsignal(number)) for number in STOPPING)
    handlers = {number: handler for number, handler in installed if handler is not None}
    for number in handlers:
        signal.signal(number, lambda received, _: waiting.append(received))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for received in waiting:
            signal.raise_signal(received)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# What every cache on disk does alike: how its files come to be, and what is said where they cannot.


# The folder of embeddings in a cache; what earlier scans have read lies beside it.
EMBEDDINGS_FOLDER: Final = "embeddings"


def refused(folder: Path, error: OSError) -> VocabgapError:
    """What is said where the system, or the disk, does not let a cache be used."""
    message = f"cache '{folder}' cannot be used: {error.strerror or error}"
    kind = AccessDeniedError if isinstance(error, PermissionError) else StateError
    return kind(message, hint="name another folder, or work without a cache")
