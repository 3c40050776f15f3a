"""Which run a run was compared with, and how `run.json` names it."""

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from builders import gap, write_corpus
from builders.reporting import publish
from vocabgap.model.selection import Selection
from vocabgap.pipeline import Run

JUNE, JULY = datetime(2026, 6, 1, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """One need on one image."""
    return write_corpus(tmp_path, {"one": [gap("sky mask")]})


def compared(made: Run) -> dict[str, Any] | None:
    """What `run.json` says of the run before."""
    found: dict[str, Any] | None = json.loads((made.published.folder / "run.json").read_text())[
        "compared"
    ]
    return found


def test_the_run_that_is_replaced_is_named_by_its_moment_and_digest(
    photos: Path, tmp_path: Path
) -> None:
    before = publish(tmp_path, photos, now=JUNE, selection=Selection(images=("one",)))
    digest = hashlib.sha256((before.published.folder / "groups.parquet").read_bytes()).hexdigest()

    found = compared(publish(tmp_path, photos))

    assert found is not None
    assert (found["now"], found["sha256"], found["folder"]) == (
        "2026-06-01T00:00:00Z",
        digest,
        None,
    )
    assert found["narrowing"]["selection"]["images"] == ["one"]


def test_a_run_that_was_named_is_named_with_its_folder_as_the_command_has_it(
    photos: Path, tmp_path: Path
) -> None:
    publish(tmp_path, photos, out=tmp_path / "june", now=JUNE)

    made = publish(tmp_path, photos, previous=tmp_path / "june")

    found = compared(made)
    assert found is not None
    assert found["folder"] == "june"
    parameters = made.published.manifest.parameters
    assert parameters is not None
    assert parameters.paths["previous"] == "june"


def test_a_run_that_is_made_again_names_what_the_published_one_was_compared_with(
    photos: Path, tmp_path: Path
) -> None:
    publish(tmp_path, photos, now=JUNE)
    first = compared(publish(tmp_path, photos))

    again = publish(tmp_path, photos)

    assert first is not None
    assert compared(again) == first
