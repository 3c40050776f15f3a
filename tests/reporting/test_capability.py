"""What a list of all capabilities needs beside their rows."""

from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest

from builders import gap, write_corpus
from builders.reporting import publish, summary_of
from vocabgap.clustering.grouping import cluster
from vocabgap.ingest.scanning import scan
from vocabgap.model.capability import Tally
from vocabgap.model.settings import RankSettings, Settings
from vocabgap.pipeline import Run
from vocabgap.ranking.capabilities import rank
from vocabgap.reporting import listed as listing
from vocabgap.reporting.listed import HIDDEN, listed, named_by
from vocabgap.reporting.overviews import askers_of
from vocabgap.reporting.payload import payload_of

NOW = datetime(2026, 7, 1, tzinfo=UTC)


def test_images_and_days_of_each_add_up_to_its_mentions(demo_run: Run) -> None:
    for each in demo_run.published.summary.everything:
        assert sum(tally.mentions for tally in each.on_images) == each.capability.mentions
        assert len(each.on_images) == each.capability.images
        assert sum(mentions for _, mentions in each.on_days) <= each.capability.mentions


def test_images_with_most_mentions_come_first_and_days_in_order(tmp_path: Path) -> None:
    days = ("2026-05-02", "2026-04-30", "2026-05-02")
    fjord = [gap("sky mask", timestamp=f"{day}T23:00:00Z", notes=str(at)) for at, day in enumerate(days)]
    made = publish(
        tmp_path, write_corpus(tmp_path, {"heron": [gap("sky mask", timestamp=None)], "fjord": fjord})
    )

    (found,) = made.published.summary.everything

    assert found.on_images == (Tally("fjord", 3), Tally("heron", 1))
    assert found.on_days == ((date(2026, 4, 30), 1), (date(2026, 5, 2), 2))


def test_images_of_several_repositories_are_named_with_theirs(tmp_path: Path) -> None:
    roots = [
        write_corpus(tmp_path, {"heron": [gap("sky mask", notes=name)]}, name=name) for name in ("a", "b")
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


def test_without_records_there_are_neither_images_nor_days(demo_run: Run) -> None:
    found = listed(demo_run.ranked, {}, covered_from=1.0)
    assert len(found) == demo_run.ranked.height
    assert {(each.on_images, each.on_days, each.lineage) for each in found} == {((), (), ())}


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


def test_an_image_has_one_name_in_lists_and_in_examples(tmp_path: Path) -> None:
    write_corpus(tmp_path, {"heron": [gap("sky mask")]}, name="a")
    # Nothing of this one counts: yet its lines are named, and so is what they are told from.
    rejected = tmp_path / "b" / "heron"
    rejected.mkdir(parents=True)
    (rejected / "vocabulary_gaps.jsonl").write_text("{\n", encoding="utf-8")
    made = publish(tmp_path, [tmp_path / "a", tmp_path / "b"])

    (row,) = (payload := payload_of(made.published.summary)).rows

    assert payload.images == ("a/heron",)
    assert row.image_counts[0] == row.examples[0].image


def test_images_of_several_tenants_are_named_with_theirs(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"heron": [gap("sky mask")]}, name="coast")
    records = pl.concat(scan(root, tenant_id=tenant).records for tenant in ("reeve", "pilot"))
    ranked = rank(records, cluster(records))
    assert named_by(None, None, askers_of(ranked)) == ("tenant_id",)
    (row,) = (payload := payload_of(summary_of(ranked, top=1))).rows
    assert {payload.images[each.image] for each in row.examples} == {"pilot/heron", "reeve/heron"}
