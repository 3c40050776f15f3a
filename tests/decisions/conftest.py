"""A workspace of which reports are made, and about which people decide."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from builders.decisions import Studio


@pytest.fixture(scope="session")
def studio_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Studio]:
    """Makes a workspace in a folder of its own, in which some needs were asked for."""

    def make(*needs: str) -> Studio:
        folder = tmp_path_factory.mktemp("studio")
        made = Studio(folder, folder / "photos")
        made.ask(*needs, image="one")
        return made

    return make


@pytest.fixture(scope="session")
def reported(
    studio_of: Callable[..., Studio], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Studio, Path]:
    """Three needs in five wordings, reported on once, and a copy of all the files."""
    made = studio_of(
        "sky mask", "sky mask", "mask the sky", "film grain", "film grain look", "lens flare"
    )
    made.report()
    kept = tmp_path_factory.mktemp("kept") / "studio"
    return made, shutil.copytree(made.folder, kept)


@pytest.fixture
def studio(reported: tuple[Studio, Path]) -> Studio:
    """The same as it was after that report, whatever the test before has made of it."""
    made, kept = reported
    shutil.rmtree(made.folder)
    shutil.copytree(kept, made.folder)
    return Studio(made.folder, made.root)
