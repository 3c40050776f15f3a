"""An image to log gaps of, and what a scan finds of it."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import vocabgap as vg


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


@pytest.fixture
def found(image: Path) -> Callable[[], pl.DataFrame]:
    """Scans the workspace of the image, in which every line has to be a record."""

    def scan() -> pl.DataFrame:
        scanned = vg.scan(image.parent)
        assert scanned.rejects.is_empty()
        assert not scanned.summary.repairs
        return scanned.gaps

    return scan
