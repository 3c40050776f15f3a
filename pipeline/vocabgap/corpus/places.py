"""Where a shared corpus lies, and whether one lies there."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from vocabgap.corpus.manifest import has_manifest
from vocabgap.corpus.parquet_store import ParquetStore
from vocabgap.errors import NotFoundError, StateError, expanded

_DELTA_LOG: Final = "_delta_log"
DELTA_HINT: Final = (
    "`vocabgap corpus export` with the version that made such a table,"
    " and `vocabgap corpus restore` the backup into a new folder"
)


def is_corpus(folder: Path) -> bool:
    """Whether a folder holds a shared corpus, be it one that can no longer be read.

    A manifest of something else says nothing: many tools call a file so.
    """
    return has_manifest(folder) or (folder / _DELTA_LOG).is_dir()


def open_store(
    folder: str | Path, *, create: bool = True, on_wait: Callable[[str], None] = lambda _: None
) -> ParquetStore:
    """The corpus in a folder. Nothing is read yet.

    Args:
        folder: Where it lies.
        create: Whether one may be made there by the first change.
        on_wait: Called once, with who holds it, where a change has to wait for another writer.

    Raises:
        NotFoundError: There is none, and none is to be made.
        StateError: It was made as a Delta table, which is no longer read.
    """
    place = expanded(folder)
    if not has_manifest(place):
        if (place / _DELTA_LOG).is_dir():
            raise StateError(f"'{place}' is a Delta table, which is no longer read", hint=DELTA_HINT)
        if not create:
            raise NotFoundError(
                f"'{place}' holds no shared corpus",
                hint="`vocabgap corpus push` and `restore` make one; --corpus names another folder",
            )
    return ParquetStore(place, on_wait)
