"""What every store of a shared corpus does alike."""

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from builders.corpus import chunks
from vocabgap.corpus.store import Store
from vocabgap.corpus.version import PathSnapshot
from vocabgap.errors import NotFoundError
from vocabgap.model.tables import CHUNKS

SAID = datetime(2026, 7, 1, 9, tzinfo=UTC)


def add(store: Store, rows: pl.DataFrame) -> int:
    with store.changing("add") as change:
        return change.add(rows)


def delete(store: Store, where: pl.Expr) -> int:
    with store.changing("delete") as change:
        return change.delete(where)


def ids(store: Store, where: pl.Expr | None = None) -> list[str]:
    return store.version().rows(["id"], where).get_column("id").to_list()


def test_there_is_no_corpus_before_the_first_change(store: Store) -> None:
    with pytest.raises(NotFoundError, match="there is no corpus in"):
        store.version()
    with pytest.raises(NotFoundError, match="there is no corpus in"):
        store.compact()


def test_what_is_added_is_read_as_it_was_given(store: Store) -> None:
    rows = chunks("a", "b", content="¿una palabra?\n\x00 \U0001f327")
    rows = pl.concat([rows, chunks("c", content=None, vector=[0.1, -2e300, 5e-324])])

    assert add(store, rows) == 3

    assert store.version().rows().equals(rows.sort("line", "id"))
    assert store.version().rows().schema == CHUNKS.schema


def test_rows_come_by_tenant_repository_path_line_and_id(store: Store) -> None:
    add(store, chunks("z", "y", tenant="b"))
    add(store, pl.concat([chunks("x", repo="z"), chunks("w", path="z.jsonl"), chunks("v", path="Z.jsonl")]))
    add(store, chunks("c").with_columns(line=pl.lit(None, pl.Int64)))
    add(store, pl.concat([chunks("b"), chunks("a")]))

    assert ids(store) == ["v", "c", "a", "b", "w", "x", "z", "y"]


def test_only_the_columns_and_rows_that_are_asked_for_come(store: Store) -> None:
    add(store, chunks("a", "b"))
    add(store, chunks("c", tenant="bob"))

    found = store.version().rows(["name", "line"], pl.col("tenant_id") == "bob")

    assert found.rows(named=True) == [{"name": "name of c", "line": 1}]


def test_a_chunk_that_is_there_stays_as_it_is(store: Store) -> None:
    add(store, chunks("a", content="first"))

    assert add(store, chunks("a", "b", content="second")) == 1

    assert store.version().rows(["content"]).get_column("content").to_list() == ["first", "second"]


def test_of_chunks_with_one_id_the_first_is_added(store: Store) -> None:
    assert add(store, pl.concat([chunks("a", content="one"), chunks("a", content="two")])) == 1

    assert store.version().rows(["content"]).item() == "one"


def test_deleting_gives_how_many_and_takes_them_out(store: Store) -> None:
    add(store, chunks("a", "b", "c"))
    add(store, chunks("d", "e"))

    assert delete(store, pl.col("line") == 2) == 2
    assert delete(store, pl.col("line") == 2) == 0

    assert ids(store) == ["a", "d", "c"]
    assert ids(store, pl.col("line") < 3) == ["a", "d"]


def test_a_condition_that_is_null_is_not_met(store: Store) -> None:
    add(store, chunks("a").with_columns(line=pl.lit(None, pl.Int64)))

    assert delete(store, pl.col("line") > 0) == 0


def test_an_id_that_was_deleted_can_come_again(store: Store) -> None:
    add(store, chunks("a", "b", content="old"))
    delete(store, pl.col("id") == "a")

    assert add(store, chunks("a", content="new")) == 1

    assert store.version().rows(["id", "content"]).rows() == [("a", "new"), ("b", "old")]


def test_an_id_that_is_deleted_in_a_change_is_new_in_it(store: Store) -> None:
    add(store, chunks("a", "b", content="old"))

    with store.changing("replace") as change:
        assert change.delete(pl.col("id") == "a") == 1
        assert change.rows(["id"]).get_column("id").to_list() == ["b"]
        assert change.add(chunks("a", content="new")) == 1
        assert change.rows(["id", "content"]).rows() == [("a", "new"), ("b", "old")]

    assert store.version().rows(["id", "content"]).rows() == [("a", "new"), ("b", "old")]


def test_what_a_change_adds_it_can_delete(store: Store) -> None:
    with store.changing("add and delete") as change:
        change.add(chunks("a", "b"))
        assert change.delete(pl.col("id") == "a") == 1

    assert ids(store) == ["b"]


