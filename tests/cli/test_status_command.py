import json
from pathlib import Path
from typing import Any

import pytest

from builders import gap, write_corpus
from builders.command import vocabgap


def last_event(text: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(text.splitlines()[-1])
    return event


def test_changed_settings_and_variables_are_shown_and_all_others_in_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VOCABGAP_EMBEDDER")
    monkeypatch.setenv("VOCABGAP_TOP", "4")
    monkeypatch.setenv("VOCABGAP_TRESHOLD", "0.5")
    changed = '[categories.operations]\nThermal = "wb"\n\n[not_a_gap]\noutage = [\n    "tile server",\n]\n'
    (tmp_path / "vocabgap.toml").write_text(f'{changed}[report]\nout = "out"\n')

    message, event = vocabgap("status").out, last_event(vocabgap("--json", "status").out)

    _, _, shown = message.partition("settings file: vocabgap.toml\n\n")
    assert {*f'{changed}\n[report]\ntop = 4\nVOCABGAP_TOP = "4"'.splitlines()} <= {
        *shown.splitlines()
    }
    assert "out = " not in shown
    assert "VOCABGAP_TRESHOLD is set, but vocabgap does not use it\n" in shown
    assert event["unknown_variables"] == ["VOCABGAP_TRESHOLD"]
    assert event["environment"]["VOCABGAP_OUT"] is None
    assert event["settings"]["rank"]["half_life_days"] == 90.0
    assert event["operation_categories"]["thermal"] == "wb"
    assert {"sources", "aliases", "rules"} <= {*event}


def test_last_run_is_told(tmp_path: Path) -> None:
    vocabgap("report", write_corpus(tmp_path, {"one": [gap("sky mask")]}), "--now", "2026-07-01")
    assert "last run in 'out': 2026-07-01T00:00:00Z, 1 capability\n" in vocabgap("status").out
    assert last_event(vocabgap("--json", "status").out)["last_run"] == {
        "now": "2026-07-01T00:00:00Z",
        "capabilities": 1,
        "command": "vocabgap report --from out/run.json --out again",
        "narrowed_to": "",
    }


@pytest.mark.parametrize("content", ["{", '{"now": 3}'])
def test_a_damaged_manifest_is_no_run(tmp_path: Path, content: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run.json").write_text(content)
    result = vocabgap("status")
    assert result.code == 0
    assert "no run in 'out'" in result.out


@pytest.mark.parametrize("content", ["[report", "top = 3"])
def test_a_bad_settings_file_is_invalid_input_and_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "vocabgap.toml").write_text(content)
    result = vocabgap("status")
    assert (result.code, result.out) == (2, "")
    assert "vocabgap.toml" in result.err
