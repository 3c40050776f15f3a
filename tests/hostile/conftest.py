"""Hostile texts, and what is made of them once for all tests."""

from pathlib import Path

import pytest

from builders.hostile import Dressed, benign_and_hostile, dressed, hostile_texts, piled, published
from vocabgap.pipeline import Run

FEW = 200


@pytest.fixture(scope="session", params=["own", "published"])
def texts(request: pytest.FixtureRequest) -> list[str]:
    """Texts of our own list, or of a well-known one."""
    return hostile_texts(request.param)


@pytest.fixture(scope="session")
def fields(texts: list[str]) -> list[str]:
    """Return the texts, some to a field: a page with a field for each takes long to make."""
    return piled(texts, 3 if len(texts) < FEW else 6)


@pytest.fixture(scope="session")
def hostile(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Dressed:
    """Write a workspace of hostile texts, so few to a field that it is shown whole."""
    return dressed(tmp_path_factory.mktemp("hostile"), piled(texts, 8 if len(texts) < FEW else 24))


@pytest.fixture(scope="session")
def heaped(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Publish a run over the texts, many to a field, for views that cut nothing off."""
    folder = tmp_path_factory.mktemp("heaped")
    return published(folder, dressed(folder, piled(texts, 200)))


@pytest.fixture(scope="session")
def pair(fields: list[str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """Two runs: over texts that nothing could mistake for anything else, and over the hostile ones."""
    return benign_and_hostile(tmp_path_factory.mktemp("pair"), fields)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in a folder of the test's own, wide enough that no cell is wrapped."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "4000")
