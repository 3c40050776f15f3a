"""What belongs in a place of a settings file, in a person's words, from the type that it is read as."""

import difflib
import re
from collections.abc import Collection
from datetime import date, time
from reprlib import repr as short_repr
from typing import Any, Final

import msgspec
from msgspec import inspect

from vocabgap.errors import InvalidInputError

_ITEM: Final = re.compile(r" - at `\$\[(\d+)\]`$")  # how msgspec says which item of a list it is
_NEAR: Final = 0.6  # ratio of matching characters (difflib) from which on a name is proposed
_LISTS: Final = (inspect.ListType, inspect.VarTupleType)
_WORDS: Final[dict[type[inspect.Type], str]] = {
    inspect.BoolType: "true or false",
    inspect.DateTimeType: "a date and time in ISO 8601",
    inspect.DictType: "a table",
    inspect.StructType: "a table",
}


def require_type(
    place: str,
    value: object,
    kind: Any,  # noqa: ANN401 - a type of any form
    *,
    hint: str,
    strict: bool = True,
) -> None:
    """Refuse what stands in a place where something else belongs.

    Args:
        place: The table and the key, as they are written, or the option.
        value: What is there.
        kind: The type that belongs there.
        hint: What to do.
        strict: Whether text is only text. Otherwise it may say a number, as on a command line.

    Raises:
        InvalidInputError: It is of another type, or out of bounds.
    """
    try:
        msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError as error:
        item = _ITEM.search(str(error))
        if item is None or not isinstance(value, list | tuple):
            found = in_words(value)
        else:
            found = f"a list with {in_words(value[int(item[1])])} in it"
        raise InvalidInputError(f"{place}: expected {expected(kind)}, found {found}", hint=hint) from error


def expected(kind: Any) -> str:  # noqa: ANN401 - a type of any form
    """A type in words: `a whole number from 0 on`, `text or a list of text`."""
    return _told(inspect.type_info(kind))


def in_words(value: object) -> str:
    """What a settings file has in a place, shown where it is short by nature."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return short_repr(value)
    if isinstance(value, date | time):
        return "a date or time"
    return "a table" if isinstance(value, dict) else "a list"


def nearest(name: str, known: Collection[str]) -> str:
    """What may have been meant by a name that is not known; else all that there are."""
    near = difflib.get_close_matches(name.casefold(), known, n=1, cutoff=_NEAR)
    return f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}"


def _told(kind: inspect.Type) -> str:
    match kind:
        case inspect.UnionType(types=parts):
            told = _alternatives(parts)
        case inspect.EnumType(cls=cls):
            told = f"one of {', '.join(str(each.value) for each in cls)}"
        case inspect.LiteralType(values=values):
            told = _either([in_words(value) for value in values])
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            told = f"a list of {_several(item)}"
        case inspect.IntType(ge=least, le=most) | inspect.FloatType(ge=least, le=most):
            told = "a whole number" if isinstance(kind, inspect.IntType) else "a number"
            told += "" if least is None else f" from {_figure(least)}"
            told += "" if least is None else " on" if most is None else f" to {_figure(most)}"
        case inspect.StrType(pattern=pattern, min_length=length):
            # Nothing else has a pattern in the settings.
            told = "a path" if pattern else "text that is not empty" if length else "text"
        case _:
            told = _WORDS.get(type(kind), "anything")
    return told


def _figure(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else f"{number:,}"


def _alternatives(parts: tuple[inspect.Type, ...]) -> str:
    kinds = {type(part) for part in parts}
    is_said = [
        part
        for part in parts
        if not isinstance(part, inspect.NoneType)
        and not (isinstance(part, inspect.IntType) and inspect.FloatType in kinds)
    ]
    # What there may be several of comes last.
    return _either([_told(part) for part in sorted(is_said, key=lambda part: isinstance(part, _LISTS))])


def _several(item: inspect.Type) -> str:
    if isinstance(item, inspect.UnionType):
        return "these"
    return "paths" if _told(item) == "a path" else _told(item)


def _either(parts: list[str]) -> str:
    *first, last = parts
    comma = "," if any(" or " in part for part in first) or len(first) > 1 else ""
    return f"{', '.join(first)}{comma} or {last}" if first else last
