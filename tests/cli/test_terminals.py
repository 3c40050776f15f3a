"""What is printed on is narrow, knows few characters, or is not there at all."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from builders import gap, write_corpus
from vocabgap.doors.views import table

COMMANDS = [
    ["check", "photos"],
    ["--json", "list", "photos"],
    ["list", "photos"],
    ["show", "heron", "photos"],
]
# Runs commands one after the other, as starting takes the longest. Each finds the streams as the first did,
# what it leaves in them is flushed as at the end of a process, and the exit code says which one was not done.
IN_TURN = """
import fcntl, os, sys
from vocabgap.__main__ import main
given = {name: getattr(sys, name) for name in ("stdin", "stdout", "stderr")}
places = {name: fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 10) for name, each in given.items() if each}
for number, command in enumerate(sys.argv[1:], start=1):
    sys.argv[1:] = command.split("\\n")
    try:
        main()
    except SystemExit as end:
        if end.code:
            os._exit(number)
    for name in given:
        left = getattr(sys, name)
        if name in places:
            left.flush()
            os.dup2(places[name], left.fileno())
        elif left:
            left.close()
            setattr(sys, name, None)
"""
PROGRAM = [sys.executable, "-c", IN_TURN, *map("\n".join, COMMANDS)]
ODD = {"TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "20"}
C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    needs = ["größe mask", "größe masks 木", "film grain", "lens flare brush " * 20]
    return write_corpus(tmp_path, {"heron": [gap(need) for need in needs]})


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_table_is_drawn_with_what_stdout_can_carry(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))

    heading, rule, first, second = table(
        ("a", "b"), [("größe 木", 1), (None, 2)], numbers=("b",)
    ).split("\n")

    assert first.startswith("größe \\u6728" if encoding == "latin-1" else "gr\\xf6\\xdfe \\u6728")
    assert set(rule) == {"-"}
    assert len({len(line) for line in (heading, rule, first, second)}) == 1
    assert second.startswith("- ")


@pytest.mark.slow
@pytest.mark.parametrize("environment", [{"PYTHONIOENCODING": "ascii", **ODD}, {**C_LOCALE, **ODD}])
def test_an_odd_terminal_gets_plain_text(environment: dict[str, str], corpus: Path) -> None:
    result = subprocess.run(
        PROGRAM,
        capture_output=True,
        check=False,
        cwd=corpus.parent,
        env={**os.environ, **environment},
    )

    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.isascii()
    assert b"\x1b" not in result.stdout
    assert b"\\u25" not in result.stdout  # lines of a table or a tree


@pytest.mark.slow
@pytest.mark.parametrize("closed", [">&-", ">&- 2>&- <&-"])
def test_a_command_without_streams_is_done(closed: str, corpus: Path) -> None:
    result = subprocess.run(
        ["/bin/sh", "-c", f'exec "$0" "$@" {closed}', *PROGRAM],
        capture_output=True,
        check=False,
        cwd=corpus.parent,
    )

    assert (result.returncode, result.stderr) == (0, b"")
