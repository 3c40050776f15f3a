"""One picture in a file of its own: written whole or not at all, and never over something else."""

import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError, StateError, expanded
from vocabgap.files.refusals import FileKind, file_kind

_SVG: Final = b"<svg"


def picture_place(path: str | Path) -> Path:
    """Where a picture is to be written: links followed, and a leading `~` as the home folder.

    Args:
        path: The file; there may be nothing, an empty file, or an earlier picture.

    Raises:
        InvalidInputError: It is no path.
        NotFoundError: Its folder does not exist.
        StateError: Something else is there.
        AccessDeniedError: The operating system refused.
    """
    place = expanded(path)
    with _told(path):
        kind = file_kind(place)
        if kind is FileKind.NOTHING:
            if not place.parent.is_dir():
                raise NotFoundError(f"--svg: the folder of '{path}' does not exist", hint="make it first")
        elif kind is not FileKind.FILE:
            raise StateError(f"--svg: '{path}' is {kind}, no picture", hint="name a file")
        elif not _may_be_replaced(place):
            raise StateError(f"--svg: '{path}' exists, and is no picture", hint="name another file")
        return place.resolve()


def write_picture(path: str | Path, picture: str) -> None:
    """Write a picture, in the place of an earlier one if there is one.

    Args:
        path: The file.
        picture: The SVG.

    Raises:
        VocabgapError: As `picture_place` has it, or the disk did not take it.
    """
    place = picture_place(path)
    temporary = place.with_name(f".{secrets.token_hex(6)}.part")
    with _told(path):
        try:
            with temporary.open("x", encoding="utf-8", newline="\n") as file:
                file.write(picture)
            if place.exists():
                temporary.chmod(stat.S_IMODE(place.stat().st_mode))  # gap text is private
            temporary.replace(place)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def _told(path: str | Path) -> Iterator[None]:
    """What the system refuses, of the file that was named: not of the one that is written first."""
    try:
        yield
    except ValueError as error:
        raise InvalidInputError(f"--svg: '{path}' is no path", hint="name another file") from error
    except PermissionError as error:
        raise AccessDeniedError(
            f"--svg: '{path}' cannot be written: {error.strerror}", hint="name another file"
        ) from error
    except OSError as error:
        raise StateError(
            f"--svg: '{path}' cannot be written: {error.strerror}", hint="name another file"
        ) from error


def _may_be_replaced(place: Path) -> bool:
    with place.open("rb") as content:
        return content.read(len(_SVG)) in {b"", _SVG}
