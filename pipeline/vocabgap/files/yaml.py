"""YAML as plain values: texts, numbers, lists and objects, and nothing else that a tag could make of them.

The values are built from the events of the parser (libyaml's, by way of `ruamel.yaml.clib`, where that is
installed). The library's own constructors take four times as long, and build what a merge key stands for once
for every way that leads to it, which a few lines drive beyond all measure.
"""

import warnings
from collections.abc import Iterator
from reprlib import repr as short_repr
from typing import Any, Final, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.reader import ReaderError

from vocabgap.errors import InvalidInputError
from vocabgap.text import excerpt

LARGEST: Final = 64_000_000  # characters of a document
DEEPEST: Final = 100  # levels
LONGEST_NUMBER: Final = 1_000  # characters; one of YAML 1.1 in base 60 takes time by their square
MOST_REPEATED: Final = 1_000_000  # values that aliases and merge keys stand for
Place = tuple[str | int, ...]  # the keys and numbers that lead to a value, numbers counted from 0

_LINES_DEPTH: Final = 4  # keys and numbers that lead to a value whose line is asked for
_HINT: Final = "expected YAML 1.2"
_LONG_HINT: Final = f"expected at most {LONGEST_NUMBER:,}; put it in quotes if it is a text"
_PLAIN_HINT: Final = "expected texts, numbers, lists and objects, without tags of other kinds"
_NO_NAME: Final = "expected a name before the colon, found a list or an object"
_REPEATED_HINT: Final = "write out what each entry holds, or share less of it"
_PREFIX: Final = "tag:yaml.org,2002:"
_STR, _MERGE, _LIST, _OBJECT, _MOMENT = (
    f"{_PREFIX}{name}" for name in ("str", "merge", "seq", "map", "timestamp")
)
_TEXTS: Final = frozenset({_STR, _MERGE, f"{_PREFIX}value"})
_OTHERS: Final = frozenset({f"{_PREFIX}{name}" for name in ("null", "bool", "int", "float")})
_Built = tuple[Any, int]  # a value, and how many values it is made of where each alias is written out


def parse_yaml(text: str) -> object:
    """The value that a YAML document stands for; None where it is empty.

    What an anchor names is one object, however many aliases stand for it. A moment stays the text that was
    written.

    Args:
        text: One document of YAML 1.2, or of 1.1 where it says so.

    Raises:
        InvalidInputError: It is no YAML, is too large or nested too deeply, holds something else than plain
            values, or its aliases stand for too many; the error names line and column.
    """
    return _read(text, None)


def yaml_lines(text: str) -> dict[Place, int]:
    """The line of each value of a document that `parse_yaml` can read, counted from 1; of a key, its own."""
    lines: dict[Place, int] = {}
    _read(text, lines)
    return lines


