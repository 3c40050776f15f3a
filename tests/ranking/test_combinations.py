"""Sets of operations that recur in the records of a capability, and what was done instead."""

from collections.abc import Sequence
from typing import Any

import pytest

from builders.ranking import ranked


def combinations_of(
    *operations: Sequence[str],
    **settings: Any,  # noqa: ANN401 - passed on to rank
) -> list[tuple[list[str], int]]:
    rows = [{"operations_involved": list(names)} for names in operations]
    found = ranked(rows, **settings)["combinations"].to_list()[0]
    return [(entry["operations"], entry["mentions"]) for entry in found]


def test_combination_is_a_set_of_folded_operations() -> None:
    found = combinations_of(["crop", "Tone Equalizer"], ["toneequal", "crop", " crop"])

    assert found == [(["crop", "toneequal"], 2)]


@pytest.mark.parametrize(
    "operations",
    [[["a", "b"]], [["a"], ["a"]], [["a", "A b"], ["a", "b"]], [["a", " "], ["a", ""]], [[], []]],
)
def test_what_does_not_recur_or_stands_alone_is_none(operations: list[list[str]]) -> None:
    assert combinations_of(*operations) == []


def test_most_frequent_comes_first_and_then_the_name_that_sorts_first() -> None:
    found = combinations_of(*[["y", "z"]] * 2, *[["m", "n"]] * 3, *[["a", "b"]] * 2)

    assert found == [(["m", "n"], 3), (["a", "b"], 2), (["y", "z"], 2)]


def workarounds_of(*texts: str) -> list[tuple[str, int]]:
    found = ranked([{"workaround": text} for text in texts])["workarounds"].to_list()[0]
    return [(entry["workaround"], entry["mentions"]) for entry in found]


def test_workarounds_are_counted_most_frequent_first() -> None:
    found = workarounds_of("a brush", "cloned by hand", "cloned by hand", "", " ")

    assert found == [("cloned by hand", 2), ("a brush", 1)]


def test_spellings_of_a_workaround_count_as_one_in_the_most_used_words() -> None:
    found = workarounds_of("A  brush.", "a brush", " a brush ", "A Brush")

    assert found == [("a brush", 4)]


def test_five_workarounds_are_kept() -> None:
    found = workarounds_of(*"abcdefg")

    assert found == [(name, 1) for name in "abcde"]
