import resource
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from builders import gap, write_corpus
from builders.reporting import publish
from vocabgap.errors import ExitCode, InvalidInputError
from vocabgap.model.settings import ReportSettings, Settings
from vocabgap.model.tables import CAPABILITIES, COMBINATIONS, GAPS, REJECTS
from vocabgap.pipeline import Run, run
from vocabgap.reporting.writing import report, with_capabilities

NOW = datetime(2026, 7, 1, tzinfo=UTC)
FILES = (
    "report.md", "report.html", "capabilities.parquet", "gaps.parquet", "rejects.parquet",
    "lineage.parquet", "groups.parquet", "combinations.parquet", "history.parquet", "run.json",
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("capabilities.parquet", CAPABILITIES),
        ("gaps.parquet", GAPS),
        ("rejects.parquet", REJECTS),
        ("combinations.parquet", COMBINATIONS),
    ],
    ids=["capabilities", "gaps", "rejects", "combinations"],
)
def test_published_frames_have_exactly_their_schema(
    demo_run: Run, tmp_path: Path, name: str, table: object
) -> None:
    schema = table.schema  # type: ignore[attr-defined]
    assert pl.read_parquet_schema(demo_run.published.folder / name) == dict(schema)
    assert (
        pl.read_parquet(
            publish(tmp_path, write_corpus(tmp_path, {}), allow_empty=True).published.folder / name
        ).schema
        == schema
    )


def test_gaps_are_the_readable_lines_in_the_order_of_the_scan(demo_run: Run) -> None:
    summary = demo_run.scan.summary
    gaps = pl.read_parquet(demo_run.published.folder / "gaps.parquet")
    assert gaps.height == summary.lines - summary.rejects
    judged = (
        "capability_id",
        "category",
        "category_by",
        "category_probability",
    )  # when a run is published
    assert_frame_equal(gaps.drop(judged), demo_run.scan.gaps.drop(judged))


def test_records_of_a_capability_are_as_many_as_its_mentions(demo_run: Run) -> None:
    gaps = with_capabilities(demo_run.scan.lines, demo_run.ranked).collect()
    found = gaps.filter("counted").group_by("capability_id").len("mentions")
    assert_frame_equal(
        found.cast({"mentions": pl.Int64}),
        demo_run.ranked.select("capability_id", "mentions"),
        check_row_order=False,
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"missing_capability": "  sky mask\n"},
        {"missing_capability": " ", "description": "x"},
        {"missing_capability": None},
        {"description": "\u001csky mask\u2003"},
    ],
)
def test_wordings_are_matched_as_they_were_clustered(
    tmp_path: Path, fields: dict[str, object]
) -> None:
    made = publish(tmp_path, write_corpus(tmp_path, {"one": [gap("sky mask") | fields]}))
    gaps = pl.read_parquet(made.published.folder / "gaps.parquet")
    assert gaps["capability_id"].to_list() == made.ranked["capability_id"].to_list()


def test_without_a_scan_there_are_only_the_ranking_and_the_report(
    demo_run: Run, tmp_path: Path
) -> None:
    made = report(demo_run.ranked, tmp_path / "out", now=NOW, top=1)
    assert made.files == (
        "report.md",
        "report.html",
        "capabilities.parquet",
        "history.parquet",
        "run.json",
    )
    assert sorted(entry.name for entry in made.folder.iterdir()) == sorted(made.files)
    assert (made.manifest.account, made.manifest.inputs) == (None, ())
    # The Parquet has all capabilities, however few are shown.
    assert pl.read_parquet(made.folder / "capabilities.parquet").height == demo_run.ranked.height


def test_a_frame_that_is_no_ranking_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="frame 'capabilities'"):
        report(GAPS.empty(), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


WITHOUT_OFFSET = datetime(2026, 7, 1)  # noqa: DTZ001 - that is the point


def test_the_manifest_does_not_say_where_the_files_went(tmp_path: Path, demo: Path) -> None:
    out = tmp_path / "home-of-mira" / "out"

    run(demo, settings=Settings(report=ReportSettings(out=str(out))))

    published = b"".join(
        path.read_bytes() for path in out.iterdir() if path.suffix in {".md", ".html", ".json"}
    )
    assert b"mira" not in published


@pytest.mark.slow
def test_a_file_that_the_disk_does_not_take_is_named_with_the_reason(
    demo: Path, tmp_path: Path
) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "vocabgap", "report", demo, "--now", "2026-07-01"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (80_000, 80_000)),
    )

    assert result.returncode == ExitCode.STATE
    assert "cannot be written: report.html: File too large" in result.stderr
    assert "free some space" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["scan", "lineage", "manifest"])
def test_a_part_of_another_kind_is_refused_before_anything_is_written(
    name: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInputError, match=name):
        report(CAPABILITIES.empty(), tmp_path / "out", **{name: "other"})  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()
