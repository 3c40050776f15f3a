"""What is said where the system, or the disk, does not let a corpus be read or changed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vocabgap.errors import AccessDeniedError, NotFoundError, StateError
from vocabgap.files.atomic import NO_ROOM


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Let what the system refuses be an error that names the corpus.

    Raises:
        StateError: The disk failed.
        AccessDeniedError: The corpus may not be read.
    """
    try:
        yield
    except PermissionError as error:
        raise AccessDeniedError(f"corpus '{folder}' cannot be read: {_problem(error)}") from error
    except OSError as error:
        raise StateError(f"corpus '{folder}' cannot be read: {_problem(error)}") from error


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """The same of a change. It says that nothing was changed, which is true until the manifest is replaced.

    Raises:
        StateError: The disk failed, or is full.
        AccessDeniedError: The corpus may not be written.
    """
    try:
        yield
    except PermissionError as error:
        raise AccessDeniedError(
            f"corpus '{folder}' cannot be changed: {_problem(error)}",
            hint="ask who owns it for write access; nothing was changed",
        ) from error
    except OSError as error:
        room = "free some space on its disk; " if error.errno in NO_ROOM else ""
        raise StateError(
            f"corpus '{folder}' cannot be changed: {_problem(error)}", hint=f"{room}nothing was changed"
        ) from error


def no_corpus(folder: Path) -> NotFoundError:
    """There is no corpus in a folder."""
    return NotFoundError(
        f"there is no corpus in '{folder}'", hint="name its folder; a push or a restore makes one"
    )


def unconfirmed(folder: Path, error: OSError) -> StateError:
    """A change is in its place, but may not be on the disk."""
    return StateError(
        f"corpus '{folder}' is changed, but the disk did not confirm it: {error.strerror or error}",
        hint="look after the disk; if it loses power now, the change may be gone",
    )


def missing_file(folder: Path, version: int, error: FileNotFoundError) -> StateError:
    """A file that a version needs is not there."""
    name = Path(error.filename).name
    return StateError(
        f"corpus '{folder}': '{name}', which version {version} needs, is missing",
        hint="put it back from a copy of the folder, or restore an exported backup into a new one",
    )


def _problem(error: OSError) -> str:
    name = Path(error.filename or "").name
    return (f"{name}: " if name else "") + (error.strerror or str(error))
