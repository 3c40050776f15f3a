"""A shared corpus as a root: the same records, the same account, the same report as of its logs."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import vocabgap as vg
from builders import gap, write_corpus
from corpus.builders import Owner
from vocabgap.corpus.corpus import Corpus
from vocabgap.errors import StateError
from vocabgap.ingest.scanning import scan
from vocabgap.model.record import SHARED_TENANT
from vocabgap.model.selection import Selection
from vocabgap.model.sources import Source

NOW = datetime(2026, 7, 1, tzinfo=UTC)


DEMO: Owner = {"tenant": "local", "repo": "demo"}
NEEDS = [
    f"{name} {tenant}"
    for tenant in ("north", "south", SHARED_TENANT)
    for name in ("open", "secret")
]
NOTE = {"content": "about the house", "sourcePath": "notes/today.txt"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of the corpus."""
    return tmp_path / "corpus"


def test_corpus_gives_the_records_of_its_logs(corpus: Corpus, demo: Path, folder: Path) -> None:
    corpus.push(demo, **DEMO)

    actual, logs = scan(folder), scan(demo)

    assert_frame_equal(actual.gaps, logs.gaps)
    assert_frame_equal(actual.rejects, logs.rejects)
    assert actual.summary == logs.summary


def test_reports_are_the_same(corpus: Corpus, photos: Path, folder: Path, tmp_path: Path) -> None:
    corpus.push(photos, tenant="local", repo="photos")

    outcome = [
        vg.run(root, out=tmp_path / f"out-{root.name}", now=NOW) for root in (folder, photos)
    ]

    assert_frame_equal(outcome[0].ranked, outcome[1].ranked)
    assert outcome[0].published.summary.capabilities == outcome[1].published.summary.capabilities


def visible_to(folder: Path, *, reports: bool = False, **reader: Any) -> list[str]:  # noqa: ANN401 - filters
    """Return the needs that a reader finds: the same in a list, an export and, if asked, a report."""
    chosen = Selection(**reader)
    needs = sorted(scan(folder, **chosen.owners).gaps["description"])
    if reports:
        run = vg.run(folder, out=folder.parent / "out", selection=chosen, now=NOW)
        gaps = pl.read_parquet(run.published.folder / "gaps.parquet")
        assert sorted(gaps["description"]) == needs
        text = "".join(path.read_text() for path in run.published.folder.glob("report.*"))
        assert {need for need in NEEDS if need in text} <= {*needs}
    if chosen.tenants:
        vg.open_corpus(folder).export(folder.parent / "b.jsonl", **chosen.owners)
        records = map(json.loads, (folder.parent / "b.jsonl").read_text().splitlines())
        assert sorted(json.loads(record["document"])["description"] for record in records) == needs
    return needs


def test_tenant_reads_its_own_chunks_and_shared_ones_but_no_private_ones_of_others(
    corpus: Corpus, folder: Path, tmp_path: Path
) -> None:
    for need in NEEDS:
        name, tenant = need.split()
        logs = write_corpus(tmp_path, {name: [gap(need), "bad"]}, f"{tenant}-{name}")
        corpus.push(logs, tenant=tenant, repo=name, private=name == "secret")

    shared = f"open {SHARED_TENANT}"
    assert visible_to(folder, reports=True) == [shared, "open north", "open south"]
    assert visible_to(folder, reports=True, tenants="north") == [
        shared,
        "open north",
        "secret north",
    ]
    assert visible_to(folder, tenants="north", repositories=["secret"]) == ["secret north"]
    assert visible_to(folder, tenants="south", no_shared=True) == ["open south", "secret south"]
    assert scan(folder, tenants=["north"]).rejects["repo_slug"].to_list() == [
        "open",
        "open",
        "secret",
    ]
    assert corpus.export(tmp_path / "all.jsonl").records == 6  # a full backup


def test_new_push_decides_who_reads(corpus: Corpus, folder: Path, tmp_path: Path) -> None:
    photos = write_corpus(tmp_path, {"heron": [gap("sky mask")]})
    sizes = []
    for private in (True, False, True):
        pushed = corpus.push(photos, **DEMO, private=private)
        sizes.append((scan(folder).records.height, len(pushed.warnings)))

    assert sizes == [(0, 0), (1, 1), (0, 0)]  # a warning that it is no longer private


def test_corpus_and_logs_count_a_record_once(corpus: Corpus, photos: Path, folder: Path) -> None:
    corpus.push(photos, tenant="local", repo="photos")

    actual = scan([folder, photos])

    assert (actual.summary.records, actual.summary.duplicates, actual.summary.rejects) == (3, 3, 2)


def test_log_in_the_root_has_its_image(corpus: Corpus, folder: Path, tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"heron": ['{"description": "sky mask"}']})

    corpus.push(root / "heron", tenant="north", repo="photos")

    actual = scan(folder).gaps
    assert actual["image_id"].to_list() == ["heron"]
    assert actual["record_id"].to_list() == scan(root / "heron").gaps["record_id"].to_list()


def test_log_of_another_tool_is_read_as_its_name_says(folder: Path, tmp_path: Path) -> None:
    source = Source(glob="events.jsonl", where={"kind": "gap"}, fields={"description": "said.it"})
    root = tmp_path / "tool"
    root.mkdir()
    (root / "events.jsonl").write_text(
        '{"kind":"gap","said":{"it":"sky mask"}}\n{"kind":"private"}\n'
    )
    settings = vg.Settings(source={"own": source})

    vg.open_corpus(folder, settings=settings).push(root, tenant="north", repo="tool")

    actual = scan(folder, sources=settings.sources)
    assert actual.gaps["description"].to_list() == ["sky mask"]


def test_damaged_corpus_is_not_an_empty_folder(corpus: Corpus, photos: Path, folder: Path) -> None:
    corpus.push(photos, tenant="north", repo="photos")
    (folder / "manifest.json").write_text('{"format": "voc')

    with pytest.raises(StateError, match="damaged"):
        scan(folder)
