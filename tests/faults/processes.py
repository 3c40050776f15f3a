"""Attacks on whole processes: too little memory, and hooks beside a writer that holds the log."""

import fcntl
import json
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from faults.verbs import photos
from vocabgap.ingest.scanning import scan
from vocabgap.model.record import LOG_NAME

VOCABGAP: Final = (sys.executable, "-m", "vocabgap")
COMMANDS: Final = (
    ("report", "photos"), ("check", "photos"), ("list", "photos"), ("status",), ("--version",),
    ("log", "photos/heron", "-d", "x"), ("glossary", "list"), ("schema", "records"), ("manual", "safety"),
    ("init", "--dry-run"), ("corpus", "status"), ("mcp",), ("decisions", "list"),
)  # fmt: skip
_LIMITS: Final = (100, 150, 200, 300, 400, 600, 800, 1_000, 1_300, 2_000, 3_000, 3_800)  # MiB
_HOOKS: Final = 60
_LONGEST: Final = 2.0  # seconds that a hook may take


def short_of_memory() -> Iterator[str | None]:
    """Run commands with less and less memory; yield what is no answer of ours."""
    photos()
    for command in COMMANDS:
        for most in _LIMITS:
            limit = partial(resource.setrlimit, resource.RLIMIT_AS, (most << 20, most << 20))
            result = subprocess.run(
                (*VOCABGAP, *command),
                stdin=subprocess.DEVNULL,
                preexec_fn=limit,
                capture_output=True,
                text=True,
                check=False,
            )
            ours = result.returncode in {0, 2, 3, 4} and "Traceback" not in result.stderr
            yield (
                None
                if ours
                else f"{command} within {most} MiB: {result.returncode}, {result.stderr[:200]}"
            )


def hooks() -> Iterator[str | None]:
    """Call hooks, every other one while the log is held or with a signal."""
    project = Path("project")
    project.mkdir()
    for number in range(_HOOKS):
        with (project / LOG_NAME).open("ab") as log:
            if number % 3 == 1:
                fcntl.flock(log, fcntl.LOCK_EX)
            began = time.monotonic()
            with subprocess.Popen(
                (*VOCABGAP, "hook", "cursor"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            ) as hook:
                if number % 3 == 2:
                    time.sleep(number / 100)
                    hook.send_signal(signal.SIGTERM)
                out, _ = hook.communicate(_failed_call(project, number))
            seconds = time.monotonic() - began
        is_quiet = (hook.returncode, out) == (0, b"") or (
            number % 3 == 2 and hook.returncode == -15
        )
        problem = (
            None
            if is_quiet and seconds <= _LONGEST
            else f"hook {number}: {hook.returncode}, {seconds:.1f} s"
        )
        yield problem
    kept = {number for number in range(_HOOKS - 2) if number % 3 != 2}
    found = scan(project).records["session_id"].to_list()
    lost = kept - {int(name) for name in found}
    yield f"lost: {lost}" if lost or len(found) != len({*found}) else None


def _failed_call(project: Path, number: int) -> bytes:
    given = {
        "hook_event_name": "postToolUseFailure", "conversation_id": str(number), "tool_name": "render_video",
        "workspace_roots": [str(project.absolute())], "tool_use_id": f"t-{number}", "failure_type": "error",
        "error_message": "Tool render_video does not exist", "is_interrupt": False,
    }  # fmt: skip
    return json.dumps(given).encode()
