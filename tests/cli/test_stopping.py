"""Signals that end a run. Each test is a process of its own that sends itself one at a certain moment."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from builders import gap, write_corpus
from vocabgap.decisions.record import Action, read_decisions

INTERRUPTED = "vocabgap: interrupted\n"
UNPUBLISHED = f"{INTERRUPTED}  a report is never published in part\n"
# How each program begins: the signal is its first argument.
SENDING = """
import os, signal, sys
number = int(sys.argv.pop(1))
"""
WHILE_LOADING = f"""{SENDING}
class Sender:
    def find_spec(name, *_):
        if name == "vocabgap.doors.cli.output":
            os.kill(os.getpid(), number)
sys.meta_path.insert(0, Sender)
from vocabgap.__main__ import main
main()
"""
WHILE_WRITING = f"""{SENDING}
import polars
from vocabgap.__main__ import main
write = polars.DataFrame.write_parquet
def send(*arguments, **options):
    os.kill(os.getpid(), number)
    write(*arguments, **options)
polars.DataFrame.write_parquet = send
main()
"""
WHILE_WRITING_AND_TIDYING_UP = f"""{SENDING}
import shutil
remove = shutil.rmtree
def send(*arguments, **options):
    os.kill(os.getpid(), number)
    remove(*arguments, **options)
shutil.rmtree = send
{WHILE_WRITING.removeprefix(SENDING)}
"""
# The terminal that the progress is shown on goes away while the work is going on.
WITHOUT_ITS_TERMINAL = """
import os
from vocabgap.doors.cli.output import Output
terminal, here = os.openpty()
os.dup2(here, 2)
with Output().progress(("ingest", "cluster")) as listener:
    listener("ingest")
    os.close(terminal)
    listener("cluster")
    raise SystemExit(3)
"""

pytestmark = pytest.mark.slow


def python(
    code: str, *arguments: object, cwd: Path, before: Callable[[], object] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False,
        cwd=cwd, preexec_fn=before,
    )  # fmt: skip


def test_a_signal_while_modules_are_loaded_ends_the_run_as_one_later_does(tmp_path: Path) -> None:
    result = python(WHILE_LOADING, signal.SIGINT, "check", ".", cwd=tmp_path)

    assert (result.returncode, result.stdout, result.stderr) == (130, "", INTERRUPTED)


@pytest.mark.parametrize(
    ("program", "number", "code"),
    [
        (WHILE_WRITING, signal.SIGTERM, 143),
        (WHILE_WRITING_AND_TIDYING_UP, signal.SIGHUP, 129),
    ],
)
def test_a_signal_while_the_report_is_written_publishes_nothing_and_leaves_nothing(
    program: str, number: int, code: int, tmp_path: Path
) -> None:
    root = write_corpus(tmp_path, {"one": ['{"description": "sky mask"}']})

    result = python(program, number, "report", root, cwd=tmp_path)

    assert (result.returncode, result.stdout, result.stderr) == (code, "", UNPUBLISHED)
    assert [entry.name for entry in tmp_path.iterdir()] == ["photos"]


def test_a_signal_that_is_ignored_ends_nothing(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"one": ['{"description": "sky mask"}']})
    ignored = partial(signal.signal, signal.SIGHUP, signal.SIG_IGN)

    result = python(WHILE_WRITING, signal.SIGHUP, "report", root, cwd=tmp_path, before=ignored)

    assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "out" / "run.json").is_file()


def test_the_work_outlives_the_terminal_that_its_progress_is_shown_on(tmp_path: Path) -> None:
    assert python(WITHOUT_ITS_TERMINAL, cwd=tmp_path).returncode == 3


def reviewed(folder: Path, *pressed: bytes | signal.Signals) -> tuple[int, str]:
    """Press a key or send a signal at each prompt of a review; return its exit code and what it showed."""
    write_corpus(
        folder,
        {
            image: [*map(gap, ("sky mask", "cloud mask tool", "moon glow", "night glow tool"))]
            for image in ("heron", "crane")
        },
    )
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # whatever started the tests
        os.execv(  # noqa: S606
            sys.executable,
            [sys.executable, "-m", "vocabgap", "review", "photos", "--embedder", "none"],
        )
    shown, new, deadline, waiting = b"", b"", time.monotonic() + 60.0, [*pressed]
    with suppress(OSError):  # the terminal is closed with the process
        while time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.5)[0]:
                new += os.read(terminal, 4096)
            elif new.endswith(b"?: ") and waiting:  # and by now it is read
                shown, new, key = shown + new, b"", waiting.pop(0)
                if isinstance(key, bytes):
                    os.write(terminal, key)
                else:
                    os.kill(process, key)
    if time.monotonic() >= deadline:
        os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), (shown + new).decode()


@pytest.mark.parametrize(
    ("end", "code"),
    [(b"\x03", 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9), (b"\x04", 0)],
)
def test_a_review_keeps_its_answers_however_it_ends(
    end: bytes | signal.Signals, code: int, tmp_path: Path
) -> None:
    ended, shown = reviewed(tmp_path, b"1\n", end)

    assert ended == code, shown
    assert "merged 2 groups" in shown
    actions = [each.action for each in read_decisions(tmp_path / "decisions.jsonl")]
    assert actions == [Action.MERGE, Action.CONFIRM]
    assert ("next: `vocabgap report photos --embedder none`" in shown) == (code == 0)
