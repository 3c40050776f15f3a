import json
import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from vocabgap.version import __version__

Gap = Callable[..., dict[str, object]]
Corpus = Callable[..., Path]
Command = Callable[..., Any]


def result(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text.splitlines()[-1])
    return found


def test_versions_are_told(vocabgap: Command) -> None:
    told = vocabgap("status")
    assert told.code == 0
    assert told.out.startswith(f"vocabgap {__version__}, Python {platform.python_version()}, ")
    assert f"polars {version('polars')}" in told.out


def test_every_setting_is_told_with_the_variable_that_sets_it(vocabgap: Command) -> None:
    told = vocabgap("status")
    for line in (
        'tenant = "local"',
        "threshold = 0.7  # VOCABGAP_THRESHOLD",
        "stop_words = []",
        'by = "mentions"  # VOCABGAP_RANK_BY',
        'out = "out"  # VOCABGAP_OUT',
        "top = 10  # VOCABGAP_TOP",
    ):
        assert f"{line}\n" in told.out


def test_settings_are_those_in_force(
    vocabgap: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "vocabgap.toml").write_text("[report]\ntop = 3\n[cluster]\nthreshold = 0.5\n")
    monkeypatch.setenv("VOCABGAP_TOP", "4")
    told = vocabgap("status")
    assert "settings file: vocabgap.toml\n" in told.out
    assert "top = 4  #" in told.out
    assert "threshold = 0.5  #" in told.out


def test_a_settings_file_can_be_named(vocabgap: Command, tmp_path: Path) -> None:
    (tmp_path / "team.toml").write_text("[report]\ntop = 3\n")
    found = result(vocabgap("--json", "status", "--config", "team.toml").out)
    assert (found["config"], found["settings"]["report"]["top"]) == ("team.toml", 3)


def test_a_settings_file_can_be_named_in_the_environment(
    vocabgap: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "team.toml").write_text("[report]\ntop = 3\n")
    monkeypatch.setenv("VOCABGAP_CONFIG", "team.toml")
    assert result(vocabgap("--json", "status").out)["config"] == "team.toml"


def test_without_a_run_it_says_so(vocabgap: Command) -> None:
    assert "no run in 'out'\n" in vocabgap("status").out
    assert result(vocabgap("--json", "status").out)["last_run"] is None


def test_last_run_is_told(vocabgap: Command, gap: Gap, write_corpus: Corpus) -> None:
    vocabgap("report", write_corpus({"one": [gap("sky mask")]}), "--now", "2026-07-01")
    assert "last run in 'out': 2026-07-01T00:00:00Z, 1 capabilities\n" in vocabgap("status").out
    assert result(vocabgap("--json", "status").out)["last_run"] == {
        "now": "2026-07-01T00:00:00Z",
        "capabilities": 1,
        "command": "vocabgap report photos --now 2026-07-01T00:00:00Z",
    }


@pytest.mark.parametrize("content", ["", "{", "[]", '{"now": 3}'])
def test_a_damaged_manifest_is_no_run(vocabgap: Command, tmp_path: Path, content: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run.json").write_text(content)
    told = vocabgap("status")
    assert told.code == 0
    assert "no run in 'out'" in told.out


def test_a_tilde_is_the_home_folder_as_it_is_for_the_report(
    vocabgap: Command,
    gap: Gap,
    write_corpus: Corpus,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("VOCABGAP_OUT", "~/out")
    assert vocabgap("report", write_corpus({"one": [gap("sky mask")]})).code == 0
    assert "last run in" in vocabgap("status").out


def test_nothing_is_written(vocabgap: Command, tmp_path: Path) -> None:
    vocabgap("status")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["[report", "[report]\ntop = 'x'", "top = 3", "\x00"])
def test_a_bad_settings_file_is_invalid_input_and_named(
    vocabgap: Command, tmp_path: Path, content: str
) -> None:
    (tmp_path / "vocabgap.toml").write_text(content)
    told = vocabgap("status")
    assert (told.code, told.out) == (2, "")
    assert "vocabgap.toml" in told.err
