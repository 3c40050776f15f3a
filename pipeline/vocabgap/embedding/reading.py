"""The files of a model as they lie on disk: whole, or an error that names the one it is about."""

from pathlib import Path
from typing import Any, Final

import msgspec

from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError, StateError, VocabgapError
from vocabgap.files.refusals import FileKind, file_kind

DAMAGED_HINT: Final = "copy the model again from where it was published"
_NOT_THERE: Final = (FileKind.NOTHING, FileKind.DANGLING)


def read_bytes(path: Path) -> bytes:
    """The content of a file.

    Raises:
        NotFoundError: There is none.
        InvalidInputError: It is no regular file.
        AccessDeniedError: The system does not let it be read.
        StateError: The disk does not.
    """
    try:
        kind = file_kind(path)
        if kind is FileKind.FILE:
            return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    if kind in _NOT_THERE:
        raise NotFoundError(f"there is no file '{path}'", hint=DAMAGED_HINT)
    raise InvalidInputError(f"'{path}' is {kind}; expected a file", hint=DAMAGED_HINT)


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file; an empty one where there is no such file.

    Raises:
        InvalidInputError: It is something else.
        AccessDeniedError: The system does not let it be read.
        StateError: The disk does not.
    """
    found = _read_json(path)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise InvalidInputError(f"'{path}' holds no JSON object", hint=DAMAGED_HINT)
    return found


def read_list(path: Path) -> list[Any]:
    """The JSON array in a file; an empty one where there is no such file.

    Raises:
        InvalidInputError: It is something else.
        AccessDeniedError: The system does not let it be read.
        StateError: The disk does not.
    """
    found = _read_json(path)
    if found is None:
        return []
    if not isinstance(found, list):
        raise InvalidInputError(f"'{path}' holds no JSON array", hint=DAMAGED_HINT)
    return found


def exists(path: Path) -> bool:
    """Whether a path leads to anything.

    Raises:
        AccessDeniedError: The system does not tell.
    """
    try:
        return file_kind(path) not in _NOT_THERE
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> VocabgapError:
    """What is said where the system, or the disk, does not let a file or a folder be read."""
    kind = AccessDeniedError if isinstance(error, PermissionError) else StateError
    return kind(
        f"'{path}' cannot be read: {error.strerror or error}",
        hint="see to its permissions, or name another one",
    )


def _read_json(path: Path) -> object:
    if not exists(path):
        return None
    try:
        return msgspec.json.decode(read_bytes(path))
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"'{path}' is not JSON: {error}", hint=DAMAGED_HINT) from error
