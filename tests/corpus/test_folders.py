"""A folder that is to be a corpus."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from vocabgap.corpus.store import Store
from vocabgap.errors import StateError


def test_a_folder_of_other_files_is_refused_by_the_name_of_one(tmp_path: Path) -> None:
    (tmp_path / "writer.lock").touch()
    (tmp_path / "thesis.txt").touch()

    with pytest.raises(StateError, match=r"holds other files, such as 'thesis\.txt'"):
        Store(tmp_path)._require_own()


def test_what_a_first_change_has_left_is_not_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "writer.lock").touch()

    Store(tmp_path)._require_own()


def test_a_corpus_may_hold_anything(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").touch()
    (tmp_path / "thesis.txt").touch()

    Store(tmp_path)._require_own()


def test_a_corpus_that_another_writer_begins_meanwhile_is_none_of_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = Path.iterdir

    def begun(folder: Path) -> Iterator[Path]:
        (folder / "manifest.json").touch()
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", begun)

    Store(tmp_path)._require_own()
