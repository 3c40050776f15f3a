"""What each shell is told where somebody presses Tab, as its completion script asks for it."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from vocabgap.doors.cli.app import VERBS

PROGRAM = Path(sys.executable).with_name("vocabgap")


def ask(shell: str, **variables: str) -> str:
    environment = {**os.environ, "_VOCABGAP_COMPLETE": f"complete_{shell}", **variables}
    process = subprocess.run(
        [PROGRAM], env=environment, capture_output=True, text=True, check=False
    )
    assert process.stderr == ""
    return process.stdout


def bash(line: str) -> list[str]:
    return ask("bash", COMP_WORDS=line, COMP_CWORD=str(line.count(" "))).split()


def zsh(line: str) -> list[str]:
    return re.findall(
        r'^(?:_arguments \'\*: :\(\()?"([^"]+)"',
        ask("zsh", _TYPER_COMPLETE_ARGS=line),
        re.MULTILINE,
    )


def fish(line: str) -> list[str]:
    message = ask("fish", _TYPER_COMPLETE_ARGS=line, _TYPER_COMPLETE_FISH_ACTION="get-args")
    return [each.partition("\t")[0] for each in message.splitlines()]


@pytest.mark.parametrize(
    ("shell", "line", "suggested"),
    [
        (zsh, "vocabgap decide re", ["rename", "reopen"]),
        (fish, "vocabgap list --format c", ["csv"]),
        (bash, "vocabgap ", [*VERBS]),
        (bash, "vocabgap report --engine ", ["local", "spark"]),
        (bash, "vocabgap decide merge --dec", ["--decisions"]),
        (bash, "vocabgap hook ", ["claude-code", "cursor"]),
    ],
)
def test_verbs_options_and_values_are_suggested(
    shell: Callable[[str], list[str]], line: str, suggested: list[str]
) -> None:
    assert shell(line) == suggested


def test_a_suggestion_loads_no_frames() -> None:
    asked = {"_VOCABGAP_COMPLETE": "complete_bash", "COMP_WORDS": "vocabgap ", "COMP_CWORD": "1"}
    message = subprocess.run(
        [PROGRAM],
        env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1", **asked},
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    assert "vocabgap.doors.cli.app" in message
    assert not re.search(r"\| +(polars|numpy)$", message, re.MULTILINE)
