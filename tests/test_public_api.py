import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import vocabgap as vg
from builders import gap, write_corpus

NOW = datetime(2026, 7, 1, tzinfo=UTC)
PROMISED = {"scan", "cluster", "rank", "report", "run", "__version__"}


def test_promised_names_are_public_and_listed_for_completion() -> None:
    assert set(vg.__all__) >= PROMISED
    assert set(vg.__all__) <= set(dir(vg))


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'vocabgap' has no attribute 'clutser'"):
        getattr(vg, "clutser")  # noqa: B009 - as somebody mistypes it


def test_functions_are_not_hidden_by_modules_of_their_name() -> None:
    import vocabgap.doors.cli.app  # noqa: PLC0415
    import vocabgap.pipeline  # noqa: F401, PLC0415

    assert all(callable(getattr(vg, name)) for name in PROMISED - {"__version__"})


@pytest.mark.parametrize("name", vg.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    assert getattr(vg, name).__doc__


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "slow"),
    [
        ("vocabgap", ["polars", "numpy"]),
        ("vocabgap.doors.mcp.tools", ["scipy", "sklearn", "jinja2"]),
    ],
)
def test_importing_loads_nothing_slow(module: str, slow: list[str]) -> None:
    code = f"import sys, {module}; print(*sorted({{*{slow}}} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == []


def test_the_stages_of_the_design_s_example_fit_together_and_its_run_does_it_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_corpus(
        tmp_path, {"one": [gap("sky mask"), "no json"]}, "Chemigram", tmp_path / "Pictures"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    scan = vg.scan("~/Pictures/Chemigram")
    found = vg.cluster(scan.records)
    ranked = vg.rank(scan.records, found)
    vg.report(ranked, out="out")
    assert (scan.records.height, scan.rejects.height, scan.summary.lines) == (1, 1, 2)
    assert ranked["label"].to_list() == ["sky mask"]
    assert (tmp_path / "out" / "report.md").is_file()
    written = json.loads((tmp_path / "out" / "run.json").read_bytes())
    assert written["schema_version"] == 1
    vg.run("~/Pictures/Chemigram", out="whole")
    assert pl.read_parquet("whole/capabilities.parquet")["label"].to_list() == ["sky mask"]


def test_stages_composed_by_hand_differ_only_in_what_is_said_of_the_run(
    demo: Path, tmp_path: Path
) -> None:
    made = vg.run(demo, out=tmp_path / "run", now=NOW)
    scan = vg.scan(demo)
    ranked = vg.rank(scan.records, vg.cluster(scan.records), now=NOW)
    vg.report(ranked, out=tmp_path / "hand", scan=scan, now=NOW)
    for name in ("capabilities.parquet", "gaps.parquet", "rejects.parquet"):
        assert_frame_equal(
            pl.read_parquet(tmp_path / "run" / name), pl.read_parquet(tmp_path / "hand" / name)
        )
    assert_frame_equal(made.ranked, ranked)
    whole = (tmp_path / "run" / "report.md").read_text(encoding="utf-8")
    # It has no doubts about groups, and says nothing of how they and the run were made.
    made_by = r"Perhaps one need: .*\n\n|Grouped by .*?\. |\nIn the folder of this report, .*\n"
    certain = re.sub(made_by, "", whole)
    assert (tmp_path / "hand" / "report.md").read_text(encoding="utf-8") == certain


def test_every_error_is_a_vocabgap_error(tmp_path: Path) -> None:
    with pytest.raises(vg.VocabgapError, match="does not exist"):
        vg.scan(tmp_path / "nowhere")
