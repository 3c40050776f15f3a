"""Which source paths may be stored: relative, inside the root, and the same file on every system."""

import re
from functools import lru_cache
from typing import Final

_DRIVE: Final = re.compile("[A-Za-z]:")
_RESERVED: Final = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{device}{number}" for device in ("com", "lpt") for number in "0123456789¹²³"}
)
PATH_HINT: Final = "expected a path relative to the root of its repository, such as notes/today.jsonl"


@lru_cache(maxsize=4096)
def path_fault(path: str) -> str | None:
    """What keeps a source path from being stored, in words; None where nothing does.

    Args:
        path: A path as a record or a payload has it.
    """
    for wrong, told in (
        (not path, "is empty"),
        ("\0" in path, "holds a null byte"),
        ("\\" in path, "holds a backslash, where paths have forward slashes"),
        (path.startswith("/"), "is absolute"),
        (_DRIVE.match(path) is not None, "starts with a drive letter"),
    ):
        if wrong:
            return told
    return next(filter(None, map(_part_fault, path.split("/"))), None)


def _part_fault(part: str) -> str | None:
    if not part:
        return "has an empty part"
    if part == "..":
        return "leads out of its folder with '..'"
    if part == ".":
        return "has '.' as a part, so that it is not the only spelling of its path"
    if part.partition(".")[0].rstrip(" ").casefold() in _RESERVED:
        return f"has the part '{part}', a name that Windows reserves"
    return None
