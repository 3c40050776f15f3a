"""Which kind of store a folder is."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from vocabgap.corpus.delta_store import DeltaStore
from vocabgap.corpus.delta_table import LOG_FOLDER
from vocabgap.corpus.manifest import has_manifest
from vocabgap.corpus.parquet_store import ParquetStore
from vocabgap.corpus.store import Store
from vocabgap.errors import StateError


class StoreKind(StrEnum):
    """How a corpus is kept."""

    PARQUET = "parquet"
    DELTA = "delta"


def open_store(
    folder: Path, kind: StoreKind | None = None, on_wait: Callable[[str], None] = lambda _: None
) -> Store:
    """The corpus in a folder, of the kind that it was made as.

    Nothing is read yet. Where there is no corpus, the first change makes one.

    Args:
        folder: The folder.
        kind: The kind that is asked for; by default that which is there, or Parquet where there is none.
        on_wait: Called once, with who holds it, where a change has to wait for another writer.

    Raises:
        StateError: The corpus is of another kind than is asked for.
    """
    found = kind_of(folder)
    if kind is not None and found is not None and kind is not found:
        raise StateError(
            f"corpus '{folder}' was made as {found}, and cannot be used as {kind}",
            hint="leave the kind out, or name another folder",
        )
    store = DeltaStore if (kind or found) is StoreKind.DELTA else ParquetStore
    return store(folder, on_wait)


def kind_of(folder: Path) -> StoreKind | None:
    """How the corpus in a folder is kept, be it one that can no longer be read; None where there is none.

    A manifest of something else says nothing: many tools call a file so.
    """
    if has_manifest(folder):
        return StoreKind.PARQUET
    return StoreKind.DELTA if (folder / LOG_FOLDER).is_dir() else None
