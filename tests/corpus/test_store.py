"""How a corpus lies in its files, and how it changes: each version is whole, and none changes afterwards."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.builders import chunks
from vocabgap.corpus import store as changes
from vocabgap.corpus.store import Change, Store
from vocabgap.corpus.version import CHUNKS, PATH_KEY, Manifest, Version, read_manifest
from vocabgap.errors import NotFoundError

NOW = datetime(2026, 7, 1, 9, tzinfo=UTC)


def add(store: Store, *frames: pl.DataFrame) -> int:
    with store.changing("add") as change:
        return change.add(pl.concat(frames))


def delete(store: Store, where: pl.Expr) -> int:
    with store.changing("delete") as change:
        return change.delete(where)


def ids(store: Store | Version, where: pl.Expr | None = None) -> list[str]:
    version = store.version() if isinstance(store, Store) else store
    return version.rows(["id"], where)["id"].to_list()


def files(store: Store) -> list[str]:
    return sorted(path.name for path in store.folder.iterdir())


# A law: whatever is changed, a corpus holds what a dictionary would hold.

IDS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=5)
ADD = st.tuples(
    st.just("add"), st.tuples(IDS, st.sampled_from(["x", "y"]), st.sampled_from(["1", "2"]))
)
DELETE = st.one_of(
    st.tuples(st.just("source_path"), st.sampled_from(["1", "2"]).map(lambda path: [path])),
    st.tuples(st.just("line"), st.integers(1, 4).map(lambda line: [line])),
    st.tuples(st.just("id"), IDS),
)
CHANGES = st.lists(
    st.one_of(st.lists(st.one_of(ADD, DELETE), max_size=4), st.just("compact")), max_size=8
)
Rows = dict[str, dict[str, Any]]


def apply(change: Change, model: Rows, step: tuple[str, Any]) -> None:
    kind, values = step
    before = len(model)
    if kind == "add":
        ids, content, path = values
        rows = chunks(*ids, content=content, path=path)
        for row in rows.to_dicts():
            model.setdefault(row["id"], row)
        assert change.add(rows) == len(model) - before
        return
    for identity in [identity for identity, row in model.items() if row[kind] in values]:
        del model[identity]
    assert change.delete(pl.col(kind).is_in(values)) == before - len(model)


def holds(version: Version, model: Rows) -> None:
    ordered = sorted(model.values(), key=lambda row: (row["source_path"], row["line"], row["id"]))
    assert version.rows().to_dicts() == ordered
    expected = [row["id"] for row in ordered if row["source_path"] == "1" and row["line"] < 3]
    assert ids(version, (pl.col("source_path") == "1") & (pl.col("line") < 3)) == expected


@given(changed=CHANGES)
def test_store_is_a_dict(changed: list[Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    store, model = Store(tmp_path_factory.mktemp("law") / "corpus"), Rows()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(changes, "_MANY_PARTS", 4)  # so that small parts are joined here, too
        with store.changing("make"):
            pass
        for steps in changed:
            if steps == "compact":
                store.compact()
            else:
                with store.changing("change") as change:
                    for step in steps:
                        apply(change, model, step)
                    holds(change, model)
            holds(store.version(), model)
            assert store.version().measures.rows == len(model)


# What a reader sees.


def test_there_is_no_corpus_before_the_first_change_which_may_bring_nothing(store: Store) -> None:
    for use in (store.version, store.compact):
        with pytest.raises(NotFoundError, match="there is no corpus in"):
            use()

    with store.changing("make"):
        pass

    assert store.version().rows().equals(CHUNKS.empty())


def test_chunks_are_read_as_they_were_given(store: Store) -> None:
    rows = chunks("a", "b", content="¿una palabra?\n\x00 \U0001f327")
    rows = pl.concat([rows, chunks("c", content=None, vector=[0.1, -2e300, 5e-324])])

    assert add(store, rows) == 3

    assert store.version().rows().equals(rows.sort("line", "id"))
    assert store.version().rows(["name", "line"], pl.col("id") == "b").rows() == [("name of b", 2)]


def test_chunks_come_by_tenant_repository_path_line_and_id(store: Store) -> None:
    add(store, chunks("z", "y", tenant="b"))
    add(store, chunks("x", repo="z"), chunks("w", path="z.jsonl"), chunks("v", path="Z.jsonl"))
    add(store, chunks("c").with_columns(line=pl.lit(None, pl.Int64)), chunks("b"), chunks("a"))

    assert ids(store) == ["v", "c", "a", "b", "w", "x", "z", "y"]


def test_a_condition_that_is_null_deletes_nothing(store: Store) -> None:
    add(store, chunks("a").with_columns(line=pl.lit(None, pl.Int64)))

    assert delete(store, pl.col("line") > 0) == 0


def test_a_version_does_not_change_when_others_write(store: Store) -> None:
    add(store, chunks("a", "b"))
    delete(store, pl.col("id") == "b")
    before = store.version()

    add(store, chunks("c"))
    delete(store, pl.col("id") == "a")
    store.compact()

    assert (ids(before), ids(store)) == (["a"], ["c"])


def test_reader_of_a_gone_part_reads_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, chunks("a"))
    answers = iter([read_manifest(store.folder)])
    add(store, chunks("b"))
    store.compact()

    def read(folder: Path) -> Manifest | None:
        return next(answers, None) or read_manifest(folder)

    monkeypatch.setattr("vocabgap.corpus.version.read_manifest", read)

    assert ids(store) == ["a", "b"]


def test_a_version_closes_its_files_when_it_goes(store: Store) -> None:
    add(store, chunks("a"))
    before = len(list(Path("/dev/fd").iterdir()))

    for _ in range(20):
        store.version().rows()

    assert len(list(Path("/dev/fd").iterdir())) <= before + 1


# What a change writes.


def test_each_change_adds_files_and_changes_none(store: Store) -> None:
    add(store, chunks("a", "b"))
    first = (store.folder / "chunks-000001.parquet").read_bytes()

    with store.changing("all at once") as change:
        change.delete(pl.col("id") == "a")
        change.add(chunks("c"))
        change.keep_paths("ada", "lab", ["x"], NOW)

    written = ["chunks-000001.parquet", "chunks-000002.parquet", "deleted-000003.parquet"]
    assert files(store) == [*written, "manifest.json", "paths-000004.parquet", "writer.lock"]
    assert (store.folder / "chunks-000001.parquet").read_bytes() == first
    assert pl.read_parquet(store.folder / "deleted-000003.parquet").rows() == [(1, 0)]
    measures = store.version().measures
    assert (measures.version, measures.rows, measures.parts, measures.deleted) == (2, 2, 2, 1)


def test_an_empty_part_is_removed_and_its_number_never_used_again(store: Store) -> None:
    add(store, chunks("a"))
    delete(store, pl.lit(value=True))
    add(store, chunks("a"))

    assert files(store) == ["chunks-000002.parquet", "manifest.json", "writer.lock"]


def test_a_change_that_changes_nothing_makes_no_version(store: Store) -> None:
    with store.changing("first") as change:
        change.add(chunks("a", "b"))
        change.keep_paths("ada", "lab", ["a"], NOW)
    before = {path.name: (path.stat().st_ino, path.read_bytes()) for path in store.folder.iterdir()}

    with store.changing("the same again") as change:
        change.add(chunks("b", "a"))
        change.keep_paths("ada", "lab", ["a"], NOW)
        change.add(chunks("c"))
        change.delete(pl.col("id") == "c")
    store.compact()

    assert {
        path.name: (path.stat().st_ino, path.read_bytes()) for path in store.folder.iterdir()
    } == before


def test_nothing_of_a_change_that_fails_is_there(store: Store) -> None:
    add(store, chunks("a"))

    def fail() -> None:
        with store.changing("fail") as change:
            change.delete(pl.lit(value=True))
            change.add(chunks("b"))
            change.configure("ada")
            raise KeyboardInterrupt

    for _ in range(2):  # the lock ends with the change
        with pytest.raises(KeyboardInterrupt):
            fail()

    assert (ids(store), store.version().config_versions) == (["a"], {})


def test_the_same_changes_write_the_same_bytes(tmp_path: Path) -> None:
    stores = [Store(tmp_path / name) for name in ("one", "two")]
    for store in stores:
        add(store, chunks("b", "a", vector=[0.5]))
        with store.changing("change") as change:
            change.add(chunks("c", "d"))
            change.delete(pl.col("line") == 1)
            change.configure("ada")

    one, two = (
        {path.name: path.read_bytes() for path in store.folder.iterdir()} for store in stores
    )
    assert one == two


def test_the_next_writer_removes_what_a_killed_one_left_and_no_other_file(store: Store) -> None:
    store.folder.mkdir()
    left = ("writer.lock", "chunks-000001.parquet", "paths-000003.parquet", "manifest.json.new")
    for name in left:  # by a first writer, before there was a corpus
        (store.folder / name).write_bytes(b"half")
    add(store, chunks("a"))
    (store.folder / "notes.md").write_text("mine")
    (store.folder / "chunks-000009.parquet").write_bytes(b"half")

    with store.changing("nothing"):
        assert files(store) == ["chunks-000001.parquet", "manifest.json", "notes.md", "writer.lock"]
    assert ids(store) == ["a"]


def test_vectors_of_another_length_come_once_all_others_are_gone(store: Store) -> None:
    add(store, chunks("a", vector=[1.0, 2.0]), chunks("b"))
    delete(store, pl.col("id") == "a")
    assert store.version().dimension == 2

    store.compact()

    assert store.version().dimension is None
    add(store, chunks("a", vector=[1.0]))
    assert store.version().dimension == 1


# What a compaction does.


def test_deleted_text_is_in_no_file_after_a_compaction(store: Store) -> None:
    forgotten = "the cellar of the old observatory"
    add(store, chunks("a", "b", content=forgotten, path="secret/log.jsonl"), chunks("c", "d"))
    with store.changing("forget") as change:
        assert change.delete(pl.col("source_path") == "secret/log.jsonl") == 2
        change.add(chunks("e", content=forgotten))
        change.delete(pl.col("id") == "e")

    measures = store.compact()

    parts = [pl.read_parquet(path).write_json() for path in store.folder.glob("*.parquet")]
    assert all(word not in text for text in parts for word in (forgotten, "secret"))
    assert (measures.rows, measures.deleted, measures.parts) == (2, 0, 1)


def test_large_corpus_keeps_several_parts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "_PART_ROWS", 12)
    rows = pl.concat(
        [
            chunks(
                f"{tenant}{repo}{n}a", f"{tenant}{repo}{n}b", tenant=tenant, repo=repo, path=str(n)
            )
            for tenant in ("", "t")
            for repo in ("", "r")
            for n in range(5)
        ]
    )
    for part in rows.sample(fraction=1, shuffle=True, seed=1).iter_slices(3):
        add(store, part)

    assert store.compact().parts == 4
    assert store.version().rows().equals(rows.sort(*PATH_KEY, "line", "id"))


def test_small_parts_are_merged(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "_MANY_PARTS", 4)
    for number in range(11):
        add(store, chunks(f"{number:02}", path=f"{number % 3}.jsonl"))
    assert (store.version().measures.parts < 4, store.version().measures.rows) == (True, 11)

    monkeypatch.setattr(changes, "_PART_ROWS", 5)
    for number in range(6):
        add(store, chunks(*(f"{number}-{line}" for line in range(6))))
    assert store.version().measures.parts >= 6
