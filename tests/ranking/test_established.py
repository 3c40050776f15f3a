"""What is asked for on enough images, in enough sessions, stands before one-offs."""

import pytest

from builders.ranking import ranked

OFTEN = [{"missing_capability": "often", "session_id": "s1"}] * 9
WIDELY = [{"missing_capability": "widely", "image_id": image} for image in "abc"]
LONG = [{"missing_capability": "long", "session_id": f"s{n}"} for n in range(2)]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [("often", True), ("widely", True), ("long", True)]),
        ({"min_images": 2}, [("widely", True), ("often", False), ("long", False)]),
        ({"min_sessions": 1}, [("often", True), ("long", True), ("widely", False)]),
        ({"min_sessions": 2}, [("long", True), ("often", False), ("widely", False)]),
        (
            {"min_images": 2, "min_sessions": 1},
            [("often", False), ("widely", False), ("long", False)],
        ),
        ({"min_images": 0}, [("often", True), ("widely", True), ("long", True)]),
    ],
)
def test_what_is_not_established_is_kept_behind_all_others(
    settings: dict[str, int], expected: list[tuple[str, bool]]
) -> None:
    table = ranked([*OFTEN, *WIDELY, *LONG], **settings)

    assert table.select("label", "established").rows() == expected
    assert table["rank"].to_list() == [1, 2, 3]
