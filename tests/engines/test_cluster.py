"""The report on a Spark cluster: a server with two workers, started as the manual says.

`make spark` installs Spark and runs this; SPARK_HOME may name another one.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from builders import gap, outside, write_corpus
from spark_server import HOME, spark_server
from vocabgap.engines import spark
from vocabgap.engines.spark import SparkEngine, spark_engine
from vocabgap.ingest.scanning import scan
from vocabgap.pipeline import Run, run

STRIKES = ("killed", "failed", "failed again", "slow")  # fewer than Spark tries a task again

Work = Callable[..., Any]

pytest.importorskip("pyspark", reason="pyspark is not installed, so no cluster is tried")
pytestmark = pytest.mark.skipif(
    HOME is None, reason="SPARK_HOME names no Spark: `make spark` installs one"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with spark_server(tmp_path_factory.mktemp("spark")) as (address, _):
        yield address


@pytest.fixture(scope="module")
def cluster(server: str) -> Iterator[SparkEngine]:
    with spark_engine(server) as engine:
        assert engine.name.startswith("spark 4")
        yield engine


def test_a_workspace_gives_the_report_of_one_here(
    cluster: SparkEngine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    root = outside(request.config, "chemigram")
    compare(root, tmp_path, cluster, out="file://")
    stored = published(f"file://{root}", tmp_path / "stored", cluster)
    local = scan(root)
    for table in ("gaps", "rejects", "files"):
        assert_frame_equal(getattr(stored.scan, table), getattr(local, table))


def test_failing_workers_change_nothing(
    cluster: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[dict[str, object] | str] = [gap("sky mask"), "-- resumed --", gap("film grain")]
    root = write_corpus(tmp_path / "photos", {f"image-{number}": lines for number in range(60)})
    strikes = tmp_path / "strikes"
    monkeypatch.setattr(spark, "read_packed_logs", befallen(spark.read_packed_logs, strikes))

    compare(root, tmp_path, cluster)

    assert {path.name for path in strikes.iterdir()} == set(STRIKES)
    assert {path.name for path in tmp_path.iterdir()} == {"photos", "strikes", "here", "there"}


def befallen(work: Work, folder: Path) -> Work:
    """Return work that kills an executor, fails twice, and is delayed by seconds, once for a folder."""
    folder.mkdir(exist_ok=True)
    strikes, struck = STRIKES, str(folder)

    def strike(*given: Any) -> Any:  # noqa: ANN401 - of any work
        for name in strikes:
            try:
                open(f"{struck}/{name}", "x").close()  # noqa: PTH123 - sent to workers as it is
            except FileExistsError:
                continue
            if name == "killed":
                with open(f"/proc/{os.getppid()}/stat") as parent:  # noqa: PTH123
                    os.kill(int(parent.read().rpartition(")")[2].split()[1]), signal.SIGKILL)
            if name.startswith("failed"):
                raise RuntimeError(name)
            time.sleep(2.0)
            break
        return work(*given)

    return strike


def compare(root: Path, folder: Path, engine: SparkEngine, out: str = "") -> None:
    """Both reports are equal, byte for byte and row for row."""
    here, there = (
        published(root, folder / "here" / "out", None),
        published(root, f"{out}{folder / 'there' / 'out'}", engine),
    )
    for name in ("report.md", "report.html"):
        pages = {(folder / place / "out" / name).read_bytes() for place in ("here", "there")}
        assert len(pages) == 1, name
    for table in ("gaps", "rejects", "capabilities", "history"):
        assert_frame_equal(
            *(
                pl.read_parquet(folder / place / "out" / f"{table}.parquet")
                for place in ("there", "here")
            )
        )
    assert_frame_equal(there.scan.files, here.scan.files)
    assert_frame_equal(there.clusters.wordings, here.clusters.wordings)


def published(root: str | Path, out: str | Path, engine: SparkEngine | None) -> Run:
    return run(root, out, now="last", engine=engine)
