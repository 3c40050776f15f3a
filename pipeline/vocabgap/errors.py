"""Errors a person can act on. Each class knows the exit code of the command that it ends."""

import difflib
import os
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from datetime import date, time
from enum import IntEnum
from numbers import Integral, Real
from pathlib import Path
from reprlib import repr as short_repr
from typing import Any, Final

import msgspec
from msgspec import inspect

DEBUG_VARIABLE: Final = "VOCABGAP_DEBUG"
"""Where it is set, an error that is a bug is raised instead of told."""


class ExitCode(IntEnum):
    """Exit codes of the command line."""

    DONE = 0
    BUG = 1
    INVALID_INPUT = 2
    NOT_FOUND = 3
    STATE = 4
    PERMISSION = 9
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


# A signal ended the run: 128 and its number, as shells have it.
STOPPED: Final = frozenset({ExitCode.HUNG_UP, ExitCode.INTERRUPTED, ExitCode.TERMINATED})


class VocabgapError(Exception):
    """Base of every error that vocabgap raises on purpose.

    Args:
        message: What is wrong, with the file, line or field it concerns.
        hint: What to do about it; empty where the message says it all.
    """

    exit_code: ExitCode = ExitCode.BUG

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message

    def __reduce__(self) -> tuple[object, ...]:
        # Kinds have arguments of their own: one that comes from another process is not made again by them.
        return _as_it_was, (type(self), self.args), self.__dict__


def _as_it_was(kind: type[VocabgapError], args: tuple[object, ...]) -> VocabgapError:
    return kind.__new__(kind, *args)


class InvalidInputError(VocabgapError):
    """A value, a setting or a frame that does not have the expected form."""

    exit_code = ExitCode.INVALID_INPUT


class NotFoundError(VocabgapError):
    """A root, a file or an entity that does not exist."""

    exit_code = ExitCode.NOT_FOUND


class StateError(VocabgapError):
    """Something on disk stands in the way: a foreign folder, a full disk, an unreadable store."""

    exit_code = ExitCode.STATE


class AccessDeniedError(VocabgapError):
    """The operating system refused access."""

    exit_code = ExitCode.PERMISSION


def system_error(error: OSError) -> VocabgapError:
    """What the operating system refused outside the stages' own care, such as output to a full disk."""
    message = f"{error.filename or 'output'}: {error.strerror or error}"
    return AccessDeniedError(message) if isinstance(error, PermissionError) else StateError(message)


# What a function is handed, checked at its door: what cannot be used is named, with what came.


_SHOWN = (str, bytes, int, float, complex, type(None))


def unusable(name: str, expected: str, value: object, *, hint: str = "") -> InvalidInputError:
    """The error that says what an argument was to be and what it is.

    Args:
        name: The argument, as the function calls it.
        expected: What belongs there, in words.
        value: What came: shown where it is short by nature, else by its type.
        hint: What to do.
    """
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    told = kind.__name__ if package == "builtins" else f"{package}.{kind.__name__}"
    found = told
    if isinstance(value, _SHOWN):
        with suppress(ValueError):  # a number of too many digits to be written out
            found = short_repr(value)
    return InvalidInputError(f"{name}: expected {expected}, found {found}", hint=hint)


def require_kind(
    name: str, value: object, kind: type | tuple[type, ...], expected: str, *, hint: str = ""
) -> None:
    """Refuse what is of another type.

    Raises:
        InvalidInputError: It is.
    """
    if not isinstance(value, kind):
        raise unusable(name, expected, value, hint=hint)


def require_text(name: str, value: object, expected: str = "text") -> None:
    """Refuse what is no text, or no whole one.

    Raises:
        InvalidInputError: It is none, or holds half of a character.
    """
    require_kind(name, value, str, expected)
    try:
        str(value).encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"{name}: character {error.start + 1} is half of a surrogate pair, which no file can hold",
            hint="give the text as it was before it was cut",
        ) from error


def whole_number(name: str, value: Any, *, hint: str = "") -> int:  # noqa: ANN401 - anything may come
    """A whole number from 0 on, NumPy's among them; true and false are none.

    Raises:
        InvalidInputError: It is another thing.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 0:
        raise unusable(name, "a whole number from 0 on", value, hint=hint)
    return int(value)


def real_number(name: str, value: Any, *, least: float, most: float) -> float:  # noqa: ANN401 - anything may come
    """A number between two others, both allowed, NumPy's among them; true and false are none.

    Raises:
        InvalidInputError: It is another thing, or lies outside.
    """
    known = isinstance(value, (int, float, Real)) and not isinstance(value, bool)
    if not (known and least <= value <= most):
        raise unusable(name, f"a number from {least:,g} to {most:,g}", value)
    return float(value)


def texts(name: str, value: Any) -> tuple[str, ...]:  # noqa: ANN401 - anything may come
    """Texts, of which a single one may be given as it is: it is not read letter by letter.

    Raises:
        InvalidInputError: It is no text, nor several.
    """
    if not isinstance(value, Iterable):
        raise unusable(name, "text, or several texts", value)
    found = (value,) if isinstance(value, str) else tuple(value)
    for each in found:
        require_text(name, each, "nothing but texts")
    return found


def require_names(name: str, value: object) -> None:
    """Refuse what is no mapping of text to text.

    Raises:
        InvalidInputError: It is none.
    """
    if not isinstance(value, Mapping):
        raise unusable(name, "a mapping of text to text", value)
    for part in (*value.keys(), *value.values()):
        require_kind(name, part, str, "a mapping of nothing but text")


def expanded(path: str | Path) -> Path:
    """A path with its leading `~` as the home folder.

    Raises:
        InvalidInputError: There is no such person, or no path can be written so.
    """
    require_kind("path", path, (str, os.PathLike), "a path")
    if "\0" in str(path):
        raise InvalidInputError(f"'{path}' is not a path: it holds a null byte", hint="name another one")
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise InvalidInputError(f"'{path}' names a home folder that does not exist") from error


# What belongs in a place of a settings file, in a person's words, from the type that it is read as.


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
        if isinstance(value, dict) and expected(kind) == "a table":
            raise InvalidInputError(f"{place}: {error}", hint=hint) from error
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
