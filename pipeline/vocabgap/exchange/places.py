"""Where a shared corpus lies."""

from pathlib import Path

from vocabgap.corpus.store import Store


def is_corpus(folder: Path) -> bool:
    return False


def open_store(folder: Path) -> Store:
    raise NotImplementedError
