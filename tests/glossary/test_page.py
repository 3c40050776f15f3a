"""The manual's page on the glossary: its session is what the commands print."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

import vocabgap as package
from builders.command import vocabgap

PAGE = (Path(package.__file__).parent / "glossary" / "manual" / "glossary.md").read_text(
    encoding="utf-8"
)
TOKEN = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def blocks(kind: str) -> list[str]:
    return [
        found[2]
        for found in re.finditer(rf"^(````?){kind}\n(.*?)^\1$", PAGE, re.DOTALL | re.MULTILINE)
    ]


def test_page_shows_what_commands_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    for name, kind in (
        (".vocabgap/glossary/team_domain.yaml", "yaml"),
        ("docs/plan.md", "markdown"),
    ):
        Path(name).parent.mkdir(parents=True)
        Path(name).write_text(blocks(kind)[0], encoding="utf-8")
    code, typed = 0, "".join(blocks("console"))
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", typed, flags=re.MULTILINE)

    for command, printed in commands:
        if command == "echo $?":
            assert printed == f"{int(code)}\n"
        elif command.startswith("vocabgap "):
            code, out, err = vocabgap(*shlex.split(command)[1:])
            assert (command, TOKEN.sub("TOKEN", out + err)) == (command, printed)
        else:
            subprocess.run(["/bin/sh", "-c", command], check=True)

    assert len(commands) == 9
