"""Corpora on disk, image repositories, and the ways between them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from vocabgap.corpus.corpus import Corpus, open_corpus

Gap = Callable[..., dict[str, object]]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """A corpus that nothing was pushed into yet."""
    return open_corpus(tmp_path / "corpus")


@pytest.fixture
def other(tmp_path: Path) -> Corpus:
    """Another one."""
    return open_corpus(tmp_path / "other")


@pytest.fixture
def photos(gap: Gap, write_corpus: Callable[..., Path]) -> Path:
    """Two images with three needs; one line is no record."""
    return write_corpus(
        {
            "heron": [gap("sky mask", satisfaction=-1), gap("film grain")],
            "fjord": [gap("mask the sky"), "no json"],
        }
    )


@pytest.fixture
def ids_of() -> Callable[[Corpus], list[str]]:
    """Gives the ids of the chunks in a corpus."""

    def find(corpus: Corpus) -> list[str]:
        ids: list[str] = corpus.store.version().rows(["id"])["id"].sort().to_list()
        return ids

    return find
