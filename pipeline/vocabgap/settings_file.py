"""The settings file as it lies on disk: a regular file that holds TOML in UTF-8."""

import tomllib
from pathlib import Path
from typing import Any, Final

from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError
from vocabgap.file_kinds import FileKind, file_kind

_NAME_HINT: Final = "check --config or VOCABGAP_CONFIG"


def read_settings(path: Path) -> dict[str, Any]:
    """The tables of a settings file.

    Raises:
        NotFoundError: It does not exist.
        AccessDeniedError: It may not be read.
        InvalidInputError: It is not a regular file, not UTF-8 or not TOML.
    """
    try:
        _require_regular(path)
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except PermissionError as error:
        raise AccessDeniedError(
            f"settings file '{path}' may not be read", hint="check its permissions"
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{path}: byte {error.start}: expected UTF-8 text", hint="save the file in the encoding UTF-8"
        ) from error
    except OSError as error:
        raise InvalidInputError(f"settings file '{path}' cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path}: {error}", hint="expected a TOML file") from error


def _require_regular(path: Path) -> None:
    """Refuse what is no regular file before it is opened: a pipe would wait for whoever writes to it."""
    kind = file_kind(path)
    if kind is FileKind.NOTHING:
        raise NotFoundError(f"settings file '{path}' does not exist", hint=_NAME_HINT)
    if kind is FileKind.DANGLING:
        raise NotFoundError(f"settings file '{path}' is {kind}", hint=_NAME_HINT)
    if kind is not FileKind.FILE:
        raise InvalidInputError(
            f"settings file '{path}' is {kind}, expected a regular file",
            hint="write the settings to a file, and name that with --config or VOCABGAP_CONFIG",
        )
