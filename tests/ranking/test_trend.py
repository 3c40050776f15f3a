"""Mentions a week, and what is asked for more or less than before."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from scipy.stats import binomtest

from builders.ranking import ranked
from vocabgap.ranking.priority import recent_weeks

NOW = datetime(2025, 6, 1, 9, 30, tzinfo=UTC)


def asked_for(weeks: Sequence[float], corpus: float = 60, **settings: int) -> dict[str, Any]:
    """The capability of mentions so many weeks before now, in a corpus that is begun and used beside it."""
    asked = [{"timestamp": NOW - timedelta(weeks=week)} for week in weeks]
    others = [
        {"timestamp": NOW - timedelta(weeks=week), "missing_capability": "tilt shift"} for week in (corpus, 0)
    ]
    table = ranked([*asked, *others], now=NOW, **settings)
    return table.filter(label="lamp glow").row(0, named=True)


def test_weeks_are_counted_back_from_now_newest_last() -> None:
    row = asked_for([0, 0.9, 1, 5.5, 11.9, 12, 40])

    assert row["weekly"] == [1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 2]


def test_what_is_later_than_now_or_unreadable_is_in_no_week() -> None:
    table = ranked(
        [{"timestamp": NOW + timedelta(seconds=1)}, {"timestamp": None}, {"timestamp": NOW}], now=NOW
    )

    assert table["weekly"].to_list() == [[1]]


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
def test_trend_goes_by_the_documented_rule(weeks: list[float], trend: str) -> None:
    assert asked_for(weeks)["trend"] == trend


@pytest.mark.parametrize("earlier", [1, 8])
@pytest.mark.parametrize("lately", [0, 1, 3, 5])
def test_rising_and_fading_are_those_of_a_binomial_test(earlier: int, lately: int) -> None:
    total = earlier + lately
    rising = binomtest(lately, total, 1 / 3, "greater").pvalue <= 0.1
    fading = binomtest(lately, total, 1 / 3, "less").pvalue <= 0.1

    row = asked_for([9.5] * earlier + [0.5] * lately)

    assert row["trend"] == ("rising" if rising else "fading" if fading else "steady")


def test_before_the_first_record_of_all_there_is_no_week() -> None:
    assert asked_for([0, 1.5, 4.2], corpus=5.5)["weekly"] == [0, 1, 0, 0, 1, 1]
    assert asked_for([0, 1.5], corpus=12)["weekly"] == [0] * 10 + [1, 1]


def test_the_part_of_a_week_that_the_corpus_began_in_counts_as_a_part() -> None:
    # The last two of 4.1 weeks hold 49 of 100 even mentions; of five whole weeks they would hold 40.
    weeks = [4.1 * turn / 100 for turn in range(100)]

    assert asked_for(weeks, corpus=4.1)["trend"] == "steady"


@pytest.mark.parametrize(
    ("weeks", "trend"),
    [
        ([4.2, 0.1, 0.2, 0.3, 0.4, 0.5], "rising"),
        ([4.2, 4.1, 4.0, 3.9, 3.8, 3.7], "fading"),
        ([4.2], "steady"),
        ([2.1], "steady"),
        ([1.9], "new"),
    ],
)
def test_the_weeks_of_a_young_corpus_are_its_window(weeks: list[float], trend: str) -> None:
    assert asked_for(weeks, corpus=4.5)["trend"] == trend


@pytest.mark.parametrize(
    ("corpus", "trend"), [(0.5, None), (2.99, None), (3, "new"), (3.5, "new"), (-1, None)]
)
def test_in_less_than_three_weeks_there_is_no_trend(corpus: float, trend: str | None) -> None:
    assert asked_for([min(corpus, 0.4)], corpus=corpus)["trend"] == trend


@pytest.mark.parametrize(("window", "recent"), [(3, 1), (4, 1), (5, 2), (12, 4), (52, 17)])
def test_recent_third_is_whole_weeks(window: int, recent: int) -> None:
    assert recent_weeks(window) == recent


def test_each_capability_has_its_own_weeks() -> None:
    asked = [
        {"missing_capability": "lamp glow", "timestamp": NOW},
        {"missing_capability": "lamp glow", "timestamp": NOW},
        {"missing_capability": "tilt shift", "timestamp": NOW - timedelta(weeks=2)},
        {"missing_capability": "ice ring", "timestamp": NOW - timedelta(weeks=3)},
    ]

    weekly = ranked(asked, now=NOW, window_weeks=3)["weekly"].to_list()

    assert weekly == [[0, 0, 2], [1, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(("weeks", "trend"), [(12, None), (11.99, "steady"), (40, None)])
def test_where_nothing_was_logged_within_the_window_no_trend_is_told(weeks: float, trend: str | None) -> None:
    asked = [{"timestamp": NOW - timedelta(weeks=week)} for week in (60, weeks)]

    assert ranked(asked, now=NOW)["trend"].to_list() == [trend]
