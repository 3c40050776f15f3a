"""Sources and rules: which files are gap logs, where their fields are, and which records are no gaps.

`sources.toml` and `not_a_gap.toml` beside this file hold the built-in ones; `[source.NAME]` and `[not_a_gap]`
of the settings extend them.
"""

import json
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from pkgutil import get_data
from typing import TYPE_CHECKING, Annotated, Any, Final, get_type_hints

import msgspec
from msgspec import structs

from vocabgap.errors import InvalidInputError, alike, converted, nearest
from vocabgap.model.moments import require_date_format
from vocabgap.model.record import (
    FIELDS,
    LOG_NAME,
    NULLABLE_TEXT_FIELDS,
    PHRASE_FIELDS,
    TEXT_FIELDS,
    GapRecord,
)
from vocabgap.text import excerpt, words

if TYPE_CHECKING:
    import polars as pl

_REGEX_PREFIX: Final = "re:"
_IF_FAILED_PREFIX: Final = "if failed:"
_ONLY_PREFIX: Final = "only:"
_DATE_FORMAT: Final = re.compile(r"\|([^|]*%[A-Za-z][^|]*)\Z")
_PARTS: Final = re.compile(r"(\([^()]*\)|\*)")
NOT_A_GAP: Final = "not_a_gap"
NOT_GRANTED: Final = "not_granted"
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")
Pointer = tuple[str, ...]
Tree = dict[str, "Tree"]
"""Pointers as nested keys; an empty tree means all values below."""
_FIELDS_HINT: Final = "`vocabgap schema records` lists the fields and their types"
_RULE_HINT: Final = 'for example outage = ["the tile server is down", "re:error 5[0-9]{2}"]'
ANY_MEMBER: Final = "*"
MAP: Final = "--map"  # the option
_Scalar = str | int | float | bool
UnitName = Annotated[str, msgspec.Meta(pattern=r"\A([^\W\d_][\w -]{0,39}(/[^\W\d_][\w -]{0,39})?)?\Z")]
IMAGE: Final = "image"
SOURCE: Final = "source"  # if the sources of a report name several units


class Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One shape of the gaps of a log.

    Attributes:
        fields: Field of the record to the path of its value. A path is keys joined by dots
            (`properties.intent`), or a JSON pointer (`/properties/a.b`) if a key has a dot. Of several paths,
            the first with a value counts. An empty path removes a field. Without fields, the objects are
            records. By default, `count` and `timestamp` are read from keys of these names. Behind the path of
            `timestamp`, a date format may follow: `Datum|%d/%m/%Y`.
        constants: Field of the record to its value in objects without one.
        where: Path to the value that a gap must have, or to a list of such values. `re:` begins a regular
            expression that is searched in a text or a number; `re:` alone is any value. An empty text means
            that there is no value.
        refusals: Paths to messages of programs. An object is a gap if one of them says that a tool does not
            exist, or is not granted. The tool is the missing capability if no field has one.
    """

    fields: dict[str, str | tuple[str, ...]] = {}
    constants: dict[str, Any] = {}
    where: dict[str, _Scalar | tuple[_Scalar, ...]] = {}
    refusals: str | tuple[str, ...] = ()


class Source(Shape, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One kind of gap log.

    Attributes:
        glob: Shell patterns of file names; one with folders (`exports/*.jsonl`) is matched from the right.
        known: Values that some object of such a file has, in the syntax of `where`; of several tables, one
            suffices. A file of any name is read as the first source that it fits.
        adapter: The name of a function that makes plain objects of a document, such as `otlp`. The paths of
            the source lead into these objects.
        finds: Description of the gaps in such a file, for the note that none was found.
        like: Another source, whose keys it takes over.
        each: Paths to the gaps in a JSON document. In `/runs/*/missing_tools/*`, a star stands for each
            member of a list or an object. If a JSON pointer leads to no value in a gap, it is followed from
            the objects around the gap, the innermost first. There, `run_id=run` selects the member of a list
            whose `run_id` is the gap's `run`.
        split: Path to a list in a gap. Each member is a gap that has the member in place of the list. They
            share the count of the gap.
        within: Globs of folders inside the folder of a run. The folder above them counts as that of the log.
        path: A regular expression that is searched in the folder and name of a log, as in
            `run-7/items.jsonl`. Its named groups, such as `(?P<session_id>[^/]+)/`, give fields to records
            that do not have them.
        unless: Names of other logs with the same gaps, relative to the folder of the log. `*` stands for any
            name. If one of them has a gap, the log is left out. With `split`, only the members that are
            sessions there are left out.
        unit: What an `image_id` names, such as `workflow` or `process/processes`; by default `image`.
        also: Further shapes of gaps in the same logs, tried in turn. They take over the fields and constants
            of the source.
        keeps_other: Whether records keep the keys that no field reads; by default, only if neither
            `where` nor `refusals` choose the gaps: a trace may hold private data.
        enabled: Whether such logs are read.
    """

    glob: str | tuple[str, ...] = ()
    known: tuple[dict[str, _Scalar | tuple[_Scalar, ...]], ...] = ()
    adapter: str = ""
    finds: str = ""
    like: str = ""
    each: str | tuple[str, ...] = ()
    split: str = ""
    within: str | tuple[str, ...] = ()
    path: str = ""
    unless: str | tuple[str, ...] = ()
    unit: UnitName = ""
    also: tuple[Shape, ...] = ()
    keeps_other: bool | None = None
    enabled: bool = True

    @property
    def globs(self) -> tuple[str, ...]:
        """The patterns."""
        return several(self.glob)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes of the gaps, complete: with fields, the keys `count` and `timestamp` are two of them."""
        fields = {"count": "count", "timestamp": "timestamp", **self.fields} if self.fields else {}
        return tuple(
            Shape(
                fields={field: path for field, path in {**fields, **shape.fields}.items() if path},
                constants={**self.constants, **shape.constants},
                where=shape.where,
                refusals=shape.refusals,
            )
            for shape in (Shape(where=self.where, refusals=self.refusals), *self.also)
        )

    @property
    def paths(self) -> list[str]:
        """The field paths of all shapes, written as in the settings."""
        given = [(*shape.fields.values(), (*shape.where,), shape.refusals) for shape in self.shapes]
        return [path for paths in chain.from_iterable(given) for path in several(paths)]


NATIVE: Final = Source(glob=LOG_NAME)
_TYPES: Final = get_type_hints(GapRecord, include_extras=True)


def _shipped(name: str) -> dict[str, Any]:
    data = get_data(__name__, f"{name}.toml") or b""  # also from an archive, as workers have it
    return tomllib.loads(data.decode())


@cache
def shipped_sources() -> Mapping[str, Source]:
    """Return the shipped sources by name."""
    sources: dict[str, Source] = {}
    for name, source in msgspec.convert(_shipped("sources")["source"], dict[str, Source]).items():
        sources[name] = _over(sources[source.like], source) if source.like else source
    return sources


def sources_in_force(own: Mapping[str, Source]) -> dict[str, Source]:
    """Return the shipped sources, overridden key by key by others; the others come first."""
    shipped = shipped_sources()
    laid = {name: _over(_base(name, source, own), source) for name, source in own.items()}
    return checked_sources(laid) | {name: source for name, source in shipped.items() if name not in own}


def checked_sources(sources: Mapping[str, Source | Mapping[str, Any]]) -> dict[str, Source]:
    """Check the sources of a caller, and return the enabled ones."""
    tables = dict[str, dict[str, Source]]  # as a settings file has them
    hint = 'for example {"mine": {"glob": "wishes-*.jsonl"}}; `vocabgap --json status` prints the others'
    checked: dict[str, Source] = converted({"source": sources}, tables, hint=hint)["source"]
    for name, source in checked.items():
        _check(name, source)
    return {name: source for name, source in checked.items() if source.enabled}


def _base(name: str, source: Source, own: Mapping[str, Source]) -> Source:
    """Return the source that a table changes: the one that it is like, else the shipped one of its name."""
    known = {**shipped_sources(), **own}
    if not source.like:
        return shipped_sources().get(name, Source())
    if source.like not in known or known[source.like].like or source.like == name:
        names = " or ".join(alike(source.like, sorted(known.keys() - {name}))) or "the name of another source"
        message = f"[source.{name}] like: '{source.like}' is no source"
        raise InvalidInputError(message, hint=f"expected {names}")
    return _over(_base(source.like, known[source.like], own), known[source.like])


def _over(base: Source, own: Source) -> Source:
    """Return a source with the keys of another one in place of its own; an empty `each` means none."""
    keys: dict[str, Any] = {}
    for name in Source.__struct_fields__:
        before, after = getattr(base, name), getattr(own, name)
        keys[name] = {**before, **after} if isinstance(before, dict) else after or before
    each = base.each if own.each == () else own.each
    return structs.replace(own, **{**keys, "each": each, "like": "", "enabled": own.enabled})


def _check(name: str, source: Source) -> None:
    for glob in source.globs or ("",) * (not source.known):
        if not glob or glob[0] == "/" or glob[-1] == "/" or ".." in glob.split("/") or "**" in glob:
            hint = 'for example "wishes-*.jsonl" at any depth, or "exports/*.jsonl" below any folder'
            raise InvalidInputError(f"[source.{name}] glob: '{glob}' matches no file", hint=hint)
    with _regular_expression(f"[source.{name}] path"):
        groups = re.compile(source.path).groupindex
    for group in groups.keys() - {*NULLABLE_TEXT_FIELDS, *TEXT_FIELDS}:
        hint = "for example '^(?P<session_id>[^/]+)/', with the name of a field"
        raise InvalidInputError(f"[source.{name}] path: a record has no text field '{group}'", hint=hint)
    for place, shape in enumerate(source.shapes):
        _check_shape(f"source.{name}.also" if place else f"source.{name}", shape)


def _check_shape(name: str, shape: Shape) -> None:
    for table in ("fields", "constants"):
        require_fields(f"[{name}.{table}]", getattr(shape, table))
    for field, value in shape.constants.items():
        converted(value, _TYPES[field], f"[{name}.constants] {field}", hint=_FIELDS_HINT)
    for path, values in shape.where.items():
        with _regular_expression(f"[{name}.where] {path}"):
            allowed = allowed_values(values)
        if not allowed:
            raise InvalidInputError(f"[{name}.where] {path}: expected a value", hint="or leave the line out")


@contextmanager
def _regular_expression(place: str) -> Iterator[None]:
    try:
        yield
    except (re.error, OverflowError, RecursionError) as error:
        message = f"{place}: not a regular expression: {error}"
        raise InvalidInputError(message, hint="use the syntax of Python") from error


def require_fields(table: str, fields: Mapping[str, Any]) -> None:
    """Raise InvalidInputError for a name in a table of the settings that is no field of a record."""
    for field, path in fields.items():
        if table == MAP and field not in FIELDS and path in FIELDS:
            raise InvalidInputError(
                f"{MAP} {field}={path} has the field after the path",
                hint=f"did you mean {MAP} {path}={field}?",
            )
        if field not in FIELDS:
            near = alike(field, FIELDS, 1)
            hint = f"did you mean '{near[0]}'? {_FIELDS_HINT}" if near else _FIELDS_HINT
            raise InvalidInputError(f"{table} {excerpt(field)}: a record has no such field", hint=hint)
    for date_format in filter(None, map(date_format_of, several(fields.get("timestamp", "")))):
        require_date_format(date_format, f"{table} timestamp")


def reading_of(
    source: str | None, fields: Mapping[str, str | tuple[str, ...]], sources: Mapping[str, Source]
) -> Source | None:
    """Return the source that reads the files that no source knows; None if the settings name none.

    Args:
        source: Its name.
        fields: Paths of fields that override its own.
        sources: All sources by name.
    """
    require_fields(MAP, fields)
    if source is not None and source not in sources:
        raise InvalidInputError(f"there is no source '{source}'", hint=nearest(source, sources))
    if source is None and fields and not any(map(fields.get, PHRASE_FIELDS)):
        message = f"{MAP}: expected the path of {' or '.join(PHRASE_FIELDS)}"
        raise InvalidInputError(message, hint="for example --map description=reason")
    if source is None and not fields:
        return None
    base = Source() if source is None else sources[source]
    return structs.replace(base, fields={**base.fields, **fields})


def several(value: Any) -> tuple[Any, ...]:  # noqa: ANN401 - as settings have it
    """Return the members of a list or another collection, or the value alone."""
    return tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)


def allowed_values(values: Any) -> tuple[_Scalar | re.Pattern[str], ...]:  # noqa: ANN401 - as above
    """Return the values that an object may have, with regular expressions compiled."""
    return tuple(
        re.compile(value.removeprefix(_REGEX_PREFIX))
        if isinstance(value, str) and value.startswith(_REGEX_PREFIX)
        else value
        for value in several(values)
    )


def date_format_of(path: str) -> str:
    """Return the date format behind a path, as in `Datum|%d/%m/%Y`; empty if there is none."""
    found = _DATE_FORMAT.search(str(path))
    return found[1] if found else ""


@lru_cache
def pointer_of(path: str) -> Pointer:
    """Return the keys of a path, in order.

    A path is keys joined by dots (`wish.text`), or a JSON pointer (RFC 6901: `/meta/session.id`). In a list,
    a number is a place, counted from 0, and `*` is the first member that leads to a value. Any other key
    selects the object with that `key`, and leads to its `value`. A date format behind it does not count.
    """
    path = _DATE_FORMAT.sub("", path)
    if path.startswith("/"):
        return tuple(key.replace("~1", "/").replace("~0", "~") for key in path[1:].split("/"))
    return tuple(path.split("."))


def json_pointer(keys: Iterable[object]) -> str:
    """Return keys as a JSON pointer."""
    return "".join(f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in keys)


def tree_of(pointers: Collection[Pointer]) -> Tree:
    """Return pointers as nested keys."""
    if () in pointers:
        return {}
    keys = dict.fromkeys(pointer[0] for pointer in pointers)
    return {key: tree_of([pointer[1:] for pointer in pointers if pointer[0] == key]) for key in keys}


def value_at(value: Any, pointer: Pointer) -> Any:  # noqa: ANN401 - whatever JSON may hold
    """Follow keys into a value; return what is there, or None. Parse text that holds JSON."""
    for place, key in enumerate(pointer):
        value = parsed(value)
        if key == ANY_MEMBER and isinstance(value, list):
            found = (value_at(member, pointer[place + 1 :]) for member in value)
            return next((member for member in found if member is not None), None)
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


def parsed(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return the object or the list that a text holds, else the value."""
    is_json = isinstance(value, str) and value.lstrip().startswith(("{", "["))
    return _parsed(value) if is_json else value


