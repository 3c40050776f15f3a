"""The report on a Spark cluster: a server with two workers, started as the manual says.

`make spark` installs Spark and runs this; SPARK_HOME may name another one.
"""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path

import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from builders import gap, outside, write_corpus
from vocabgap.engines import index_shards, spark
from vocabgap.engines.spark import SparkEngine, spark_engine
from vocabgap.pipeline import Run, run

HOME = os.environ.get("SPARK_HOME")
STRIKES = ("killed", "failed", "failed again", "slow")  # fewer than Spark tries a task again
STARTED_WITHIN = 90.0  # seconds

Step = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

pytest.importorskip("pyspark", reason="pyspark is not installed, so no cluster is tried")
pytestmark = pytest.mark.skipif(HOME is None, reason="SPARK_HOME names no Spark: `make spark` installs one")


def documented_command() -> list[str]:
    """Return the command with which the manual starts a server."""
    page = resources.files("vocabgap").joinpath("manual/scale.md").read_text(encoding="utf-8")
    found = re.search(r"```sh\n(spark-submit .*?)\n```", page, re.DOTALL)
    assert found is not None
    return shlex.split(found[1].replace("\\\n", " "))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    program, *words = documented_command()
    words = ["local-cluster[2,1,1024]" if word == "spark://HOST:7077" else word for word in words]
    local = (
        ("spark.connect.grpc.binding.port", port),
        ("spark.driver.host", "127.0.0.1"),
        ("spark.ui.enabled", "false"),
    )
    confs = [word for name, value in local for word in ("--conf", f"{name}={value}")]
    log = tmp_path_factory.mktemp("spark") / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [f"{HOME}/bin/{program}", *words[:-1], *confs, words[-1]],
            stdout=output,
            stderr=output,
            cwd=log.parent,
            env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
            start_new_session=True,
        )
    try:
        until = time.monotonic() + STARTED_WITHIN
        while time.monotonic() < until and process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
                break
            except OSError:
                time.sleep(0.2)
        else:
            pytest.fail(f"the server did not start: {log.read_text(encoding='utf-8')[-2_000:]}")
        yield f"sc://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


@pytest.fixture(scope="module")
def cluster(server: str) -> Iterator[SparkEngine]:
    with spark_engine(server) as engine:
        assert engine.name.startswith("spark 4")
        yield engine


@pytest.fixture(autouse=True)
def _search_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small corpora are searched on the workers, too, in several shards."""
    monkeypatch.setattr(index_shards, "FEW_PAIRS", 3_000_000)
    monkeypatch.setattr(index_shards, "SHARD", 1_000)


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """More wordings than are grouped with a full matrix, and bad lines among them."""
    acts = ("crop", "rotate", "mask", "sharpen", "brighten", "denoise")
    needs = [f"{acts[number % 6]} layer{number % 97} by step{number // 7}" for number in range(3_600)]
    logs: dict[str, list[dict[str, object] | str]] = {
        f"image-{first}": [*map(gap, needs[first::60]), "-- resumed --"] for first in range(60)
    }
    return write_corpus(tmp_path / "wide", logs)


def test_the_demo_gives_the_report_of_one_here(cluster: SparkEngine, demo: Path, tmp_path: Path) -> None:
    compare(demo, tmp_path, cluster)


def test_a_workspace_gives_the_report_of_one_here(
    cluster: SparkEngine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    compare(outside(request.config, "chemigram"), tmp_path, cluster)


def test_failing_workers_change_nothing(
    cluster: SparkEngine, wide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, step in ((spark, "read_packed_logs"), (index_shards, "search_batches")):
        (tmp_path / step).mkdir()
        monkeypatch.setattr(module, step, befallen(getattr(module, step), str(tmp_path / step)))

    compare(wide, tmp_path, cluster)

    for step in ("read_packed_logs", "search_batches"):
        assert {path.name for path in (tmp_path / step).iterdir()} == set(STRIKES)


def befallen(step: Step, struck: str) -> Step:
    """Return a step that kills an executor, fails a task twice, and delays one by seconds."""
    strikes = STRIKES

    def strike(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
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
                time.sleep(5.0)
                break
            yield from step(iter([batch]))

    return strike


def compare(root: Path, folder: Path, engine: SparkEngine) -> None:
    """Both reports are equal, byte for byte and row for row."""
    here, there = (published(root, folder / name, used) for name, used in (("here", None), ("there", engine)))
    for name in ("report.md", "report.html"):
        assert (folder / "there" / name).read_bytes() == (folder / "here" / name).read_bytes()
    for table in ("gaps", "rejects", "files"):
        assert_frame_equal(getattr(there.scan, table), getattr(here.scan, table))
    assert_frame_equal(there.clusters.wordings, here.clusters.wordings)
    assert_frame_equal(there.ranked, here.ranked)


def published(root: Path, out: Path, engine: SparkEngine | None) -> Run:
    return run(root, out, now="last", engine=engine)
