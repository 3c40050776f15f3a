"""One folder that holds one file of each format, and what a count by hand gives."""

import json
from importlib import resources
from pathlib import Path
from typing import Final

import polars as pl
import pytest

from builders.command import vocabgap
from vocabgap.ingest.scanning import scan
from vocabgap.model.record import SEEN_NOTES
from vocabgap.model.sources import shipped_sources

# Each has its source, its lines as objects or text, and by hand: records, rejects and what is passed over.
FILES: Final = json.loads(
    Path(__file__).parents[1].joinpath("data", "formats.json").read_text(encoding="utf-8")
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "desk"
    for name, file in FILES.items():
        path = root / file["source"] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (line if isinstance(line, str) else json.dumps(line) for line in file["lines"])
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return root


def test_every_shipped_source_is_among_them() -> None:
    assert {file["source"] for file in FILES.values()} == set(shipped_sources())


def test_each_file_gives_what_a_count_by_hand_gives(folder: Path) -> None:
    scanned = scan(folder)
    records = dict(scanned.gaps.filter("counted").group_by("source_path").len().iter_rows())
    rejects = dict(scanned.rejects.group_by("source_path").len().iter_rows())

    found = {
        path.partition("/")[2]: (
            source,
            [records.get(path, 0), rejects.get(path, 0), passed_over],
            lines,
        )
        for path, source, passed_over, lines in scanned.files.select(
            "source_path", "source", "passed_over", "lines"
        ).iter_rows()
    }

    assert found == {
        name: (file["source"], file["counts"], sum(file["counts"][:2]))
        for name, file in FILES.items()
    }
    assert scanned.summary.reasons == {"missing_description": 5}


def test_a_report_over_all_of_them_has_the_sum(folder: Path, tmp_path: Path) -> None:
    result = vocabgap("report", folder, "--out", tmp_path / "out", "--now", "last", "--evidence")

    assert result.code == 0, result.err
    gaps = pl.read_parquet(tmp_path / "out" / "gaps.parquet")
    assert gaps.height == sum(file["counts"][0] for file in FILES.values())
    ranked = pl.read_parquet(tmp_path / "out" / "capabilities.parquet")
    assert ranked["mentions"].sum() == gaps["counted"].sum()
    assert (
        ranked["seen"].sum()
        == gaps.filter(pl.col("counted"), pl.col("notes").str.contains(SEEN_NOTES)).height
    )
    account = (tmp_path / "out" / "evidence.md").read_text(encoding="utf-8")
    assert account.count("| missing description |") == 5


def test_the_reject_of_an_event_names_the_field_that_it_lacks(folder: Path) -> None:
    rejects = scan(folder).rejects.filter(source_path="posthog/posthog-week.jsonl")

    assert rejects["line"].to_list() == [2, 5]
    feedback = (
        f"properties.$mcp_feedback_{name}" for name in ("summary", "details", "friction_points")
    )
    assert rejects["detail"].to_list() == [
        f"expected text in {' or '.join(paths)}, found none"
        for paths in (["properties.$mcp_intent"], feedback)
    ]


def test_the_manual_lists_every_source() -> None:
    page = resources.files("vocabgap").joinpath("manual", "gap-logs.md").read_text(encoding="utf-8")

    assert [name for name in shipped_sources() if f"`{name}`" not in page] == []
