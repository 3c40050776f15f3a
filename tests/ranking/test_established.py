"""What is asked for on enough images, in enough sessions, stands before one-offs."""

from typing import Any

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
        ({"min_images": 2, "min_sessions": 1}, [("often", False), ("widely", False), ("long", False)]),
        ({"min_images": 0}, [("often", True), ("widely", True), ("long", True)]),
    ],
)
def test_what_is_not_established_is_kept_behind_all_others(
    settings: dict[str, int], expected: list[tuple[str, bool]]
) -> None:
    table = ranked([*OFTEN, *WIDELY, *LONG], **settings)

    assert table.select("label", "established").rows() == expected
    assert table["rank"].to_list() == [1, 2, 3]


def test_what_few_tenants_ask_for_is_kept_behind_what_several_do() -> None:
    shared = [{"missing_capability": "shared", "tenant_id": tenant} for tenant in ("north", "south")]

    table = ranked([*OFTEN, *shared], min_tenants=2)

    assert table.select("label", "established").rows() == [("shared", True), ("often", False)]


def test_session_that_repeats_a_need_counts_once_by_sessions() -> None:
    repeated: list[dict[str, Any]] = [{"missing_capability": "repeated", "session_id": "s1"}] * 10
    wanted = [{"missing_capability": "wanted", "session_id": session} for session in ("s1", "s2")]

    table = ranked([*repeated, *wanted], by="sessions")

    assert table.select("label", "sessions").rows() == [("wanted", 2), ("repeated", 1)]
