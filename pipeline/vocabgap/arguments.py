"""What a function is handed, checked at its door: what cannot be used is named, with what came."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from numbers import Integral, Real
from pathlib import Path
from reprlib import repr as short_repr
from typing import Any

from vocabgap.errors import InvalidInputError

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
