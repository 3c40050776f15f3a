"""Errors that a person can act on. Each class has the exit code of a command that fails with it."""

import difflib
import os
import re
import shlex
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, IntEnum
from numbers import Integral, Number
from pathlib import Path
from reprlib import repr as short_repr
from typing import Any, Final, Literal, get_args, get_origin

import msgspec
from msgspec import structs

DEBUG_VARIABLE: Final = "VOCABGAP_DEBUG"  # if it is set, a bug shows its traceback


class ExitCode(IntEnum):
    """Exit codes of the command line."""

    DONE = 0
    BUG = 1
    INVALID_INPUT = 2
    NOT_FOUND = 3
    STATE = 4
    GATE = 5
    PERMISSION = 9
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


# The exit codes of runs that a signal ended: 128 plus its number.
STOPPED: Final = frozenset({ExitCode.HUNG_UP, ExitCode.INTERRUPTED, ExitCode.TERMINATED})


@dataclass(frozen=True)
class Hint:
    """A remedy for an error that names commands or options. The command line adds options to commands."""

    sentence: str  # a command replaces each `{}`
    commands: tuple[tuple[str, ...], ...]  # the words of each command, without `vocabgap`
    options: tuple[str, ...] = ()  # to repeat in the commands if the failed command had them
    for_tools: str = ""  # the remedy for agents, who have no command line

    def rendered(self, given: Iterable[str] = ()) -> str:
        """Return the sentence with its commands; append the given words to each command.

        A command that reads standard input shows a pipe before it.
        """
        commands = (
            f"`{'… | ' * ('-' in words)}vocabgap {shlex.join([*words, *given]).replace(chr(10), ' ')}`"
            for words in self.commands
        )
        return self.sentence.format(*commands) if self.commands else self.sentence


class VocabgapError(Exception):
    """Base of all errors that vocabgap raises on purpose, with a message and a hint."""

    exit_code: ExitCode = ExitCode.BUG

    def __init__(self, message: str, *, hint: str | Hint = "") -> None:
        super().__init__(message)
        self.message = message
        self.commands = hint if isinstance(hint, Hint) else None
        self.hint = hint.rendered() if isinstance(hint, Hint) else hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message

    def __reduce__(self) -> tuple[object, ...]:
        # Pickle cannot call the subclasses again, because their arguments differ.
        return VocabgapError.__new__, (type(self), *self.args), self.__dict__


class InvalidInputError(VocabgapError):
    """A value, a setting or a frame without the expected form."""

    exit_code = ExitCode.INVALID_INPUT


class NotFoundError(VocabgapError):
    """A root, a file or an entity that does not exist."""

    exit_code = ExitCode.NOT_FOUND


class StateError(VocabgapError):
    """An obstacle on disk: a foreign folder, a full disk, an unreadable store."""

    exit_code = ExitCode.STATE


class GateError(VocabgapError):
    """A result that fails a requirement. The result itself is complete."""

    exit_code = ExitCode.GATE


class AccessDeniedError(VocabgapError):
    """A permission that the operating system denies."""

    exit_code = ExitCode.PERMISSION


def system_error(error: OSError) -> VocabgapError:
    """Return the error for an OSError that no stage handles, such as output to a full disk."""
    message = f"{error.filename or 'output'}: {error.strerror or error}"
    return AccessDeniedError(message) if isinstance(error, PermissionError) else StateError(message)


# A scheme has at least two letters: one letter is a drive. `Path` turns `//` into `/`.
ADDRESS: Final = r"[A-Za-z][A-Za-z0-9+.-]+:/"
_PLACE: Final = "a local path, not a URL"
_WORDS: Final = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "object": "a table",
    "str": "text",
}


def installing(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'vocabgap[{extra}]'"


def unusable(name: str, expected: str, value: object, *, hint: str = "") -> InvalidInputError:
    """Return the error for an argument, with what was expected and the value or type that was found."""
    return InvalidInputError(f"{name}: expected {expected}, found {_shown(value)}", hint=hint)


def require_kind(
    name: str, value: object, kind: type | tuple[type, ...], expected: str, *, hint: str = ""
) -> None:
    """Raise InvalidInputError if a value does not have the expected type."""
    if not isinstance(value, kind):
        raise unusable(name, expected, value, hint=hint)


def require_text(name: str, value: object, expected: str = "text") -> None:
    """Raise InvalidInputError if a value is not text or contains half of a surrogate pair."""
    require_kind(name, value, str, expected)
    try:
        str(value).encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"{name}: character {error.start + 1} is half of a surrogate pair or not UTF-8",
            hint="give the complete text, in UTF-8",
        ) from error


def texts(name: str, value: Any) -> tuple[str, ...]:  # noqa: ANN401 - anything may come
    """Return a value as a tuple of texts; a single text is also allowed."""
    if not isinstance(value, Iterable):
        raise unusable(name, "text, or several texts", value)
    several = (value,) if isinstance(value, str) else tuple(value)
    for place, text in enumerate(several):
        require_text(name if text is value else f"{name}[{place}]", text)
    return several


def require_local(name: str, path: str | Path) -> None:
    """Raise InvalidInputError if a path is a URL where only a local path is read or written."""
    if address := full_address(path):
        hint = "name a folder or a file; `vocabgap report --engine spark` reads and writes object stores"
        raise unusable(name, _PLACE, address, hint=hint)


def full_address(path: str | Path) -> str:
    """Return an address with both slashes, of which `Path` drops one; nothing for a path."""
    if not re.match(ADDRESS, str(path)):
        return ""
    scheme, _, place = str(path).partition(":")
    slashes = "///" if scheme in {"dbfs", "file"} else "//"  # these schemes have no host
    return f"{scheme}:{slashes}{place.strip('/')}"


