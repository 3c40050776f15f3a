from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from builders import gap, write_corpus
from builders.ranking import records
from builders.reporting import publish, summary_of
from vocabgap.files.parts import Parts
from vocabgap.pipeline import Run
from vocabgap.reporting.overviews import per_session

NOW = datetime(2026, 7, 1, tzinfo=UTC)


def test_totals_are_those_of_the_ranking(demo_run: Run) -> None:
    summary, ranked = demo_run.published.summary, demo_run.ranked
    assert summary.total == ranked.height
    assert summary.mentions == ranked["mentions"].sum() == demo_run.scan.gaps["counted"].sum()
    assert summary.single == ranked.filter(pl.col("mentions") == 1).height
    assert (summary.first_seen, summary.last_seen) == (
        ranked["first_seen"].min(),
        ranked["last_seen"].max(),
    )


def test_lines_add_up(demo_run: Run) -> None:
    account = demo_run.published.summary.account
    assert account is not None
    assert (
        account.lines == account.records + account.duplicates + account.superseded + account.rejects
    )
    assert account.records == account.counted + account.filtered + account.not_a_gap
    assert sum(account.reasons.values()) == account.rejects + account.unreadable


def test_categories_hold_every_mention_once_and_uncategorized_comes_last(demo_run: Run) -> None:
    categories = demo_run.published.summary.categories
    assert sum(category.mentions for category in categories) == demo_run.published.summary.mentions
    named = [category.mentions for category in categories[:-1]]
    assert named == sorted(named, reverse=True)
    assert categories[-1].name == "uncategorized"


def test_a_category_counts_the_capabilities_in_it(tmp_path: Path) -> None:
    root = write_corpus(
        tmp_path,
        {
            "one": [
                gap("sky mask", intent_category="tonal"),
                gap("frame border", intent_category="tone"),
                gap("film grain", intent_category="detail"),
            ]
        },
    )
    categories = publish(tmp_path, root).published.summary.categories
    assert [(item.name, item.mentions, item.capabilities) for item in categories] == [
        ("tone", 2, 2),
        ("detail", 1, 1),
    ]


def test_images_of_one_name_in_two_repositories_are_two(tmp_path: Path) -> None:
    left = write_corpus(tmp_path, {"one": [gap("sky mask")]}, "left")
    right = write_corpus(tmp_path, {"one": [gap("sky mask", workaround="drew it")]}, "right")
    assert (left.parent, right.parent) == (tmp_path, tmp_path)
    assert publish(tmp_path, tmp_path).published.summary.images == 1
    assert publish(tmp_path, [left, right]).published.summary.images == 2


def test_without_the_records_only_the_ranking_is_told(demo_run: Run) -> None:
    summary = summary_of(demo_run.ranked, top=10)
    assert (summary.account, summary.images, summary.recurring_sets) == (None, None, None)
    assert (summary.selection, summary.command) == ((), "")


def test_an_empty_workspace_has_no_moments_and_no_numbers(tmp_path: Path) -> None:
    summary = publish(tmp_path, write_corpus(tmp_path, {}), allow_empty=True).published.summary
    assert (summary.total, summary.mentions, summary.images, summary.single) == (0, 0, 0, 0)
    assert (summary.first_seen, summary.last_seen) == (None, None)


def test_the_mentions_per_known_session_are_told_for_each_quarter() -> None:
    asked = [(1, "a"), (2, "a"), (3, "b"), (4, "c"), (5, " "), (6, None)]
    rows = [
        {"timestamp": datetime(2026, month, 1, tzinfo=UTC), "session_id": session}
        for month, session in asked
    ]

    found = per_session(Parts.of(records(rows).with_columns(counted=True)))

    assert found == (("2026-Q1", 1.5), ("2026-Q2", 1.0))
