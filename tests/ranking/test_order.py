"""Which capability comes first."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from builders.ranking import Row, day, ranked
from vocabgap.errors import InvalidInputError
from vocabgap.model.settings import RankBy


def labels_of(table: pl.DataFrame) -> list[str]:
    labels: list[str] = table["label"].to_list()
    return labels


def test_ranks_count_from_one() -> None:
    table = ranked([{"missing_capability": name} for name in ("lamp glow", "tilt shift", "ice ring")])

    assert table["rank"].to_list() == [1, 2, 3]


def test_most_mentioned_comes_first() -> None:
    asked = ["lamp glow", "tilt shift", "tilt shift", "ice ring", "ice ring", "ice ring"]

    table = ranked([{"missing_capability": name} for name in asked])

    assert labels_of(table) == ["ice ring", "tilt shift", "lamp glow"]


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("mentions", ["often", "widely", "long", "badly"]),
        ("images", ["widely", "often", "long", "badly"]),
        ("sessions", ["long", "often", "widely", "badly"]),
        ("unsatisfied", ["badly", "often", "widely", "long"]),
    ],
)
def test_what_is_asked_for_is_counted_first(by: str, expected: list[str]) -> None:
    often: list[Row] = [{"missing_capability": "often"}] * 9
    widely: list[Row] = [{"missing_capability": "widely", "image_id": f"i{n % 6}"} for n in range(8)]
    long: list[Row] = [{"missing_capability": "long", "session_id": f"s{n % 5}"} for n in range(7)]
    badly: list[Row] = [{"missing_capability": "badly", "satisfaction": -1}] * 2

    assert labels_of(ranked([*often, *widely, *long, *badly], by=by)) == expected


@pytest.mark.parametrize("by", list(RankBy))
def test_ranking_is_given_as_a_member_or_as_its_name(by: RankBy) -> None:
    asked: list[Row] = [
        {"missing_capability": "lamp glow"},
        {"missing_capability": "tilt shift", "satisfaction": -1},
    ]

    assert_frame_equal(ranked(asked, by=by), ranked(asked, by=by.value))


@pytest.mark.parametrize("by", ["images", "sessions", "unsatisfied"])
def test_tie_goes_to_the_more_mentioned(by: str) -> None:
    same = {"session_id": "s1", "image_id": "a"}

    table = ranked(
        [
            {"missing_capability": "lamp glow", **same},
            {"missing_capability": "tilt shift", **same},
            {"missing_capability": "tilt shift", **same},
        ],
        by=by,
    )

    assert labels_of(table) == ["tilt shift", "lamp glow"]


@pytest.mark.parametrize("by", ["mentions", "sessions", "unsatisfied"])
def test_tie_of_mentions_goes_to_more_images(by: str) -> None:
    # The one with fewer images has the later mention, so only the images can decide.
    table = ranked(
        [
            {"missing_capability": "lamp glow", "image_id": "a", "timestamp": day(9)},
            {"missing_capability": "lamp glow", "image_id": "a", "timestamp": day(9)},
            {"missing_capability": "tilt shift", "image_id": "a", "timestamp": day(1)},
            {"missing_capability": "tilt shift", "image_id": "b", "timestamp": day(1)},
        ],
        by=by,
    )

    assert labels_of(table) == ["tilt shift", "lamp glow"]


def test_more_images_go_before_more_sessions() -> None:
    table = ranked(
        [
            {"missing_capability": "lamp glow", "image_id": "a", "session_id": "s1"},
            {"missing_capability": "lamp glow", "image_id": "a", "session_id": "s2"},
            {"missing_capability": "tilt shift", "image_id": "a", "session_id": "s1"},
            {"missing_capability": "tilt shift", "image_id": "b", "session_id": "s1"},
        ]
    )

    assert labels_of(table) == ["tilt shift", "lamp glow"]


@pytest.mark.parametrize("by", ["mentions", "images", "unsatisfied"])
def test_tie_of_images_goes_to_more_sessions(by: str) -> None:
    table = ranked(
        [
            {"missing_capability": "lamp glow", "session_id": "s1", "timestamp": day(9)},
            {"missing_capability": "lamp glow", "session_id": "s1", "timestamp": day(9)},
            {"missing_capability": "tilt shift", "session_id": "s1", "timestamp": day(1)},
            {"missing_capability": "tilt shift", "session_id": "s2", "timestamp": day(1)},
        ],
        by=by,
    )

    assert labels_of(table) == ["tilt shift", "lamp glow"]


@pytest.mark.parametrize("by", list(RankBy))
def test_tie_of_sessions_goes_to_the_later_last_mention(by: RankBy) -> None:
    table = ranked(
        [
            {"missing_capability": "lamp glow", "timestamp": day(1)},
            {"missing_capability": "tilt shift", "timestamp": day(2)},
        ],
        by=by,
    )

    assert labels_of(table) == ["tilt shift", "lamp glow"]


@pytest.mark.parametrize("by", list(RankBy))
def test_capability_without_a_timestamp_comes_after_one_with(by: RankBy) -> None:
    table = ranked(
        [
            {"missing_capability": "lamp glow", "timestamp": None},
            {"missing_capability": "tilt shift", "timestamp": day(2)},
        ],
        by=by,
    )

    assert labels_of(table) == ["tilt shift", "lamp glow"]


@pytest.mark.parametrize("by", list(RankBy))
def test_full_tie_goes_to_the_label_that_sorts_first(by: RankBy) -> None:
    table = ranked([{"missing_capability": name} for name in ("tilt shift", "ice ring", "Lamp glow")], by=by)

    assert labels_of(table) == ["Lamp glow", "ice ring", "tilt shift"]


def test_unknown_ranking_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        InvalidInputError,
        match=r"by: expected one of mentions, .*, unsatisfied, priority, found 'stars'",
    ):
        ranked([{}], by="stars")
