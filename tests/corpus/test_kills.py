"""A writer that is killed leaves the version before, or the version after.

Set VOCABGAP_KILLS for more kills than the few that every run makes.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from vocabgap.corpus.store import Store
from vocabgap.corpus.version import NUMBERED, read_manifest

KILLS = int(os.environ.get("VOCABGAP_KILLS", "2"))
WRITER = Path(__file__).parent / "endless_writer.py"
ROWS = 60


def whole(store: Store) -> int:
    """Return the step that a version holds; fail if it holds more or less."""
    version = store.version()
    step = version.config_versions["ada"]
    actual = version.rows(["name", "line", "content"])
    assert actual.get_column("name").to_list() == [str(step)] * ROWS
    assert sorted(actual.get_column("line")) == list(range(ROWS))
    assert set(actual.get_column("content")) == {f"step {step} " * 50}
    assert version.table("paths")["paths"].to_list() == [[str(step)]]
    return step


@contextmanager
def writer_of(folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a writer, wait for its first version, and kill it at the end whatever happens."""
    command = [sys.executable, str(WRITER), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"writing\n"
            yield process
            assert process.poll() is None, "it writes until it is killed"
        finally:
            process.kill()


def kill_a_writer(folder: Path, moment: float) -> None:
    with writer_of(folder):
        time.sleep(moment)


@pytest.mark.slow
def test_a_killed_writer_leaves_one_whole_version(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    rng = np.random.default_rng(KILLS)
    store = Store(folder)
    steps = [0]

    for _ in range(KILLS):
        kill_a_writer(folder, rng.uniform(0, 0.15))
        steps.append(whole(store))

    assert steps == sorted(set(steps)), "what was once there is never taken back"
    store.compact()
    assert whole(store) == steps[-1]
    manifest = read_manifest(folder)
    assert manifest is not None
    left = {path.name for path in folder.iterdir() if re.fullmatch(NUMBERED, path.name)}
    assert left == manifest.files.keys(), "what the killed ones left is gone"


def test_readers_see_one_whole_version_whatever_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    store = Store(folder)
    seen: list[int] = []

    with writer_of(folder):
        start = time.monotonic()
        # On a busy machine the writer may need more than a second for its next version.
        while (spent := time.monotonic() - start) < 0.3 or (len(set(seen)) == 1 and spent < 60):
            seen.append(whole(store))

    assert seen == sorted(seen)
    assert len(set(seen)) > 1
