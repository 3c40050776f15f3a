from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

import vocabgap as vg
from vocabgap.pipeline import analyse

NOW = datetime(2026, 7, 1, tzinfo=UTC)


def test_an_analysis_ranks_as_a_run_does(demo: Path, tmp_path: Path) -> None:
    made = vg.run(demo, out=tmp_path / "out", now=NOW)
    found = analyse(demo, out=tmp_path / "none", now=NOW)
    assert_frame_equal(found.ranked, made.ranked)


def test_an_analysis_writes_nothing(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    analyse(demo, now=NOW)
    assert list(tmp_path.iterdir()) == []


def test_an_analysis_goes_on_from_the_published_run(demo: Path, tmp_path: Path) -> None:
    made = vg.run(demo, out=tmp_path / "out", now=NOW)
    found = analyse(demo, out=tmp_path / "out", now=NOW + timedelta(days=1))
    assert set(found.lineage.relations["relation"]) == {"continued"}
    assert found.ranked["capability_id"].sort().to_list() == made.ranked["capability_id"].sort().to_list()


def test_what_is_raised_when_a_stage_begins_ends_the_work_there(demo: Path, tmp_path: Path) -> None:
    begun: list[str] = []

    def stop(stage: str) -> None:
        begun.append(stage)
        if stage == "cluster":
            raise TimeoutError

    with pytest.raises(TimeoutError):
        analyse(demo, out=tmp_path / "none", on_stage=stop)
    assert begun == ["ingest", "cluster"]


def test_an_analysis_tells_what_it_holds_in_one_line(demo: Path, tmp_path: Path) -> None:
    told = repr(analyse(demo, out=tmp_path / "none", now=NOW))
    assert told.startswith("Analysis(")
    assert "\n" not in told
