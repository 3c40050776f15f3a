"""Image repositories in a shared corpus: one chunk a readable line, and what a push withdraws."""

import gzip
import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from builders import gap, write_corpus
from corpus.builders import NORTH
from vocabgap.corpus.chunks import read_lines
from vocabgap.corpus.corpus import Corpus
from vocabgap.corpus.version import GAP_KIND
from vocabgap.errors import NotFoundError, StateError
from vocabgap.ingest.scanning import scan
from vocabgap.model.record import LOG_NAME, ROOT_KIND


def gap_line(need: str) -> str:
    """Return a line of a log."""
    return json.dumps({"description": need, "image_id": "heron", "session_id": "pond"})


def chunks(corpus: Corpus) -> pl.DataFrame:
    """Return the chunks in a corpus, by path and line."""
    return corpus.store.version().rows().sort("source_path", "line")


def test_every_readable_line_is_a_chunk_with_its_text(corpus: Corpus, photos: Path) -> None:
    result = corpus.push(photos, **NORTH)

    rows = chunks(corpus)
    texts = [
        line
        for name in ("fjord", "heron")
        for line in (photos / name / LOG_NAME).read_text().splitlines()
    ]
    assert (result.ingested, result.added, result.deleted) == (3, 3, 0)
    assert rows["content"].to_list() == [text for text in texts if text != "no json"]
    assert rows["name"].to_list() == read_lines(photos).lines["record_id"].to_list()
    assert rows.select("tenant_id", "repo_slug", "root_kind", "kind").unique().row(0) == (
        "north", "photos", ROOT_KIND, GAP_KIND,
    )  # fmt: skip
    assert rows.select("source_path", "line").rows() == [
        (f"fjord/{LOG_NAME}", 1),
        (f"heron/{LOG_NAME}", 1),
        (f"heron/{LOG_NAME}", 2),
    ]


def test_log_of_any_bytes_is_pushed_as_far_as_possible(corpus: Corpus, tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"heron": []})
    log = root / "heron" / LOG_NAME
    log.write_bytes(b'\xef\xbb\xbf{"description":"sky mask"}\r\n\xff\xfe\n\n{"description":"torn')

    result = corpus.push(root, **NORTH)

    assert chunks(corpus)["content"].to_list() == ['{"description":"sky mask"}\r']
    assert [error.details["reason"] for error in result.errors] == ["invalid_utf8", "torn"]


def test_a_missing_log_stays_until_a_snapshot(corpus: Corpus, photos: Path) -> None:
    corpus.push(photos, **NORTH)
    shutil.rmtree(photos / "heron")

    assert corpus.push(photos, **NORTH).deleted == 0
    assert corpus.push(photos, **NORTH, snapshot=True).deleted == 2


def test_log_that_has_no_readable_line_any_more_is_still_one(corpus: Corpus, photos: Path) -> None:
    corpus.push(photos, **NORTH)
    (photos / "heron" / LOG_NAME).write_text("no json\n")

    assert corpus.push(photos, **NORTH, snapshot=True).deleted == 2
    assert scan(corpus.store.folder).summary == scan(photos).summary


def test_push_changes_only_its_own_paths(corpus: Corpus, photos: Path, tmp_path: Path) -> None:
    corpus.push(photos, **NORTH)
    corpus.push(photos, tenant="south", repo="photos")
    other = write_corpus(tmp_path, {"heron": [gap("film grain")]}, "part")

    assert corpus.push(other, **NORTH).deleted == 1

    left = (
        chunks(corpus).group_by("tenant_id", "source_path").len().sort("tenant_id", "source_path")
    )
    assert left.rows() == [
        ("north", f"fjord/{LOG_NAME}", 1),
        ("north", f"heron/{LOG_NAME}", 1),
        ("south", f"fjord/{LOG_NAME}", 1),
        ("south", f"heron/{LOG_NAME}", 2),
    ]


