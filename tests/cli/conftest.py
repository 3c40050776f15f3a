"""The command line in process: arguments in; exit code, stdout and stderr out."""

import shutil
import sys
from pathlib import Path

import pytest

from builders import three_needs
from builders.command import vocabgap


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command runs in a folder of its own, 400 columns wide, so that no cell is wrapped."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    for name in ("CONFIG", "DEBUG", "OUT", "RANK_BY", "THRESHOLD", "TOP"):
        monkeypatch.delenv(f"VOCABGAP_{name}", raising=False)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Three needs, one asked for twice; one line is no record."""
    return three_needs(tmp_path)


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the run of `reported` lies once it was made."""
    return tmp_path_factory.mktemp("kept") / "out"


@pytest.fixture
def reported(photos: Path, kept: Path, tmp_path: Path) -> Path:
    """`photos` as of July 2026 in the default folder `out`; made once, of which every test has a copy."""
    if not kept.exists():
        assert vocabgap("report", photos, "--now", "2026-07-01").code == 0
        shutil.copytree(tmp_path / "out", kept)
    else:
        shutil.copytree(kept, tmp_path / "out")
    return photos


@pytest.fixture
def installed() -> Path:
    """The console script, for what only a process of its own can show."""
    return Path(sys.executable).with_name("vocabgap")
