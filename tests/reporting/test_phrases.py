"""Phrases about capabilities, as plain text."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from vocabgap.model.capability import Asker, Capability, Workaround
from vocabgap.pipeline import Run
from vocabgap.reporting.wording import phrase, sparkline
from vocabgap.text import short_hash

COAST, TOWN, PIER = (
    Asker("reeve", "coast", 5),
    Asker("reeve", "town", 3),
    Asker("pilot", "coast", 3),
)
TOLD = {
    "relation": "continued",
    "label": "sky mask",
    "previous_label": "sky mask",
    "previous_mentions": 12,
    "previous_rank": 3,
    "shared_mentions": 5,
    "decided": None,
}


def capability(demo_run: Run, **changed: Any) -> Capability:  # noqa: ANN401 - whatever fields there are
    """Return the first capability of the demo with some fields changed."""
    return replace(demo_run.published.summary.capabilities[0], **changed)


@pytest.mark.parametrize(("low", "high", "text"), [(1, 1, "1"), (1, 3, "1–3"), (9, 12, "9–12")])
def test_an_interval_of_one_rank_is_that_rank(
    demo_run: Run, low: int, high: int, text: str
) -> None:
    assert phrase("rank_interval", capability(demo_run, rank_low=low, rank_high=high)) == text


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        (
            {"weekly": (0,) * 8 + (1, 2, 3, 4)},
            "rising: 10 mentions in the last 12 weeks, 10 of them in the last 4",
        ),
        (
            {"weekly": (1,) + (0,) * 11},
            "rising: 1 mention in the last 12 weeks, none of them in the last 4",
        ),
        ({"weekly": (0,) * 12}, "rising: no mention in the last 12 weeks"),
        (
            {"weekly": (0, 0, 3)},
            "rising: 3 mentions in the last 3 weeks, 3 of them in the last week",
        ),
        # As the trend itself: the third of five weeks is two, rounded.
        (
            {"weekly": (0, 0, 0, 2, 3)},
            "rising: 5 mentions in the last 5 weeks, 5 of them in the last 2",
        ),
        ({"first_seen": None}, "no readable date"),
        (
            {"trend": None, "weekly": (0,) * 8 + (1, 2, 3, 4)},
            "no clear trend: 10 mentions in the last 12 weeks, 10 of them in the last 4",
        ),
        ({"trend": None, "weekly": (0,) * 12}, "no clear trend: no mention in the last 12 weeks"),
        (
            {"trend": None, "weekly": (1, 2)},
            "too early for a trend: the first record is less than 3 weeks old",
        ),
    ],
)
def test_a_trend_says_which_mentions_it_compares(
    demo_run: Run, changed: dict[str, Any], text: str
) -> None:
    assert phrase("trend", capability(demo_run, **{"trend": "rising"} | changed)) == text


@pytest.mark.parametrize(
    ("mentions", "largest", "mixed", "text"),
    [
        (150, 150, False, "150 of 150 from one session"),
        (1999, 1000, True, "perhaps several needs, 1,000 of 1,999 from one session"),
        (9, 5, False, "5 of 9 from one session"),
        (10, 5, False, ""),  # the half is not most
        (4, 4, True, "perhaps several needs"),  # a few repeats are no loop
        (20, 0, False, ""),
    ],
)
def test_a_mark_says_that_one_session_has_most_mentions(
    *, demo_run: Run, mentions: int, largest: int, mixed: bool, text: str
) -> None:
    item = capability(demo_run, mentions=mentions, largest_session=largest, mixed=mixed)
    assert phrase("marks", item) == text


@pytest.mark.parametrize(
    ("mentions", "text"),
    [
        ((1,), "Workaround: way 0 (1 time)."),
        ((3, 2, 2), "Most frequent workaround: way 0 (3 times)."),
        ((3, 3, 2), "Most frequent workaround: way 0 (3 times), and 1 other equally often."),
        ((1,) * 5, "Each workaround differs, for example: way 0."),
    ],
)
def test_equally_frequent_workarounds_are_counted(
    demo_run: Run, mentions: tuple[int, ...], text: str
) -> None:
    done = tuple(Workaround(f"way {place}", often) for place, often in enumerate(mentions))
    assert phrase("workaround", capability(demo_run, workarounds=done)) == text


@pytest.mark.parametrize(
    ("weekly", "bars"),
    [
        ((), ""), ((0, 0, 0), "▁▁▁"), ((0, 1, 2), "▁▅█"), ((0, 1, 2, 3, 4, 5, 6, 7), "▁▂▃▄▅▆▇█"),
        ((1, 1000), "▂█"),
    ],
)  # fmt: skip
def test_a_sparkline_has_one_bar_a_week(weekly: tuple[int, ...], bars: str) -> None:
    assert sparkline(weekly) == bars


@pytest.mark.parametrize(
    ("ranked_by", "first", "second", "text"),
    [
        ("mentions", 5, 3, "It leads by 2 mentions."),
        ("mentions", 4, 3, "It leads by 1 mention."),
        ("mentions", 3, 3, "The next has as many mentions."),
        ("mentions", 3, 5, "The next has 2 more mentions."),
        ("images", 1500, 2, "It leads by 1,498 images."),
        ("unsatisfied", 4, 2, "It leads by 2 unsatisfied mentions."),
        ("priority", 0.75, 0.5, "Its priority is 0.75, that of the next 0.50."),
    ],
)
def test_a_lead_is_in_the_unit_of_the_ranking(
    *, demo_run: Run, ranked_by: str, first: float, second: float, text: str
) -> None:
    one, two = (capability(demo_run, **{ranked_by: value}) for value in (first, second))
    assert phrase("lead", one, two, ranked_by) == text


SURE = "The rank of this need is 1, with 90 % confidence between 1 and 4."
CLOSE = "Ranks 1 to 14 are too close to call"


@pytest.mark.parametrize(
    ("behind", "ties", "text"),
    [
        (2, (), f"It leads by 1 mention. {SURE}"),
        (2, ((3, 9),), f"It leads by 1 mention. {SURE}"),
        (3, (), f"It leads by 1 mention. {SURE}"),  # the next that is shown is not the next
        (2, ((1, 14), (15, 20)), f"{CLOSE}. {SURE}"),
        (None, (), SURE),
    ],
)
def test_a_place_says_how_sure_it_is(
    *,
    demo_run: Run,
    behind: int | None,
    ties: tuple[tuple[int, int], ...],
    text: str,
) -> None:
    own = {"rank_low": 1, "rank_high": 4, "mentions": 5, "workarounds": ()}
    one = capability(demo_run, rank=1, **own)
    others = (one,) if behind is None else (one, capability(demo_run, rank=behind, mentions=4))
    run = replace(demo_run.published.summary, ties=ties, stale_days=90)
    assert phrase("place", one, others, run) == text


def test_a_pin_never_comes_with_the_confidence_of_a_rank(demo_run: Run) -> None:
    item = capability(demo_run, rank=1, rank_low=4, rank_high=24, pinned=True, pinned_by="ana")
    run = replace(demo_run.published.summary, stale_days=90)
    assert phrase("pinned", item, "mentions") == "pinned by ana; by mentions rank 4 to 24"
    assert phrase("rank", item, "mentions") == "1, pinned by ana; by mentions rank 4 to 24"
    assert phrase("rank_interval", item) == "pinned"
    assert phrase("place", item, (item,), run).startswith(
        "Without the pin its rank by mentions would be 4 to 24, with 90 % confidence."
    )


@pytest.mark.parametrize(
    ("ties", "text"),
    [
        ([], ""),
        ([(1, 2)], "1 and 2 are too close to call"),
        ([(1, 3)], "1 to 3 are too close to call"),
        ([(1, 2), (3, 5)], "1 to 2 and 3 to 5 are too close to call"),
        ([(1, 3), (4, 9), (1000, 1200)], "1 to 3, 4 to 9 and 1,000 to 1,200 are too close to call"),
    ],
)
def test_ties_are_one_sentence(ties: list[tuple[int, int]], text: str) -> None:
    assert phrase("too_close", ties) == text


@pytest.mark.parametrize(
    ("fewest", "text"),
    [
        ({"images": 2, "sessions": 0}, "on fewer than 2 images"),
        ({"images": 1, "sessions": 0}, "no longer asked for"),
        ({"mentions": 4}, "of fewer than 4 mentions"),
        ({"images": 1, "sessions": 1}, "in fewer than 1 known session"),
        ({"images": 3, "sessions": 2}, "on fewer than 3 images or in fewer than 2 known sessions"),
    ],
)
def test_what_is_left_out_lacks_only_what_was_asked_for(fewest: dict[str, int], text: str) -> None:
    assert phrase("too_few", fewest) == text


@pytest.mark.parametrize(
    ("kinds", "text"),
    [
        (
            {"continued": 1204, "split": 0, "merged": 1, "new": 2},
            "1,204 continued, 1 merged, 2 new",
        ),
        ({"continued": 0, "new": 0}, "nothing changed"),
    ],
)
def test_changes_name_only_what_happened(kinds: dict[str, int], text: str) -> None:
    assert phrase("changes", kinds) == text


@pytest.mark.parametrize(
    ("own", "everybody", "text"),
    [
        ((COAST,), (COAST,), ""),
        ((COAST,), (COAST, TOWN, PIER), "only in 'coast' of 'reeve'"),
        (
            (COAST, TOWN, PIER),
            (COAST, TOWN, PIER),
            "by 2 tenants in 3 repositories, most often in 'coast' of 'reeve' (5)",
        ),
        ((TOWN, PIER), (COAST, TOWN, PIER), "by 2 tenants in 2 repositories"),
        ((COAST, TOWN), (COAST, TOWN), "in 2 repositories, most often in 'coast' (5)"),
    ],
)
def test_tenants_are_named_if_there_are_several(
    demo_run: Run, own: tuple[Asker, ...], everybody: tuple[Asker, ...], text: str
) -> None:
    assert phrase("asked_by", capability(demo_run, asked_by=own), everybody) == text


@pytest.mark.parametrize(
    ("everybody", "text"),
    [
        ((), ""),
        ((COAST,), "All records are from the repository 'coast' of the tenant 'reeve'."),
        ((COAST, TOWN, PIER), "They are from 3 repositories of 2 tenants."),
    ],
)
def test_the_origin_of_all_records_is_a_sentence(everybody: tuple[Asker, ...], text: str) -> None:
    assert phrase("origin", everybody) == text


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({}, "In the run before: 12 mentions, rank 3"),
        ({"previous_rank": None}, "In the run before: 12 mentions, not ranked"),
        ({"previous_label": "masks"}, "In the run before, as masks: 12 mentions, rank 3"),
        (
            {"relation": "merged"},
            "Merged with sky mask (12 mentions, rank 3): 5 mentions came from it",
        ),
        (
            {"relation": "split"},
            "Split from sky mask (12 mentions, rank 3): 5 mentions came from it",
        ),
        (
            {"relation": "split", "decided": True},
            "Split by decision from sky mask (12 mentions, rank 3): 5 mentions came from it",
        ),
        (
            {
                "relation": "new",
                "previous_label": None,
                "previous_mentions": None,
                "previous_rank": None,
            },
            "New: the run before had none of its wordings",
        ),
    ],
)
def test_each_relation_is_a_sentence(changed: dict[str, Any], text: str) -> None:
    assert phrase("lineage", TOLD | changed) == text


def test_a_hash_is_cut_to_what_can_be_seen_of_it() -> None:
    assert short_hash("5e" * 32) == "5e5e5e5e5e5e"
    assert short_hash(" \n" * 9 + "5e\x1b" * 9) == "5e\\u001b5e\\u"


@pytest.mark.parametrize(
    ("unsatisfied", "days", "reason"),
    [(3, 1, "a smaller share of its workarounds failed"), (1, 1, "the last mention is older")],
)
def test_a_reason_says_why_another_need_comes_first(
    demo_run: Run, unsatisfied: int, days: int, reason: str
) -> None:
    first = capability(demo_run, unsatisfied=1, neutral=3, satisfied=0)
    assert first.last_seen is not None
    later = first.last_seen + timedelta(days=days)
    ahead = replace(first, unsatisfied=unsatisfied, neutral=4 - unsatisfied, last_seen=later)
    sentence = phrase("behind", first, ahead, demo_run.published.summary)
    assert sentence == f"{first.label} has rank 1 by mentions, but {reason}"
