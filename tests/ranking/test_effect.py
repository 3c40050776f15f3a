"""What became of needs that were authored: one scenario a row, and the numbers behind the verdicts."""

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import binom

from benchmarks import effects
from builders.ranking import records
from vocabgap.files.parts import Parts
from vocabgap.model.tables import VERDICTS
from vocabgap.ranking.effect import (
    NO_EFFECTS,
    OF_GROUPS,
    Authoring,
    effects_of,
    limits,
    prior,
    spread,
    verdict_of,
)
from vocabgap.ranking.statuses import authored_effects

Row = Mapping[str, Any]

AUTHORED = datetime(2025, 6, 2, 9, tzinfo=UTC)
NEEDS = ["lamp glow", "tilt shift", *(f"need {number}" for number in range(20))]
WORDINGS = pl.DataFrame(
    {"wording": NEEDS, "cluster": range(len(NEEDS))}, {"wording": pl.String, "cluster": pl.Int64}
)


def mentions(
    number: int, first: float, last: float, need: str = "lamp glow", **fields: object
) -> Iterator[Row]:
    """Spreads mentions evenly over some weeks, counted from authoring."""
    for place in range(number):
        week = first + (place + 0.5) * (last - first) / number
        yield {"timestamp": AUTHORED + timedelta(weeks=week), "missing_capability": need, **fields}


def others(
    before: int, after: int, weeks: float = 12, silent: tuple[float, float] = (0, 0)
) -> list[Row]:
    """Mentions of each of twenty other needs in twelve weeks before, and in some weeks after."""
    rows: list[Row] = []
    for shift, need in enumerate(NEEDS[2:]):
        # Each need begins some hours later than the one before.
        turn = timedelta(hours=5 * shift)
        spread_out = (*mentions(before, -12, -0.8, need), *mentions(after, 0, weeks - 0.8, need))
        rows += [{**row, "timestamp": row["timestamp"] + turn} for row in spread_out]
    first, last = (AUTHORED + timedelta(weeks=week) for week in silent)
    return [row for row in rows if not first <= row["timestamp"] < last]


def authored(
    entry: str = "lamp_glow", week: float = 0, need: str = "lamp glow", *, anew: bool = False
) -> Authoring:
    """A decision in some week, counted from authoring."""
    cluster = NEEDS.index(need)
    moment = AUTHORED + timedelta(weeks=week)
    return Authoring(cluster, f"dec-{entry}-{week}", moment, (entry,), anew)


def found(
    rows: Sequence[Row],
    *authorings: Authoring,
    weeks: float = 12,
    wordings: pl.DataFrame = WORDINGS,
    now: datetime | None = None,
) -> list[dict[str, Any]]:
    """The effects some weeks after authoring."""
    present = AUTHORED + timedelta(weeks=weeks) if now is None else now
    table = effects_of(Parts.of(records(rows)), wordings, authorings or (authored(),), present, 12)
    assert table.schema == OF_GROUPS
    return table.to_dicts()


USUAL = others(12, 12)
SCENARIOS = {  # mentions, weeks after authoring, verdict
    "gone": ([*mentions(48, -12, 0), *mentions(2, 0, 12), *USUAL], 12, "gone"),
    "fewer": ([*mentions(60, -12, 0), *mentions(24, 0, 12), *USUAL], 12, "fewer"),
    "no change": ([*mentions(48, -12, 0), *mentions(46, 0, 12), *USUAL], 12, "no change"),
    "more": ([*mentions(48, -12, 0), *mentions(100, 0, 12), *USUAL], 12, "more"),
    "four weeks": ([*mentions(48, -12, 0), *mentions(1, 0, 4), *others(12, 4, 4)], 4, "gone"),
    "three weeks": ([*mentions(48, -12, 0), *USUAL], 3, "too early"),
    "two mentions": ([*mentions(2, -12, 0), *others(2, 2)], 12, "too early"),
    "a quiet summer": ([*mentions(90, -12, 0), *mentions(30, 0, 12), *others(12, 4)], 12, "no change"),
    "an outage week": (
        [*mentions(48, -12, 0), *mentions(2, 0, 12), *others(12, 12, silent=(3, 4))], 12, "gone",
    ),
    "a log that stopped": ([*mentions(48, -12, 0), *mentions(1, 0, 6), *others(12, 6, 6)], 20, "gone"),
    "a log that stopped at once": ([*mentions(48, -12, 0), *others(12, 0)], 12, "too early"),
    "no other needs": ([*mentions(48, -12, 0), *mentions(2, 0, 12)], 12, "too early"),
    "nothing before": ([*mentions(9, 0, 12), *others(0, 12)], 12, "too early"),
    "a present before the decision": ([*mentions(48, -12, 0), *USUAL], -1, "too early"),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_verdict_tells_what_authoring_changed(name: str) -> None:
    rows, weeks, verdict = SCENARIOS[name]

    (effect,) = found(rows, weeks=weeks)

    assert effect["verdict"] == verdict
    assert (effect["missing"] is None) == (verdict != "too early")
    assert (effect["came_back"] is None) == (verdict in {"gone", "fewer", "too early"})
    assert effect["weeks_after"] == max(weeks, 0)


LATE = "records after the decision, which is later than the log"


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("three weeks", "about 1 more week like these"),
        ("two mentions", "about 7 more weeks like these"),
        ("a log that stopped at once", "later mentions of other needs"),
        ("no other needs", "later mentions of other needs"),
        ("nothing before", "mentions before it was authored"),
        ("a present before the decision", LATE),
    ],
)
def test_it_is_too_early_until_something_is_there_that_is_named(name: str, missing: str) -> None:
    rows, weeks, _ = SCENARIOS[name]

    (effect,) = found(rows, weeks=weeks)

    assert effect["missing"] == missing


