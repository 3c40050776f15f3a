"""System calls of this process on files of the current folder, each of which may be made to fail.

Python tells of most of them by its audit events, also where a library makes them; those that it does not
tell of are wrapped. What compiled code does by itself is not seen here, but by `strace`.
"""

import itertools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

_CHANGING: Final = frozenset(
    f"os.{name}"
    for name in (
        "rename", "remove", "rmdir", "mkdir", "chmod", "chown", "link", "symlink", "truncate", "utime",
    )
)  # fmt: skip
_READING: Final = frozenset({"os.listdir", "os.scandir", "fcntl.flock"})
_WRAPPED: Final = ("fsync", "ftruncate", "pwrite", "write")
_NEEDING_ROOM: Final = frozenset({"os.mkdir", "fsync", "pwrite", "write", "os.rename"})
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Call(NamedTuple):
    """A call that is about to be made.

    Attributes:
        path: What it is about; empty where that is an open file.
        changes: Whether it may change what lies on the disk.
        grows: Whether it needs room there.
    """

    name: str
    path: str
    changes: bool
    grows: bool

    @property
    def row(self) -> tuple[str, str]:
        """What calls have in common of which there is one for each file of a folder."""
        return self.name, os.path.dirname(self.path)  # noqa: PTH120


_listeners: list[Callable[[Call], None]] = []


@contextmanager
def heard(listener: Callable[[Call], None]) -> Iterator[None]:
    """Tells of each call before it is made; what the listener raises is what the call raises."""
    _install()
    folder = f"{Path.cwd()}{os.sep}"

    def within(call: Call) -> None:
        if not call.path or f"{call.path}{os.sep}".startswith(folder):
            listener(call)

    with pytest.MonkeyPatch.context() as patch:
        for name in _WRAPPED:
            patch.setattr(os, name, _wrapped(name, getattr(os, name)))
        _listeners.append(within)
        try:
            yield
        finally:
            _listeners.clear()


def _tell(call: Call) -> None:
    """Tells the listener, whose own calls count for nothing."""
    if _listeners:
        listener = _listeners.pop()
        try:
            listener(call)
        finally:
            _listeners.append(listener)


def _wrapped(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(*arguments: Any) -> Any:  # noqa: ANN401 - as the system's
        _tell(Call(name, "", changes=True, grows=name in _NEEDING_ROOM))
        return call(*arguments)

    return wrapper


@cache
def _install() -> None:
    """Install the audit hook, which stays for the life of the process."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if not _listeners or not (event == "open" or event in _CHANGING or event in _READING):
            return
        given = arguments[0]
        path = "" if isinstance(given, int) else os.path.abspath(os.fsdecode(given or "."))  # noqa: PTH100
        if event == "open":
            flags = arguments[2]
            changes = bool(flags & _WRITING)
            _tell(Call(event, path, changes, grows=bool(flags & (os.O_CREAT | os.O_TRUNC))))
        else:
            _tell(Call(event, path, event in _CHANGING, event in _NEEDING_ROOM))

    sys.addaudithook(hook)


def recorded(act: Callable[[], object]) -> list[Call]:
    """Return the calls that an action makes."""
    calls: list[Call] = []
    with heard(calls.append):
        act()
    return calls


def failing(number: int, code: int, *, lasting: bool = False) -> Callable[[Call], None]:
    """Has the call of some number fail; with `lasting` also every later one that needs room."""
    numbers = itertools.count()

    def listener(call: Call) -> None:
        now = next(numbers)
        if now == number or (lasting and now > number and call.grows):
            raise OSError(code, os.strerror(code), *[call.path] * bool(call.path))

    return listener
