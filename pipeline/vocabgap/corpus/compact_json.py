"""JSON as JavaScript's `JSON.stringify` writes it, so that a value has the same hash on both sides."""

import json
import math
import re
from contextlib import suppress
from decimal import Decimal
from types import NoneType
from typing import Final

import msgspec

_QUICK: Final = msgspec.json.Encoder().encode  # escapes in texts just what JavaScript escapes
_ENCODE: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_INDEX: Final = re.compile("0|[1-9][0-9]{0,9}")  # what JavaScript may take for an index
_LAST_INDEX: Final = 2**32 - 2
_PAST_DIGITS: Final = ":"
_PLAIN: Final = frozenset({str, bool, NoneType})
_EXACT: Final = 2**53  # up to here JavaScript's numbers hold every whole one
_PLAIN_FROM, _PLAIN_BELOW = 1e-6, 1e21  # between these a number is written without an exponent


def compact_json(value: object) -> str:
    """A value as compact JSON, every byte as JavaScript has it.

    Numbers are written as JavaScript prints them (`42.0` as `42`), halves of surrogate pairs are escaped, and
    keys that look like an index come first, in their order as numbers; all other keys keep theirs.
    """
    if _is_plain(value):
        with suppress(UnicodeEncodeError):  # half of a surrogate pair
            return _QUICK(value).decode()
    return _escaped(_written(value))


def is_unicode(text: str) -> bool:
    """Whether it can be stored as text: half of a surrogate pair cannot."""
    return text.isascii() or _SURROGATE.search(text) is None


def _is_plain(value: object) -> bool:
    """Whether any encoder writes a value as JavaScript does, as far as numbers and the order of keys go."""
    if isinstance(value, dict):
        if value and min(value) < _PAST_DIGITS:  # a key may look like an index
            return False
        value = list(value.values())
    if isinstance(value, list):
        return _PLAIN.issuperset(map(type, value)) or all(map(_is_plain, value))
    return type(value) in _PLAIN or (type(value) is int and -_EXACT <= value <= _EXACT)


def _written(value: object) -> str:
    if isinstance(value, dict):
        indices = sorted(filter(_is_index, value), key=int)
        keys = [*indices, *(key for key in value if not _is_index(key))]
        return "{" + ",".join(f"{_ENCODE(key)}:{_written(value[key])}" for key in keys) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_written, value)) + "]"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _ENCODE(value)
    return _number(value)


def _is_index(key: str) -> bool:
    return _INDEX.fullmatch(key) is not None and int(key) <= _LAST_INDEX


def _number(value: float) -> str:
    """A number as JavaScript prints it: the fewest digits that tell it from every other."""
    try:
        number = float(value) + 0.0  # no negative zero
    except OverflowError:
        return "null"
    if not math.isfinite(number):
        return "null"
    if number and not _PLAIN_FROM <= abs(number) < _PLAIN_BELOW:
        return repr(number).replace("e-0", "e-")
    return f"{Decimal(repr(number)).normalize():f}"


def _escaped(text: str) -> str:
    """The same with halves of surrogate pairs escaped; two that belong together become one character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", whole)
    return text
