from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from vocabgap.ingest.scanning import scan
from vocabgap.reporting.overviews import Combination, recurring

Gap = Callable[..., dict[str, object]]
Corpus = Callable[..., Path]


@pytest.fixture
def counted(gap: Gap, write_corpus: Corpus) -> Callable[..., pl.DataFrame]:
    def make(*operations: list[str], images: list[str] | None = None, need: str = "sky mask") -> pl.DataFrame:
        named = images or [f"image-{number}" for number in range(len(operations))]
        logs: dict[str, list[dict[str, object]]] = {name: [] for name in named}
        for number, (image, used) in enumerate(zip(named, operations, strict=True)):
            logs[image].append(gap(need, operations_involved=used, session_id=f"s-{number}"))
        scanned = scan(write_corpus(logs))
        return scanned.gaps.filter("counted").with_columns(pl.lit("cap-1").alias("capability_id"))

    return make


def test_the_same_operations_in_another_order_are_one_combination(
    counted: Callable[..., pl.DataFrame],
) -> None:
    found = recurring(counted(["exposure", "crop"], ["crop", "exposure"]))
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
def test_nothing_recurs_together(counted: Callable[..., pl.DataFrame], operations: list[list[str]]) -> None:
    assert recurring(counted(*operations)) == ()


def test_only_the_whole_set_of_a_record_counts(counted: Callable[..., pl.DataFrame]) -> None:
    found = recurring(counted(["a", "b"], ["a", "b"], ["a", "b", "c"]))
    assert [(item.operations, item.mentions) for item in found] == [(("a", "b"), 2)]


def test_spellings_of_one_operation_fold(counted: Callable[..., pl.DataFrame]) -> None:
    found = recurring(counted(["Tone Equalizer", "crop"], ["toneequal", "crop"], ["toneequalizer", " crop"]))
    assert [(item.operations, item.mentions) for item in found] == [(("crop", "toneequal"), 3)]


def test_own_aliases_fold_too(counted: Callable[..., pl.DataFrame]) -> None:
    found = recurring(counted(["trim", "exposure"], ["crop", "exposure"]), {"trim": "crop"})
    assert [item.operations for item in found] == [("crop", "exposure")]


def test_two_spellings_in_one_record_are_one_operation(counted: Callable[..., pl.DataFrame]) -> None:
    spelt = ["toneequal", "toneequalizer"]
    assert recurring(counted(spelt, spelt)) == ()


def test_images_are_counted_once(counted: Callable[..., pl.DataFrame]) -> None:
    found = recurring(counted(["a", "b"], ["a", "b"], ["a", "b"], images=["one", "one", "two"]))
    assert [(item.mentions, item.images) for item in found] == [(3, 2)]


def test_most_frequent_comes_first_and_ties_go_by_name(counted: Callable[..., pl.DataFrame]) -> None:
    found = recurring(counted(*[["y", "z"]] * 2, *[["m", "n"]] * 3, *[["a", "b"]] * 2))
    assert [item.operations for item in found] == [("m", "n"), ("a", "b"), ("y", "z")]


def test_at_most_ten_are_shown(counted: Callable[..., pl.DataFrame]) -> None:
    pairs = [[f"left-{number:02}", f"right-{number:02}"] for number in range(12)]
    assert len(recurring(counted(*pairs, *pairs))) == 10


def test_no_records_have_no_combinations(counted: Callable[..., pl.DataFrame]) -> None:
    assert recurring(counted(["a", "b"], ["a", "b"]).clear()) == ()