def test_a_need_that_was_authored_twice_has_two_effects_if_it_came_back() -> None:
    asked = [*mentions(48, -12, 0), *mentions(48, 4, 12), *mentions(1, 14, 26)]

    second, first = found(
        [*asked, *USUAL, *others(0, 14, 26)], authored(), authored("lamp_glow_2", 12), weeks=26
    )

    assert (first["entries"], second["entries"]) == (["lamp_glow"], ["lamp_glow_2"])
    assert (first["weeks_after"], second["weeks_before"]) == (12, 12)
    assert (first["mentions_after"], second["mentions_before"]) == (48, 48)
    assert first["verdict"] != "gone"
    assert (second["verdict"], second["came_back"]) == ("gone", None)
    assert AUTHORED + timedelta(weeks=4) < first["came_back"] <= AUTHORED + timedelta(weeks=7)


@pytest.mark.parametrize(("anew", "effects_found"), [(False, 1), (True, 2)])
def test_two_entries_for_one_need_have_one_effect_unless_it_begins_anew(
    anew: bool, effects_found: int
) -> None:
    rows = [*mentions(48, -12, 0), *mentions(2, 0, 12), *USUAL]

    several = found(rows, authored(), authored("lamp_halo", 2, anew=anew))

    assert len(several) == effects_found
    if not anew:
        assert several[0]["entries"] == ["lamp_glow", "lamp_halo"]
        assert (several[0]["decided"], several[0]["verdict"]) == (AUTHORED, "gone")


@pytest.mark.parametrize(("between", "effects_found"), [((), 1), (("dismiss",), 2), (("pin",), 1)])
def test_an_effect_begins_anew_once_the_need_was_not_authored(
    between: tuple[str, ...], effects_found: int
) -> None:
    rows = [*mentions(48, -12, 0), *mentions(2, 0, 12), *USUAL]
    made = [
        {
            "surface": "lamp glow",
            "decision_id": f"dec-{week}",
            "time": AUTHORED + timedelta(weeks=week),
            "action": action,
            "entry": "glow",
            "about": ["lamp glow"],
        }
        for week, action in enumerate(("author", *between, "author"))
    ]
    wordings = WORDINGS.with_columns(surface="wording", mentions=1)
    verdicts = pl.DataFrame(made, VERDICTS.schema)

    effects = authored_effects(
        wordings, verdicts, Parts.of(records(rows)), AUTHORED + timedelta(weeks=12), 12
    )

    assert effects.height == effects_found


def test_after_a_split_each_side_has_the_mentions_of_its_own_wordings() -> None:
    rows = [
        *mentions(48, -12, 0),
        *mentions(2, 0, 12),
        *mentions(48, -12, 12, "tilt shift"),
        *USUAL,
    ]

    (effect,) = found(rows)

    assert (effect["mentions_before"], effect["mentions_after"]) == (48, 2)
    assert effect["verdict"] == "gone"


def test_after_a_merge_both_needs_count_on_both_sides() -> None:
    united = WORDINGS.with_columns(pl.col("cluster").replace({1: 0}))
    rows = [
        *mentions(48, -12, 0),
        *mentions(2, 0, 12),
        *mentions(48, -12, 12, "tilt shift"),
        *USUAL,
    ]

    (effect,) = found(rows, wordings=united)

    assert (effect["mentions_before"], effect["mentions_after"]) == (72, 26)
    assert effect["verdict"] == "fewer"


