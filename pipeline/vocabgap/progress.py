"""Progress of long work: loops report it, and a listener may follow it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

# Takes the name of what is counted, the number done and the total.
Listener = Callable[[str, int, int], None]
_LISTENER: Final[ContextVar[Listener | None]] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Let a listener follow all work in the block."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def tell(what: str, done: int, total: int) -> None:
    """Report the progress of the current work."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(what, done, total)
