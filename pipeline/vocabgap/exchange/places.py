"""Where a shared corpus lies, and whether one lies there."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from vocabgap.config import expanded
from vocabgap.corpus import opening
from vocabgap.corpus.delta_table import LOG_FOLDER
from vocabgap.corpus.manifest import FORMAT, LOCK, MANIFEST
from vocabgap.corpus.store import Store
from vocabgap.errors import NotFoundError


class _Marked(msgspec.Struct):
    format: str


def is_corpus(folder: Path) -> bool:
    """Whether a folder holds a shared corpus, be it one that can no longer be read."""
    try:
        content = (folder / MANIFEST).read_bytes()
    except OSError:
        return (folder / LOG_FOLDER).is_dir()
    try:
        return msgspec.json.decode(content, type=_Marked).format == FORMAT
    except (msgspec.DecodeError, UnicodeDecodeError):
        return (folder / LOCK).is_file()  # ours, and damaged; a stranger's manifest has no writer's lock


def open_store(
    folder: str | Path,
    *,
    create: bool = True,
    kind: str | None = None,
    on_wait: Callable[[str], None] = lambda _: None,
) -> Store:
    """The corpus in a folder.

    Args:
        folder: Where it lies.
        create: Whether one may be made there by the first change.
        kind: How it is to be kept, `parquet` or `delta`; by default as it is.
        on_wait: Called with who is at it, where a change has to wait for another writer.

    Raises:
        NotFoundError: There is none, and none is to be made.
        StateError: It is kept in another way.
    """
    place = expanded(folder)
    if not create and not is_corpus(place):
        raise NotFoundError(
            f"'{place}' holds no shared corpus",
            hint="`vocabgap corpus push` and `restore` make one; --corpus names another folder",
        )
    return opening.open_store(place, None if kind is None else opening.StoreKind(kind), on_wait)