def test_weeks_after_begin_with_the_first_use_of_an_entry_if_that_is_later() -> None:
    use = {
        "timestamp": AUTHORED + timedelta(weeks=3),
        "vocabulary_used": [" lamp_glow", "lamp_glow", "other"],
    }
    rows = [*mentions(48, -12, 3), use, *mentions(2, 3, 12), *USUAL]

    (effect,) = found(rows)
    (earlier,) = found([*rows, {**use, "timestamp": AUTHORED - timedelta(weeks=9), "count": 4}])

    assert effect["since"] == use["timestamp"]
    assert (effect["used_since"], earlier["used_since"]) == (1, 1)
    assert earlier["since"] == AUTHORED


def test_a_first_effect_whose_entry_was_used_after_the_second_began_has_no_weeks_after() -> None:
    use = {"timestamp": AUTHORED + timedelta(weeks=5), "vocabulary_used": ["lamp_glow"]}
    rows = [*mentions(48, -12, 0), use, *USUAL]

    effects_found = found(rows, authored(), authored("lamp_halo", 2, anew=True))

    assert sorted(effect["weeks_after"] for effect in effects_found) == [0, 10]
    assert {effect["verdict"] for effect in effects_found} == {"too early"}


def test_workarounds_are_rated_before_and_after() -> None:
    rows = [
        *mentions(10, -12, 0, satisfaction=-1),
        *mentions(10, -12, 0, count=2),
        *mentions(2, 0, 12, satisfaction=1, count=3),
        *mentions(1, 0, 12, satisfaction=0, count=6),
        *USUAL,
    ]

    (effect,) = found(rows)
    (unrated,) = found([*mentions(9, -12, 0), *USUAL])

    assert (effect["rating_before"], effect["rating_after"]) == (-1.0, 0.5)
    assert (effect["mentions_before"], effect["mentions_after"]) == (30, 12)
    assert (unrated["rating_before"], unrated["rating_after"]) == (None, None)


def test_a_record_of_many_mentions_is_as_many_records_of_one_session_and_hour() -> None:
    rows = [*mentions(48, -12, 0), *mentions(10, 0, 12)]
    counted = [{**row, "count": 8} for row in rows]
    repeated = [
        {**row, "session_id": f"s{number}"} for number, row in enumerate(rows) for _ in range(8)
    ]

    (one,), (other,) = (found([*asked, *USUAL]) for asked in (counted, repeated))

    assert (one["mentions_before"], one["mentions_after"]) == (384, 80)
    assert {**one, "expected": None} == {**other, "expected": None}


def test_a_batch_of_mentions_is_no_return() -> None:
    batch = {"timestamp": AUTHORED + timedelta(weeks=5), "count": 40}

    (effect,) = found([*mentions(48, -12, 0), batch, *USUAL])

    assert effect["came_back"] is None


def test_a_need_that_never_left_came_back_and_so_did_its_mentions_only_in_a_busy_season() -> None:
    rows = [*mentions(48, -12, 0), *mentions(48, 0, 12)]

    (effect,), (busy,) = (found([*rows, *rest]) for rest in (USUAL, others(12, 60)))

    assert effect["came_back"] is not None
    assert busy["came_back"] is None


def test_the_day_on_which_a_need_came_back_does_not_depend_on_the_report() -> None:
    rows = [*mentions(48, -12, 0), *mentions(32, 4, 12), *USUAL, *others(0, 24, 30)]

    days = {found(rows, weeks=weeks)[0]["came_back"] for weeks in (10, 10.9, 12, 20, 30)}

    assert len(days) == 1
    assert days != {None}


def test_a_younger_need_begins_with_its_first_mention() -> None:
    rows = [*mentions(12, -6, 0), *mentions(12, 0, 6), *USUAL]

    (effect,) = found(rows, weeks=6)

    assert effect["weeks_before"] == 5.75
    assert (effect["mentions_before"], effect["verdict"]) == (12, "no change")


def test_undated_and_later_records_count_on_neither_side() -> None:
    rows = [*mentions(48, -12, 0), *mentions(2, 0, 12), *USUAL]
    beside = [{"timestamp": None, "count": 9}, *mentions(9, 12.1, 20)]

    assert found([*rows, *beside]) == found(rows)


def test_neither_order_nor_parts_nor_zone_change_an_effect() -> None:
    rows = [
        *mentions(48, -12, 0, count=3),
        *mentions(9, 0, 12, vocabulary_used=["lamp_glow"]),
        *USUAL,
    ]
    authorings = [authored(), authored("lamp_halo", 2), authored("need_4", -1, "need 4")]
    shuffled = random.Random(7).sample(rows, len(rows))  # noqa: S311 - a test
    frame = records(shuffled)
    now = AUTHORED + timedelta(weeks=12)
    abroad = timezone(timedelta(hours=-9, minutes=-30))
    moved = [each._replace(decided=each.decided.astimezone(abroad)) for each in authorings]

    expected = effects_of(Parts.of(records(rows)), WORDINGS, authorings, now, 12)
    parts = Parts([frame[:100], frame[100:101], frame[101:]])

    for table in (
        effects_of(parts, WORDINGS, authorings[::-1], now, 12),
        effects_of(Parts.of(frame), WORDINGS.reverse(), moved, now.astimezone(abroad), 12),
    ):
        assert_frame_equal(table, expected)


