"""Files that people name: their content, or what lies in their place."""

import errno
import os
import stat
from enum import StrEnum
from pathlib import Path

from vocabgap.errors import AccessDeniedError, StateError

# What a path leads to, in words.


class FileKind(StrEnum):
    """What a path leads to."""

    FILE = "a file"
    FOLDER = "a folder"
    PIPE = "a pipe"
    SOCKET = "a socket"
    DEVICE = "a device"
    LOOP = "a link that leads back to itself"
    DANGLING = "a link that leads nowhere"
    NOTHING = "nothing"


def file_kind(path: Path) -> FileKind:
    """What a path leads to, links followed.

    Raises:
        OSError: The system does not tell, because of permissions for instance.
    """
    try:
        return _of_mode(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return FileKind.DANGLING if os.path.lexists(path) else FileKind.NOTHING
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        return FileKind.LOOP


def _of_mode(mode: int) -> FileKind:
    kinds = {
        stat.S_IFREG: FileKind.FILE,
        stat.S_IFDIR: FileKind.FOLDER,
        stat.S_IFIFO: FileKind.PIPE,
        stat.S_IFSOCK: FileKind.SOCKET,
    }
    return kinds.get(stat.S_IFMT(mode), FileKind.DEVICE)


def content_of(path: Path, what: str) -> bytes | FileKind:
    """What a file holds; what lies there instead, if that is no regular file.

    Args:
        path: The file.
        what: What it is, in words: `seed file`.

    Raises:
        AccessDeniedError: It may not be read.
        StateError: The disk does not give it.
    """
    try:
        kind = file_kind(path)
        return path.read_bytes() if kind is FileKind.FILE else kind
    except PermissionError as error:
        raise AccessDeniedError(f"{what} '{path}' may not be read", hint="check its permissions") from error
    except OSError as error:
        raise StateError(
            f"{what} '{path}' cannot be read: {error.strerror}", hint="see to the disk, or copy the file"
        ) from error