def test_nothing_of_a_change_that_fails_is_there(store: Store) -> None:
    add(store, chunks("a"))

    def fail() -> None:
        with store.changing("fail") as change:
            change.delete(pl.lit(value=True))
            change.add(chunks("b"))
            change.configure("ada")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()

    assert ids(store) == ["a"]
    assert store.version().config_versions == {}


def test_a_version_does_not_change_when_others_write(store: Store) -> None:
    add(store, chunks("a", "b"))
    delete(store, pl.col("id") == "b")
    before = store.version()

    add(store, chunks("c"))
    delete(store, pl.col("id") == "a")
    store.compact()

    assert before.rows(["id"]).get_column("id").to_list() == ["a"]
    assert ids(store) == ["c"]


def test_a_change_that_changes_nothing_makes_no_version(store: Store) -> None:
    snapshot = PathSnapshot("ada", "lab", ("a",), SAID)
    with store.changing("first") as change:
        change.add(chunks("a", "b"))
        change.keep_snapshot(snapshot)
    before = store.version().measures

    with store.changing("the same again") as change:
        change.add(chunks("b", "a"))
        change.delete(pl.col("id") == "c")
        change.keep_snapshot(snapshot)
        change.add(chunks("c"))
        change.delete(pl.col("id") == "c")

    assert store.version().measures == before


def test_snapshots_are_kept_and_replaced(store: Store) -> None:
    lab, garden = PathSnapshot("ada", "lab", ("a", "b"), SAID), PathSnapshot("ada", "garden", (), SAID)
    bob = PathSnapshot("bob", "lab", ("c",), SAID)
    with store.changing("say") as change:
        change.keep_snapshot(lab)
        change.keep_snapshot(bob)
        change.keep_snapshot(garden)
        change.add(chunks("a"))
    assert store.version().snapshots == (garden, lab, bob)

    later = PathSnapshot("ada", "lab", ("a",), SAID + timedelta(microseconds=1))
    with store.changing("say again") as change:
        change.keep_snapshot(later)
        assert change.snapshots == (garden, later, bob)
    assert store.version().snapshots == (garden, later, bob)

    with store.changing("forget") as change:
        change.keep("paths", change.table("paths").clear())
    assert store.version().snapshots == ()


def test_configurations_are_counted_by_tenant(store: Store) -> None:
    with store.changing("configure") as change:
        assert change.configure("ada") == 1
        assert change.configure("ada") == 2
        assert change.configure("bob") == 1

    assert store.version().config_versions == {"ada": 2, "bob": 1}
    assert store.version().rows().equals(CHUNKS.empty())


def test_a_corpus_whose_vectors_are_all_replaced_takes_those_of_another_length(store: Store) -> None:
    add(store, chunks("a", vector=[1.0, 2.0]))

    with store.changing("replace") as change:
        change.delete(pl.lit(value=True))
        change.add(chunks("a", vector=[1.0]))

    assert store.version().dimension == 1


def test_a_length_is_forgotten_when_no_vector_is_there_any_more(store: Store) -> None:
    with store.changing("add") as change:
        change.add(pl.concat([chunks("a", vector=[1.0, 2.0]), chunks("b")]))
    delete(store, pl.col("id") == "a")

    store.compact()

    assert store.version().dimension is None


def test_a_corpus_that_is_emptied_is_still_one(store: Store) -> None:
    add(store, chunks("a"))

    delete(store, pl.lit(value=True))

    assert store.version().rows().equals(CHUNKS.empty())
    assert store.version().measures.parts == 0
    assert add(store, chunks("a")) == 1


def test_its_measures_are_told(store: Store) -> None:
    add(store, chunks("a", "b", "c"))
    add(store, chunks("d"))

    measures = store.version().measures

    assert (measures.version, measures.rows, measures.parts, measures.deleted) == (2, 4, 2, 0)
    assert measures.bytes > 1000


def test_order_does_not_depend_on_how_chunks_came(store: Store) -> None:
    rows = pl.concat([chunks(f"{n}a", f"{n}b", path=f"{n % 5}.jsonl") for n in range(20)])
    for part in rows.sample(fraction=1, shuffle=True, seed=3).iter_slices(7):
        add(store, part)
    before = store.version().rows()

    store.compact()

    assert before.equals(store.version().rows())
    assert before.equals(rows.sort("tenant_id", "repo_slug", "source_path", "line", "id"))


def test_a_first_change_that_brings_nothing_makes_the_corpus(store: Store) -> None:
    with store.changing("make"):
        pass

    assert store.version().measures.rows == 0
