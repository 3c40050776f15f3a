"""What the system refuses while a corpus is changed or read, and what is damaged when it is opened."""

import errno
import os
from pathlib import Path

import polars as pl
import pytest

from corpus.builders import chunks
from vocabgap.corpus.store import Store
from vocabgap.errors import StateError


@pytest.fixture
def filled(store: Store) -> Store:
    """Make a corpus with a part, a deleted row and a second part."""
    for rows in (chunks("a", "b", "z"), chunks("c")):
        with store.changing("make") as change:
            change.add(rows)
            change.delete(pl.col("id") == "b")
    return store


def change_much(store: Store, rows: pl.DataFrame) -> None:
    with store.changing("change much") as change:
        change.delete(pl.col("id") == "a")
        change.add(rows)
        change.configure("ada")


def same(store: Store) -> None:
    assert store.version().rows(["id"]).get_column("id").to_list() == ["a", "c", "z"]
    assert store.version().config_versions == {}
    assert len(list(store.folder.iterdir())) == 5, (
        "manifest, lock, two parts and what is deleted of them"
    )


@pytest.mark.parametrize("call", range(5))
def test_failing_sync_keeps_data(filled: Store, monkeypatch: pytest.MonkeyPatch, call: int) -> None:
    calls = iter(range(100))
    fsync = os.fsync

    def failing(descriptor: int) -> None:
        if next(calls) == call:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    monkeypatch.setattr("vocabgap.files.atomic.os.fsync", failing)
    if call < 4:  # a new part, what is deleted, the folder, the manifest
        with pytest.raises(StateError, match=r"cannot be changed: .*nothing was changed"):
            change_much(filled, chunks("d"))
        same(filled)
    else:  # the folder once more: the manifest is in its place by then
        with pytest.raises(StateError, match="is changed, but the disk did not confirm it"):
            change_much(filled, chunks("d"))
        assert filled.version().rows(["id"]).get_column("id").to_list() == ["c", "d", "z"]


def test_compaction_names_a_file_left(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(errno.EACCES, f"Permission denied {missing_ok}", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        with pytest.raises(StateError, match=r"chunks-000001.parquet', which still"):
            filled.compact()

    filled.compact()
    assert filled.version().measures.parts == 1


def test_a_part_that_is_missing_is_named(filled: Store) -> None:
    (filled.folder / "chunks-000001.parquet").unlink()

    with pytest.raises(
        StateError, match=r"'chunks-000001\.parquet', a file of version 2, is missing"
    ):
        filled.version()
    with (
        pytest.raises(StateError, match=r"cannot be changed: chunks-000001\.parquet: No such file"),
        filled.changing("go on"),
    ):
        pytest.fail("changed without it")


def test_unconfirmed_change_keeps_old_files(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = filled.folder / "manifest.json"
    earlier, fsync, calls = manifest.read_bytes(), os.fsync, iter(range(100))

    def failing(descriptor: int) -> None:
        if next(calls) >= 4:  # from the folder on, once the manifest is in its place
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr("vocabgap.files.atomic.os.fsync", failing)
        with pytest.raises(StateError, match="did not confirm it"):
            change_much(filled, chunks("d"))

    manifest.write_bytes(earlier)  # as after a loss of power
    assert filled.version().rows(["id"]).get_column("id").to_list() == ["a", "c", "z"]
