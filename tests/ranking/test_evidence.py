from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from vocabgap.clustering import Clusters
from vocabgap.ranking import rank
from vocabgap.schema import EXAMPLE_FIELDS

Row = Mapping[str, Any]
Records = Callable[[Sequence[Row]], pl.DataFrame]
Ranked = Callable[..., pl.DataFrame]
BySurface = Callable[[pl.DataFrame], Clusters]


def day(number: int) -> datetime:
    return datetime(2025, 5, number, 12, tzinfo=UTC)


def tally_of(table: pl.DataFrame, column: str) -> list[tuple[str, int]]:
    """The tally of the only capability."""
    return [(entry["name"], entry["mentions"]) for entry in table[column].item().to_list()]


def examples_of(table: pl.DataFrame) -> list[dict[str, Any]]:
    """The examples of the only capability."""
    found: list[dict[str, Any]] = table["examples"].item().to_list()
    return found


def test_images_of_the_same_name_in_two_repositories_are_two(ranked: Ranked) -> None:
    table = ranked([{"repo_slug": "coast"}, {"repo_slug": "inland"}, {"repo_slug": "coast"}])

    assert table["images"].to_list() == [2]


def test_images_of_the_same_name_of_two_tenants_are_two(ranked: Ranked) -> None:
    table = ranked([{"tenant_id": "ana"}, {"tenant_id": "bo"}])

    assert table.select("images", "tenants").rows() == [(2, 2)]


@pytest.mark.parametrize("unknown", [None, "", "  ", "\x1c"])
def test_unknown_session_is_not_counted(ranked: Ranked, unknown: str | None) -> None:
    table = ranked([{"session_id": unknown}, {"session_id": "s1"}, {"session_id": "s1"}])

    assert table["sessions"].to_list() == [1]


def test_capability_without_any_known_session_has_none(ranked: Ranked) -> None:
    assert ranked([{}, {}])["sessions"].to_list() == [0]


def test_one_session_across_images_is_one(ranked: Ranked) -> None:
    table = ranked([{"session_id": "s1", "image_id": "a"}, {"session_id": "s1", "image_id": "b"}])

    assert table.select("images", "sessions").rows() == [(2, 1)]


def test_ratings_are_counted_by_value(ranked: Ranked) -> None:
    table = ranked([{"satisfaction": value} for value in (-1, -1, -1, 0, 0, 1, None, None, None, None)])

    assert table.select("unsatisfied", "neutral", "satisfied", "unrated").rows() == [(3, 2, 1, 4)]


def test_first_and_last_seen_leave_unreadable_timestamps_out(ranked: Ranked) -> None:
    table = ranked([{"timestamp": day(9)}, {"timestamp": None}, {"timestamp": day(2)}])

    assert table.select("first_seen", "last_seen").rows() == [(day(2), day(9))]


def test_capability_without_a_readable_timestamp_was_seen_at_no_time(ranked: Ranked) -> None:
    table = ranked([{"timestamp": None}])

    assert table.select("first_seen", "last_seen").rows() == [(None, None)]


@pytest.mark.parametrize(
    ("spelling", "category"),
    [
        ("tonal", "tone"),
        ("Tone", "tone"),
        ("colour", "color"),
        ("structure", "detail"),
        ("mask", "local"),
        ("composite", "composition"),
        ("white balance", "wb"),
        ("White_Balance", "wb"),
        ("Weather", "Weather"),
    ],
)
def test_category_aliases_fold(ranked: Ranked, spelling: str, category: str) -> None:
    table = ranked([{"intent_category": spelling}, {"intent_category": category}])

    assert tally_of(table, "categories") == [(category, 2)]
    assert table["intent_category"].to_list() == [category]


def test_given_category_aliases_are_used(ranked: Ranked) -> None:
    table = ranked([{"intent_category": "Hue"}], category_aliases={"hue": "color"})

    assert tally_of(table, "categories") == [("color", 1)]


def test_main_category_is_the_most_frequent(ranked: Ranked) -> None:
    table = ranked([{"intent_category": name} for name in ("tone", "detail", "structure")])

    assert table["intent_category"].to_list() == ["detail"]


def test_main_category_of_equally_frequent_ones_sorts_first(ranked: Ranked) -> None:
    table = ranked([{"intent_category": name} for name in ("wb", "color")])

    assert table["intent_category"].to_list() == ["color"]


