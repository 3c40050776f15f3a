"""How far long work is: told by the loops that do it, heard by whoever has asked to hear it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

# Told what is counted, how many are done, and how many there are.
Listener = Callable[[str, int, int], None]
_LISTENER: Final[ContextVar[Listener | None]] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Let a listener hear of all work that is done within."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def tell(what: str, done: int, total: int) -> None:
    """Say how far the work at hand is."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(what, done, total)
