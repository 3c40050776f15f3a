"""What a list of all capabilities needs beside their rows."""

from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest

from builders import gap, write_corpus
from builders.reporting import publish
from vocabgap.model.capability import Tally
from vocabgap.model.settings import RankSettings, Settings
from vocabgap.pipeline import Run
from vocabgap.reporting import listed as listing
from vocabgap.reporting.listed import HIDDEN, listed

NOW = datetime(2026, 7, 1, tzinfo=UTC)


def test_images_and_days_of_each_add_up_to_its_mentions(demo_run: Run) -> None:
    for each in demo_run.published.summary.everything:
        assert sum(tally.mentions for tally in each.on_images) == each.capability.mentions
        assert len(each.on_images) == each.capability.images
        assert sum(length for _, length in each.on_days) <= each.capability.mentions


def test_images_with_most_mentions_come_first_and_days_in_order(tmp_path: Path) -> None:
    days = ("2026-05-02", "2026-04-30", "2026-05-02")
    fjord = [
        gap("sky mask", timestamp=f"{day}T23:00:00Z", notes=str(at)) for at, day in enumerate(days)
    ]
    made = publish(
        tmp_path,
        write_corpus(tmp_path, {"heron": [gap("sky mask", timestamp=None)], "fjord": fjord}),
    )

    (found,) = made.published.summary.everything

    assert found.on_images == (Tally("fjord", 3), Tally("heron", 1))
    assert found.on_days == ((date(2026, 4, 30), 1), (date(2026, 5, 2), 1))


def test_images_of_several_repositories_are_named_with_theirs(tmp_path: Path) -> None:
    roots = [
        write_corpus(tmp_path, {"heron": [gap("sky mask", notes=name)]}, name=name)
        for name in ("a", "b")
    ]
    made = publish(tmp_path, roots)
    (found,) = made.published.summary.everything
    assert [tally.name for tally in found.on_images] == ["a/heron", "b/heron"]


def test_groups_are_those_of_the_report(tmp_path: Path) -> None:
    corpus = write_corpus(
        tmp_path, {"heron": [gap("sky mask"), gap("film grain")], "fjord": [gap("sky mask")]}
    )
    made = publish(tmp_path, corpus, settings=Settings(rank=RankSettings(min_images=2)))
    groups = {each.capability.label: each.group for each in made.published.summary.everything}
    assert groups == {"sky mask": "open", "film grain": HIDDEN}


def test_of_very_many_the_first_are_listed_and_the_first_of_each_group(
    demo_run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MOST_LISTED", 5)
    monkeypatch.setattr(listing, "SHOWN", 2)
    ranked = demo_run.ranked
    last = ranked.filter(pl.col("rank") > 30)

    found = listed(ranked, {"settled": last}, covered_from=1.0)

    assert [each.capability.rank for each in found] == [1, 2, 3, 4, 5, 31, 32]
    assert found[-1].group == "settled"