def test_without_authored_needs_or_records_there_are_no_effects() -> None:
    now = AUTHORED

    assert_frame_equal(effects_of(Parts.of(records([])), WORDINGS, [], now, 12), NO_EFFECTS)
    (effect,) = found([])
    assert (effect["verdict"], effect["weeks_before"]) == ("too early", 0)


@pytest.mark.parametrize(("before", "after"), [(1, 3), (9, 2), (40, 0), (40, 25), (7, 60)])
def test_without_a_prior_the_limits_are_those_of_the_binomial_test(before: int, after: int) -> None:
    """Clopper's and Pearson's limits with mid-p, of two rates in weeks that differ by a growth."""
    growth = np.array([0.7])

    low, high = limits(np.array([1.0 * before]), np.array([1.0 * after]), 1.0, growth)

    for ratio, chance in ((low, 0.95), (high, 0.05 if after else 0.1)):
        share = ratio * growth / (1 + ratio * growth)  # of the events after, if this is the effect
        whole = before + after
        # Given the events before, the number after is at most `after` if, of the first `whole` events or
        # one less, enough are before.
        middle = (
            binom.sf(before - 1, whole, 1 - share) + binom.sf(before - 1, whole - 1, 1 - share)
        ) / 2
        assert after == 0 == ratio[0] or middle[0] == pytest.approx(chance, abs=1e-6)


def test_the_prior_has_the_moments_of_the_needs() -> None:
    rng = np.random.default_rng(5)
    events = rng.poisson(12 * rng.gamma(2.0, 1 / 2.0, 40_000)).astype(np.float64)

    assert prior(events, 0.0) == pytest.approx((2.0, 2 / 12), rel=0.05)
    assert prior(events[:1], 0.0) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.1, 1 / 3, "fewer"), (0.1, 0.33, "gone"), (0.6, 0.9, "no change"), (0.4, 0.89, "fewer"),
        (1 / 0.9, 9, "no change"), (1.2, 9, "more"), (0.5, 2, "too early"), (0.51, 2, "no change"),
    ],
)  # fmt: skip
def test_a_limit_of_a_verdict_does_not_belong_to_it(low: float, high: float, verdict: str) -> None:
    assert verdict_of(low, high) == verdict


def test_bursts_count_only_if_chance_rarely_makes_as_large_ones() -> None:
    rare, usual = np.array([[3.0, 0.0]]), np.array([[2.0, 1.0]])
    one, four = (np.concatenate([rare] * count + [usual] * 2) for count in (1, 4))

    # All other needs are as many in both weeks: of three mentions, half are expected in each.
    assert spread(one, one + 100) == 0.0
    assert spread(four, four + 100) == pytest.approx((4 * 1.5 - 2 * 0.5) / (6 * 0.75))


@pytest.mark.parametrize(("kappa", "low", "high"), [(0.0, 0.0, 0.0), (0.3, 0.2, 0.4)])
def test_bursts_are_told_from_chance(kappa: float, low: float, high: float) -> None:
    rng = np.random.default_rng(8)
    rates = np.full((200, 12), 3.0)
    if kappa:
        rates *= rng.gamma(1 / kappa, kappa, rates.shape)
    weekly = rng.poisson(rates).astype(np.float64)

    assert low <= spread(weekly, weekly.sum(axis=0)) <= high


@pytest.mark.slow
@pytest.mark.parametrize("effect", effects.NAMES)
def test_simulated_effects_are_found_as_often_as_the_manual_says(effect: float) -> None:
    found_effects = effects.outcome(300, effect, places=1)

    assert 0.86 <= found_effects.covered <= 0.94  # 88 to 92 % of 2,000
    assert found_effects.wrong < 0.1
    if effect == 1:
        assert found_effects.shares["gone"] + found_effects.shares["fewer"] <= 0.05


def test_two_needs_have_a_prior_with_their_mean_and_one_has_none() -> None:
    alpha, beta = prior(np.array([1.0, 9.0]), 0.0)

    assert alpha / beta == pytest.approx(5.0)
    assert alpha / beta**2 == pytest.approx(32.0 - 5.0)
    alpha, beta = prior(np.array([1.0, 9.0]), 0.5)
    assert alpha / beta**2 == pytest.approx((32.0 - 5.0 - 0.5 * 25.0) / 1.5)
    assert prior(np.array([9.0]), 0.0) == prior(np.zeros(2), 0.0) == (0.0, 0.0)
