"""Runs over small workspaces, for tests about what a report says."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vocabgap.pipeline import Run, run

NOW = datetime(2026, 7, 1, tzinfo=UTC)


@pytest.fixture
def publish(tmp_path: Path) -> Callable[..., Run]:
    """Runs the pipeline over a workspace as of a fixed moment."""

    def make(root: Path | list[Path], **arguments: object) -> Run:
        given = {"out": tmp_path / "out", "now": NOW, **arguments}
        return run(root, **given)  # type: ignore[arg-type]

    return make


@pytest.fixture(scope="session")
def demo_run(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One run over the demo workspace, to be read and not changed."""
    return run(demo, tmp_path_factory.mktemp("demo") / "out", now=NOW)
