"""Where a value lies in somebody else's object: the one way in which settings say it.

A path is a key, or keys joined by dots (`wish.text`), or a JSON pointer (RFC 6901: `/meta/session.id`), where
a key holds a dot. A number leads into a list, counted from 0.
"""

import re
from functools import lru_cache
from typing import Any, Final

PATH_HINT: Final = "expected keys joined by dots, such as about.text, or a JSON pointer, such as /about/text"
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")
Pointer = tuple[str, ...]


@lru_cache
def pointer_of(path: str) -> Pointer:
    """The keys of a path, in order."""
    if path.startswith("/"):
        return tuple(key.replace("~1", "/").replace("~0", "~") for key in path[1:].split("/"))
    return tuple(path.split("."))


def value_at(value: Any, pointer: Pointer) -> Any:  # noqa: ANN401 - whatever JSON may hold
    """What some keys lead to; None where they lead nowhere."""
    for key in pointer:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and _INDEX.fullmatch(key) and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value
