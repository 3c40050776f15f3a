"""An image to log gaps of."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _no_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VOCABGAP_SESSION", "VOCABGAP_SNAPSHOT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """The folder of an image without a log."""
    folder = tmp_path / "photos" / "heron"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
