"""Where a shared corpus lies, and whether one lies there."""

from collections.abc import Callable
from pathlib import Path

from vocabgap.corpus import opening
from vocabgap.corpus.store import Store
from vocabgap.errors import NotFoundError, expanded


def is_corpus(folder: Path) -> bool:
    """Whether a folder holds a shared corpus, be it one that can no longer be read."""
    return opening.kind_of(folder) is not None


def open_store(
    folder: str | Path,
    *,
    create: bool = True,
    new_kind: str | None = None,
    on_wait: Callable[[str], None] = lambda _: None,
) -> Store:
    """The corpus in a folder, kept as it was made.

    Args:
        folder: Where it lies.
        create: Whether one may be made there by the first change.
        new_kind: How one that is made is to be kept, `parquet` or `delta`; in Parquet by default.
        on_wait: Called with who is at it, where a change has to wait for another writer.

    Raises:
        NotFoundError: There is none, and none is to be made.
    """
    place = expanded(folder)
    found = opening.kind_of(place)
    if found is None and not create:
        raise NotFoundError(
            f"'{place}' holds no shared corpus",
            hint="`vocabgap corpus push` and `restore` make one; --corpus names another folder",
        )
    if found is None and new_kind is not None:
        found = opening.StoreKind(new_kind)
    return opening.open_store(place, found, on_wait)
