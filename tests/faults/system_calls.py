"""A verb killed, or refused, at its system calls, those of compiled code included: by `strace`."""

import errno
import os
import re
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from builders.command import CommandResult
from faults.checks import REFUSED, Undisturbed
from faults.folders import put_back
from faults.processes import VOCABGAP
from faults.verbs import Verb
from vocabgap.errors import ExitCode

# What changes a disk. A name that a system does not know is passed over by the question mark.
_CALLS: Final = (
    "write", "pwrite64", "writev", "copy_file_range", "ftruncate", "fallocate", "fsync", "fdatasync",
    "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "link", "linkat",
    "chmod", "fchmod", "fchmodat", "chown", "fchown", "flock",
)  # fmt: skip
# Not `write`, by which threads wake each other: that never lacks room, and where it is refused nobody wakes.
_NEEDING_ROOM: Final = frozenset(
    ("pwrite64", "copy_file_range", "ftruncate", "fallocate", "fsync", "mkdir", "rename")
)
# Reading, of the files of the folder alone: libraries have to be loaded.
_READING: Final = ("openat", "read", "pread64", "getdents64")
_LONGEST: Final = 60  # seconds of a run
STRACE: Final = shutil.which("strace")


def made(verb: Verb) -> dict[str, int]:
    """How often a verb makes each system call, in the thread that makes it most often."""
    log = Path("calls.strace")
    _traced(verb, "-f", "-o", str(log), "-e", f"trace={','.join(f'?{name}' for name in _CALLS)}")
    by_thread = Counter(
        re.findall(r"^(\d+) +(\w+)\(", log.read_text(errors="replace"), flags=re.MULTILINE)
    )
    log.unlink()
    counts: dict[str, int] = {}
    for (_, name), count in by_thread.items():
        if name in _CALLS:
            counts[name] = max(counts.get(name, 0), count)
    return counts


def attacked(found: Undisturbed) -> Iterator[tuple[str, str | None]]:
    """Each case: what was done, and what is wrong then; null where nothing is."""
    put_back(found.before)
    for name, count in sorted(made(found.verb).items()):
        for number in sorted({1, count}):  # the first and the last call
            for attack in ("signal=KILL", "error=ENOSPC")[: 1 + (name in _NEEDING_ROOM)]:
                put_back(found.before)
                case = f"{found.verb.name}, {attack} at {name} {number}"
                message = _traced(
                    found.verb,
                    *("-f", "-o", os.devnull, "-e", f"trace={name}"),
                    *("-e", f"inject={name}:{attack}:when={number}"),
                )
                yield case, _wrong(found, case, message)


def worn(found: Undisturbed) -> Iterator[tuple[str, str | None]]:
    """Let reading and writing fail, of the files that the verb found and of its folders."""
    put_back(found.before)
    places = [part for path in found.before for part in ("-P", path)]
    for name in (*_READING, "pwrite64", "fsync", "rename"):
        for number in (1, 3):
            put_back(found.before)
            case = f"{found.verb.name}, error=EIO at {name} {number}"
            result = _traced(
                found.verb,
                *("-f", "-o", "refused.strace", *places, "-e", f"trace={name}"),
                *("-e", f"inject={name}:error=EIO:when={number}"),
            )
            log = Path("refused.strace")
            met = "(INJECTED)" in log.read_text(errors="replace") if log.exists() else False
            log.unlink(missing_ok=True)
            if met:
                yield case, _wrong_or_passed_over(found, case, result)


def _wrong_or_passed_over(found: Undisturbed, case: str, result: CommandResult) -> str | None:
    """A log, or a folder of logs, that cannot be read is passed over, and told."""
    is_partial = result.code == ExitCode.INVALID_INPUT or found.verb.state() != found.states[1]
    if result.code in {0, ExitCode.INVALID_INPUT} and found.verb.logs != "-" and is_partial:
        try:
            found.require_passed_over(case, result, os.strerror(errno.EIO))
        except Exception as error:
            return str(error)
        return None
    return _wrong(found, case, result)


def _wrong(found: Undisturbed, case: str, result: CommandResult) -> str | None:
    try:
        if result.code not in {-signal.SIGKILL, 128 + signal.SIGKILL, 0, *REFUSED}:
            return f"{case}: ends with {result.code}: {result.err}"
        if "Traceback" in result.err or "this is a bug" in result.err:
            return f"{case}: {result.err}"
        if result.code == 0:
            # What cannot be kept in a cache is only read again, and what cannot be told is done.
            found.require_done(case, result)
        found.require_mended(case)
    except Exception as error:
        return f"{case}: {error}"
    return None


def _traced(verb: Verb, *options: str) -> CommandResult:
    tracer = (str(STRACE), "-qq", "--seccomp-bpf", *options, "--")
    keyboard, terminal = os.openpty()
    try:
        os.write(keyboard, verb.typed.encode())
        done = subprocess.run(
            [*tracer, *VOCABGAP, *verb.arguments],
            stdin=terminal,
            capture_output=True,
            text=True,
            timeout=_LONGEST,
            check=False,
        )
    finally:
        os.close(keyboard)
        os.close(terminal)
    return CommandResult(done.returncode, done.stdout, done.stderr)
