"""Kinds of files, and translation of system errors into errors that a person can act on."""

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from vocabgap.errors import (
    AccessDeniedError,
    Hint,
    InvalidInputError,
    NotFoundError,
    StateError,
    VocabgapError,
)
from vocabgap.files import STANDARD_INPUT, rest_of, whole
from vocabgap.files.budget import MOST_WHOLE

NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})  # of a file that cannot grow


class FileKind(StrEnum):
    """The kind of a path's target."""

    FILE = "a file"
    FOLDER = "a folder"
    PIPE = "a pipe"
    SOCKET = "a socket"
    DEVICE = "a device"
    LINK = "a link"
    LOOP = "a link that leads back to itself"
    DANGLING = "a link that leads nowhere"
    NOTHING = "nothing"


class FileRole(NamedTuple):
    """The texts of error messages about one kind of file, such as event logs."""

    name: str
    hint: str  # what to do if it cannot be used
    undone: str  # what was not done if another writer holds it: `nothing was decided`
    again: str  # what to do then
    may_be_link: bool = True

    def refusing(self, path: Path, done: str) -> AbstractContextManager[None]:
        """Turn an OSError in the block into an error that names the file; `done` is `read` or `written`."""
        return refusing(f"{self.name} '{path}' cannot be {done}", hint=self.hint)

    def no_file(self, path: Path, kind: FileKind) -> StateError:
        """Return the error for a path that is not a regular file."""
        return StateError(
            f"{self.name} '{path}' is {kind}, expected a regular file",
            hint="move it away, or name another path",
        )


def refusal(problem: str, error: OSError, *, hint: str = "") -> VocabgapError:
    """Turn an `OSError` into an error that a person can act on; `problem` says what failed."""
    kind = AccessDeniedError if isinstance(error, PermissionError) else StateError
    if error.errno == errno.EOVERFLOW:  # a file that is larger than it may be
        return InvalidInputError(f"{problem}: {error.strerror}", hint=hint)
    if error.errno in NO_ROOM:
        hint = "free some space on its disk" + (f"; {hint}" if hint else "")
    return kind(f"{problem}: {error.strerror or error}", hint=hint)


@contextmanager
def refusing(problem: str, *, hint: str = "") -> Iterator[None]:
    """Turn an OSError in the block into an error that a person can act on."""
    try:
        yield
    except OSError as error:
        raise refusal(problem, error, hint=hint) from error


def file_kind(path: Path) -> FileKind:
    """Return the kind of a path's target; links are followed."""
    try:
        mode = stat.S_IFMT(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        # Another process may just have created a file, so only a link leads nowhere.
        return FileKind.DANGLING if path.is_symlink() else FileKind.NOTHING
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return FileKind.NOTHING
        if error.errno != errno.ELOOP:
            raise
        return FileKind.LOOP
    kinds = {
        stat.S_IFREG: FileKind.FILE,
        stat.S_IFDIR: FileKind.FOLDER,
        stat.S_IFIFO: FileKind.PIPE,
        stat.S_IFSOCK: FileKind.SOCKET,
    }
    return kinds.get(mode, FileKind.DEVICE)


def current_folder() -> Path:
    """Return the current folder; if it was deleted, a path that does not exist. So absolute paths work."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(os.devnull, "deleted")


def existing_content(path: Path, what: str, hint: str | Hint, most: int = MOST_WHOLE) -> bytes:
    """Read a file that a person named; `what` names it in errors: `settings file`."""
    content = content_of(path, what, most)
    if isinstance(content, bytes):
        return content
    if content in {FileKind.NOTHING, FileKind.DANGLING}:
        problem = "does not exist" if content is FileKind.NOTHING else f"is {content}"
        raise NotFoundError(f"{what} '{path}' {problem}", hint=hint)
    raise InvalidInputError(f"{what} '{path}' is {content}, expected a file", hint=hint)


def named_content(path: Path, what: str, hint: str, most: int = MOST_WHOLE) -> bytes:
    """Read a file that a person named, or standard input if its name is `-`."""
    if str(path) != STANDARD_INPUT:
        return existing_content(path, what, hint, most)
    if sys.stdin is None:
        raise InvalidInputError("standard input is closed", hint=hint)
    with refusing("standard input cannot be read", hint=hint):
        return rest_of(sys.stdin.buffer, most)


def content_of(path: Path, what: str, most: int = MOST_WHOLE) -> bytes | FileKind:
    """Read a file, or return its kind if it is no regular file; `what` names it in errors: `seed file`."""
    with refusing(f"{what} '{path}' cannot be read", hint="check its permissions, its size and its disk"):
        kind = file_kind(path)
        return whole(path, most) if kind is FileKind.FILE else kind