def test_named_category_comes_before_a_more_frequent_uncategorized(ranked: Ranked) -> None:
    table = ranked([{"intent_category": name} for name in ("uncategorized", "uncategorized", "tone")])

    assert table["intent_category"].to_list() == ["tone"]
    assert tally_of(table, "categories") == [("uncategorized", 2), ("tone", 1)]


def test_main_category_is_uncategorized_where_nothing_else_is_named(ranked: Ranked) -> None:
    assert ranked([{}])["intent_category"].to_list() == ["uncategorized"]


@pytest.mark.parametrize("blank", ["", "  ", "\t"])
def test_blank_category_is_uncategorized(ranked: Ranked, blank: str) -> None:
    table = ranked([{"intent_category": blank}])

    assert table["intent_category"].to_list() == ["uncategorized"]


@pytest.mark.parametrize("blank", ["", "  ", "\x1c"])
def test_categories_account_for_every_mention(ranked: Ranked, blank: str) -> None:
    table = ranked([{"intent_category": blank}, {"intent_category": "tone"}])

    assert tally_of(table, "categories") == [("tone", 1), ("uncategorized", 1)]


@pytest.mark.parametrize("spelling", ["toneequalizer", "ToneEqualizer", "tone equalizer", " toneequal "])
def test_operation_aliases_fold(ranked: Ranked, spelling: str) -> None:
    table = ranked([{"operations_involved": [spelling]}, {"operations_involved": ["toneequal"]}])

    assert tally_of(table, "operations") == [("toneequal", 2)]


def test_given_operation_aliases_are_used(ranked: Ranked) -> None:
    table = ranked([{"operations_involved": ["Burn"]}], operation_aliases={"burn": "exposure"})

    assert tally_of(table, "operations") == [("exposure", 1)]


def test_record_that_holds_two_spellings_of_an_operation_counts_once(ranked: Ranked) -> None:
    table = ranked([{"operations_involved": ["toneequal", "toneequalizer", "toneequal", "exposure"]}])

    assert tally_of(table, "operations") == [("exposure", 1), ("toneequal", 1)]


def test_operations_are_most_frequent_first_then_by_name(ranked: Ranked) -> None:
    table = ranked([{"operations_involved": ["sharpen", "crop"]}, {"operations_involved": ["tilt", "crop"]}])

    assert tally_of(table, "operations") == [("crop", 2), ("sharpen", 1), ("tilt", 1)]


def test_vocabulary_used_is_tallied_by_record(ranked: Ranked) -> None:
    table = ranked([{"vocabulary_used": ["warm_dusk", " warm_dusk "]}, {"vocabulary_used": ["warm_dusk"]}])

    assert tally_of(table, "vocabulary_used") == [("warm_dusk", 2)]


@pytest.mark.parametrize("column", ["operations_involved", "vocabulary_used"])
@pytest.mark.parametrize("blank", ["", " ", "\x1c", "\x1f\n"])
def test_blank_names_are_not_tallied(ranked: Ranked, column: str, blank: str) -> None:
    table = ranked([{column: [blank, "crop"]}])

    assert tally_of(table, column.replace("operations_involved", "operations")) == [("crop", 1)]


@pytest.mark.parametrize("nothing", [[], None, [None]])
def test_capability_without_operations_has_an_empty_tally(ranked: Ranked, nothing: list[None] | None) -> None:
    table = ranked([{"operations_involved": nothing, "vocabulary_used": nothing}])

    assert tally_of(table, "operations") == []
    assert tally_of(table, "vocabulary_used") == []


def test_tallies_of_two_capabilities_do_not_mix(ranked: Ranked) -> None:
    table = ranked(
        [
            {"missing_capability": "lamp glow", "operations_involved": ["bloom"]},
            {"missing_capability": "lamp glow", "operations_involved": []},
            {"missing_capability": "tilt shift", "operations_involved": ["blur"]},
        ]
    )

    names = [[entry["name"] for entry in tally] for tally in table["operations"].to_list()]
    assert names == [["bloom"], ["blur"]]


