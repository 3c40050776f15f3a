"""`[ingest] roots`: what is read where a command names no folder."""

import io
from pathlib import Path

import pytest

from builders import gap, write_corpus
from builders.command import vocabgap

COMMANDS = [("report",), ("check",), ("list",), ("show", "heron")]


@pytest.fixture
def settings(photos: Path, tmp_path: Path) -> Path:
    """Settings that name the folder beside them."""
    path = tmp_path / "vocabgap.toml"
    path.write_text(f'[ingest]\nroots = ["{photos.name}"]\n')
    return path


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_root_is_needed_where_the_settings_name_one(
    photos: Path, settings: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    result = vocabgap(*command)

    settings.unlink()
    assert result[:2] == vocabgap(*command, photos)[:2]
    assert result.code == (2 if command == ("check",) else 0)  # one line is no record


@pytest.mark.parametrize("command", COMMANDS[:-1], ids=" ".join)  # `show` reads the published run
def test_without_settings_a_root_is_asked_for(command: tuple[str, ...]) -> None:
    result = vocabgap(*command)
    said = result.out if "--json" in command else result.err

    assert result.code == 2
    assert "no folder of gap logs is named: add one" in said
    assert "[ingest]" in said


def test_a_log_in_the_current_folder_is_proposed() -> None:
    assert vocabgap("log", "--need", "sky mask").code == 0

    asked = vocabgap("report")

    assert asked.code == 2
    assert "add ., as in `vocabgap report .`" in " ".join(asked.err.split())
    assert vocabgap("report", ".").code == 0


def test_roots_are_relative_to_the_settings(
    settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    result = vocabgap("report", "--config", settings)

    assert "3 mentions." in result.out


@pytest.mark.usefixtures("photos")
def test_several_roots_and_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    absolute = write_corpus(tmp_path, {"owl": [gap("moon glow")]}, "others")
    (tmp_path / "vocabgap.toml").write_text(f'[ingest]\nroots = ["~/photos", "{absolute}"]\n')

    assert "4 mentions." in vocabgap("report").out


def test_a_root_of_the_settings_that_is_gone_is_said_to_be_of_the_settings(
    settings: Path, tmp_path: Path
) -> None:
    (tmp_path / "photos").rename(tmp_path / "elsewhere")

    result = vocabgap("report", "--config", settings)

    assert result.code == 3
    assert "[ingest] roots in the settings may name it" in result.err
