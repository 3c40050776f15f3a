"""Files and folders: opening, atomic writing, locking, journals, YAML, and errors of the system.

This module opens every file that vocabgap did not just create: regular files only, without waiting. A path
may lead to a pipe, whose opening waits for its writer, or to a device, whose content may never end.
"""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Final

from vocabgap.files.budget import MOST_WHOLE

STANDARD_INPUT: Final = "-"  # in the place of a path
# Do not wait for a pipe, and do not take over a terminal.
_FLAGS: Final = os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


def descriptor_of(path: str | os.PathLike[str], flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
    """Open a regular file, and return its descriptor.

    Raises:
        OSError: The system refused, or the path is another kind of file.
    """
    descriptor = os.open(path, flags | _FLAGS, mode)
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))


def opened(path: Path, flags: int = os.O_RDONLY) -> BufferedReader:
    """Open a regular file for reading."""
    return os.fdopen(descriptor_of(path, flags), "rb")


def whole(path: Path, most: int = MOST_WHOLE, flags: int = os.O_RDONLY) -> bytes:
    """Read a regular file of at most so many bytes."""
    with opened(path, flags) as file:
        return rest_of(file, most)


def rest_of(file: BinaryIO, most: int) -> bytes:
    """Read an open file of at most so many bytes."""
    content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EOVERFLOW, f"larger than {most >> 20:,} MiB")
    return content


def text_of(path: Path) -> str:
    """Read a regular file as UTF-8."""
    return whole(path).decode()


def user_cache() -> Path | None:
    """Return vocabgap's folder in the user's cache (XDG); None without a home folder."""
    home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        return (home if home.is_absolute() else Path("~/.cache").expanduser()) / "vocabgap"
    except RuntimeError:
        return None
