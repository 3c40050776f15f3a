"""JSON as JavaScript's `JSON.stringify` writes it, so that a value has the same hash on both sides."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
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
_PLAIN_FROM, _PLAIN_UP_TO = -6, 21  # powers of ten between which a number is written without an exponent


def compact_json(value: object) -> str:
    """A value as compact JSON, every byte as JavaScript has it.

    Numbers are written as JavaScript prints them (`42.0` as `42`), halves of surrogate pairs are escaped, and
    keys that look like an index come first, in their order as numbers; all other keys keep theirs.
    """
    if _is_plain(value):
        with suppress(UnicodeEncodeError):  # half of a surrogate pair
            return _QUICK(value).decode()
    return _escaped("".join(_written(value)))


def is_unicode(text: str) -> bool:
    """Whether it can be stored as text: half of a surrogate pair cannot."""
    return text.isascii() or _SURROGATE.search(text) is None


def _is_plain(value: object) -> bool:
    """Whether any encoder writes a value as JavaScript does, as far as numbers and the order of keys go."""
    if isinstance(value, dict):
        if value and min(value) < _PAST_DIGITS:  # a key may look like an index
            return False
        inner: Iterable[object] = value.values()
    elif isinstance(value, list):
        inner = value
    elif type(value) is int:
        return -_EXACT <= value <= _EXACT
    else:
        return type(value) in _PLAIN
    return _PLAIN.issuperset(map(type, inner)) or all(map(_is_plain, inner))


def _written(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from _object(value)
    elif isinstance(value, list | tuple):
        yield "["
        for position, each in enumerate(value):
            yield "," if position else ""
            yield from _written(each)
        yield "]"
    elif isinstance(value, bool) or not isinstance(value, int | float):
        yield _ENCODE(value)
    else:
        yield _number(value)


def _object(value: Mapping[str, object]) -> Iterator[str]:
    indices = sorted((key for key in value if _is_index(key)), key=int)
    others = [key for key in value if not _is_index(key)] if indices else list(value)
    separator = "{"
    for key in (*indices, *others):
        yield f"{separator}{_ENCODE(key)}:"
        yield from _written(value[key])
        separator = ","
    yield "}" if value else "{}"


def _is_index(key: str) -> bool:
    return _INDEX.fullmatch(key) is not None and int(key) <= _LAST_INDEX


def _number(value: float) -> str:
    """A number as JavaScript prints it: the fewest digits that tell it from every other."""
    try:
        number = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(number):
        return "null"
    _, digits, exponent = Decimal(repr(abs(number))).normalize().as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + int(exponent)  # where the decimal point stands, counted from the first digit
    sign = "-" if number < 0 else ""
    if not _PLAIN_FROM < point <= _PLAIN_UP_TO:
        fraction = f".{text[1:]}" if len(text) > 1 else ""
        return f"{sign}{text[0]}{fraction}e{point - 1:+d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{text}"
    if len(text) <= point:
        return f"{sign}{text}{'0' * (point - len(text))}"
    return f"{sign}{text[:point]}.{text[point:]}"


def _escaped(text: str) -> str:
    """The same with halves of surrogate pairs escaped; two that belong together become one character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", whole)
    return text
