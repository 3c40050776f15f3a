"""Which records are shown as the examples of a capability."""

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from builders.ranking import day, ranked, records
from vocabgap.model.tables import EXAMPLE_FIELDS

Row = Mapping[str, Any]


def examples_of(table: pl.DataFrame) -> list[dict[str, Any]]:
    """The examples of the only capability."""
    found: list[dict[str, Any]] = table["examples"].item().to_list()
    return found


def test_example_holds_the_record_and_where_it_stands() -> None:
    row = {
        "timestamp": day(3),
        "image_id": "pier-7",
        "session_id": "s1",
        "snapshot_hash": "abc123",
        "description": "no glow around lamps",
        "intent": "make the lamps glow",
        "workaround": "raised highlights",
        "satisfaction": -1,
        "notes": "twice",
        "repo_slug": "coast",
        "source_path": "pier-7/vocabulary_gaps.jsonl",
        "line": 12,
    }

    table = ranked([row])

    fields = [name for name in EXAMPLE_FIELDS if name != "wording"]
    (expected,) = records([row]).select(fields).to_dicts()
    (example,) = examples_of(table)
    assert example == {"wording": table["label"][0], **expected}


def test_second_record_of_an_image_fills_up_the_examples() -> None:
    images = [("a", 9), ("a", 8), ("a", 7), ("b", 2)]

    table = ranked([{"image_id": image, "timestamp": day(number)} for image, number in images])

    assert [example["timestamp"] for example in examples_of(table)] == [day(9), day(8), day(2)]


@pytest.mark.parametrize("field", ["session_id", "snapshot_hash", "workaround"])
def test_record_that_knows_more_comes_before_a_newer_one(field: str) -> None:
    newer = [{"timestamp": day(n), field: blank} for n, blank in ((5, ""), (6, " "), (7, ""))]
    table = ranked([{"timestamp": day(1), field: "known"}, *newer])

    assert [example["timestamp"] for example in examples_of(table)] == [day(7), day(6), day(1)]


def test_examples_of_the_same_moment_are_in_order_of_place() -> None:
    places = [("z/log", 1), ("a/log", 2), ("a/log", 1)]

    table = ranked(
        [{"timestamp": day(1), "source_path": path, "line": line} for path, line in places]
    )

    found = [(example["source_path"], example["line"]) for example in examples_of(table)]
    assert found == [("a/log", 1), ("a/log", 2), ("z/log", 1)]
