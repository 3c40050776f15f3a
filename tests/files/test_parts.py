"""A table in parts: its rows, its buckets and its marks are those of one frame, whatever the parts."""

import threading
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from vocabgap.errors import StateError
from vocabgap.files import parts
from vocabgap.files.parts import ROW, Collector, KeptFolder, Parts, remove_kept

rows = st.lists(st.tuples(st.sampled_from("abcdefg"), st.integers(0, 9)), max_size=60)


@pytest.fixture(autouse=True, scope="module")
def _small() -> Iterator[None]:
    """Many parts and buckets for few rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "MOST_ROWS", 7)
        patch.setattr(parts, "MOST_BYTES", 100)
        yield


def whole_and_table(drawn: list[tuple[str, int]]) -> tuple[pl.DataFrame, Parts]:
    whole = pl.DataFrame(drawn, {"name": pl.String, "number": pl.Int64}, orient="row")
    collector = Collector()
    for frame in whole.iter_slices(3):
        collector.add(frame)
    return whole, collector.parts(whole.clear())


def totals(frame: pl.DataFrame) -> dict[str, pl.DataFrame]:
    return {"totals": frame.group_by("name").agg(pl.col("number").sum(), rows=pl.len())}


@settings(max_examples=60, deadline=None)
@given(rows, st.integers(0, 9))
def test_a_table_in_parts_is_one_frame(drawn: list[tuple[str, int]], marked: int) -> None:
    whole, table = whole_and_table(drawn)

    assert_frame_equal(table.collect().drop(ROW), whole)
    assert table.collect()[ROW].is_sorted()
    assert_frame_equal(
        table.lazy().select("number", "name").collect(), whole.select("number", "name")
    )
    by_name = table.by(["name"], totals, lambda part: part.select("name", "number"))["totals"]
    assert_frame_equal(by_name.sort("name"), totals(whole)["totals"].sort("name"))
    named = table.each(lambda part: part.filter(number=marked).select(ROW)).with_columns(
        mark=pl.lit("seen")
    )
    seen = (
        table.marked(named).then(lambda part: part.filter(pl.col("mark").is_not_null())).collect()
    )
    assert_frame_equal(seen.select(whole.columns), whole.filter(number=marked))


def test_a_written_table_is_read_again_in_parts(tmp_path: Path) -> None:
    whole, table = whole_and_table([("a", number) for number in range(50)])

    again = table.write(tmp_path / "table.parquet")

    assert_frame_equal(pl.read_parquet(tmp_path / "table.parquet"), whole)
    assert_frame_equal(again.collect().drop(ROW), whole)


def test_a_full_disk_is_one_error_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(parts, "write_parquet", refuse)
    with pytest.raises(StateError, match="No space left on device") as raised:
        whole_and_table([("a", number) for number in range(50)])
    assert "TMPDIR" in (raised.value.hint or "")


def test_folders_are_removed_at_the_end_though_somebody_holds_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parts, "_KEPT", set())
    monkeypatch.setattr(parts, "_ENDING", threading.Event())
    held, freed = KeptFolder(), KeptFolder()
    freed.remove()

    remove_kept()

    assert not Path(held.name).exists()
    with pytest.raises(StateError, match="the program is ending"):
        KeptFolder()
