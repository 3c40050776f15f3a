"""What is told of commands: their options in panels, whole sentences, and help where no command is named."""

import json
import re

import pytest

from builders.command import vocabgap
from vocabgap.doors.cli.app import HIDDEN, PURPOSES, VERBS
from vocabgap.doors.verbs import Panel
from vocabgap.extensions import extensions

GROUPS = ("decide", *(verb for each in extensions() for verb in each.commands))


def panels(*words: str) -> dict[str, list[str]]:
    """The options of a command under the heading that they are told under."""
    sections = re.split(r"^(\S.*):$", vocabgap(*words, "--help").out, flags=re.MULTILINE)[1:]
    return {
        heading: re.findall(r"^  (?:-\w, )?(--[a-z-]+)", message, flags=re.MULTILINE)
        for heading, message in zip(sections[::2], sections[1::2], strict=True)
    }


def test_options_of_a_report_are_told_in_panels() -> None:
    message = panels("report")

    assert [*message] == [
        "Arguments",
        *(panel for panel in Panel if panel is not Panel.RECORD),
        "Options",
    ]
    assert {"--vocabulary", "--decisions"} <= {*message[Panel.READ]}
    assert {"--since", "--operation", "--now"} <= {*message[Panel.SELECT]}
    assert {"--threshold", "--embedder"} <= {*message[Panel.GROUP]}
    assert {"--rank-by", "--min-images"} <= {*message[Panel.RANK]}
    assert {"--out", "--top", "--share", "--quiet"} <= {*message[Panel.WRITE]}
    assert {"--tenant", "--map", "--min-sessions", "--strictness", "--engine", "--config"} <= {
        *message[Panel.MORE]
    }
    assert message["Options"] == ["--help"]


def test_the_fields_of_a_gap_stand_before_what_is_read() -> None:
    assert [*panels("log")] == ["Arguments", Panel.RECORD, Panel.MORE, "Options"]


@pytest.mark.parametrize(
    "words", [("render",), ("decide", "pin"), ("status",), ("diff",)], ids=" ".join
)
def test_few_options_are_told_without_panels(words: tuple[str, ...]) -> None:
    assert not {*panels(*words)} & {*Panel}


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_without_a_command_is_bad_usage(group: str) -> None:
    result = vocabgap("--json", group)

    error = json.loads(result.out)
    assert (result.code, error["message"], error["hint"]) == (
        2,
        "Missing command.",
        f"see `vocabgap {group} --help`",
    )


@pytest.mark.parametrize("options", [(), ("--decisions", "none.jsonl")], ids=" ".join)
def test_a_group_with_one_command_chooses_it(options: tuple[str, ...]) -> None:
    alone, named = vocabgap("decisions", *options), vocabgap("decisions", "list", *options)
    assert (alone.code, alone.out, alone.err) == (named.code, named.out, named.err)
    assert vocabgap("decisions", "--help").out.startswith(
        "Usage: vocabgap decisions [OPTIONS] COMMAND"
    )


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_the_help_is_one_screen_with_every_command(
    flag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")

    message = vocabgap(flag).out

    assert len(message.splitlines()) <= 24
    words = {*re.findall(r"[\w-]+", message.partition("\nOptions:")[0])}
    assert {*VERBS} & words == {*VERBS} - {*HIDDEN}
    assert re.findall(r"^  ([A-Z]\w+): +[a-z]", message, re.MULTILINE) == [*PURPOSES]


@pytest.mark.parametrize("words", [(group,) for group in GROUPS], ids=" ".join)
def test_descriptions_of_commands_are_whole_in_eighty_columns(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")

    message = vocabgap(*words, "--help").out

    listed = re.split(r"^  (?=\S)", message.partition("Commands:\n")[2], flags=re.MULTILINE)
    assert len(listed) > 1
    assert all(each.rstrip().endswith(".") and "..." not in each for each in listed[1:])
    assert max(map(len, message.splitlines())) <= 80


def test_a_wide_terminal_is_made_use_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")

    assert 80 < max(map(len, vocabgap("report", "--help").out.splitlines())) <= 110
