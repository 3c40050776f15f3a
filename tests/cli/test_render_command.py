"""`vocabgap render`, as it is typed."""

import json
from pathlib import Path

import pytest

from builders.command import vocabgap
from vocabgap.errors import ExitCode


@pytest.fixture
def out(reported: Path) -> Path:
    return reported.parent / "out"


def test_report_is_made_again_and_its_files_are_named(out: Path) -> None:
    (out / "report.html").unlink()
    result = vocabgap("render", "out")
    assert (result.code, result.err) == (ExitCode.DONE, "")
    assert result.out == "Open out/report.html in a browser.\n"
    assert (out / "report.html").is_file()


def test_copy_is_published_elsewhere(out: Path, tmp_path: Path) -> None:
    result = vocabgap("render", "out", "--out", "copy")
    assert result.out == "Open copy/report.html in a browser.\n"
    assert (tmp_path / "copy" / "report.html").read_bytes() == (out / "report.html").read_bytes()


@pytest.mark.usefixtures("out")
def test_events_tell_the_files(tmp_path: Path) -> None:
    (event,) = map(json.loads, vocabgap("--json", "render", "out").out.splitlines())
    assert (event["event"], event["out"]) == ("result", str(tmp_path / "out"))
    assert event["files"][:2] == ["report.md", "report.html"]
    assert (event["capabilities"], event["mentions"]) == (2, 3)


def test_folder_without_a_run_is_not_found() -> None:
    result = vocabgap("render", "nowhere")
    assert result.code == ExitCode.NOT_FOUND
    assert "has no run of vocabgap" in result.err
    assert "RUN_DIR" in result.err


def test_damaged_run_is_told(out: Path) -> None:
    (out / "gaps.parquet").write_bytes(b"")
    result = vocabgap("render", "out")
    assert result.code == ExitCode.STATE
    assert "gaps.parquet" in result.err
