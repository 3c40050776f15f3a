"""Signals that ask a run to end: Ctrl-C, a job's time limit, a terminal that is closed.

This module is loaded first, and therefore loads next to nothing itself.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_KILLED = 128  # what shells add to the number of the signal that ended a process


class StoppedError(SystemExit):
    """A signal asked the process to end; what is not caught ends it quietly, with that signal's exit code."""

    def __init__(self, number: int) -> None:
        super().__init__(_KILLED + number)


def hold() -> None:
    """Let the signals wait, while there is no thread but this one."""
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)


def release() -> None:
    """Let in those that have waited, which may be raised here, and those to come."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)


def end_reads() -> None:
    """Let Ctrl-C end the reading of what a person types: Polars has the system begin it again."""
    signal.siginterrupt(signal.SIGINT, True)


def raise_stops() -> None:
    """Let the signals that Python leaves to the system be exceptions, so that what they end is tidied up.

    One that is ignored, as `nohup` has it, stays so.
    """
    for number in STOPPING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _stop)


def ignore() -> None:
    """Let them do nothing any more: all is done, or being tidied up.

    Not `hold`, which is for one thread: those of Polars would take them.
    """
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def deferred_signals() -> Iterator[None]:
    """Let signals that ask the run to end wait until the block is through, whichever way it ends."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    installed = ((number, signal.getsignal(number)) for number in STOPPING)
    handlers = {number: handler for number, handler in installed if handler is not None}
    for number in handlers:
        signal.signal(number, lambda received, _: waiting.append(received))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for received in waiting:
            signal.raise_signal(received)


def _stop(number: int, _: FrameType | None) -> None:
    ignore()  # a shell that goes may send several
    raise StoppedError(number)
