import json
from pathlib import Path
from typing import Any

import pytest

from builders import gap, write_corpus
from builders.command import vocabgap


def result(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text.splitlines()[-1])
    return found


def test_what_a_report_would_compare_wordings_by_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "groups by: words alone\n" in vocabgap("status").out
    monkeypatch.setenv("VOCABGAP_EMBEDDER", str(tmp_path / "gone"))
    assert (
        f"groups by: nothing: there is no model.onnx in '{tmp_path / 'gone'}'\n"
        in vocabgap("status").out
    )


def test_every_setting_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VOCABGAP_EMBEDDER")
    result = vocabgap("status")
    for line in (
        'tenant = "local"',
        'threshold = "by wording"',
        "stop_words = []",
        'by = "mentions"',
        'out = "out"',
        "top = 10",
        "min_images = 1",
        "half_life_days = 90.0",
        "threshold = 0.28",
        'file = "decisions.jsonl"',
        "reclassify = false",
        'embedder = "auto"',
    ):
        assert f"{line}\n" in result.out


def test_settings_that_are_told_are_settings_that_are_read(tmp_path: Path) -> None:
    (tmp_path / "vocabgap.toml").write_text(
        '[cluster.synonyms]\n"sea mist" = "brume"\n[not_a_gap]\noutage = ["tile server"]\n'
        '[categories.operations]\nThermal = "wb"\n[rank]\nhalf_life_days = 30\n'
    )
    message, event = vocabgap("status").out, result(vocabgap("--json", "status").out)
    settings, _, _ = message.partition("settings file: vocabgap.toml\n\n")[2].partition(
        "\nenvironment:"
    )
    (tmp_path / "again.toml").write_text(settings)
    again = result(vocabgap("--json", "status", "--config", "again.toml").out)
    for name in ("sources", "aliases", "rules", "operation_categories"):
        assert again[name] == event[name]
    for table in ("ingest", "cluster", "rank", "report", "vocabulary", "decisions"):
        assert again["settings"][table] == event["settings"][table]


def test_every_variable_is_told_with_its_value_or_as_not_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VOCABGAP_TOP", "4")
    monkeypatch.setenv("VOCABGAP_TRESHOLD", "0.5")
    message, event = vocabgap("status").out, result(vocabgap("--json", "status").out)
    assert 'VOCABGAP_TOP = "4"\n' in message
    assert "VOCABGAP_THRESHOLD is not set\n" in message
    assert "VOCABGAP_TRESHOLD is set, but vocabgap does not use it\n" in message
    assert (event["environment"]["VOCABGAP_TOP"], event["environment"]["VOCABGAP_OUT"]) == (
        "4",
        None,
    )
    assert event["unknown_variables"] == ["VOCABGAP_TRESHOLD"]


def test_last_run_is_told(tmp_path: Path) -> None:
    vocabgap("report", write_corpus(tmp_path, {"one": [gap("sky mask")]}), "--now", "2026-07-01")
    assert "last run in 'out': 2026-07-01T00:00:00Z, 1 capability\n" in vocabgap("status").out
    assert result(vocabgap("--json", "status").out)["last_run"] == {
        "now": "2026-07-01T00:00:00Z",
        "capabilities": 1,
        "command": "vocabgap report photos --embedder none --now 2026-07-01T00:00:00Z",
        "narrowed_to": "",
    }


@pytest.mark.parametrize("content", ["", "{", "[]", '{"now": 3}'])
def test_a_damaged_manifest_is_no_run(tmp_path: Path, content: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run.json").write_text(content)
    result = vocabgap("status")
    assert result.code == 0
    assert "no run in 'out'" in result.out


def test_a_tilde_is_the_home_folder_as_it_is_for_the_report(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("VOCABGAP_OUT", "~/out")
    assert vocabgap("report", write_corpus(tmp_path, {"one": [gap("sky mask")]})).code == 0
    assert "last run in" in vocabgap("status").out


@pytest.mark.parametrize("content", ["[report", "[report]\ntop = 'x'", "top = 3", "\x00"])
def test_a_bad_settings_file_is_invalid_input_and_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "vocabgap.toml").write_text(content)
    result = vocabgap("status")
    assert (result.code, result.out) == (2, "")
    assert "vocabgap.toml" in result.err
