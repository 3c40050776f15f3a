import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from vocabgap.corpus.opening import StoreKind, kind_of, open_store
from vocabgap.corpus.parquet_store import ParquetStore
from vocabgap.errors import StateError

Chunks = Callable[..., pl.DataFrame]


def test_a_corpus_is_kept_in_parquet_files_unless_another_kind_is_asked_for(tmp_path: Path) -> None:
    assert kind_of(tmp_path) is None
    assert isinstance(open_store(tmp_path / "corpus"), ParquetStore)


def test_a_corpus_that_is_there_is_opened_as_what_it_is(parquet_store: ParquetStore, chunks: Chunks) -> None:
    with parquet_store.changing("make") as change:
        change.add(chunks("a"))

    assert kind_of(parquet_store.folder) is StoreKind.PARQUET
    assert open_store(parquet_store.folder, StoreKind.PARQUET).version().measures.rows == 1
    with pytest.raises(StateError, match="was made as parquet, and cannot be used as delta"):
        open_store(parquet_store.folder, StoreKind.DELTA)


def test_a_delta_table_without_its_library_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "_delta_log").mkdir()
    monkeypatch.setitem(sys.modules, "deltalake", None)
    monkeypatch.setitem(sys.modules, "deltalake.exceptions", None)

    with pytest.raises(StateError, match=r"pip install 'vocabgap\[delta\]'"):
        open_store(tmp_path).version()


def test_a_manifest_of_something_else_does_not_hide_a_delta_table(tmp_path: Path) -> None:
    (tmp_path / "_delta_log").mkdir()
    (tmp_path / "manifest.json").write_text('{"name": "a web page"}')

    assert kind_of(tmp_path) is StoreKind.DELTA


def test_a_damaged_manifest_is_still_that_of_a_corpus(parquet_store: ParquetStore, chunks: Chunks) -> None:
    with parquet_store.changing("make") as change:
        change.add(chunks("a"))
    (parquet_store.folder / "manifest.json").write_bytes(b"{")

    assert kind_of(parquet_store.folder) is StoreKind.PARQUET
