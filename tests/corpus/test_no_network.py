"""No command of a corpus opens a connection."""

from pathlib import Path
from typing import Final

import pytest

from builders.command import vocabgap
from cli.test_no_network import offline

__all__ = ["offline"]  # a fixture
RUNS: Final = {
    "corpus push": ("photos", "--tenant", "north", "--repo", "photos"), "corpus status": (),
    "corpus export": ("backup.jsonl",), "corpus restore": ("backup.jsonl", "--corpus", "copy"),
    "corpus admin configure": ("--tenant", "north"),
    "corpus admin remove-orphans": ("--tenant", "north", "--yes"),
    "corpus forget": ("--tenant", "north", "--path", "heron", "--yes"), "corpus compact": (),
}  # fmt: skip


def test_no_command_of_a_corpus_opens_a_connection(
    photos: Path, offline: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(photos.parent)
    codes = {command: vocabgap(*command.split(), *rest).code for command, rest in RUNS.items()}

    assert codes == dict.fromkeys(RUNS, 0) | {"corpus push": 2}  # one line is no record
    assert offline == []
