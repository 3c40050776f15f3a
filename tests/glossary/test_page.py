"""The manual's page on the glossary: its session is what the commands print, and its tests are there."""

import re
import shlex
from pathlib import Path

import pytest

import vocabgap as package
from builders.command import vocabgap

PAGE = (Path(package.__file__).parent / "manual" / "glossary.md").read_text(encoding="utf-8")
TESTS = Path(__file__).parents[1]


def block(kind: str) -> str:
    found = re.search(rf"^(````?){kind}\n(.*?)^\1$", PAGE, flags=re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[2]


def test_session_of_the_linter_is_what_the_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    for name, kind in ((".vocabgap/glossary/team_domain.yaml", "yaml"), ("docs/plan.md", "markdown")):
        Path(name).parent.mkdir(parents=True)
        Path(name).write_text(block(kind), encoding="utf-8")
    code, commands = 0, re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block("console"), flags=re.MULTILINE)

    for command, printed in commands:
        if command == "echo $?":
            assert printed == f"{int(code)}\n"
            continue
        code, out, err = vocabgap(*shlex.split(command)[1:])
        assert (command, out + err) == (command, printed)

    assert len(commands) == 6


def test_every_test_that_the_table_of_requirements_names_is_there() -> None:
    named = re.findall(r"\| `(\S+\.py)::(\w+)` \|", PAGE)

    for file, test in named:
        assert f"\ndef {test}(" in (TESTS / file).read_text(encoding="utf-8"), (file, test)

    assert len(named) == sum(line.startswith("| ") and ".py::" in line for line in PAGE.splitlines()) > 10
