"""YAML 1.2 as plain values: texts, numbers, lists and objects. `ruamel.yaml` reads it, within limits."""

import warnings
from collections.abc import Iterator
from reprlib import repr as short_repr
from typing import Any, Final, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    ScalarEvent,
)
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from vocabgap.errors import InvalidInputError
from vocabgap.files.budget import DEEPEST
from vocabgap.text import excerpt

LONGEST_NUMBER: Final = 1_024  # bits; Python does not print a number of 4,300 digits
MOST_VALUES: Final = 400_000  # keys and values of a document, with those that aliases repeat
MOST_TAGS: Final = 100  # lines %TAG; the library compares each with all before it
Place = tuple[str | int, ...]  # the keys and list positions (from 0) of a value

_LINES_DEPTH: Final = 4  # the depth of values whose line is returned
_HINT: Final = "expected YAML 1.2 with texts, numbers, lists and objects only"
_PREFIX: Final = "tag:yaml.org,2002:"


class _Plain(SafeConstructor):
    """The library's safe constructor without dates, bytes and sets; its errors name the line."""

    def construct_object(self, node: Node, deep: bool = False) -> object:
        try:
            value = super().construct_object(node, deep)
        except (ValueError, LookupError):
            _refuse(node, f"{short_repr(node.value)} is not {_short(node.tag)}")
        if isinstance(value, int) and value.bit_length() > LONGEST_NUMBER:
            _refuse(node, f"found a number of more than {LONGEST_NUMBER:,} bits")
        return value

    def flatten_mapping(self, node: MappingNode) -> None:
        for key, _ in node.value:
            if not isinstance(key, ScalarNode):
                _refuse(key, "expected a name before the colon, found a list or an object")
        super().flatten_mapping(node)

    def construct_undefined(self, node: Node) -> NoReturn:
        _refuse(node, f"found a value with the tag {_short(node.tag)}")


for _name in ("timestamp", "merge", "value"):
    _Plain.add_constructor(f"{_PREFIX}{_name}", _Plain.construct_yaml_str)
for _name in ("binary", "omap", "pairs", "set"):
    _Plain.add_constructor(f"{_PREFIX}{_name}", _Plain.construct_undefined)
_Plain.add_constructor(None, _Plain.construct_undefined)


def parse_yaml(text: str) -> object:
    """Return the value of a YAML document, or None if it is empty. A date stays text.

    Raises:
        InvalidInputError: The text is not YAML, has a value that is not plain, or exceeds a limit. The error
            names line and column.
    """
    return parsed_with_lines(text)[0]


def parsed_with_lines(text: str) -> tuple[object, dict[Place, int]]:
    """Return the value of a YAML document like `parse_yaml`, and the line (from 1) of each value in it.

    A value with a key has the line of the key.
    """
    if text.count("%TAG") > MOST_TAGS:
        raise InvalidInputError(f"the document has more than {MOST_TAGS} lines %TAG", hint=_HINT)
    yaml = YAML(typ="safe")
    yaml.Constructor = _Plain
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an anchor's name may be used again
            _require_limits(yaml.parse(text))
            loader, _ = yaml.get_constructor_parser(text)
            node = loader.get_single_node()
            return (None, {}) if node is None else (loader.construct_document(node), dict(_lines(node, ())))
    except ReaderError as error:
        before = text.encode("utf-8", "surrogatepass")[: error.position]  # libyaml counts bytes
        line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
        raise InvalidInputError(f"line {line}, column {column}: {error.reason}", hint=_HINT) from error
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = excerpt(f"{error.problem} {error.context or ''}".strip())
        at = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
        raise InvalidInputError(f"{at}{message}", hint=_HINT) from error
    except YAMLError as error:
        raise InvalidInputError(" ".join(str(error).split()), hint=_HINT) from error


def _require_limits(events: Iterator[Any]) -> None:
    """Refuse a document that is nested too deep, or has too many values."""
    sizes: dict[str | None, int | None] = {}  # number of values behind each anchor; None while it is open
    starts: list[tuple[str | None, int]] = []  # anchor of each open list or object, and the values before it
    size = 0
    for event in events:
        match event:
            case ScalarEvent():
                size += 1
                sizes[event.anchor] = 1
            case AliasEvent():
                behind = sizes.get(event.anchor, 0)
                size += MOST_VALUES if behind is None else behind
            case CollectionStartEvent():
                if len(starts) == DEEPEST:
                    _refuse(event, f"nested deeper than {DEEPEST} levels")
                starts.append((event.anchor, size))
                sizes[event.anchor] = None
                size += 1
            case CollectionEndEvent():
                anchor, before = starts.pop()
                sizes[anchor] = size - before
            case DocumentStartEvent(version=(1, 1)):
                _refuse(event, "found a document of YAML 1.1")
        if size > MOST_VALUES:
            _refuse(event, f"more than {MOST_VALUES:,} values, with those that aliases repeat")


def _short(tag: object) -> str:
    return str(tag).replace(_PREFIX, "!!")


def _refuse(place: Any, problem: str) -> NoReturn:  # noqa: ANN401 - an event or a node
    raise MarkedYAMLError(problem=problem, problem_mark=place.start_mark)


def _lines(node: Node, place: Place) -> Iterator[tuple[Place, int]]:
    if len(place) == _LINES_DEPTH:
        return
    children: list[tuple[str | int, Node, Node]]
    if isinstance(node, MappingNode):
        children = [(key.value, key, value) for key, value in node.value if isinstance(key.value, str)]
    elif isinstance(node, SequenceNode):
        children = [(number, value, value) for number, value in enumerate(node.value)]
    else:
        return
    for name, first, value in children:
        yield (*place, name), first.start_mark.line + 1
        yield from _lines(value, (*place, name))
