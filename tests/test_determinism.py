"""Same logs, same parameters, same present: the same report, on any machine and in any surroundings."""

import json
import os
import random
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from sys import executable
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import vocabgap as vg
from vocabgap.files import parts
from vocabgap.ingest import lines

VOCABGAP = Path(executable).with_name("vocabgap")
FACES = ("report.md", "report.html", "share.html")
FRAMES = ("capabilities.parquet", "gaps.parquet", "rejects.parquet", "combinations.parquet")


def copied(source: Path, target: Path, seed: int) -> Path:
    """The same workspace, its files written in another order."""
    logs = sorted(path for path in source.rglob("*") if path.is_file())
    random.Random(seed).shuffle(logs)  # noqa: S311
    for log in logs:
        copy = target / log.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(log.read_bytes())
    return target


def reported(root: Path, out: Path, environment: dict[str, str]) -> Path:
    result = subprocess.run(
        [
            VOCABGAP, "report", root, "--out", out, "--since", "2026-03-05", "--now", "2026-07-01", "--share",
            "--quiet",
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=root.parent,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, "")
    return out


def manifest(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "run.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def baseline(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the demo workspace made in this process."""
    return reported_here(demo, tmp_path_factory.mktemp("baseline"), seed=1)


def reported_here(demo: Path, folder: Path, seed: int) -> Path:
    root = copied(demo, folder / "größe demo", seed)
    selection = vg.Selection(since=datetime(2026, 3, 5, tzinfo=UTC))
    now, settings = datetime(2026, 7, 1, tzinfo=UTC), vg.load_settings()
    vg.run(root, folder / "out", settings=settings, selection=selection, now=now, share=3)
    return folder / "out"


@pytest.fixture(scope="module", params=["in parts", "busy", "bare"])
def other(
    request: pytest.FixtureRequest, demo: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The report of the same workspace, elsewhere, in surroundings of another kind."""
    if request.param == "in parts":  # many, and many buckets on the disk
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parts, "MOST_ROWS", 40)
            patch.setattr(parts, "MOST_BYTES", 30_000)
            patch.setattr(lines, "BATCH", 17)
            return reported_here(demo, tmp_path_factory.mktemp("parts"), seed=3)
    environment = {
        "busy": {
            "PYTHONHASHSEED": "4242", "POLARS_MAX_THREADS": "7", "OPENBLAS_NUM_THREADS": "3",
            "OMP_NUM_THREADS": "5", "TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8",
        },
        "bare": {
            "PYTHONHASHSEED": "0", "POLARS_MAX_THREADS": "1", "TZ": "America/St_Johns", "LC_ALL": "C",
            "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0",
        },
    }[request.param]  # fmt: skip
    folder = tmp_path_factory.mktemp("other")
    root = copied(demo, folder / "deeper" / "größe demo", seed=len(request.param))
    return reported(root, folder / "out", environment)


@pytest.mark.slow
def test_a_report_is_the_same_to_the_last_byte_and_digit(baseline: Path, other: Path) -> None:
    for name in FACES:
        assert (other / name).read_bytes() == (baseline / name).read_bytes(), name
    for name in FRAMES:
        tables = (pl.read_parquet(run / name) for run in (other, baseline))
        assert_frame_equal(*tables, check_exact=True)
    one, another = manifest(baseline), manifest(other)
    assert one["places"]  # of the map, which no number of threads moves
    for content in (one, another):
        del content["timings"]
        content["outputs"] = [output for output in content["outputs"] if output["name"] in FACES]
        content["parameters"]["settings"]["report"].pop("out")
        content["parameters"]["paths"].pop("home", None)  # if the command ran above the run
    assert one == another
