"""The command lines to decide with."""

import shlex

import pytest

from vocabgap.doors.cli.app import run
from vocabgap.errors import ExitCode
from vocabgap.reporting.listed import DECIDED, commands

CAPABILITY = "cap-0123456789ab"


def lines(deciding: str = "") -> dict[str, str]:
    return {each.does: each.line(CAPABILITY) for each in commands([CAPABILITY], deciding)}


def test_a_command_has_the_identifier_and_the_options_of_the_run() -> None:
    assert lines()["merge"] == f"vocabgap decide merge {CAPABILITY} OTHER"
    assert lines("--decisions a.jsonl")["dismiss"] == (
        f"vocabgap decide dismiss {CAPABILITY} --why 'REASON' --decisions a.jsonl"
    )


@pytest.mark.parametrize("identifier", ["cap-0123456789ab; reboot", "cap-1", "", "cap-0123456789ab\n"])
def test_identifiers_that_are_not_ours_give_no_commands(identifier: str) -> None:
    assert commands([CAPABILITY, identifier], "") == ()


def test_without_capabilities_or_options_there_are_no_commands() -> None:
    assert commands([], "") == commands([CAPABILITY], None) == ()


def test_only_what_is_settled_is_reopened() -> None:
    groups = {each.does: each.group for each in commands([CAPABILITY], "")}
    assert groups.pop("reopen") == DECIDED
    assert set(groups.values()) == {None}


def test_every_command_is_one_that_the_command_line_knows(capsys: pytest.CaptureFixture[str]) -> None:
    for line in lines().values():
        program, *words = shlex.split(line)
        # There is no run: the error comes only after the words were understood.
        code = run([*words, "--run", "nowhere"])
        assert (program, code) == ("vocabgap", ExitCode.NOT_FOUND)
        assert "no run of vocabgap" in capsys.readouterr().err
