"""Mentions a week, and what is asked for more or less than before."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, false_discovery_control

from builders.ranking import ranked
from vocabgap.ranking.priority import IntArray, found_trends, recent_weeks

NOW = datetime(2025, 6, 1, 9, 30, tzinfo=UTC)


def asked_for(weeks: Sequence[float], corpus: float = 60, **settings: int) -> dict[str, Any]:
    """The capability of mentions so many weeks before now, in a corpus that is begun and used beside it."""
    asked = [{"timestamp": NOW - timedelta(weeks=week)} for week in weeks]
    others = [
        {"timestamp": NOW - timedelta(weeks=week), "missing_capability": "tilt shift"}
        for week in (corpus, 0)
    ]
    table = ranked([*asked, *others], now=NOW, **settings)
    return table.filter(label="lamp glow").row(0, named=True)


def test_weeks_are_counted_back_from_now_newest_last() -> None:
    row = asked_for([0, 0.9, 1, 5.5, 11.9, 12, 40])

    assert row["weekly"] == [1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 2]


def test_what_is_later_than_now_or_unreadable_is_in_no_week() -> None:
    table = ranked(
        [{"timestamp": NOW + timedelta(seconds=1)}, {"timestamp": None}, {"timestamp": NOW}],
        now=NOW,
    )

    assert table["weekly"].to_list() == [[1]]


@pytest.mark.parametrize(
    ("weeks", "trend"),
    [
        ([0], "new"),
        ([3.99], "new"),
        ([-1], "new"),
        # With so few mentions, nothing could be told from chance.
        ([4], None),
        ([5, 6, 7, 8, 9, 10, 11], None),
        ([30, 1, 2], None),
        ([30, 50], None),
        ([week + 0.5 for week in range(12)], None),
        ([5, 6, 7, 8, 9, 10, 10, 11], "fading"),
        ([11.9] * 47, "fading"),
        ([12.1] * 47, "fading"),
        ([4, 6, 8, 10, *[1] * 14], "rising"),
        ([6, 7, *[1] * 12], None),  # the log is as good as begun
        ([week / 10 for week in range(120)], "steady"),
    ],
)
def test_trend_goes_by_the_documented_rule(weeks: list[float], trend: str | None) -> None:
    assert asked_for(weeks)["trend"] == trend


@pytest.mark.parametrize(
    ("weeks", "trend"), [(2, None), (4, None), (5, None), (7, "rising"), (12, "rising")]
)
def test_a_rise_needs_a_log_that_is_long_enough(weeks: int, trend: str | None) -> None:
    """The log began some weeks ago, but for one old record of each need, as of an import."""
    usual = [{"timestamp": NOW - timedelta(weeks=week + 0.5)} for week in range(weeks)]
    late = [{"timestamp": NOW - timedelta(days=day)} for day in range(1, 15)]
    old = [{"timestamp": NOW - timedelta(weeks=11.5)}]
    others = [each | {"missing_capability": "tilt shift"} for each in (*usual, *old)]

    table = ranked([*usual, *late, *old, *others], now=NOW)

    assert table.filter(label="lamp glow")["trend"].item() == trend


@pytest.mark.parametrize(
    ("events", "trend"),  # weeks before now, and mentions
    [
        ([(30, 1), (1, 500), *((week, 1) for week in range(4, 12))], None),  # one burst
        ([(week, 10) for week in range(4, 12)] + [(week, 100) for week in range(4)], "rising"),
        ([(week, 100) for week in range(4, 12)] + [(week, 1) for week in range(4)], "fading"),
        ([(week, 20) for week in range(12)], None),  # twelve events exclude no doubled rate
    ],
)
def test_a_record_of_many_mentions_is_one_event(
    events: list[tuple[float, int]], trend: str | None
) -> None:
    corpus = [{"timestamp": NOW - timedelta(weeks=60), "missing_capability": "tilt shift"}]
    asked = [{"timestamp": NOW - timedelta(weeks=week), "count": often} for week, often in events]

    row = ranked([*asked, *corpus], now=NOW).filter(label="lamp glow").row(0, named=True)

    assert row["trend"] == trend
    assert sum(row["weekly"]) == sum(often for week, often in events if week < 12)


def found(
    lately: IntArray, whole: IntArray, others: tuple[IntArray | int, IntArray | int] = (0, 0)
) -> list[int]:
    """Return 1 for each rise and -1 for each fall, from mentions in the last third and the whole window."""
    message = found_trends(
        lately,
        whole,
        np.full(whole.size, 1 / 3),
        log_lately=lately + others[0],
        log_whole=whole + others[1],
        skipped=whole == 0,
    )
    return [{"rising": 1, "fading": -1}.get(trend, 0) for trend in message]


@pytest.mark.parametrize("whole", [3, 9, 24, 70])
def test_a_change_of_one_need_is_that_of_a_binomial_test(whole: int) -> None:
    for lately in range(whole + 1):
        more, fewer = (
            int(binomtest(lately, whole, 1 / 3, side).pvalue <= 0.05)
            for side in ("greater", "less")
        )
        assert found(np.array([lately]), np.array([whole])) == [more - fewer]


def test_of_many_needs_the_surest_are_told() -> None:
    lately, whole = [0, 1, 2, 3, 9, 13, 15, 20, 1], [20, 20, 20, 20, 30, 30, 30, 30, 2]
    tails = [
        [binomtest(own, of, 1 / 3, side).pvalue for side in ("greater", "less")]
        for own, of in zip(lately[:-1], whole[:-1], strict=True)  # two mentions never show a change
    ]
    sure = false_discovery_control([min(2 * min(pair), 1) for pair in tails]) <= 0.1
    expected = [
        is_sure * (1 if more < fewer else -1)
        for is_sure, (more, fewer) in zip(sure, tails, strict=True)
    ]

    assert found(np.array(lately), np.array(whole)) == [*expected, 0]
    assert 0 < sum(sure) < len(sure)


@pytest.mark.parametrize(
    ("others", "change"),
    [((0, 0), 1), ((1, 2), 1), ((330, 1000), 1), ((660, 1000), 0), ((10, 1000), 1)],
)
def test_what_the_whole_log_does_is_no_change_of_a_need(
    others: tuple[int, int], change: int
) -> None:
    assert found(np.array([33]), np.array([50]), others) == [change]


@pytest.mark.parametrize("recently", [0.2, 2.0])
def test_flat_rates_show_few_changes_and_a_doubling_is_found(recently: float) -> None:
    """Random logs of 40 needs; the whole log becomes busier or quieter in its last third."""
    random = np.random.default_rng(7)
    rates = np.geomspace(0.1, 12, 40)
    weeks = np.array([1.0] * 8 + [recently] * 4)
    logs = 300
    wrong = right = 0
    for doubled in (False, True):
        for _ in range(logs):
            means = np.outer(rates, weeks * random.gamma(100, 1 / 100, 12))
            means[-1, -4:] *= 1 + doubled
            mentions = random.poisson(means)
            lately, whole = mentions[:, -4:].sum(axis=1), mentions.sum(axis=1)
            message = found(lately, whole, (lately.sum() - lately, whole.sum() - whole))
            wrong += not doubled and any(message)
            right += doubled and message[-1] == 1
    assert wrong <= 0.1 * logs
    assert (
        right >= 0.9 * logs or recently < 1
    )  # a need that only keeps its rate in a quiet log is no rise


def test_a_session_that_repeats_itself_is_no_trend() -> None:
    def trend(session: str | None) -> object:
        asked = [{"timestamp": NOW - timedelta(weeks=week)} for week in (7, 8, 60)]
        loop = [
            {"timestamp": NOW - timedelta(days=2, seconds=turn), "session_id": session}
            for turn in range(40)
        ]
        others = [
            {"timestamp": NOW - timedelta(days=day), "missing_capability": "dew"}
            for day in range(80)
        ]
        rows: list[dict[str, Any]] = [*asked, *loop, *others]
        table = ranked(rows, now=NOW)
        return table.filter(label="lamp glow")["trend"].item()

    assert (trend(None), trend("loop")) == ("rising", None)


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
        ([4.2, 3.2, *[0.1] * 14], "rising"),
        ([4.2, *[0.1] * 9], None),  # in one of three earlier weeks
        ([4.2, 4.1, 4.0, 3.9, 3.8, 3.7], "fading"),
        ([4.2], None),
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
    ages = [("lamp glow", 0), ("lamp glow", 0), ("tilt shift", 2), ("ice ring", 3)]
    asked = [
        {"missing_capability": name, "timestamp": NOW - timedelta(weeks=age)} for name, age in ages
    ]

    weekly = ranked(asked, now=NOW, window_weeks=3)["weekly"].to_list()

    assert weekly == [[0, 0, 2], [1, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(("weeks", "trend"), [(3.99, "fading"), (4, None), (40, None)])
def test_if_nothing_was_logged_lately_no_need_has_a_trend(weeks: float, trend: str | None) -> None:
    asked = [{"timestamp": NOW - timedelta(weeks=week)} for week in (60, *[10] * 40)]
    last = {"timestamp": NOW - timedelta(weeks=weeks), "missing_capability": "tilt shift"}
    earlier = {"timestamp": NOW - timedelta(weeks=50), "missing_capability": "tilt shift"}

    table = ranked([*asked, last, earlier], now=NOW)

    assert table.filter(label="lamp glow")["trend"].item() == trend


@pytest.mark.parametrize("whole", [30, 60, 120, 240])
def test_a_steady_need_excludes_that_its_rate_doubled_or_halved(whole: int) -> None:
    """If the rate of the last third doubled, it holds half of all mentions; if it halved, a fifth."""
    for lately in range(whole + 1):
        excluded = max(
            binomtest(lately, whole, 1 / 2, "less").pvalue,
            binomtest(lately, whole, 1 / 5, "greater").pvalue,
        )
        (trend,) = found_trends(
            np.array([lately]),
            np.array([whole]),
            np.full(1, 1 / 3),
            log_lately=np.array([lately]),
            log_whole=np.array([whole]),
            skipped=np.array([False]),
        )
        changed = found(np.array([lately]), np.array([whole])) != [0]
        assert (trend == "steady") == (excluded <= 0.05 and not changed)