def test_log_that_cannot_be_read_withdraws_nothing(corpus: Corpus, photos: Path) -> None:
    log = photos / "heron" / f"{LOG_NAME}.gz"
    plain = photos / "heron" / LOG_NAME
    log.write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    corpus.push(photos, **NORTH)
    log.write_bytes(log.read_bytes()[:-12])

    result = corpus.push(photos, **NORTH)

    assert (result.deleted, len(result.errors)) == (0, 2)
    assert len(chunks(corpus)) == 3


def test_log_whose_last_line_is_cut_off_withdraws_nothing(corpus: Corpus, photos: Path) -> None:
    log = photos / "heron" / LOG_NAME
    content = log.read_bytes()
    corpus.push(photos, **NORTH)
    log.write_bytes(content[:-20])

    torn = corpus.push(photos, **NORTH)
    log.write_bytes(content[:-20] + b"\n")
    ended = corpus.push(photos, **NORTH)

    assert [error.details.get("reason") for error in torn.errors] == ["invalid_json", "torn"]
    assert (torn.deleted, ended.deleted) == (0, 1)


@pytest.mark.parametrize("snapshot", [False, True])
def test_empty_folder_fails(corpus: Corpus, photos: Path, tmp_path: Path, snapshot: bool) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()

    with pytest.raises(NotFoundError, match=r"no log was found in .*empty'"):
        corpus.push(empty, **NORTH, snapshot=snapshot)
    assert not corpus.store.folder.exists()
    corpus.push(photos, **NORTH)
    with pytest.raises(NotFoundError, match=r"no log was found in .*corpus'"):
        corpus.push(corpus.store.folder, **NORTH)
    assert corpus.push(empty, **NORTH, deleted=(f"heron/{LOG_NAME}",)).deleted == 2


def test_line_that_has_moved_gets_its_new_place(corpus: Corpus, photos: Path) -> None:
    first = datetime(2026, 7, 1, tzinfo=UTC)
    corpus.push(photos, **NORTH, now=first)
    log = photos / "heron" / LOG_NAME
    log.write_text(log.read_text().partition("\n")[2])

    result = corpus.push(photos, **NORTH, now=first + timedelta(days=1))

    assert (result.added, result.deleted) == (0, 1)
    assert chunks(corpus).filter(source_path=f"heron/{LOG_NAME}")["line"].to_list() == [1]
    assert chunks(corpus)["ingested_at"].unique().to_list() == [first]
    columns = ["record_id", "source_path", "line", "byte_offset"]
    assert scan(corpus.store.folder).gaps.select(columns).equals(scan(photos).gaps.select(columns))


@pytest.mark.parametrize("through", ["folder", "backup"])
def test_equal_lines_all_count(corpus: Corpus, other: Corpus, tmp_path: Path, through: str) -> None:
    lines = [
        gap_line("sky mask"),
        gap_line("film grain"),
        gap_line("sky mask"),
        gap_line("sky mask"),
    ]
    root = write_corpus(tmp_path, {"heron": lines})
    corpus.push(root, **NORTH)
    if through == "backup":
        corpus.export(tmp_path / "b.jsonl")
        other.restore(tmp_path / "b.jsonl")

    actual = scan((corpus if through == "folder" else other).store.folder)

    assert (actual.summary.lines, actual.summary.records, actual.summary.duplicates) == (4, 2, 2)
    assert actual.gaps["line"].to_list() == [1, 2, 3, 4]


def test_snapshot_needs_all_folders_listed(corpus: Corpus, photos: Path, tmp_path: Path) -> None:
    corpus.push(photos, **NORTH)
    (tmp_path / "elsewhere").mkdir()
    shutil.rmtree(photos / "heron")
    (photos / "heron").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StateError, match="cannot be listed; --snapshot would withdraw its logs"):
        corpus.push(photos, **NORTH, snapshot=True)
    assert len(chunks(corpus)) == 3
