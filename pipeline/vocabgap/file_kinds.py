"""What a path leads to, in words."""

import errno
import os
import stat
from enum import StrEnum
from pathlib import Path


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
