"""The folder of a cache: one run has it at a time, and nothing but caches is kept in it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vocabgap.errors import InvalidInputError, StateError, expanded
from vocabgap.files.atomic import EMBEDDINGS_FOLDER, locked, refused
from vocabgap.ingest.shards import LOCK_NAME, OURS
from vocabgap.text import printable_name


@contextmanager
def opened(folder: str | Path) -> Iterator[Path | None]:
    """The folder of a cache for the time of a scan; None while another run has it.

    Args:
        folder: Where it is; made if there is none.

    Raises:
        StateError: The folder holds other files, or the disk does not do what it should.
        AccessDeniedError: The system does not let it be used.
        InvalidInputError: It is no folder.
    """
    place = expanded(folder)
    lock = None
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        _require_own(place)
        lock = os.open(place / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        is_ours = locked(lock)
    except (FileExistsError, NotADirectoryError, ValueError) as error:
        raise InvalidInputError(f"cache '{folder}' is no folder", hint="name another one") from error
    except OSError as error:
        raise refused(place, error) from error
    else:
        yield place if is_ours else None
    finally:
        if lock is not None:
            os.close(lock)


def _require_own(place: Path) -> None:
    strange = sorted(path.name for path in place.iterdir() if not _is_own(path))
    if strange:
        raise StateError(
            f"cache '{place}' holds other files, such as '{printable_name(strange[0])}'",
            hint="name an empty folder, or one that does not exist yet",
        )


def _is_own(path: Path) -> bool:
    return bool(OURS.fullmatch(path.name)) or (path.name == EMBEDDINGS_FOLDER and path.is_dir())
