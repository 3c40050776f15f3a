"""Where a corpus lies, and what is said where one cannot be opened."""

from pathlib import Path

import pytest

import vocabgap as vg
from vocabgap.corpus.corpus import open_corpus
from vocabgap.corpus.store import Store, is_corpus
from vocabgap.errors import InvalidInputError, NotFoundError, StateError
from vocabgap.settings.model import CorpusSettings, Settings


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


def test_a_delta_table_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "_delta_log").mkdir()
    (tmp_path / "manifest.json").write_text('{"name": "a web page"}')

    for use in (open_corpus, vg.scan):
        with pytest.raises(StateError, match="is a Delta table, which is no longer read") as caught:
            use(tmp_path)
        assert "into a new folder" in caught.value.hint


def test_a_setting_that_asks_for_a_delta_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"corpus\.store: Delta tables are no longer written"):
        open_corpus(tmp_path / "corpus", settings=Settings(corpus=CorpusSettings(store="delta")))


def test_the_deprecated_name_of_the_one_store_does_nothing(tmp_path: Path) -> None:
    settings = Settings(corpus=CorpusSettings(store="parquet"))

    assert open_corpus(tmp_path / "corpus", settings=settings).settings is settings
