"""A settings file that nobody named must not say that anything is written outside of its folder."""

import os
from pathlib import Path

import pytest

from builders import gap, write_corpus
from builders.command import vocabgap
from vocabgap.errors import ExitCode, InvalidInputError
from vocabgap.extensions import extensions
from vocabgap.model.loading import CONFIG_VARIABLE, load_settings, resolve_settings
from vocabgap.model.settings import known_settings

WRITTEN = sorted(
    {"report.out", "decisions.file", "check.baseline"}
    | {f"{each.table}.{each.key}" for each in known_settings() if each.written}
)

pytestmark = pytest.mark.usefixtures("here")


def found(place: str, value: str) -> Path:
    """Writes the settings file of the current folder, which is found by itself."""
    table, key = place.split(".")
    path = Path("vocabgap.toml")
    path.write_text(f'[{table}]\n{key} = "{value}"\n', encoding="utf-8")
    return path


@pytest.mark.parametrize("place", WRITTEN)
def test_a_found_file_that_leads_out_of_its_folder_is_refused(place: str) -> None:
    table, key = place.split(".")
    for value in ("../there", "~/there", "/there", "a/../../there"):
        found(place, value)
        with pytest.raises(
            InvalidInputError, match=rf"^vocabgap\.toml: \[{table}\] {key} leads out of"
        ) as message:
            load_settings()
        assert "--trust" in message.value.hint


def test_places_below_its_folder_are_followed() -> None:
    for value in ("there", "./a/../there", "a/b", "."):
        found("report.out", value)
        assert resolve_settings().outside == ()


def test_a_link_leads_out_as_a_name_does(here: Path, tmp_path: Path) -> None:
    (here / "out").symlink_to(tmp_path / "there")
    found("report.out", "out/weekly")
    with pytest.raises(InvalidInputError, match=str(tmp_path / "there" / "weekly")):
        load_settings()


def test_a_file_that_was_named_is_followed_and_told_of(tmp_path: Path) -> None:
    path = found("report.out", "../there")
    message = (f"[report] out leads out of its folder, to '{tmp_path / 'there'}'",)
    assert resolve_settings(path).outside == message
    assert resolve_settings(environment={CONFIG_VARIABLE: str(path)}).outside == message
    assert resolve_settings(trust=True).outside == message


def test_a_place_below_the_current_folder_is_not_told_of(tmp_path: Path) -> None:
    path = tmp_path / "jobs" / "weekly.toml"
    path.parent.mkdir()
    path.write_text('[report]\nout = "out"\n', encoding="utf-8")
    assert resolve_settings(path).outside == ()


def test_what_a_variable_or_a_flag_replaces_leads_nowhere() -> None:
    found("report.out", "../there")
    assert resolve_settings(environment={"VOCABGAP_OUT": "out"}).outside == ()
    assert resolve_settings(flags={"--out": "../mine"}).settings.report.out == "../mine"


def test_a_report_writes_nothing_outside_of_a_strangers_folder(here: Path, tmp_path: Path) -> None:
    root = write_corpus(here, {"heron": [gap("sky mask")]})
    found("report.out", "../there")
    refused = vocabgap("report", root)
    assert (refused.code, (tmp_path / "there").exists()) == (ExitCode.INVALID_INPUT, False)
    assert "vocabgap.toml: [report] out leads out of its folder" in refused.err

    for agreed in ("--trust",), ("--config", "vocabgap.toml"):
        made = vocabgap("report", root, *agreed)
        assert made.code == ExitCode.DONE
        assert made.err.count("[report] out leads out of its folder") == 1
        assert (tmp_path / "there" / "report.md").exists()


@pytest.mark.parametrize(
    "command",
    [
        *map(
            str.split, ("report .", "list", "decisions list", "draft 1", "history", "status", "mcp")
        ),
        *map(str.split, ("decide pin cap-1", "check .")),
        *(
            [verb, "status" if verb == "corpus" else "conflicts"]
            for each in extensions()
            for verb in each.commands
        ),
    ],
    ids=" ".join,
)
def test_every_verb_that_reads_settings_refuses_and_can_be_told_to_trust(
    command: list[str],
) -> None:
    found("decisions.file", f"..{os.sep}there.jsonl")
    refusal = "[decisions] file leads out of its folder"
    refused = vocabgap(*command)
    assert refused.code == ExitCode.INVALID_INPUT
    assert f"{refusal}, to '" in refused.err
    assert "nobody named this settings file" in refused.err
    if command != ["mcp"]:  # which would serve from here on
        assert "nobody named this settings file" not in vocabgap(*command, "--trust").err
