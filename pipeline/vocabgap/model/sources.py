"""Sources: the files that are gap logs, and the places of the fields of a record in their objects.

`sources.toml` beside this file holds the shipped ones; tables `[source.NAME]` of the settings extend them.
"""

import re
import tomllib
from collections.abc import Mapping
from datetime import date, time
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Final, get_type_hints

import msgspec

from vocabgap.errors import InvalidInputError, converted
from vocabgap.model.gap_rules import REGEX_PREFIX
from vocabgap.model.record import FIELDS, LOG_NAME, GapRecord

PATH_HINT: Final = "expected keys joined by dots, such as about.text, or a JSON pointer, such as /about/text"
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")
Pointer = tuple[str, ...]
_SHIPPED: Final = "sources.toml"
_GLOB_HINT: Final = 'for example glob = "wishes-*.jsonl", or "exports/*.jsonl"'
_DEPTH_HINT: Final = (
    "a pattern fits a file's name at any depth, and folders before it from the right: exports/*.jsonl"
)
_REGEX_HINT: Final = f"what begins with {REGEX_PREFIX} is one, in the syntax of Python"
_EACH_HINT: Final = "it begins with a slash, such as /items/*"
_TABLE_HINT: Final = (
    'for example {"mine": {"glob": "wishes-*.jsonl"}}; `vocabgap status` prints those that are built in'
)
_FIELDS_HINT: Final = "`vocabgap schema records` lists the fields and says what fits"
_Scalar = str | int | float | bool


class Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One shape of the gaps of a log.

    Attributes:
        fields: Field of the record to the place of its value: a path with dots (`properties.intent`), or a
            JSON pointer (`/properties/a.b`) if a key holds a dot; of several the first that leads to a value.
            Without any, the objects are records.
        constants: Field of the record to its value in objects without one.
        where: Path to the value, or the values, that an object must have to be a gap; `re:` begins a regular
            expression that is searched in a text.
    """

    fields: dict[str, str | tuple[str, ...]] = {}
    constants: dict[str, Any] = {}
    where: dict[str, _Scalar | tuple[_Scalar, ...]] = {}

    def __post_init__(self) -> None:
        """Turn moments of TOML into text as in a log."""
        constants = {
            field: value.isoformat() if isinstance(value, date | time) else value
            for field, value in self.constants.items()
        }
        msgspec.structs.force_setattr(self, "constants", constants)


class Source(Shape, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One kind of gap log.

    Attributes:
        glob: Shell patterns of file names; one with folders (`exports/*.jsonl`) is matched from the right.
        each: JSON pointers to the gaps of a document that is no log of lines: in `/runs/*/missing_tools/*` a
            star stands for each member of a list or an object.
        also: Further shapes of gaps in the same logs, tried in turn. They take over the fields and constants
            of the source; an empty path removes a field.
        enabled: Whether such logs are read.
    """

    glob: str | tuple[str, ...] = ()
    each: str | tuple[str, ...] = ()
    also: tuple[Shape, ...] = ()
    enabled: bool = True

    @property
    def globs(self) -> tuple[str, ...]:
        """The patterns."""
        return (self.glob,) if isinstance(self.glob, str) else self.glob

    @property
    def native(self) -> bool:
        """Whether the objects of such a log are records."""
        return not (self.fields or self.constants or self.where or self.each or self.also)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes of the gaps, complete."""
        return self, *(
            Shape(
                fields={field: path for field, path in {**self.fields, **shape.fields}.items() if path},
                constants={**self.constants, **shape.constants},
                where=shape.where,
            )
            for shape in self.also
        )


NATIVE: Final = Source(glob=LOG_NAME)
_Tables = dict[str, dict[str, Source]]  # as a settings file has them


@cache
def shipped_sources() -> Mapping[str, Source]:
    """Return the shipped sources by name."""
    text = resources.files("vocabgap.model").joinpath(_SHIPPED).read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text)["source"], dict[str, Source])


def sources_in_force(own: Mapping[str, Source]) -> dict[str, Source]:
    """Return the shipped sources with others laid over them, key by key; the others come first."""
    shipped = shipped_sources()
    laid = {name: _over(shipped.get(name), source) for name, source in own.items()}
    for name, source in laid.items():
        _check(name, source)
    others = {name: source for name, source in shipped.items() if name not in own}
    return {name: source for name, source in {**laid, **others}.items() if source.enabled}


def checked_sources(sources: Mapping[str, Source | Mapping[str, Any]]) -> dict[str, Source]:
    """Return the enabled sources of a caller, checked."""
    checked = converted({"source": sources}, _Tables, hint=_TABLE_HINT)["source"]
    for name, source in checked.items():
        _check(name, source)
    return {name: source for name, source in checked.items() if source.enabled}


def _over(base: Source | None, own: Source) -> Source:
    if base is None:
        return own
    return Source(
        glob=own.glob or base.glob,
        fields={**base.fields, **own.fields},
        constants={**base.constants, **own.constants},
        each=own.each or base.each,
        where={**base.where, **own.where},
        also=own.also or base.also,
        enabled=own.enabled,
    )


def _check(name: str, source: Source) -> None:
    if not source.globs:
        raise InvalidInputError(f"[source.{name}] glob: expected the pattern of a file name", hint=_GLOB_HINT)
    for glob in source.globs:
        if not glob or glob.startswith("/") or glob.endswith("/") or ".." in glob.split("/"):
            raise InvalidInputError(f"[source.{name}] glob: no file is called '{glob}'", hint=_GLOB_HINT)
        if "**" in glob:
            raise InvalidInputError(
                f"[source.{name}] glob: '**' in '{glob}' has no meaning", hint=_DEPTH_HINT
            )
    for pointer in (source.each,) if isinstance(source.each, str) and source.each else source.each:
        if not pointer.startswith("/"):
            raise InvalidInputError(f"[source.{name}] each: '{pointer}' is no JSON pointer", hint=_EACH_HINT)
    for place, shape in enumerate(source.shapes):
        whose = f"{name}.also" if place else name
        _check_values(whose, shape)
        _check_paths(whose, shape)


def _check_values(name: str, shape: Shape) -> None:
    for table in ("fields", "constants"):
        for field in getattr(shape, table):
            if field not in FIELDS:
                raise InvalidInputError(
                    f"[source.{name}.{table}] {field}: a record has no such field", hint=_FIELDS_HINT
                )
    for field, value in shape.constants.items():
        kind = get_type_hints(GapRecord)[field]
        converted(value, kind, f"[source.{name}.constants] {field}", hint=_FIELDS_HINT)


def _check_paths(name: str, shape: Shape) -> None:
    for field, path in shape.fields.items():
        if not path or not all((path,) if isinstance(path, str) else path):
            raise InvalidInputError(f"[source.{name}.fields] {field}: a path is empty", hint=PATH_HINT)
    for path, values in shape.where.items():
        if not path:
            raise InvalidInputError(f"[source.{name}.where] a path is empty", hint=PATH_HINT)
        if values == ():
            raise InvalidInputError(
                f"[source.{name}.where] {path}: expected at least one value", hint="or leave the line out"
            )
        try:
            allowed_values(values)
        except (re.error, OverflowError, RecursionError) as error:
            raise InvalidInputError(
                f"[source.{name}.where] {path}: no regular expression: {error}", hint=_REGEX_HINT
            ) from error


def allowed_values(values: Any) -> tuple[_Scalar | re.Pattern[str], ...]:  # noqa: ANN401 - as settings have it
    """Return the values that an object may have, with regular expressions compiled."""
    several = values if isinstance(values, tuple | list) else (values,)
    return tuple(
        re.compile(value.removeprefix(REGEX_PREFIX))
        if isinstance(value, str) and value.startswith(REGEX_PREFIX)
        else value
        for value in several
    )


@lru_cache
def pointer_of(path: str) -> Pointer:
    """Return the keys of a path, in order.

    A path has keys joined by dots (`wish.text`), or is a JSON pointer (RFC 6901: `/meta/session.id`). A
    number leads into a list, counted from 0. In a list of objects with `key` and `value`, any other key leads
    to the value of the member that names it.
    """
    if path.startswith("/"):
        return tuple(key.replace("~1", "/").replace("~0", "~") for key in path[1:].split("/"))
    return tuple(path.split("."))


def value_at(value: Any, pointer: Pointer) -> Any:  # noqa: ANN401 - whatever JSON may hold
    """Return the value that some keys lead to, or None."""
    for key in pointer:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and _INDEX.fullmatch(key) and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, list):
            named = (member for member in value if isinstance(member, dict) and member.get("key") == key)
            value = next(named, {}).get("value")
        else:
            return None
    return value
