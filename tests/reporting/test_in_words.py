"""What the numbers of a capability mean, in words."""

from typing import Any

import msgspec
import pytest

from vocabgap.model.capability import Capability, Workaround
from vocabgap.pipeline import Run
from vocabgap.reporting.wording import (
    as_often,
    changes,
    factors,
    how_often,
    interval,
    is_pinned_ahead,
    overtaken,
    pinned,
    place_of,
    rank_of,
    short_hash,
    sparkline,
    too_close,
    too_few,
    trend,
)


def capability(demo_run: Run, **changed: Any) -> Capability:  # noqa: ANN401 - whatever fields there are
    """The first capability of the demo, with whatever a test says of it."""
    return msgspec.structs.replace(demo_run.published.summary.capabilities[0], **changed)


@pytest.mark.parametrize(("low", "high", "told"), [(1, 1, "1"), (1, 3, "1–3"), (9, 12, "9–12")])
def test_an_interval_of_one_rank_is_that_rank(demo_run: Run, low: int, high: int, told: str) -> None:
    assert interval(capability(demo_run, rank_low=low, rank_high=high)) == told


@pytest.mark.parametrize(
    ("weekly", "told"),
    [
        ((0,) * 8 + (1, 2, 3, 4), "rising: 10 mentions in the last 12 weeks, 10 of them in the last 4"),
        ((1,) + (0,) * 11, "rising: 1 mention in the last 12 weeks, none of them in the last 4"),
        ((0,) * 12, "rising: no mention in the last 12 weeks"),
        ((0, 0, 3), "rising: 3 mentions in the last 3 weeks, 3 of them in the last week"),
        # As the trend itself: the third of five weeks is two, rounded.
        ((0, 0, 0, 2, 3), "rising: 5 mentions in the last 5 weeks, 5 of them in the last 2"),
    ],
)
def test_a_trend_says_which_mentions_it_compares(demo_run: Run, weekly: tuple[int, ...], told: str) -> None:
    assert trend(capability(demo_run, trend="rising", weekly=weekly)) == told


@pytest.mark.parametrize(
    ("mentions", "told"),
    [
        ((1,), "Done instead: X (1 time)"),
        ((3, 2, 2), "Most often done instead: X (3 times)"),
        ((3, 3, 2), "Most often done instead: X (3 times), and 1 other thing just as often"),
        ((1,) * 5, "Done instead: X (1 time), and at least 4 other things just as often"),
    ],
)
def test_of_workarounds_that_are_equally_frequent_none_is_preferred(
    demo_run: Run, mentions: tuple[int, ...], told: str
) -> None:
    done = tuple(Workaround(f"way {place}", often) for place, often in enumerate(mentions))
    item = capability(demo_run, workarounds=done)
    assert f"{how_often(item)}: X{as_often(item)}" == told


@pytest.mark.parametrize("name", ["new", "rising", "steady", "fading"])
def test_a_trend_is_named_first(demo_run: Run, name: str) -> None:
    assert trend(capability(demo_run, trend=name)).startswith(f"{name}: ")


def test_without_a_date_there_is_no_trend(demo_run: Run) -> None:
    assert trend(capability(demo_run, trend=None, first_seen=None)) == "no date can be read"


def test_too_young_a_corpus_has_no_trend(demo_run: Run) -> None:
    assert trend(capability(demo_run, trend=None)) == (
        "too early for a trend: the first record of all is less than 3 weeks old"
    )


@pytest.mark.parametrize(
    ("weekly", "bars"),
    [
        ((), ""),
        ((0, 0, 0), "▁▁▁"),
        ((5,), "█"),
        ((0, 1, 2), "▁▅█"),
        ((0, 1, 2, 3, 4, 5, 6, 7), "▁▂▃▄▅▆▇█"),
        ((1, 1000), "▂█"),
    ],
    ids=["no week", "all zero", "one week", "halves", "every bar", "few beside many are not none"],
)
def test_a_sparkline_has_one_bar_a_week(weekly: tuple[int, ...], bars: str) -> None:
    assert sparkline(weekly) == bars


def test_factors_say_what_the_priority_is_made_of(demo_run: Run) -> None:
    item = capability(demo_run, priority=0.4567, reach=1.0, need=0.5, recency=0.909)
    assert factors(item) == "0.46 (reach 1.00, need 0.50, recency 0.91)"


@pytest.mark.parametrize(
    ("ranked_by", "first", "second", "told"),
    [
        ("mentions", 5, 3, "It leads by 2 mentions. "),
        ("mentions", 4, 3, "It leads by 1 mention. "),
        ("mentions", 3, 3, "By mentions the next is level. "),
        ("mentions", 3, 5, "The next has 2 more mentions. "),
        ("images", 1500, 2, "It leads by 1,498 images. "),
        ("sessions", 3, 2, "It leads by 1 session. "),
        ("unsatisfied", 4, 2, "It leads by 2 unsatisfied mentions. "),
        ("priority", 0.75, 0.5, "Its priority is 0.75, that of the next 0.50. "),
    ],
)
def test_a_place_says_by_how_much_the_first_leads(
    *, demo_run: Run, ranked_by: str, first: float, second: float, told: str
) -> None:
    one, two = (
        capability(demo_run, rank=1, **{ranked_by: first}),
        capability(demo_run, rank=2, **{ranked_by: second}),
    )
    assert place_of(one, (one, two), ranked_by, ()).startswith(told)


