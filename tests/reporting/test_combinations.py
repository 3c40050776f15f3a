from pathlib import Path

import polars as pl
import pytest

from builders import gap, write_corpus
from vocabgap.ingest.scanning import scan
from vocabgap.reporting.overviews import Combination, recurring


def counted(
    tmp_path: Path, *operations: list[str], images: list[str] | None = None, need: str = "sky mask"
) -> pl.DataFrame:
    named = images or [f"image-{number}" for number in range(len(operations))]
    logs: dict[str, list[dict[str, object]]] = {name: [] for name in named}
    for number, (image, used) in enumerate(zip(named, operations, strict=True)):
        logs[image].append(gap(need, operations_involved=used, session_id=f"s-{number}"))
    scanned = scan(write_corpus(tmp_path, logs))
    return scanned.gaps.filter("counted").with_columns(pl.lit("cap-1").alias("capability_id"))


def test_the_same_operations_in_another_order_are_one_combination(
    tmp_path: Path,
) -> None:
    found = recurring(counted(tmp_path, ["exposure", "crop"], ["crop", "exposure"]))
    assert found == (Combination(("crop", "exposure"), mentions=2, images=2, capabilities=1),)


@pytest.mark.parametrize(
    "operations",
    [
        [["exposure"], ["exposure"]],
        [["exposure", "exposure"], ["exposure", "exposure"]],
        [["exposure", "crop"], ["exposure", "sharpen"]],
        [[], []],
        [["exposure", " "], ["exposure", " "]],
    ],
    ids=["one operation", "one operation twice", "named once each", "none", "one operation and a blank"],
)
def test_nothing_recurs_together(tmp_path: Path, operations: list[list[str]]) -> None:
    assert recurring(counted(tmp_path, *operations)) == ()


def test_only_the_whole_set_of_a_record_counts(tmp_path: Path) -> None:
    found = recurring(counted(tmp_path, ["a", "b"], ["a", "b"], ["a", "b", "c"]))
    assert [(item.operations, item.mentions) for item in found] == [(("a", "b"), 2)]


def test_spellings_of_one_operation_fold(tmp_path: Path) -> None:
    found = recurring(
        counted(tmp_path, ["Tone Equalizer", "crop"], ["toneequal", "crop"], ["toneequalizer", " crop"])
    )
    assert [(item.operations, item.mentions) for item in found] == [(("crop", "toneequal"), 3)]


def test_own_aliases_fold_too(tmp_path: Path) -> None:
    found = recurring(counted(tmp_path, ["trim", "exposure"], ["crop", "exposure"]), {"trim": "crop"})
    assert [item.operations for item in found] == [("crop", "exposure")]


def test_two_spellings_in_one_record_are_one_operation(tmp_path: Path) -> None:
    spelt = ["toneequal", "toneequalizer"]
    assert recurring(counted(tmp_path, spelt, spelt)) == ()


def test_images_are_counted_once(tmp_path: Path) -> None:
    found = recurring(counted(tmp_path, ["a", "b"], ["a", "b"], ["a", "b"], images=["one", "one", "two"]))
    assert [(item.mentions, item.images) for item in found] == [(3, 2)]


def test_most_frequent_comes_first_and_ties_go_by_name(tmp_path: Path) -> None:
    found = recurring(counted(tmp_path, *[["y", "z"]] * 2, *[["m", "n"]] * 3, *[["a", "b"]] * 2))
    assert [item.operations for item in found] == [("m", "n"), ("a", "b"), ("y", "z")]


def test_at_most_ten_are_shown(tmp_path: Path) -> None:
    pairs = [[f"left-{number:02}", f"right-{number:02}"] for number in range(12)]
    assert len(recurring(counted(tmp_path, *pairs, *pairs))) == 10


def test_no_records_have_no_combinations(tmp_path: Path) -> None:
    assert recurring(counted(tmp_path, ["a", "b"], ["a", "b"]).clear()) == ()