@lru_cache(maxsize=1)  # one text is asked for many values
def _parsed(text: str) -> Any:  # noqa: ANN401
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return text


_WORD_START: Final = "(?<= )"
# Emoji with their names, dashes and stops say nothing. Signs such as `!=`, `%` and `#` do.
_SIGNS: Final = r"(?::[a-z][a-z0-9_+-]*:|[\s\p{P}\p{C}\p{M}\p{So}\p{Sk}--[#@%&*]])+"
_LONGEST_WHOLE: Final = 150  # characters of a need that may be a placeholder
PLACEHOLDER: Final = "placeholder"


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase of a rule: its text, and what it needs of a clause in normal form.

    Parentheses hold alternatives, separated by bars; a star stands for up to five words.
    """

    text: str
    pattern: re.Pattern[str]  # of the phrase and the space behind it
    begins: str  # the pattern up to a star, in the syntax of Polars
    keys: tuple[str, ...]  # each match has one of these words
    if_failed: bool  # counts only if something failed and nothing is named as missing

    @classmethod
    def of(cls, text: str, *, if_failed: bool) -> "Phrase | None":
        """Return the phrase that a text describes; None if it needs no word before a star."""
        parts: list[str] = []
        choices = []
        for part in _PARTS.split(text):
            options = [words(each) for each in (part[1:-1].split("|") if part.startswith("(") else [part])]
            if part == "*":
                parts.append(part)
            elif any(options):
                parts.append(
                    f"(?:{'|'.join(''.join(f'{re.escape(word)} ' for word in each) for each in options)})"
                )
            if all(options) and "*" not in parts:
                choices.append(tuple(max(each, key=len) for each in options))
        if not choices:
            return None
        keys = max(choices, key=lambda each: min(map(len, each)))
        pattern = re.compile(
            _WORD_START + "".join(r"(?:\S+ ){0,5}?" if part == "*" else part for part in parts)
        )
        return cls(text, pattern, "".join(parts).partition("*")[0], keys, if_failed)


@dataclass(frozen=True, slots=True)
class Rule:
    """One reason why a record is no gap of the vocabulary."""

    name: str
    expressions: tuple[str, ...]  # as in the settings
    phrases: dict[str, list[Phrase]]  # by each of their keys
    # In the syntax of Polars, case ignored. It has no look-around and no back-references, so a search takes
    # linear time.
    patterns: tuple[str, ...]
    whole: str  # a pattern of a whole need; empty if there is none
    why_not: str


def rules_in_force(own: Mapping[str, Iterable[str]] = {}) -> tuple[Rule, ...]:
    """Return the built-in rules and further ones, in the order in which they are applied.

    Args:
        own: Setting `[not_a_gap]`. Case, hyphens and punctuation do not matter.
    """
    why_not_of = {name: why_not for why_not, rules in _shipped("not_a_gap").items() for name in rules}
    expressions_of = {name: tuple(rules[name]) for rules in _shipped("not_a_gap").values() for name in rules}
    for name, given in own.items():
        expressions_of[name] = (*expressions_of.get(name, ()), *several(given)) if given else ()
    return tuple(
        _rule(name, expressions, why_not_of.get(name, NOT_A_GAP))
        for name, expressions in expressions_of.items()
        if expressions
    )


@lru_cache(maxsize=128)
def _rule(name: str, expressions: tuple[str, ...], why_not: str) -> Rule:
    most_stars = 2
    phrases: dict[str, list[Phrase]] = {}
    patterns, wholes = [], []
    for text in expressions:
        if text.startswith(_REGEX_PREFIX):
            patterns.append(_pattern(name, text.removeprefix(_REGEX_PREFIX)))
            continue
        bare = text.removeprefix(_IF_FAILED_PREFIX).removeprefix(_ONLY_PREFIX).strip()
        if bare.count("*") > most_stars:
            message = f"[not_a_gap] {name}: '{text}' has more than {most_stars} stars"
            raise InvalidInputError(message, hint=_RULE_HINT)
        if (phrase := Phrase.of(bare, if_failed=text.startswith(_IF_FAILED_PREFIX))) is None:
            raise InvalidInputError(f"[not_a_gap] {name}: '{text}' has no word", hint=_RULE_HINT)
        if text.startswith(_ONLY_PREFIX):
            wholes.append(phrase.pattern.pattern.removeprefix(_WORD_START))
            continue
        for key in phrase.keys:
            phrases.setdefault(key, []).append(phrase)
    whole = f"(?i)^(?:{'|'.join((' ', *wholes))})+$" if wholes else ""
    return Rule(name, expressions, phrases, tuple(patterns), whole, why_not)


def without_placeholder(text: "pl.Expr") -> "pl.Expr":
    """Return a text, but an empty one for a placeholder such as `none`."""
    import polars as pl  # noqa: PLC0415 - loads what few settings need

    rule = next(rule for rule in rules_in_force() if rule.name == PLACEHOLDER)
    return pl.when(is_whole(text, rule)).then(pl.lit("")).otherwise(text)


def is_whole(text: "pl.Expr", rule: Rule) -> "pl.Expr":
    """Tell whether phrases of a rule are the whole text, whatever signs are between its words."""
    words = text.str.head(_LONGEST_WHOLE + 1).str.replace_all(_SIGNS, " ").str.strip_chars() + " "
    is_short = text.str.len_chars() <= _LONGEST_WHOLE
    return is_short & words.str.contains(rule.whole or "^$")


def _pattern(name: str, text: str) -> str:
    import polars as pl  # noqa: PLC0415 - loads what few settings need

    expression = f"[not_a_gap] {name}: '{_REGEX_PREFIX}{text}'"
    try:
        is_unbounded = pl.select(pl.lit("").str.contains(text)).item()
    except pl.exceptions.ComputeError as error:
        why = str(error).partition("\n\nThis error")[0].rpartition("error: ")[2]
        message = f"{expression} is not a regular expression: {why}"
        raise InvalidInputError(message, hint=_RULE_HINT) from error
    if is_unbounded:
        hint = "change it so that it does not match empty text"
        raise InvalidInputError(f"{expression} matches every record", hint=hint)
    return text
