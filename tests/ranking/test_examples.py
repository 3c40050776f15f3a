"""Which records are shown as the examples of a capability."""

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from builders.ranking import by_surface, day, ranked, records
from vocabgap.model.tables import EXAMPLE_FIELDS
from vocabgap.ranking.capabilities import rank

Row = Mapping[str, Any]


def examples_of(table: pl.DataFrame) -> list[dict[str, Any]]:
    """The examples of the only capability."""
    found: list[dict[str, Any]] = table["examples"].item().to_list()
    return found


def test_at_most_three_examples_are_shown() -> None:
    table = ranked([{"image_id": name} for name in "abcde"])

    assert len(examples_of(table)) == 3


def test_all_records_of_a_rare_capability_are_examples() -> None:
    table = ranked([{"timestamp": day(1)}, {"timestamp": day(2)}])

    assert [example["timestamp"] for example in examples_of(table)] == [day(2), day(1)]


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


def test_examples_come_from_different_images_first() -> None:
    images = [("a", 9), ("a", 8), ("a", 7), ("b", 2), ("c", 1)]

    table = ranked([{"image_id": image, "timestamp": day(number)} for image, number in images])

    assert [example["image_id"] for example in examples_of(table)] == ["a", "b", "c"]


def test_second_record_of_an_image_fills_up_the_examples() -> None:
    images = [("a", 9), ("a", 8), ("a", 7), ("b", 2)]

    table = ranked([{"image_id": image, "timestamp": day(number)} for image, number in images])

    assert [example["timestamp"] for example in examples_of(table)] == [day(9), day(8), day(2)]


def test_newest_records_are_the_examples() -> None:
    table = ranked([{"image_id": f"i{number}", "timestamp": day(number)} for number in (4, 1, 5, 2, 3)])

    assert [example["timestamp"] for example in examples_of(table)] == [day(5), day(4), day(3)]


def test_example_without_a_timestamp_comes_last() -> None:
    table = ranked([{"image_id": "a", "timestamp": None}, {"image_id": "b", "timestamp": day(1)}])

    assert [example["timestamp"] for example in examples_of(table)] == [day(1), None]


@pytest.mark.parametrize("field", ["session_id", "snapshot_hash", "workaround"])
def test_record_that_knows_more_comes_before_a_newer_one(field: str) -> None:
    table = ranked([{"timestamp": day(1), field: "known"}, *({"timestamp": day(n)} for n in (5, 6, 7))])

    assert [example["timestamp"] for example in examples_of(table)] == [day(7), day(6), day(1)]


def test_other_images_come_before_a_second_record_that_knows_more() -> None:
    known = {"image_id": "a", "session_id": "s1", "snapshot_hash": "abc123", "workaround": "a brush"}

    table = ranked(
        [
            {**known, "timestamp": day(9)},
            {**known, "timestamp": day(8)},
            {"image_id": "b", "timestamp": day(2)},
            {"image_id": "c", "timestamp": day(1)},
        ]
    )

    assert [example["image_id"] for example in examples_of(table)] == ["a", "b", "c"]


@pytest.mark.parametrize("field", ["session_id", "snapshot_hash", "workaround"])
@pytest.mark.parametrize("blank", ["", " "])
def test_record_does_not_know_what_is_blank(field: str, blank: str) -> None:
    older = [{"image_id": f"b{number}", "timestamp": day(number), field: blank} for number in (1, 2, 3)]

    table = ranked([*older, {"image_id": "a", "timestamp": day(9), field: None}])

    assert examples_of(table)[0]["timestamp"] == day(9)


def test_examples_of_the_same_moment_are_in_order_of_place() -> None:
    places = [("z/log", 1), ("a/log", 2), ("a/log", 1)]

    table = ranked([{"timestamp": day(1), "source_path": path, "line": line} for path, line in places])

    found = [(example["source_path"], example["line"]) for example in examples_of(table)]
    assert found == [("a/log", 1), ("a/log", 2), ("z/log", 1)]


def test_examples_do_not_depend_on_the_order_of_records_where_tenants_share_a_place() -> None:
    # Each tenant has a repository `photos` with a log of the same path, and wrote line 4 at the same moment.
    frame = records(
        [
            {"timestamp": day(1), "line": 4, "tenant_id": tenant, "record_id": tenant, "description": tenant}
            for tenant in ("ana", "bo", "cy", "dee", "eve")
        ]
    )

    forwards, backwards = rank(frame, by_surface(frame)), rank(frame.reverse(), by_surface(frame))

    assert_frame_equal(forwards.select("examples"), backwards.select("examples"))


def test_every_capability_has_examples_of_its_own() -> None:
    table = ranked(
        [
            {"missing_capability": "lamp glow", "description": "first"},
            {"missing_capability": "tilt shift", "description": "second"},
        ]
    )

    described = {
        row["label"]: [example["description"] for example in row["examples"]]
        for row in table.iter_rows(named=True)
    }
    assert described == {"lamp glow": ["first"], "tilt shift": ["second"]}
