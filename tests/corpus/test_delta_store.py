"""A corpus that is a Delta table, as other tools and other writers see it."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from vocabgap.corpus.delta_store import DeltaStore
from vocabgap.errors import StateError

deltalake = pytest.importorskip("deltalake", reason="needs the extra `delta`")
Chunks = Callable[..., pl.DataFrame]


@pytest.fixture
def filled(tmp_path: Path, chunks: Chunks) -> DeltaStore:
    """A table with three chunks, one of them deleted."""
    store = DeltaStore(tmp_path / "corpus")
    with store.changing("make") as change:
        change.add(chunks("a", "b", "c", vector=[1.0]))
    with store.changing("delete") as change:
        change.delete(pl.col("id") == "b")
        change.configure("ada")
    return store


def test_other_tools_read_it(filled: DeltaStore) -> None:
    table = pl.scan_delta(str(filled.folder)).filter(pl.col("role") == "chunk").collect()

    assert table.drop("role").sort("id").equals(filled.version().rows())


def test_each_change_is_one_commit(filled: DeltaStore, chunks: Chunks) -> None:
    before = filled.version().measures.version

    with filled.changing("much") as change:
        change.add(chunks("d"))
        change.delete(pl.col("id") == "a")
        change.configure("ada")

    assert filled.version().measures.version == before + 1


def test_earlier_versions_stay_until_it_is_compacted(filled: DeltaStore) -> None:
    assert filled.version().measures.old_bytes > 0
    earlier = pl.scan_delta(str(filled.folder), version=1).filter(pl.col("role") == "chunk").collect()
    assert earlier.height == 3

    filled.compact()

    assert filled.version().measures.old_bytes == 0


def test_the_log_tells_no_text(filled: DeltaStore) -> None:
    log = b"".join(path.read_bytes() for path in (filled.folder / "_delta_log").iterdir())

    assert b"numRecords" in log
    assert b"rain" not in log
    assert b"kitchen" not in log


def test_a_commit_that_came_first_is_told_and_nothing_is_changed(filled: DeltaStore, chunks: Chunks) -> None:
    def change_meanwhile() -> None:
        with filled.changing("add") as change:
            change.add(chunks("d"))
            deltalake.DeltaTable(str(filled.folder)).delete("role = 'chunk' and id = 'a'")

    with pytest.raises(StateError, match=r"was changed by another writer meanwhile: .*try again"):
        change_meanwhile()

    assert filled.version().rows(["id"]).get_column("id").to_list() == ["c"]


def test_a_table_that_others_have_rewritten_is_read_in_order(filled: DeltaStore, chunks: Chunks) -> None:
    with filled.changing("add") as change:
        change.add(chunks("0", "d"))
    table = deltalake.DeltaTable(str(filled.folder))

    table.optimize.compact()

    assert filled.version().measures.parts == 1
    assert filled.version().rows(["id"]).get_column("id").to_list() == ["0", "a", "d", "c"]
    assert filled.version().config_versions == {"ada": 1}


def test_a_missing_file_is_named(filled: DeltaStore) -> None:
    for path in filled.folder.rglob("chunks-*.parquet"):
        path.unlink()

    with pytest.raises(StateError, match=r"chunks-[0-9a-f]+\.parquet', which version 2 needs, is missing"):
        filled.version()


def test_a_log_that_is_damaged_is_told(filled: DeltaStore) -> None:
    for path in (filled.folder / "_delta_log").glob("*.json"):
        path.write_bytes(b"{")

    with pytest.raises(StateError, match="cannot be used"):
        filled.version()


def test_another_delta_table_is_no_corpus(tmp_path: Path) -> None:
    deltalake.write_deltalake(str(tmp_path / "table"), pl.DataFrame({"a": [1]}))

    with pytest.raises(StateError, match="is a Delta table and no corpus"):
        DeltaStore(tmp_path / "table").version()


def test_a_folder_that_holds_something_else_is_not_made_a_table(tmp_path: Path) -> None:
    (tmp_path / "notes.md").touch()
    store = DeltaStore(tmp_path)

    with pytest.raises(StateError, match="is no corpus, and holds other files"), store.changing("push"):
        pytest.fail("made a table there")


def test_the_length_of_vectors_is_forgotten_with_the_last_file_that_has_any(
    filled: DeltaStore, chunks: Chunks
) -> None:
    with filled.changing("add") as change:
        change.add(chunks("d", path="other.jsonl"))
    with filled.changing("forget") as change:
        change.delete(pl.col("id") != "d")

    assert filled.version().dimension is None


def test_the_length_of_vectors_is_known_where_others_have_rewritten_it(
    filled: DeltaStore, chunks: Chunks
) -> None:
    with filled.changing("add") as change:
        change.add(chunks("d", path="other.jsonl"))

    deltalake.DeltaTable(str(filled.folder)).optimize.compact()

    assert filled.version().dimension == 1


def test_a_commit_is_on_the_disk_before_the_change_is_done(
    filled: DeltaStore, chunks: Chunks, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr("vocabgap.corpus.delta_table.sync", synced.append)
    monkeypatch.setattr("vocabgap.corpus.delta_table.sync_folder", synced.append)

    with filled.changing("add") as change:
        change.add(chunks("d"))

    log = filled.folder / "_delta_log"
    assert synced == [log / f"{filled.version().measures.version:020d}.json", log]
