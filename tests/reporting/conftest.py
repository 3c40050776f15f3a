"""Runs over small workspaces, for tests about what a report says, and readers of what it says."""

from pathlib import Path

import pytest

from builders.reporting import NOW
from vocabgap.pipeline import Run, run


@pytest.fixture(scope="session")
def demo_run(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One run over the demo workspace, to be read and not changed."""
    return run(demo, tmp_path_factory.mktemp("demo") / "out", now=NOW)
