from pathlib import Path

import polars as pl
import pytest

from builders.corpus import chunks
from vocabgap.corpus import store as changes
from vocabgap.corpus.store import Store, _segments
from vocabgap.corpus.version import PATH_KEY

FORGOTTEN = "the cellar of the old observatory"


def everything_in(folder: Path) -> bytes:
    """The bytes of every file, and the text of every value where they are compressed."""
    found = b""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        found += path.name.encode() + path.read_bytes()
        if path.suffix == ".parquet":
            found += str(pl.read_parquet(path).rows()).encode()
    return found


def test_what_was_deleted_is_in_no_file_afterwards(store: Store, tmp_path: Path) -> None:
    with store.changing("add") as change:
        change.add(chunks("a", "secret-id", tenant="ada", content=FORGOTTEN, path="secret/log.jsonl"))
        change.add(chunks("c", "d"))
    with store.changing("forget") as change:
        assert change.delete(pl.col("source_path") == "secret/log.jsonl") == 2
        assert change.delete(pl.col("id") == "c") == 1
    with store.changing("add and forget") as change:
        change.add(chunks("e", "f", content=FORGOTTEN))
        change.delete(pl.col("id") == "e")
        change.delete(pl.col("id") == "f")
    before = store.version().rows()

    measures = store.compact()

    found = everything_in(tmp_path)
    assert FORGOTTEN.encode() not in found
    assert b"secret" not in found
    assert b"smell of rain" in found, "what is there is found this way"
    assert (measures.rows, measures.deleted, measures.parts) == (1, 0, 1)
    assert store.version().rows().equals(before)


def test_compacting_again_changes_nothing(store: Store) -> None:
    for name in "abc":
        with store.changing("add") as change:
            change.add(chunks(name))
    before = store.compact()

    assert store.compact() == before


def test_a_large_corpus_is_written_in_several_parts(
    parquet_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "_PART_ROWS", 10)
    rows = pl.concat([chunks(f"{n}a", f"{n}b", f"{n}c", path=f"{n % 9}.jsonl") for n in range(18)])
    for part in rows.sample(fraction=1, shuffle=True, seed=1).iter_slices(11):
        with parquet_store.changing("add") as change:
            change.add(part)

    measures = parquet_store.compact()

    assert measures.parts == 6
    assert parquet_store.version().rows().equals(rows.sort(*PATH_KEY, "line", "id"))


def test_every_path_lies_in_exactly_one_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "_PART_ROWS", 5)
    keys = [
        (tenant, repo, path) for tenant in ("", "a", "b") for repo in ("", "r") for path in ("", "p", "q")
    ]
    counts = pl.DataFrame(keys, schema=list(PATH_KEY), orient="row").with_columns(len=pl.lit(2, pl.UInt32))

    found = _segments(counts)

    met = counts.select(pl.sum_horizontal(found).alias("met")).get_column("met")
    assert len(found) > 1
    assert met.to_list() == [1] * len(keys)


def test_of_nothing_there_are_no__segments() -> None:
    schema = {**dict.fromkeys(PATH_KEY, pl.String), "len": pl.UInt32}

    assert _segments(pl.DataFrame(schema=schema)) == []
