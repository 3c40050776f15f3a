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
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from builders import gap, outside, write_corpus
from vocabgap.engines import index_shards, spark
from vocabgap.engines.parts import SparkParts
from vocabgap.engines.spark import SparkEngine, spark_engine
from vocabgap.ingest.scanning import scan
from vocabgap.pipeline import Run, run

HOME = os.environ.get("SPARK_HOME")
STRIKES = ("killed", "failed", "failed again", "slow")  # fewer than Spark tries a task again
STARTED_WITHIN = 90.0  # seconds

Work = Callable[..., Any]

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
    cluster: SparkEngine, wide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs, blocks, rows, groups = (tmp_path / work for work in ("logs", "blocks", "rows", "groups"))
    mapped, by = SparkParts._mapped, SparkParts.by
    monkeypatch.setattr(spark, "read_packed_logs", befallen(spark.read_packed_logs, logs))
    monkeypatch.setattr(index_shards, "search_batches", befallen(index_shards.search_batches, blocks))
    monkeypatch.setattr(SparkParts, "_mapped", lambda table, work: mapped(table, befallen(work, rows)))
    monkeypatch.setattr(
        SparkParts, "by", lambda table, keys, step, query: by(table, keys, befallen(step, groups), query)
    )

    compare(wide, tmp_path, cluster)

    for work in (logs, blocks, rows, groups):
        assert {path.name for path in work.iterdir()} == set(STRIKES)


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
    here, there = published(root, folder / "here", None), published(root, f"{out}{folder / 'there'}", engine)
    for name in ("report.md", "report.html"):
        assert (folder / "there" / name).read_bytes() == (folder / "here" / name).read_bytes()
    for table in ("gaps", "rejects", "capabilities", "history"):
        assert_frame_equal(
            *(pl.read_parquet(folder / place / f"{table}.parquet") for place in ("there", "here"))
        )
    assert (folder / "there/gaps.parquet").is_dir()
    assert_frame_equal(there.scan.files, here.scan.files)
    assert_frame_equal(there.clusters.wordings, here.clusters.wordings)


def published(root: str | Path, out: str | Path, engine: SparkEngine | None) -> Run:
    return run(root, out, now="last", engine=engine)
