"""Processes that are killed while they run, and what stands in their folders afterwards.

A server that has imported everything, but has started no thread of Polars, forks each of them. So a process
costs hardly more than its work.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.forkserver import ensure_running
from pathlib import Path
from typing import Any, Final

import pytest

from faults.calls import Call, heard
from faults.checks import Undisturbed
from faults.folders import put_back
from faults.targets import VERBS

_LONGEST: Final = 300  # seconds of a process, also where cores are shared
_MOMENTS: Final = 10  # kills of a verb at random moments, also in compiled code
_TRIES: Final = 5  # for each of them: a process may be done before its moment


@cache
def _server() -> ForkServerContext:
    server = get_context("forkserver")
    server.set_forkserver_preload([__name__, "faults.acknowledged", "vocabgap.doors.report"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        ensure_running()
    return server


def started(target: Callable[..., None], *arguments: Any) -> ForkServerProcess:  # noqa: ANN401
    """Start a process that calls a function in the current folder."""
    process = _server().Process(
        target=_call, args=(os.environ.copy(), Path.cwd(), target, arguments)
    )
    process.start()
    return process


def _call(
    environment: dict[str, str],
    folder: Path,
    target: Callable[..., None],
    arguments: tuple[Any, ...],
) -> None:
    os.environ.update(environment)
    os.chdir(folder)
    target(*arguments)


def ended(process: ForkServerProcess, after: float | None = None) -> int | None:
    """Wait for a process, and kill it first if `after` has seconds; return its exit code."""
    if after is not None:
        time.sleep(after)
        process.kill()
    process.join(_LONGEST)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise TimeoutError(f"a process still runs after {_LONGEST} s")
    return process.exitcode


def run_until(verb: int, number: int) -> None:
    """Run a verb, and kill this process just before its call of this number."""
    left = number

    def die(_: Call) -> None:
        nonlocal left
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1

    with heard(die):
        VERBS[verb].run()


def killed(verb: int, share: int = 1) -> Iterator[str | None]:
    """Kill a verb at one in `share` of its calls, and at random moments; yield each problem, or None.

    A process that was not killed is no case.
    """
    found = Undisturbed.of(VERBS[verb])
    moments = random.Random(verb)  # noqa: S311 - the same each time
    for number in range(0, len(found.calls), share):
        put_back(found.before)
        if ended(started(run_until, verb, number)) == -signal.SIGKILL:
            yield _left(found, f"killed before {number}: {found.calls[number]}")
    put_back(found.before)
    began = time.monotonic()
    ended(started(run_until, verb, -1))
    longest = time.monotonic() - began
    for number in range(_MOMENTS // share * _TRIES):
        put_back(found.before)
        moment = moments.uniform(0, longest) / (1 + number % _TRIES)
        if ended(started(run_until, verb, -1), moment) == -signal.SIGKILL:
            yield _left(found, f"killed after {moment:.3f} s")


def _left(found: Undisturbed, case: str) -> str | None:
    try:
        found.require_mended(f"{found.verb.name}, {case}")
    except Exception as error:
        return str(error) or repr(error)
    return None
