"""What is counted of a capability: images, sessions, ratings, times and names."""

import polars as pl
import pytest

from builders.ranking import day, ranked


def tally_of(table: pl.DataFrame, column: str) -> list[tuple[str, int]]:
    """The tally of the only capability."""
    return [(entry["name"], entry["mentions"]) for entry in table[column].item().to_list()]


def test_images_of_the_same_name_in_two_repositories_are_two() -> None:
    table = ranked([{"repo_slug": "coast"}, {"repo_slug": "inland"}, {"repo_slug": "coast"}])

    assert table["images"].to_list() == [2]


def test_images_of_the_same_name_of_two_tenants_are_two() -> None:
    table = ranked([{"tenant_id": "ana"}, {"tenant_id": "bo"}])

    assert table.select("images", "tenants").rows() == [(2, 2)]


@pytest.mark.parametrize("unknown", [None, "", "  ", "\x1c"])
def test_unknown_session_is_not_counted(unknown: str | None) -> None:
    table = ranked([{"session_id": unknown}, {"session_id": "s1"}, {"session_id": "s1"}])

    assert table["sessions"].to_list() == [1]


def test_capability_without_any_known_session_has_none() -> None:
    assert ranked([{}, {}])["sessions"].to_list() == [0]


def test_one_session_across_images_is_one() -> None:
    table = ranked([{"session_id": "s1", "image_id": "a"}, {"session_id": "s1", "image_id": "b"}])

    assert table.select("images", "sessions").rows() == [(2, 1)]


def test_ratings_are_counted_by_value() -> None:
    table = ranked([{"satisfaction": value} for value in (-1, -1, -1, 0, 0, 1, None, None, None, None)])

    assert table.select("unsatisfied", "neutral", "satisfied", "unrated").rows() == [(3, 2, 1, 4)]


def test_first_and_last_seen_leave_unreadable_timestamps_out() -> None:
    table = ranked([{"timestamp": day(9)}, {"timestamp": None}, {"timestamp": day(2)}])

    assert table.select("first_seen", "last_seen").rows() == [(day(2), day(9))]


def test_capability_without_a_readable_timestamp_was_seen_at_no_time() -> None:
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
def test_category_aliases_fold(spelling: str, category: str) -> None:
    table = ranked([{"intent_category": spelling}, {"intent_category": category}])

    assert tally_of(table, "categories") == [(category, 2)]
    assert table["intent_category"].to_list() == [category]


def test_given_category_aliases_are_used() -> None:
    table = ranked([{"intent_category": "Hue"}], category_aliases={"hue": "color"})

    assert tally_of(table, "categories") == [("color", 1)]


def test_main_category_is_the_most_frequent() -> None:
    table = ranked([{"intent_category": name} for name in ("tone", "detail", "structure")])

    assert table["intent_category"].to_list() == ["detail"]


def test_main_category_of_equally_frequent_ones_sorts_first() -> None:
    table = ranked([{"intent_category": name} for name in ("wb", "color")])

    assert table["intent_category"].to_list() == ["color"]


def test_named_category_comes_before_a_more_frequent_uncategorized() -> None:
    table = ranked([{"intent_category": name} for name in ("uncategorized", "uncategorized", "tone")])

    assert table["intent_category"].to_list() == ["tone"]
    assert tally_of(table, "categories") == [("uncategorized", 2), ("tone", 1)]


def test_askers_are_tenants_with_repositories_those_with_most_mentions_first() -> None:
    whose = [("reeve", "town"), ("pilot", "coast"), ("reeve", "coast"), ("reeve", "town")]

    table = ranked([{"tenant_id": tenant, "repo_slug": repository} for tenant, repository in whose])

    assert [tuple(each.values()) for each in table["asked_by"][0]] == [
        ("reeve", "town", 2), ("pilot", "coast", 1), ("reeve", "coast", 1),
    ]  # fmt: skip


