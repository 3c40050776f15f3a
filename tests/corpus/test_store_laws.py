"""For any sequence of changes a store holds what a plain dictionary holds."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.corpus import chunks
from vocabgap.corpus.store import Change, Store
from vocabgap.corpus.version import Version

Step = tuple[str, Any]
Model = dict[str, dict[str, Any]]

IDS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=5)
ADD = st.tuples(st.just("add"), st.tuples(IDS, st.sampled_from(["x", "y"]), st.sampled_from(["1", "2"])))
DELETE = st.one_of(
    st.tuples(st.just("path"), st.sampled_from(["1", "2"])),
    st.tuples(st.just("line"), st.integers(1, 4)),
    st.tuples(st.just("id"), IDS),
)
CHANGES = st.lists(st.one_of(st.lists(st.one_of(ADD, DELETE), max_size=4), st.just("compact")), max_size=8)


def make(told: tuple[list[str], str, str]) -> pl.DataFrame:
    ids, content, path = told
    return chunks(*ids, content=content, path=path)


def where(step: Step) -> pl.Expr:
    column, values = named(step)
    return pl.col(column).is_in(values)


def named(step: Step) -> tuple[str, list[Any]]:
    column = {"id": "id", "path": "source_path", "line": "line"}[step[0]]
    return column, step[1] if step[0] == "id" else [step[1]]


def apply(change: Change, model: Model, step: Step) -> None:
    if step[0] == "add":
        before = len(model)
        for row in make(step[1]).to_dicts():
            model.setdefault(row["id"], row)
        assert change.add(make(step[1])) == len(model) - before
        return
    column, wanted = named(step)
    gone = [each for each, row in model.items() if row[column] in wanted]
    for each in gone:
        del model[each]
    assert change.delete(where(step)) == len(gone)


def holds(version: Version, model: Model) -> None:
    ordered = sorted(model.values(), key=lambda row: (row["source_path"], row["line"], row["id"]))
    assert version.rows().to_dicts() == ordered
    for path in "12":
        expected = [row["id"] for row in ordered if row["source_path"] == path and row["line"] < 3]
        found = version.rows(["id"], (pl.col("source_path") == path) & (pl.col("line") < 3))
        assert found.get_column("id").to_list() == expected


def follow(store: Store, changes: list[Any]) -> None:
    model: Model = {}
    with store.changing("make"):
        pass
    for steps in changes:
        if steps == "compact":
            if model:
                store.compact()
        else:
            with store.changing("change") as change:
                for step in steps:
                    apply(change, model, step)
                holds(change, model)
        if model:
            holds(store.version(), model)
            assert store.version().measures.rows == len(model)


@given(changes=CHANGES)
def test_a_corpus_of_parquet_files_equals_a_dictionary(changes: list[Any]) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("vocabgap.corpus.store._MANY_PARTS", 4)  # so that small parts are joined here, too
        follow(Store(Path(folder) / "corpus"), changes)
