"""Phrases about capabilities, as plain text."""

from typing import Any

import pytest
from msgspec.structs import replace

from vocabgap.model.capability import Asker, Capability, Covered
from vocabgap.pipeline import Run
from vocabgap.reporting.listed import beside
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
    ("weekly", "bars"),
    [
        ((), ""), ((0, 0, 0), "▁▁▁"), ((0, 1, 2), "▁▅█"), ((0, 1, 2, 3, 4, 5, 6, 7), "▁▂▃▄▅▆▇█"),
        ((1, 1000), "▂█"),
    ],
)  # fmt: skip
def test_a_sparkline_has_one_bar_a_week(weekly: tuple[int, ...], bars: str) -> None:
    assert sparkline(weekly) == bars


def test_a_pin_never_comes_with_the_confidence_of_a_rank(demo_run: Run) -> None:
    item = capability(demo_run, rank=1, rank_low=4, rank_high=24, pinned=True, pinned_by="ana")
    assert phrase("pinned", item, "mentions") == "pinned by ana; by mentions rank 4–24"
    assert phrase("rank", item, "mentions") == "1, pinned by ana; by mentions rank 4–24"
    assert phrase("rank_interval", item) == "pinned"
    assert phrase("level", item, [(1, 3)]) == ""


@pytest.mark.parametrize(
    ("rank", "ties", "text"),
    [
        (1, [(1, 2)], "2"),
        (1, [(1, 3)], "2 and 3"),
        (2, [(1, 3)], "1 and 3"),
        (9, [(1, 3), (4, 9)], "4 to 8"),
        (6, [(4, 9)], "4, 5 and 7 to 9"),
        (2, [(1, 9)], "1 and 3 to 9"),
        (7, [(4, 9)], "4 to 6, 8 and 9"),
    ],
)
def test_a_need_is_level_with_the_others_of_its_tie(
    demo_run: Run, rank: int, ties: list[tuple[int, int]], text: str
) -> None:
    assert phrase("level", capability(demo_run, rank=rank), ties) == f"level with {text}"
    assert phrase("level", capability(demo_run, rank=20), ties) == ""


@pytest.mark.parametrize(
    ("ratings", "sentence", "share"),
    [
        ((0, 0, 0), "no workaround was rated", "–"),
        ((2, 0, 0), "2 of 2 workarounds failed", "2/2"),
        ((1, 0, 0), "1 of 1 workaround failed", "1/1"),
        ((23, 1, 1), "92 % of its workarounds failed", "23/25"),
    ],
)
def test_a_list_counts_ratings_and_a_sentence_has_a_share_of_many(
    demo_run: Run, ratings: tuple[int, int, int], sentence: str, share: str
) -> None:
    counts = dict(zip(("unsatisfied", "neutral", "satisfied"), ratings, strict=True))
    item = capability(demo_run, **counts)
    assert (phrase("failed", item), phrase("failed_share", item)) == (sentence, share)


CLOSE = "Ranked by mentions; ranks 1 to 3 are level, so each is a good first choice."
FAILED = ": 34 mentions on 16 images; 79 % of its workarounds failed."
MARKS: dict[str, dict[str, Any]] = {
    "pinned by ana": {"pinned": True, "pinned_by": "ana"},
    "probably exists as sky_mask": {"covered": (Covered("sky_mask", 34, ()),)},
    "asked for again": {"status": "regressed"},
    "perhaps several needs": {"mixed": True},
    "34 of 34 from one session": {"largest_session": 34},
}


def test_what_stands_beside_a_need_has_one_order(demo_run: Run) -> None:
    everything = {name: value for each in MARKS.values() for name, value in each.items()}
    one = "perhaps one need with 1 other"
    assert beside(capability(demo_run, **everything), one) == (*MARKS, one)
    assert beside(capability(demo_run)) == ()


@pytest.mark.parametrize(("text", "changed"), MARKS.items())
def test_each_mark_stands_beside_a_need_for_its_reason(
    demo_run: Run, text: str, changed: dict[str, Any]
) -> None:
    assert beside(capability(demo_run, **changed)) == (text,)


@pytest.mark.parametrize(
    ("mentions", "mixed", "exists", "text"),
    [
        (34, True, True, "probably exists as sky_mask"),
        (18, False, True, "probably exists as sky_mask"),
        (17, False, False, "17 of 34 probably exist as sky_mask"),
        (33, True, False, "33 of 34 probably exist as sky_mask"),
    ],
)
def test_a_need_exists_if_entries_cover_most_or_all_of_several_needs(
    *, demo_run: Run, mentions: int, mixed: bool, exists: bool, text: str
) -> None:
    covered = (Covered("sky_mask", mentions, ("sky mask",)),)
    item = capability(demo_run, covered=covered, mixed=mixed)
    assert (item.exists, phrase("exists", item)) == (exists, text)


@pytest.mark.parametrize(
    ("changed", "before", "after", "note"),
    [
        ({}, "Author ", FAILED, CLOSE),
        ({"mentions": 1, "unsatisfied": 0, "neutral": 0, "satisfied": 0, "mixed": True}, "Author ",
         ": 1 mention on 16 images; no workaround was rated.",
         f"{CLOSE} Perhaps several needs."),
        ({"pinned": True, "pinned_by": "ana", "rank_low": 4, "rank_high": 9}, "Author ", FAILED,
         "Pinned by ana; by mentions rank 4–9."),
    ],
)  # fmt: skip
def test_the_answer_is_a_sentence_and_its_note_says_what_is_level(
    *, demo_run: Run, changed: dict[str, Any], before: str, after: str, note: str
) -> None:
    summary = demo_run.published.summary
    first = capability(demo_run, **changed)
    answer = replace(summary, capabilities=(first, *summary.capabilities[1:])).answer
    assert answer is not None
    assert (answer.before, answer.after, answer.note) == (before, after, note)
    assert answer.label == first.label


@pytest.mark.parametrize(
    ("last", "sure"),
    [(1, " With 90 % confidence it is the first of 36."), (6, ""),
     (3, " With 90 % confidence it is among the first 3 of 36.")],
)  # fmt: skip
def test_the_answer_tells_the_range_of_a_rank_that_is_level_with_no_other(
    demo_run: Run, last: int, sure: str
) -> None:
    summary = replace(demo_run.published.summary, ties=())
    first = capability(demo_run, rank_high=last)
    answer = replace(summary, capabilities=(first, *summary.capabilities[1:])).answer
    assert answer is not None
    assert answer.note == f"Ranked by mentions.{sure}"


def test_the_answer_of_another_order_says_so_and_an_empty_list_has_none(demo_run: Run) -> None:
    summary = replace(demo_run.published.summary, ranked_by="images")
    assert summary.answer is not None
    assert summary.answer.note.startswith("Ranked by images; ")
    assert replace(summary, capabilities=()).answer is None


@pytest.mark.parametrize(
    ("ties", "text"),
    [
        ([], ""),
        ([(1, 2)], "1 and 2 are level"),
        ([(1, 3)], "1 to 3 are level"),
        ([(1, 2), (3, 5)], "1 to 2 and 3 to 5 are level"),
        ([(1, 3), (4, 9), (1000, 1200)], "1 to 3, 4 to 9 and 1,000 to 1,200 are level"),
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
