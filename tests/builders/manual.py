"""The pages of the manual, and sessions of them, typed line by line."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import vocabgap as package
from builders.command import vocabgap
from slices import absent

PACKAGE = Path(package.__file__).parent
WHOLE = pytest.mark.skipif(
    bool(absent()),
    reason=f"the page is about the whole program, with {', '.join(sorted(absent()))}",
)
TOKEN = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def page(name: str) -> str:
    (path,) = PACKAGE.glob(f"**/manual/{name}.md")
    return path.read_text(encoding="utf-8")


def blocks(kind: str, name: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", page(name), flags=re.DOTALL)


def session(name: str, folder: Path, after: str = "# ", before: str = "") -> int:
    """Type the commands of a part of a page, compare what each prints, and return how many there were."""
    start = page(name).index(after)
    part = page(name)[start : page(name).index(before, start) if before else None]
    consoles = re.findall(r"```console\n(.*?)```", part, flags=re.DOTALL)
    code, commands = 0, COMMAND.findall("".join(consoles))
    for command, printed in commands:
        if command == "echo $?":
            message = f"{code}\n"
        elif command.startswith("vocabgap "):
            own, _, last = command.partition(" | tail -1")
            code, out, err = vocabgap(*shlex.split(own)[1:])
            message = out + err if not last and own == command else f"{out.splitlines()[-1]}\n"
        else:
            programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
            done = subprocess.run(
                ["/bin/sh", "-c", command], capture_output=True, text=True, check=True,
                env={**os.environ, "PATH": programs},
            )  # fmt: skip
            message = done.stdout
        message = TOKEN.sub("TOKEN", message.replace(str(folder), "/srv/gaps"))
        assert (command, message) == (command, printed)
    return len(commands)


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for variable in ("COLUMNS", "VOCABGAP_CORPUS"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path
