"""What a path leads to, in words."""

import stat
from collections.abc import Callable
from typing import Final

_KINDS: Final[tuple[tuple[Callable[[int], bool], str], ...]] = (
    (stat.S_ISREG, "a file"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def file_kind(mode: int) -> str:
    """The kind of a file, of the mode that `stat` gives."""
    return next((kind for fits, kind in _KINDS if fits(mode)), "a device")