def _read(text: str, lines: dict[Place, int] | None) -> object:
    if len(text) > LARGEST:
        raise InvalidInputError(
            f"a document of more than {LARGEST:,} characters", hint="split it into several files"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a name may be anchored anew
            return _Builder(YAML(typ="safe", pure=False).parse(text), lines).document()
    except ReaderError as error:
        before = text.encode("utf-8", "surrogatepass")[: error.position]  # libyaml counts bytes
        line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
        raise InvalidInputError(f"line {line}, column {column}: {error.reason}", hint=_HINT) from error
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = " ".join(filter(None, (error.problem, error.context)))
        at = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
        raise InvalidInputError(f"{at}{message}", hint=_HINT) from error
    except YAMLError as error:
        raise InvalidInputError(" ".join(str(error).split()), hint=_HINT) from error


class _Builder:
    """Builds plain values of the events of a document."""

    def __init__(self, events: Iterator[Event], lines: dict[Place, int] | None) -> None:
        self._events = events
        self._lines = lines
        self._anchored: dict[str, _Built | None] = {}  # None while it is being built
        self._repeated = 0
        self._resolving(None)

    def document(self) -> object:
        """The value of the only document; None where there is none."""
        value: object = None
        seen = False
        for event in self._events:
            if isinstance(event, DocumentStartEvent):
                if seen:
                    _refuse(event, "found another document", "write one document a file")
                seen = True
                self._resolving(event.version)
                value = self._value(next(self._events), ())[0]
        return value

    def _resolving(self, version: tuple[int, int] | None) -> None:
        """What unquoted texts stand for is said by the library, and by the version of YAML."""
        library = YAML(typ="safe", pure=True)
        library.version = version
        self._constructor, self._resolver = library.constructor, library.resolver
        self._plain: dict[str, object] = {}  # what is read already: most texts come again and again

    def _value(self, event: Event, place: Place) -> _Built:
        if isinstance(event, ScalarEvent):
            built: _Built = self._scalar(event), 1
            if event.anchor:
                self._anchored[event.anchor] = built
            return built
        if isinstance(event, AliasEvent):
            return self._alias(event)
        if len(place) >= DEEPEST:
            _refuse(event, f"nested deeper than {DEEPEST} levels", _HINT)
        anchor = getattr(event, "anchor", None)
        if anchor:
            self._anchored[anchor] = None
        if isinstance(event, SequenceStartEvent):
            built = self._list(event, place)
        elif isinstance(event, MappingStartEvent):
            built = self._object(event, place)
        else:
            raise TypeError(f"{event!r} begins no value")
        if anchor:
            self._anchored[anchor] = built
        return built

    def _alias(self, event: AliasEvent) -> _Built:
        if event.anchor not in self._anchored:
            _refuse(event, f"found undefined alias {short_repr(event.anchor)}", "anchor it before it is used")
        known = self._anchored[event.anchor]
        if known is None:
            _refuse(event, "an alias stands for what it is a part of", _REPEATED_HINT)
        self._repeat(known[1], event)
        return known

    def _repeat(self, size: int, event: Event) -> None:
        self._repeated += size
        if self._repeated > MOST_REPEATED:
            _refuse(
                event, f"aliases and merge keys stand for more than {MOST_REPEATED:,} values", _REPEATED_HINT
            )

    def _scalar(self, event: ScalarEvent) -> object:
        text = event.value
        tag = event.tag
        if tag is None or tag == "!":
            if not event.implicit[0]:
                return text  # in quotes, or a block of text
            if text not in self._plain:
                self._plain[text] = self._made(text, self._tag_of(text), event)
            return self._plain[text]
        tag = str(tag)
        if tag in _TEXTS:
            return text
        if tag not in _OTHERS | {_MOMENT}:
            _refuse_tag(event, "a text", tag)
        if self._tag_of(text) != tag:
            _refuse(
                event,
                f"{short_repr(text)} is no {_as_written(tag)}",
                "leave out the tag, or write a value that is one",
            )
        return self._made(text, tag, event)

    def _tag_of(self, text: str) -> str:
        """What a text without quotes is."""
        if text[:1] not in self._resolver.versioned_resolver:  # nearly always: no number begins so
            return _STR
        return str(self._resolver.resolve(ScalarNode, text, (True, False)))

    def _made(self, text: str, tag: str, event: Event) -> object:
        if tag not in _OTHERS:
            return text
        if len(text) > LONGEST_NUMBER:
            _refuse(event, f"found a number of {len(text):,} characters", _LONG_HINT)
        try:
            return self._constructor.construct_object(ScalarNode(tag, text))
        except (ValueError, IndexError):  # a number of too many digits; one of YAML 1.1 without any
            _refuse(event, f"{short_repr(text)} cannot be read as {_as_written(tag)}", "put it in quotes")

    def _list(self, start: SequenceStartEvent, place: Place) -> _Built:
        if start.tag not in {None, "!", _LIST}:
            _refuse_tag(start, "a list", str(start.tag))
        values: list[object] = []
        size = 1
        for event in self._events:
            if isinstance(event, SequenceEndEvent):
                break
            inner = (*place, len(values))
            self._note(inner, event)
            value, of_value = self._value(event, inner)
            values.append(value)
            size += of_value
        return values, size

    def _object(self, start: MappingStartEvent, place: Place) -> _Built:
        if start.tag not in {None, "!", _OBJECT}:
            _refuse_tag(start, "an object", str(start.tag))
        own: dict[Any, object] = {}
        merged: dict[Any, object] | None = None
        size = 1
        for event in self._events:
            if isinstance(event, MappingEndEvent):
                break
            if not isinstance(event, ScalarEvent | AliasEvent):
                _refuse(event, _NO_NAME, _PLAIN_HINT)
            key, of_key = self._value(event, place)
            if isinstance(key, list | dict):
                _refuse(event, _NO_NAME, _PLAIN_HINT)
            inner = (*place, key)
            self._note(inner, event)
            value, of_value = self._value(next(self._events), inner)
            size += of_key + of_value
            merges = isinstance(event, ScalarEvent) and _is_merge(event)
            if (merges and merged is not None) or (not merges and key in own):
                _refuse(event, f"found duplicate key {short_repr(key)}", "leave one of the two out")
            if merges:
                merged = self._united(value, event)
            else:
                own[key] = value
        return {**(merged or {}), **own}, size

    def _united(self, value: object, event: Event) -> dict[Any, object]:
        """What a merge key adds; of several objects the first one that has a key gives it."""
        united: dict[Any, object] = {}
        for base in reversed(value if isinstance(value, list) else [value]):
            if not isinstance(base, dict):
                _refuse(
                    event,
                    "'<<' stands before something else than objects",
                    "name an object, or a list of them",
                )
            self._repeat(len(base), event)
            united |= base
        return united

    def _note(self, place: Place, event: Event) -> None:
        if self._lines is not None and len(place) <= _LINES_DEPTH:
            self._lines.setdefault(place, event.start_mark.line + 1)


def _is_merge(event: ScalarEvent) -> bool:
    return event.value == "<<" and event.implicit[0] if event.tag is None else str(event.tag) == _MERGE


def _as_written(tag: str) -> str:
    return f"!!{tag.removeprefix(_PREFIX)}" if tag.startswith(_PREFIX) else tag


def _refuse_tag(event: Event, kind: str, tag: str) -> NoReturn:
    _refuse(event, f"found {kind} with the tag {excerpt(_as_written(tag))}", _PLAIN_HINT)


def _refuse(event: Event, message: str, hint: str) -> NoReturn:
    mark = event.start_mark
    raise InvalidInputError(f"line {mark.line + 1}, column {mark.column + 1}: {message}", hint=hint)
