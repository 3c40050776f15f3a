"""Mentions a week, and what is asked for more or less than before."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest
from scipy.stats import binomtest

from vocabgap.ranking.trend import recent_weeks

Ranked = Callable[..., pl.DataFrame]

NOW = datetime(2025, 6, 1, 9, 30, tzinfo=UTC)


def asked_for(ranked: Ranked, weeks: Sequence[float], **settings: int) -> dict[str, Any]:
    """The capability of mentions so many weeks before now."""
    asked = [{"timestamp": NOW - timedelta(weeks=week)} for week in weeks]
    row: dict[str, Any] = ranked(asked, now=NOW, **settings).row(0, named=True)
    return row


def test_weeks_are_counted_back_from_now_newest_last(ranked: Ranked) -> None:
    row = asked_for(ranked, [0, 0.9, 1, 5.5, 11.9, 12, 40])

    assert row["weekly"] == [1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 2]


def test_window_is_as_long_as_is_asked_for(ranked: Ranked) -> None:
    assert asked_for(ranked, [0, 2, 3], window_weeks=3)["weekly"] == [1, 0, 1]


def test_what_is_later_than_now_or_unreadable_is_in_no_week(ranked: Ranked) -> None:
    table = ranked(
        [{"timestamp": NOW + timedelta(seconds=1)}, {"timestamp": None}, {"timestamp": NOW}], now=NOW
    )

    assert table["weekly"].to_list() == [[0] * 11 + [1]]


@pytest.mark.parametrize(
    ("weeks", "trend"),
    [
        ([0], "new"),
        ([3.99], "new"),
        ([-1], "new"),
        ([4], "steady"),
        ([12], "fading"),
        ([30, 50], "fading"),
        ([30, 1, 2], "steady"),
        ([30, 1, 2, 3], "rising"),
        ([30, 1, 2, 3, 11], "steady"),
        ([30, 1, 2, 3, 3, 11], "rising"),
        ([5, 6, 7, 8, 9], "steady"),
        ([5, 6, 7, 8, 9, 10], "fading"),
        ([week + 0.5 for week in range(12)], "steady"),
    ],
)
def test_trend_goes_by_the_documented_rule(ranked: Ranked, weeks: list[float], trend: str) -> None:
    assert asked_for(ranked, weeks)["trend"] == trend


def test_no_readable_timestamp_gives_no_trend(ranked: Ranked) -> None:
    table = ranked([{"timestamp": None}], now=NOW)

    assert table.select("trend", "weekly").rows() == [(None, [0] * 12)]


@pytest.mark.parametrize("earlier", range(1, 9))
@pytest.mark.parametrize("lately", range(9))
def test_rising_and_fading_are_those_of_a_binomial_test(ranked: Ranked, earlier: int, lately: int) -> None:
    total = earlier + lately
    rising = binomtest(lately, total, 1 / 3, "greater").pvalue <= 0.1
    fading = binomtest(lately, total, 1 / 3, "less").pvalue <= 0.1

    row = asked_for(ranked, [9.5] * earlier + [0.5] * lately)

    assert row["trend"] == ("rising" if rising else "fading" if fading else "steady")


@pytest.mark.parametrize(("window", "recent"), [(3, 1), (4, 1), (5, 2), (12, 4), (52, 17)])
def test_recent_third_is_whole_weeks(window: int, recent: int) -> None:
    assert recent_weeks(window) == recent


def test_each_capability_has_its_own_weeks(ranked: Ranked) -> None:
    asked = [
        {"missing_capability": "lamp glow", "timestamp": NOW},
        {"missing_capability": "lamp glow", "timestamp": NOW},
        {"missing_capability": "tilt shift", "timestamp": NOW - timedelta(weeks=2)},
    ]

    weekly = ranked(asked, now=NOW, window_weeks=3)["weekly"].to_list()

    assert weekly == [[0, 0, 2], [1, 0, 0]]
