"""Which capability comes first."""

import pytest

from builders.ranking import Row, ranked
from vocabgap.errors import InvalidInputError


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("mentions", ["often", "widely", "long", "badly"]),
        ("images", ["widely", "often", "long", "badly"]),
        ("unsatisfied", ["badly", "often", "widely", "long"]),
    ],
)
def test_what_is_asked_for_is_counted_first(by: str, expected: list[str]) -> None:
    often: list[Row] = [{"missing_capability": "often"}] * 9
    widely: list[Row] = [
        {"missing_capability": "widely", "image_id": f"i{n % 6}"} for n in range(8)
    ]
    long: list[Row] = [{"missing_capability": "long", "session_id": f"s{n % 5}"} for n in range(7)]
    badly: list[Row] = [{"missing_capability": "badly", "satisfaction": -1}] * 2

    assert ranked([*often, *widely, *long, *badly], by=by)["label"].to_list() == expected


def test_unknown_ranking_is_refused_with_the_known_ones() -> None:
    expected = "by: expected one of mentions, .*, unsatisfied, priority, found 'stars'"
    with pytest.raises(InvalidInputError, match=expected):
        ranked([{}], by="stars")
