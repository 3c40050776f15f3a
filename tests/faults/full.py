"""Disks that are really full: a small one for each verb, and a limit of how long a file may become.

A small disk is mounted in a namespace of its own, for which a user has to be allowed to make one.
"""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from faults.checks import Undisturbed
from faults.folders import put_back
from faults.targets import VERBS

_PAGE: Final = 4_096  # bytes of a small disk are given in pages
_MOST: Final = 24  # sizes of a disk, each larger than the one before
_LIMITS: Final = (0, 1, 100, 1_000, *range(4_096, 40_960, 4_096), *range(40_960, 400_000, 40_960))
_REASONS: Final = ("No space left on device", "File too large")
_OWN: Final = ("unshare", "--map-root-user", "--mount")
_MOUNT: Final = ("mount", "-t", "tmpfs", "-o", "size=64m,mode=700", "small", "disk")


def can_mount() -> bool:
    """Tell whether a process may mount a disk of its own."""
    if shutil.which(_OWN[0]) is None:
        return False
    Path("disk").mkdir(exist_ok=True)
    return subprocess.run([*_OWN, *_MOUNT], capture_output=True, check=False).returncode == 0


def refused(verb: int) -> Iterator[str | None]:
    """Take the room of a verb in two ways; yield a problem, or None, for each case that was refused."""
    yield from _limited(verb)
    if can_mount():
        program = (sys.executable, "-m", __name__, str(verb))
        places = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        done = subprocess.run(
            (*_OWN, *program), capture_output=True, text=True, env=os.environ | places, check=False
        )
        if done.returncode:
            yield f"{VERBS[verb].name} on a full disk: {done.returncode}, {done.stderr[-300:]}"
        for line in done.stdout.splitlines():
            yield line.removeprefix("-") or None


def _limited(verb: int) -> Iterator[str | None]:
    """Limit the length of files, which also ends a line in its middle."""
    folder = Path("limited")
    folder.mkdir()
    os.chdir(folder)
    found = Undisturbed.of(VERBS[verb])
    longest = max((path.stat().st_size for path in Path().rglob("*") if path.is_file()), default=0)
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    cases = 0
    for limit in (*_LIMITS, *(longest + more for more in (0, 1, 50, 150, 300))):
        put_back(found.before)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, usual[1]))
        try:
            result = found.verb.run()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        problem, is_refused = _told(found, f"files of {limit} bytes", result.code, result.err)
        cases += is_refused
        if problem or is_refused:
            yield problem
    os.chdir("..")
    if not cases:
        yield f"{found.verb.name}: no limit of files was too small"


def _told(found: Undisturbed, case: str, code: int, message: str) -> tuple[str | None, bool]:
    """Return what is wrong, if anything, and whether the verb was refused room."""
    name = f"{found.verb.name}, {case}"
    is_refused = any(reason in message for reason in _REASONS)
    try:
        assert is_refused or code in found.codes[:1], f"{name}: ends with {code}: {message}"
        assert not re.search("Traceback|this is a bug", message), f"{name}: {message}"
        found.require_mended(name)
    except Exception as error:
        return str(error) or repr(error), is_refused
    return None, is_refused


def _on_small_disk(verb: int) -> Iterator[str | None]:
    """Give a verb a disk with more and more room, until it succeeds without a word of it."""
    subprocess.run(_MOUNT, check=True)
    os.chdir("disk")
    found = Undisturbed.of(VERBS[verb])
    cases, taken = 0, 0
    for step in range(_MOST):
        put_back(found.before)
        _fill()
        used = os.statvfs(".")
        taken = (used.f_blocks - used.f_bfree) * used.f_frsize
        _resize(taken + step * step * _PAGE)
        result = found.verb.run()
        _resize(64 << 20)
        problem, is_refused = _told(found, f"{step * step} pages", result.code, result.err)
        cases += is_refused
        if problem or is_refused:
            yield problem
        elif step > 1:
            break
    if not cases:
        yield f"{found.verb.name}: no disk was too small"


def _fill() -> None:
    """Blank the rest of the last page of each file of lines, so that a line more needs another page."""
    for path in Path().rglob("*.jsonl"):
        with path.open("ab") as file:
            file.write(b"\n" * (-path.stat().st_size % _PAGE))


def _resize(size: int) -> None:
    subprocess.run((_MOUNT[0], "-o", f"remount,size={size}", "small", "."), check=True)


if __name__ == "__main__":
    for problem in _on_small_disk(int(sys.argv[1])):
        print(f"-{problem or ''}".replace("\n", " "))
