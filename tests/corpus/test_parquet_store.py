"""How a corpus lies in Parquet files."""

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from builders.corpus import chunks
from vocabgap.corpus import store as changes
from vocabgap.corpus.manifest import Manifest, read_manifest, write_manifest
from vocabgap.corpus.store import Store
from vocabgap.corpus.version import PathSnapshot


def add(store: Store, rows: pl.DataFrame) -> None:
    with store.changing("add") as change:
        change.add(rows)


def files(store: Store) -> list[str]:
    return sorted(path.name for path in store.folder.iterdir())


def test_each_change_adds_files_and_changes_none(parquet_store: Store) -> None:
    add(parquet_store, chunks("a", "b"))
    first = (parquet_store.folder / "chunks-000001.parquet").read_bytes()

    with parquet_store.changing("all at once") as change:
        change.delete(pl.col("id") == "a")
        change.add(chunks("c"))
        change.keep_snapshot(PathSnapshot("ada", "lab", ("x",), datetime(2026, 1, 1, tzinfo=UTC)))

    assert files(parquet_store) == [
        "chunks-000001.parquet",
        "chunks-000002.parquet",
        "deleted-000003.parquet",
        "manifest.json",
        "paths-000004.parquet",
        "writer.lock",
    ]
    assert (parquet_store.folder / "chunks-000001.parquet").read_bytes() == first
    deleted = pl.read_parquet(parquet_store.folder / "deleted-000003.parquet")
    assert deleted.rows() == [(1, 0)]


def test_a_part_of_which_nothing_is_left_is_removed(parquet_store: Store) -> None:
    add(parquet_store, chunks("a", "b"))
    add(parquet_store, chunks("c"))

    with parquet_store.changing("forget") as change:
        change.delete(pl.col("id") != "c")

    assert files(parquet_store) == ["chunks-000002.parquet", "manifest.json", "writer.lock"]


def test_a_number_is_never_given_twice(parquet_store: Store) -> None:
    add(parquet_store, chunks("a"))
    with parquet_store.changing("forget") as change:
        change.delete(pl.lit(value=True))

    add(parquet_store, chunks("a"))

    assert files(parquet_store) == ["chunks-000002.parquet", "manifest.json", "writer.lock"]


def test_a_change_that_changes_nothing_leaves_every_file_as_it_is(parquet_store: Store) -> None:
    add(parquet_store, chunks("a"))
    before = {path.name: (path.stat().st_ino, path.read_bytes()) for path in parquet_store.folder.iterdir()}

    add(parquet_store, chunks("a"))

    after = {path.name: (path.stat().st_ino, path.read_bytes()) for path in parquet_store.folder.iterdir()}
    assert after == before


def test_the_same_changes_make_the_same_bytes(tmp_path: Path) -> None:
    stores = [Store(tmp_path / name) for name in ("one", "two")]
    for store in stores:
        add(store, chunks("b", "a", vector=[0.5]))
        with store.changing("change") as change:
            change.add(chunks("c", "d"))
            change.delete(pl.col("line") == 1)
            change.configure("ada")

    contents = [{path.name: path.read_bytes() for path in store.folder.iterdir()} for store in stores]
    assert contents[0] == contents[1]


def test_what_a_killed_writer_left_is_removed_by_the_next(parquet_store: Store) -> None:
    add(parquet_store, chunks("a"))
    for name in ("chunks-000002.parquet", "paths-000003.parquet", "manifest.json.new"):
        (parquet_store.folder / name).write_bytes(b"half")

    with parquet_store.changing("nothing"):
        assert files(parquet_store) == ["chunks-000001.parquet", "manifest.json", "writer.lock"]


def test_a_first_writer_that_was_killed_does_not_stand_in_the_way(parquet_store: Store) -> None:
    parquet_store.folder.mkdir()
    for name in ("writer.lock", "chunks-000001.parquet", "manifest.json.new"):
        (parquet_store.folder / name).write_bytes(b"half")

    add(parquet_store, chunks("a"))

    assert parquet_store.version().measures.rows == 1


def test_other_files_in_a_corpus_are_left_alone(parquet_store: Store) -> None:
    add(parquet_store, chunks("a"))
    (parquet_store.folder / "notes.md").write_text("mine")

    add(parquet_store, chunks("b"))
    parquet_store.compact()

    assert (parquet_store.folder / "notes.md").read_text() == "mine"


def test_a_reader_whose_part_was_just_removed_reads_the_newer_version(
    parquet_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(parquet_store, chunks("a"))
    old = read_manifest(parquet_store.folder)
    add(parquet_store, chunks("b"))
    parquet_store.compact()
    answers = iter([old])

    def read(folder: Path) -> Manifest | None:
        return next(answers, None) or read_manifest(folder)

    monkeypatch.setattr("vocabgap.corpus.version.read_manifest", read)

    assert parquet_store.version().rows(["id"]).get_column("id").to_list() == ["a", "b"]


def test_a_version_closes_its_files_when_it_goes(parquet_store: Store) -> None:
    add(parquet_store, chunks("a"))
    before = len(list(Path("/dev/fd").iterdir()))

    for _ in range(20):
        parquet_store.version().rows()

    assert len(list(Path("/dev/fd").iterdir())) <= before + 1


def test_many_small_parts_are_joined(parquet_store: Store) -> None:
    count = 2 * changes._MANY_PARTS + 5
    for number in range(count):
        with parquet_store.changing("add") as change:
            change.add(chunks(f"{number:03}", path=f"{number % 3}.jsonl"))
            change.delete(pl.col("id") == f"{number - 1:03}" if number % 10 == 0 else pl.lit(value=False))

    assert parquet_store.version().measures.parts < changes._MANY_PARTS
    assert parquet_store.version().measures.rows == count - 10
    assert len(files(parquet_store)) < changes._MANY_PARTS + 3


def test_large_parts_are_left_as_they_are(parquet_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "_MANY_PARTS", 4)
    monkeypatch.setattr(changes, "_SMALL_TOGETHER", 5)
    for number in range(6):
        add(parquet_store, chunks(*(f"{number}-{line}" for line in range(4))))

    assert parquet_store.version().measures.parts == 6


def test_what_was_there_is_found_where_the_manifest_was_written_by_hand(parquet_store: Store) -> None:
    add(parquet_store, chunks("a"))
    manifest = read_manifest(parquet_store.folder)
    assert manifest is not None

    write_manifest(parquet_store.folder, manifest)

    assert parquet_store.version().measures.rows == 1