def test_main_category_is_uncategorized_where_nothing_else_is_named() -> None:
    assert ranked([{}])["intent_category"].to_list() == ["uncategorized"]


@pytest.mark.parametrize("blank", ["", "  ", "\t"])
def test_blank_category_is_uncategorized(blank: str) -> None:
    table = ranked([{"intent_category": blank}])

    assert table["intent_category"].to_list() == ["uncategorized"]


@pytest.mark.parametrize("blank", ["", "  ", "\x1c"])
def test_categories_account_for_every_mention(blank: str) -> None:
    table = ranked([{"intent_category": blank}, {"intent_category": "tone"}])

    assert tally_of(table, "categories") == [("tone", 1), ("uncategorized", 1)]


@pytest.mark.parametrize("spelling", ["toneequalizer", "ToneEqualizer", "tone equalizer", " toneequal "])
def test_operation_aliases_fold(spelling: str) -> None:
    table = ranked([{"operations_involved": [spelling]}, {"operations_involved": ["toneequal"]}])

    assert tally_of(table, "operations") == [("toneequal", 2)]


def test_given_operation_aliases_are_used() -> None:
    table = ranked([{"operations_involved": ["Burn"]}], operation_aliases={"burn": "exposure"})

    assert tally_of(table, "operations") == [("exposure", 1)]


def test_record_that_holds_two_spellings_of_an_operation_counts_once() -> None:
    table = ranked([{"operations_involved": ["toneequal", "toneequalizer", "toneequal", "exposure"]}])

    assert tally_of(table, "operations") == [("exposure", 1), ("toneequal", 1)]


def test_operations_are_most_frequent_first_then_by_name() -> None:
    table = ranked([{"operations_involved": ["sharpen", "crop"]}, {"operations_involved": ["tilt", "crop"]}])

    assert tally_of(table, "operations") == [("crop", 2), ("sharpen", 1), ("tilt", 1)]


def test_vocabulary_used_is_tallied_by_record() -> None:
    table = ranked([{"vocabulary_used": ["warm_dusk", " warm_dusk "]}, {"vocabulary_used": ["warm_dusk"]}])

    assert tally_of(table, "vocabulary_used") == [("warm_dusk", 2)]


@pytest.mark.parametrize("column", ["operations_involved", "vocabulary_used"])
@pytest.mark.parametrize("blank", ["", " ", "\x1c", "\x1f\n"])
def test_blank_names_are_not_tallied(column: str, blank: str) -> None:
    table = ranked([{column: [blank, "crop"]}])

    assert tally_of(table, column.replace("operations_involved", "operations")) == [("crop", 1)]


@pytest.mark.parametrize("nothing", [[], None, [None]])
def test_capability_without_operations_has_an_empty_tally(nothing: list[None] | None) -> None:
    table = ranked([{"operations_involved": nothing, "vocabulary_used": nothing}])

    assert tally_of(table, "operations") == []
    assert tally_of(table, "vocabulary_used") == []


def test_tallies_of_two_capabilities_do_not_mix() -> None:
    table = ranked(
        [
            {"missing_capability": "lamp glow", "operations_involved": ["bloom"]},
            {"missing_capability": "lamp glow", "operations_involved": []},
            {"missing_capability": "tilt shift", "operations_involved": ["blur"]},
        ]
    )

    names = [[entry["name"] for entry in tally] for tally in table["operations"].to_list()]
    assert names == [["bloom"], ["blur"]]


def test_variants_are_every_wording_most_frequent_first() -> None:
    wordings = ["lamp glow", "Lamp Glow", "lamp_glow", "lamp_glow"]

    table = ranked([{"missing_capability": wording} for wording in wordings])

    unexplained = {"similarity": 1.0, "entry": None, "explained": None}
    assert table["variants"].item().to_list() == [
        {"wording": "lamp_glow", "mentions": 2, **unexplained},
        {"wording": "Lamp Glow", "mentions": 1, **unexplained},
        {"wording": "lamp glow", "mentions": 1, **unexplained},
    ]