@pytest.mark.parametrize(
    ("share", "told"), [(None, ""), (0.0, "0 %"), (0.214, "21 %"), (0.216, "22 %"), (1.0, "100 %")]
)
def test_how_often_the_next_is_ahead_is_told_in_whole_percent(
    demo_run: Run, share: float | None, told: str
) -> None:
    assert overtaken(capability(demo_run, next_ahead=share)) == told


@pytest.mark.parametrize(
    ("share", "behind", "told"),
    [
        (0.214, 2, " It could be overtaken: with other images the next is level or ahead in 21 % of cases. "),
        (0.214, 3, None),  # the next rank is not the next that is shown
        (None, 2, None),
    ],
)
def test_a_place_says_how_often_the_next_would_be_ahead(
    demo_run: Run, share: float | None, behind: int, told: str | None
) -> None:
    one, two = capability(demo_run, rank=1, next_ahead=share), capability(demo_run, rank=behind)
    text = place_of(one, (one, two), "mentions", ())
    assert (told in text) if told else ("level or ahead" not in text)


def test_alone_nothing_is_led(demo_run: Run) -> None:
    one = capability(demo_run, rank_low=1, rank_high=1)
    assert place_of(one, (one,), "mentions", ()) == "Its rank is 1, with 90 % confidence."


@pytest.mark.parametrize(
    ("ties", "told"),
    [
        ((), "It leads by 1 mention. Its rank is 1, with 90 % confidence between 1 and 4."),
        (((3, 9),), "It leads by 1 mention. Its rank is 1, with 90 % confidence between 1 and 4."),
        (
            ((1, 14), (15, 20)),
            (
                "It leads by 1 mention. But ranks 1 to 14 are too close to call."
                " Its rank is 1, with 90 % confidence between 1 and 4."
            ),
        ),
    ],
)
def test_a_place_says_how_sure_it_is(demo_run: Run, ties: tuple[tuple[int, int], ...], told: str) -> None:
    one = capability(demo_run, rank=1, rank_low=1, rank_high=4, mentions=5, next_ahead=None)
    two = capability(demo_run, rank=2, mentions=4)
    assert place_of(one, (one, two), "mentions", ties) == told


def test_a_pin_is_told_as_a_pin_and_never_with_the_confidence_of_a_rank(demo_run: Run) -> None:
    item = capability(demo_run, rank=1, rank_low=4, rank_high=24, pinned_by="ana", unpinned_rank=9)
    assert pinned(item, "mentions") == "pinned by ana; by mentions rank 9, 4 to 24"
    assert rank_of(item, "mentions") == "1, pinned by ana; by mentions rank 9, 4 to 24"
    assert (interval(item), overtaken(item)) == ("pinned", "")
    assert place_of(item, (item,), "mentions", ((1, 3),)) == (
        "Without the pin its rank by mentions would be 9, with 90 % confidence between 4 and 24."
    )


@pytest.mark.parametrize(
    ("ties", "told"),
    [
        ([], ""),
        ([(1, 2)], "1 and 2 are too close to call"),
        ([(1, 3)], "1 to 3 are too close to call"),
        ([(1, 2), (3, 5)], "1 to 2 and 3 to 5 are too close to call"),
        ([(1, 3), (4, 9), (1000, 1200)], "1 to 3, 4 to 9 and 1,000 to 1,200 are too close to call"),
    ],
)
def test_ties_are_told_in_one_sentence(ties: list[tuple[int, int]], told: str) -> None:
    assert too_close(ties) == told


@pytest.mark.parametrize(("behind", "ahead"), [(4, False), (5, False), (6, True)])
def test_only_what_people_decided_puts_fewer_before_more(demo_run: Run, behind: int, ahead: bool) -> None:
    one, two = capability(demo_run, rank=1, mentions=5), capability(demo_run, rank=2, mentions=behind)
    assert is_pinned_ahead(one, (one, two), "mentions") is ahead


@pytest.mark.parametrize(
    ("fewest", "told"),
    [
        ({"images": 2, "sessions": 0}, "on fewer than 2 images"),
        ({"mentions": 4}, "of fewer than 4 mentions"),
        ({"images": 1, "sessions": 1}, "in fewer than 1 known session"),
        ({"images": 3, "sessions": 2}, "on fewer than 3 images or in fewer than 2 known sessions"),
    ],
)
def test_what_is_left_out_lacks_only_what_was_asked_for(fewest: dict[str, int], told: str) -> None:
    assert too_few(fewest) == told


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        (
            {"continued": 1204, "split": 0, "merged": 1, "new": 2, "gone": 0},
            "1,204 continued, 1 merged, 2 new",
        ),
        ({"continued": 0, "new": 0}, "nothing changed"),
        ({}, "nothing changed"),
    ],
)
def test_changes_name_only_what_happened(kinds: dict[str, int], told: str) -> None:
    assert changes(kinds) == told


def test_a_hash_is_cut_to_what_can_be_seen_of_it() -> None:
    assert short_hash("5e" * 32) == "5e5e5e5e5e5e"
    assert short_hash(" \n" * 9 + "5e\x1b" * 9) == "5e\\u001b5e\\u"
