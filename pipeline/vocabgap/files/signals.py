"""Signals that ask a run to end: Ctrl-C, a job's time limit, a closed terminal.

This module is imported first, so it imports little itself.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_KILLED = 128  # shells add it to the number of the signal


class StoppedError(SystemExit):
    """A signal asked the process to end. If uncaught, the process ends with the signal's exit code."""

    def __init__(self, number: int) -> None:
        super().__init__(_KILLED + number)


def hold() -> None:
    """Block the signals. Call it while there is only one thread."""
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)


def release() -> None:
    """Unblock the signals; a pending signal is raised here."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)


def end_reads() -> None:
    """Let Ctrl-C end a read from the terminal; with Polars, the system would restart the read."""
    signal.siginterrupt(signal.SIGINT, True)


def raise_stops() -> None:
    """Turn signals that Python leaves to the system into exceptions, so that the run cleans up.

    An ignored signal, as with `nohup`, stays ignored.
    """
    for number in STOPPING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _stop)


def end_within(seconds: float) -> None:
    """End the process with exit code 0 at a signal, or after some seconds."""
    for number in (*STOPPING, signal.SIGALRM):
        signal.signal(number, lambda *_: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, seconds)


def ignore() -> None:
    """Ignore the signals, also in the threads of Polars: the run is over or cleans up."""
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def deferred_signals() -> Iterator[None]:
    """Delay the signals until the block ends."""
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
    ignore()  # a closing shell may send several
    raise StoppedError(number)
