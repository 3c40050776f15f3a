"""A reader sees one whole version, whatever a writer does meanwhile."""

import subprocess
import sys
import time
from pathlib import Path

from vocabgap.corpus.store import Store

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


def test_readers_see_one_whole_version_whatever_is_written(tmp_path: Path) -> None:
    program = Path(__file__).with_name("endless_writer.py")
    writer: list[str | Path] = [sys.executable, program, tmp_path / "corpus"]
    store = Store(tmp_path / "corpus")
    steps: list[int] = []

    with subprocess.Popen(writer, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"writing\n"
            start = time.monotonic()
            # On a busy machine the writer may need more than a second for its next version.
            while (spent := time.monotonic() - start) < 0.3 or (
                len(set(steps)) == 1 and spent < 60
            ):
                steps.append(whole(store))
            assert process.poll() is None, "it writes until it is killed"
        finally:
            process.kill()

    assert steps == sorted(steps)
    assert len(set(steps)) > 1