def expanded(path: str | Path) -> Path:
    """Return a path, with the home folder for a leading `~`; refuse a URL."""
    require_kind("path", path, (str, os.PathLike), "a path")
    require_local("path", path)
    if "\0" in str(path):
        raise InvalidInputError(f"'{path}' is not a path: it contains a null byte", hint="name another path")
    try:
        return Path(path).expanduser() if str(path).startswith("~") else Path(path)
    except RuntimeError as error:
        raise InvalidInputError(f"'{path}' names a home folder that does not exist") from error


def alike(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """Return the names that contain an unknown name, else names with similar spelling; ignore case."""
    folded = name.strip().casefold()
    by_folded = {name.casefold(): name for name in reversed([*names])}
    holding = [name for key, name in reversed(by_folded.items()) if folded and folded in key]
    spelt_alike = [by_folded[key] for key in difflib.get_close_matches(folded, by_folded, most, 0.5)]
    return (holding or spelt_alike)[:most]


def nearest(name: str, names: Collection[str]) -> str:
    """Return a hint for an unknown name: the nearest name, else all names."""
    near = alike(name, names, 1)
    return f"did you mean '{near[0]}'?" if near else f"there are {', '.join(names)}"


def whole_number(name: str, value: Any, *, hint: str = "") -> int:  # noqa: ANN401 - anything may come
    """Return a whole number that is 0 or more, also from NumPy; refuse true and false."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 0:
        raise unusable(name, "a whole number, 0 or more", value, hint=hint)
    return int(value)


def converted(value: Any, kind: Any, name: str = "", *, hint: str = "", strict: bool = True) -> Any:  # noqa: ANN401
    """Convert a value to a type that msgspec knows; the error describes the part that does not fit.

    Errors name the argument, option or variable `name`, or else the table and key of a settings file. If
    `strict` is false, a number may be given as text, as on a command line.
    """
    if isinstance(value, Number) and hasattr(value, "item"):
        value = value.item()
    elif isinstance(value, str):
        require_text(name, value)
    misfit = _misfit(value, kind, (), strict=strict)
    if misfit is None:
        return msgspec.convert(value, kind, strict=strict)
    keys, value, kind, problem = misfit
    rule = str(problem).partition(" - at `")[0]
    table = f"[{'.'.join(keys)}]"
    if unknown := re.fullmatch("Object contains unknown field `(.+)`", rule):
        message = f"{table} there is no setting '{unknown[1]}'".removeprefix("[] ")
        near = nearest(unknown[1], kind.__struct_fields__)
        between = " " if near.endswith("?") else "; "
        raise InvalidInputError(message, hint=f"{near}{between}{hint}" if hint else near) from problem
    if not name:
        name = table if rule.startswith("Expected `object`") else f"[{'.'.join(keys[:-1])}] {keys[-1]}"
    raise unusable(name, _expected(rule, kind), value, hint=hint) from problem


def _misfit(
    value: Any,  # noqa: ANN401 - anything may come
    kind: Any,  # noqa: ANN401 - a type
    keys: tuple[str, ...],
    *,
    strict: bool,
) -> tuple[tuple[str, ...], Any, Any, msgspec.ValidationError] | None:
    """Return the innermost part that does not fit, with its keys, its type and the error."""
    try:
        msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError as error:
        parts = _parts(value, kind)
        inner = (_misfit(part, of, (*keys, key) if key else keys, strict=strict) for key, part, of in parts)
        return next(filter(None, inner), (keys, value, kind, error))
    return None


def _parts(value: object, kind: Any) -> Iterator[tuple[str, Any, Any]]:  # noqa: ANN401 - a type
    """Yield the keys and members of a table or a list, each with its type."""
    for inner in (kind, *get_args(kind)):
        if isinstance(value, dict) and hasattr(inner, "__struct_fields__"):
            types = {field.name: field.type for field in structs.fields(inner)}
            yield from ((key, part, types[key]) for key, part in value.items() if key in types)
        elif isinstance(value, dict) and get_origin(inner) is dict:
            for key, part in value.items():
                yield "", key, get_args(inner)[0]
                yield str(key), part, get_args(inner)[1]
        elif isinstance(value, list | tuple) and get_origin(inner) is tuple:
            yield from (("", part, get_args(inner)[0]) for part in value)
        else:
            continue
        return


def _expected(rule: str, kind: Any) -> str:  # noqa: ANN401 - a type
    """Return the expectation of a rule of msgspec in plain words."""
    wanted = rule.partition(", got ")[0].removeprefix("Expected ")
    wanted = wanted.replace("Number out of range", "a smaller number")
    if wanted.startswith("Invalid enum value"):
        return f"one of {', '.join(_choices(kind))}"
    if ADDRESS in wanted:
        return _PLACE

    def in_words(types: re.Match[str]) -> str:
        names = (name for name in types[1].split(" | ") if name != "null")
        return " or ".join(_WORDS.get(name, name) for name in names)

    return re.sub("`([^`]+)`", in_words, wanted)


def _choices(kind: Any) -> list[str]:  # noqa: ANN401 - a type
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [str(choice.value) for choice in kind]
    if kind is float:
        return [_WORDS["float"]]
    if get_origin(kind) is Literal:
        return [str(choice) for choice in get_args(kind)]
    return [choice for part in get_args(kind) for choice in _choices(part)]


def _shown(value: object) -> str:
    if isinstance(value, str | bytes | int | float | complex | None):
        with suppress(ValueError):  # the number has too many digits to print
            return short_repr(value)
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    return kind.__name__ if package == "builtins" else f"{package}.{kind.__name__}"
