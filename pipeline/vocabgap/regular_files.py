"""Files that people name: their content, or what lies in their place."""

from pathlib import Path

from vocabgap.errors import AccessDeniedError, StateError
from vocabgap.file_kinds import FileKind, file_kind


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
