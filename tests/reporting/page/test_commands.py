"""The commands of a page without a script."""

import shlex

import pytest

from vocabgap.doors.cli.app import run
from vocabgap.errors import ExitCode
from vocabgap.reporting.listed import commands


def test_commands_end_in_the_options_of_the_run() -> None:
    assert "vocabgap decide pin RANK" in commands("")
    assert "vocabgap decide pin RANK --decisions a.jsonl" in commands("--decisions a.jsonl")


def test_the_command_line_knows_each_command(capsys: pytest.CaptureFixture[str]) -> None:
    for line in commands(""):
        program, *words = shlex.split(line)
        # There is no run: the error comes only after the words were understood.
        code = run([*words, "--run", "nowhere"])
        assert (program, code) == ("vocabgap", ExitCode.NOT_FOUND)
        assert "no run of vocabgap" in capsys.readouterr().err
