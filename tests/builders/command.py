"""The command line in process: arguments in; exit code, stdout and stderr out."""

import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

from vocabgap.doors.cli.app import run


class CommandResult(NamedTuple):
    """What one command line gave."""

    code: int
    out: str
    err: str


def vocabgap(*arguments: str | Path) -> CommandResult:
    """Runs one command line in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        code = run([str(argument) for argument in arguments])
    for stream in (out, err):
        stream.flush()
    return CommandResult(code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode())
