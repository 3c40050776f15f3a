"""What bash suggests if somebody presses Tab, as its completion script asks for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vocabgap.doors.cli.app import VERBS

PROGRAM = Path(sys.executable).with_name("vocabgap")


def bash(line: str) -> list[str]:
    words = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    environment = {**os.environ, "_VOCABGAP_COMPLETE": "complete_bash", **words}
    done = subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "suggested"),
    [
        ("vocabgap decide re", ["rename", "reopen"]),
        ("vocabgap decide c", ["claim"]),
        ("vocabgap report --format c", ["csv"]),
        ("vocabgap ", [*VERBS]),
        ("vocabgap report --engine ", ["local", "spark"]),
        ("vocabgap decide merge --dec", ["--decisions"]),
    ],
)
def test_verbs_options_and_values_are_suggested(line: str, suggested: list[str]) -> None:
    assert bash(line) == suggested
