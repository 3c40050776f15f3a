"""What each shell is told where somebody presses Tab, as its completion script asks for it."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from vocabgap.doors.cli.groups import VERBS

PROGRAM = Path(sys.executable).with_name("vocabgap")


def ask(shell: str, **variables: str) -> str:
    environment = {**os.environ, "_VOCABGAP_COMPLETE": f"complete_{shell}", **variables}
    done = subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout


def bash(line: str) -> list[str]:
    return ask("bash", COMP_WORDS=line, COMP_CWORD=str(line.count(" "))).split()


def zsh(line: str) -> list[str]:
    return re.findall(
        r'^(?:_arguments \'\*: :\(\()?"([^"]+)"', ask("zsh", _TYPER_COMPLETE_ARGS=line), re.MULTILINE
    )


def fish(line: str) -> list[str]:
    told = ask("fish", _TYPER_COMPLETE_ARGS=line, _TYPER_COMPLETE_FISH_ACTION="get-args")
    return [each.partition("\t")[0] for each in told.splitlines()]


SHELLS = pytest.mark.parametrize("shell", [bash, zsh, fish])


@SHELLS
@pytest.mark.parametrize(
    ("line", "suggested"),
    [
        ("vocabgap ", [*VERBS]),
        ("vocabgap dec", ["decide", "decisions"]),
        ("vocabgap decide re", ["rename", "reopen"]),
        ("vocabgap report --eng", ["--engine"]),
        ("vocabgap report --engine ", ["local", "spark"]),
        ("vocabgap list --format c", ["csv"]),
        ("vocabgap clusters --emb", ["--embedder"]),
        ("vocabgap manual tut", ["tutorial"]),
        ("vocabgap schema reco", ["records"]),
        ("vocabgap hook ", ["claude-code", "cursor"]),
    ],
)
def test_verbs_options_and_values_are_suggested(
    shell: Callable[[str], list[str]], line: str, suggested: list[str]
) -> None:
    assert shell(line) == suggested


@SHELLS
def test_a_group_with_a_default_suggests_its_commands(shell: Callable[[str], list[str]]) -> None:
    assert {"list", "show"} <= {*shell("vocabgap clusters ")}


@SHELLS
@pytest.mark.parametrize("line", ["vocabgap clusters shwo --emb", "vocabgap report http://x --eng"])
def test_a_wrong_word_before_is_not_complained_of(shell: Callable[[str], list[str]], line: str) -> None:
    assert len(shell(line)) == 1


def test_a_suggestion_loads_no_frames() -> None:
    asked = {"_VOCABGAP_COMPLETE": "complete_bash", "COMP_WORDS": "vocabgap ", "COMP_CWORD": "1"}
    told = subprocess.run(
        [PROGRAM],
        env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1", **asked},
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    assert "vocabgap.doors.cli.app" in told
    assert not re.search(r"\| +(polars|numpy)$", told, re.MULTILINE)
