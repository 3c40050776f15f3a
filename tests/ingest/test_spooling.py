import resource
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from builders import gap
from builders.ingest import write_log
from vocabgap.errors import InvalidInputError, NotFoundError, StateError
from vocabgap.ingest import columns, scanning
from vocabgap.ingest.scanning import scan, scan_to_parquet

HASH = "ab" * 32


@pytest.fixture
def corpus(workspace: Path) -> Path:
    """Three logs with a copy, a correction and two rejects among them."""
    write_log(
        workspace,
        "heron-11",
        gap("reed mask", image_id="heron-11", snapshot_hash=HASH),
        b"{\n",
        gap("soft reeds"),
    )
    write_log(workspace, "heron-11-copy", gap("reed mask", image_id="heron-11", snapshot_hash=HASH))
    write_log(workspace, "heron-12", gap("mist"), b"[]\n", *(gap(f"need {number}") for number in range(20)))
    correction = gap("reed mask, feathered", image_id="heron-11", notes=f"corrects {HASH}")
    write_log(workspace, "later/heron-11", correction)
    return workspace


@pytest.mark.parametrize("batch", [1, 7, 50_000])
def test_the_parts_are_the_frames_of_a_scan(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    whole = scan(corpus)
    monkeypatch.setattr(columns, "BATCH", batch)

    summary = scan_to_parquet(corpus, tmp_path / "out")

    assert summary == whole.summary
    assert_frame_equal(pl.read_parquet(tmp_path / "out" / "gaps-*.parquet"), whole.gaps)
    assert_frame_equal(pl.read_parquet(tmp_path / "out" / "rejects-*.parquet"), whole.rejects)
    assert_frame_equal(pl.read_parquet(tmp_path / "out" / "files.parquet"), whole.files)


def test_it_knows_duplicates_and_corrections_across_parts(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "BATCH", 1)

    summary = scan_to_parquet(corpus, tmp_path / "out")

    assert (summary.duplicates, summary.superseded, summary.rejects) == (1, 1, 2)


def test_an_empty_corpus_is_a_part_without_rows(workspace: Path, tmp_path: Path) -> None:
    summary = scan_to_parquet(workspace, tmp_path / "out")

    assert summary.lines == 0
    assert_frame_equal(pl.read_parquet(tmp_path / "out" / "gaps-*.parquet"), scan(workspace).gaps)
    assert_frame_equal(pl.read_parquet(tmp_path / "out" / "rejects-*.parquet"), scan(workspace).rejects)


def test_a_folder_that_holds_something_is_left_alone(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("42")

    with pytest.raises(StateError, match="there already"):
        scan_to_parquet(corpus, tmp_path / "out")

    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.txt"]


def test_a_root_that_is_not_there_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        scan_to_parquet(tmp_path / "absent", tmp_path / "out")

    assert list(tmp_path.iterdir()) == []


def test_no_root_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError):
        scan_to_parquet([], tmp_path / "out")


def test_what_stops_it_leaves_nothing_behind(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(scanning, "_write_why_not", stop)

    with pytest.raises(KeyboardInterrupt):
        scan_to_parquet(corpus, tmp_path / "out")

    assert [path.name for path in tmp_path.iterdir()] == [corpus.name]


def test_a_disk_that_is_full_is_said(corpus: Path, tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(StateError, match="cannot be written: File too large"):
            scan_to_parquet(corpus, tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert [path.name for path in tmp_path.iterdir()] == [corpus.name]
