"""Mentions that a machine seems to repeat by the clock."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from builders.ranking import ranked

Row = Mapping[str, Any]

START = datetime(2025, 5, 1, tzinfo=UTC)


def at(hours: Sequence[float], **row: str) -> list[dict[str, Any]]:
    """Mentions at some hours, each in a session of its own."""
    return [
        {"timestamp": START + timedelta(hours=hour), "session_id": f"s{hour}", **row}
        for hour in hours
    ]


def repeats_of(rows: Sequence[Row]) -> list[int]:
    found: list[int] = ranked(rows)["repeats"].to_list()
    return found


@pytest.mark.parametrize(
    ("hours", "expected"),
    [
        ([0, 1, 2, 3, 4], 5),
        ([0, 1, 2, 3], 0),
        ([0, 1.1, 2.05, 3.0, 4.1], 5),
        ([0, 24, 48, 120, 144, 168], 6),  # a weekend is missed
        ([0, 10, 20, 30, 42], 5),  # one interval is longer by a fifth
        ([0, 10, 20, 30, 42.1], 0),  # by more
        ([0, 10, 20, 30, 38], 5),
        ([0, 10, 20, 30, 37.9], 0),
        ([0, 1, 2, 5, 9, 10], 0),
        ([0, 3, 4, 11, 30], 0),
        ([0, 0, 0, 0, 0], 0),
    ],
)
def test_regular_intervals_from_session_to_session_are_automation(
    hours: list[float], expected: int
) -> None:
    assert repeats_of(at(hours)) == [expected]


def test_a_session_counts_once_and_brings_all_its_mentions() -> None:
    jobs = [
        {"timestamp": START + timedelta(hours=hour, seconds=second), "session_id": f"s{hour}"}
        for hour in range(5)
        for second in (0, 7, 61)
    ]

    assert repeats_of(jobs) == [15]


@pytest.mark.parametrize("session", [None, "", " "])
def test_mention_without_a_session_is_a_session_of_its_own(session: str | None) -> None:
    jobs = [
        {"timestamp": START + timedelta(hours=hour), "session_id": session} for hour in range(5)
    ]

    assert repeats_of(jobs) == [5]


def test_spellings_of_one_surface_are_the_same_repeat() -> None:
    jobs = [*at([0, 2, 4]), *at([1, 3], missing_capability="Lamp-Glow")]

    assert repeats_of(jobs) == [5]


def test_several_tenants_are_looked_at_one_by_one() -> None:
    assert repeats_of([*at([0, 2, 4], tenant_id="ana"), *at([1, 3], tenant_id="bo")]) == [0]
    assert repeats_of([*at([0, 1, 2, 3, 4], tenant_id="ana"), *at([2.4], tenant_id="bo")]) == [5]
