"""Where a corpus lies, and what is said where one cannot be opened."""

from pathlib import Path

import pytest

from vocabgap.corpus.corpus import open_corpus
from vocabgap.corpus.manifest import is_corpus
from vocabgap.corpus.store import Store
from vocabgap.errors import ExitCode, NotFoundError


def test_a_folder_without_a_corpus_is_one_after_the_first_push(photos: Path, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    with pytest.raises(NotFoundError, match="holds no shared corpus"):
        open_corpus(folder, create=False)

    open_corpus(folder).push(photos, tenant="north", repo="photos")

    assert is_corpus(folder)
    assert open_corpus(folder, create=False).status().measures.rows == 3


def test_a_damaged_manifest_is_still_that_of_a_corpus(parquet_store: Store) -> None:
    with parquet_store.changing("make"):
        pass
    (parquet_store.folder / "manifest.json").write_bytes(b"{")

    assert is_corpus(parquet_store.folder)


def test_a_folder_of_something_else_is_none_and_stays_as_it_is(tmp_path: Path, photos: Path) -> None:
    other = tmp_path / "table" / "_delta_log"
    other.mkdir(parents=True)

    refused = open_corpus(other.parent).push(photos, tenant="north", repo="photos")

    assert not is_corpus(other.parent)
    assert refused.exit_code is ExitCode.STATE
    assert [path.name for path in other.parent.iterdir()] == ["_delta_log"]
