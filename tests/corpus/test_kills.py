"""A writer that is killed leaves the version before, or the version after.

Set VOCABGAP_KILLS for more kills than the few that every run makes.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from vocabgap.corpus.manifest import NUMBERED, read_manifest
from vocabgap.corpus.opening import StoreKind, open_store
from vocabgap.corpus.store import Store

KILLS = int(os.environ.get("VOCABGAP_KILLS", "5"))
WRITER = Path(__file__).parent / "endless_writer.py"
ROWS = 60


def whole(store: Store) -> int:
    """The step that a version holds, all of it and nothing else."""
    version = store.version()
    step = version.config_versions["ada"]
    found = version.rows(["name", "line", "content"])
    assert found.get_column("name").to_list() == [str(step)] * ROWS
    assert sorted(found.get_column("line")) == list(range(ROWS))
    assert set(found.get_column("content")) == {f"step {step} " * 50}
    assert [snapshot.paths for snapshot in version.snapshots] == [(str(step),)]
    return step


def kill_a_writer(folder: Path, work: str, moment: float) -> None:
    command = [sys.executable, str(WRITER), str(folder), work]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(moment)
        assert process.poll() is None
        process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("work", ["change", "compact"])
def test_a_killed_writer_leaves_one_whole_version(tmp_path: Path, work: str) -> None:
    folder = tmp_path / "corpus"
    rng = np.random.default_rng(KILLS)
    store = open_store(folder)
    steps = [0]

    for _ in range(KILLS):
        kill_a_writer(folder, work, rng.uniform(0, 0.15))
        steps.append(whole(store))

    assert steps == sorted(set(steps)), "what was once there is never taken back"
    store.compact()
    assert whole(store) == steps[-1]
    manifest = read_manifest(folder)
    assert manifest is not None
    left = {path.name for path in folder.iterdir() if re.fullmatch(NUMBERED, path.name)}
    assert left == manifest.files.keys(), "what the killed ones left is gone"


@pytest.mark.slow
def test_a_killed_writer_leaves_one_whole_version_of_a_delta_table(tmp_path: Path) -> None:
    pytest.importorskip("deltalake", reason="needs the extra `delta`")
    folder = tmp_path / "corpus"
    store = open_store(folder, StoreKind.DELTA)
    with store.changing("make"):
        pass
    rng = np.random.default_rng(KILLS)
    steps = [0]

    for _ in range(KILLS):
        kill_a_writer(folder, "compact", rng.uniform(0, 0.15))
        steps.append(whole(store))

    assert steps == sorted(set(steps))


@pytest.mark.parametrize("kind", [StoreKind.PARQUET, StoreKind.DELTA])
def test_readers_see_one_whole_version_whatever_is_written(tmp_path: Path, kind: StoreKind) -> None:
    if kind is StoreKind.DELTA:
        pytest.importorskip("deltalake", reason="needs the extra `delta`")
    folder = tmp_path / "corpus"
    store = open_store(folder, kind)
    with store.changing("make") as change:
        change.configure("bob")
    command = [sys.executable, str(WRITER), str(folder), "compact"]
    seen = []

    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        end = time.monotonic() + 1
        while time.monotonic() < end:
            seen.append(whole(store))
        process.kill()

    assert seen == sorted(seen)
    assert len(set(seen)) > 1