def test_variants_are_every_wording_most_frequent_first(ranked: Ranked) -> None:
    wordings = ["lamp glow", "Lamp Glow", "lamp_glow", "lamp_glow"]

    table = ranked([{"missing_capability": wording} for wording in wordings])

    assert table["variants"].item().to_list() == [
        {"wording": "lamp_glow", "mentions": 2, "similarity": 1.0},
        {"wording": "Lamp Glow", "mentions": 1, "similarity": 1.0},
        {"wording": "lamp glow", "mentions": 1, "similarity": 1.0},
    ]


def test_at_most_three_examples_are_shown(ranked: Ranked) -> None:
    table = ranked([{"image_id": name} for name in "abcde"])

    assert len(examples_of(table)) == 3


def test_all_records_of_a_rare_capability_are_examples(ranked: Ranked) -> None:
    table = ranked([{"timestamp": day(1)}, {"timestamp": day(2)}])

    assert [example["timestamp"] for example in examples_of(table)] == [day(2), day(1)]


def test_example_holds_the_record_and_where_it_stands(records: Records, ranked: Ranked) -> None:
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


def test_examples_come_from_different_images_first(ranked: Ranked) -> None:
    images = [("a", 9), ("a", 8), ("a", 7), ("b", 2), ("c", 1)]

    table = ranked([{"image_id": image, "timestamp": day(number)} for image, number in images])

    assert [example["image_id"] for example in examples_of(table)] == ["a", "b", "c"]


def test_second_record_of_an_image_fills_up_the_examples(ranked: Ranked) -> None:
    images = [("a", 9), ("a", 8), ("a", 7), ("b", 2)]

    table = ranked([{"image_id": image, "timestamp": day(number)} for image, number in images])

    assert [example["timestamp"] for example in examples_of(table)] == [day(9), day(8), day(2)]


def test_newest_records_are_the_examples(ranked: Ranked) -> None:
    table = ranked([{"image_id": f"i{number}", "timestamp": day(number)} for number in (4, 1, 5, 2, 3)])

    assert [example["timestamp"] for example in examples_of(table)] == [day(5), day(4), day(3)]


def test_example_without_a_timestamp_comes_last(ranked: Ranked) -> None:
    table = ranked([{"image_id": "a", "timestamp": None}, {"image_id": "b", "timestamp": day(1)}])

    assert [example["timestamp"] for example in examples_of(table)] == [day(1), None]


@pytest.mark.parametrize("field", ["session_id", "snapshot_hash", "workaround"])
def test_record_that_knows_more_comes_before_a_newer_one(ranked: Ranked, field: str) -> None:
    table = ranked([{"timestamp": day(1), field: "known"}, *({"timestamp": day(n)} for n in (5, 6, 7))])

    assert [example["timestamp"] for example in examples_of(table)] == [day(7), day(6), day(1)]


def test_other_images_come_before_a_second_record_that_knows_more(ranked: Ranked) -> None:
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
def test_record_does_not_know_what_is_blank(ranked: Ranked, field: str, blank: str) -> None:
    older = [{"image_id": f"b{number}", "timestamp": day(number), field: blank} for number in (1, 2, 3)]

    table = ranked([*older, {"image_id": "a", "timestamp": day(9), field: None}])

    assert examples_of(table)[0]["timestamp"] == day(9)


def test_examples_of_the_same_moment_are_in_order_of_place(ranked: Ranked) -> None:
    places = [("z/log", 1), ("a/log", 2), ("a/log", 1)]

    table = ranked([{"timestamp": day(1), "source_path": path, "line": line} for path, line in places])

    found = [(example["source_path"], example["line"]) for example in examples_of(table)]
    assert found == [("a/log", 1), ("a/log", 2), ("z/log", 1)]


def test_examples_do_not_depend_on_the_order_of_records_where_tenants_share_a_place(
    records: Records, by_surface: BySurface
) -> None:
    # Each tenant has a repository `photos` with a log of the same path, and wrote line 4 at the same moment.
    frame = records(
        [
            {"timestamp": day(1), "line": 4, "tenant_id": tenant, "record_id": tenant, "description": tenant}
            for tenant in ("ana", "bo", "cy", "dee", "eve")
        ]
    )

    forwards, backwards = rank(frame, by_surface(frame)), rank(frame.reverse(), by_surface(frame))

    assert_frame_equal(forwards.select("examples"), backwards.select("examples"))


def test_every_capability_has_examples_of_its_own(ranked: Ranked) -> None:
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
