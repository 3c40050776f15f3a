"""YAML as plain values: texts, numbers, lists and objects, and nothing else that a tag could make of them.

Values are made here and not by the library's constructors: those copy what a merge key stands for once for
every way that leads to it, which a few lines drive beyond all measure, and end in errors of their own where a
tag and its value do not fit.
"""

import warnings
from reprlib import repr as short_repr
from typing import Any, Final, NamedTuple, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.composer import MaxDepthExceededError
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from vocabgap.errors import InvalidInputError

MOST_REPEATED: Final = 1_000_000
DEEPEST: Final = 100  # levels
_LINES_DEPTH: Final = 4  # keys and numbers that lead to a value whose line is asked for
Place = tuple[str | int, ...]
_HINT: Final = "expected YAML 1.2"
_PLAIN_HINT: Final = "expected texts, numbers, lists and objects, without tags of other kinds"
_REPEATED_HINT: Final = "write out what each entry holds, or share less of it"
_PREFIX: Final = "tag:yaml.org,2002:"
_MERGE: Final = f"{_PREFIX}merge"
_LIST, _OBJECT = f"{_PREFIX}seq", f"{_PREFIX}map"
# Of what has a form of its own: a moment stays the text that was written.
_TEXTS: Final = frozenset({f"{_PREFIX}{name}" for name in ("str", "merge", "value")})
_MOMENT: Final = f"{_PREFIX}timestamp"
_OTHERS: Final = frozenset({f"{_PREFIX}{name}" for name in ("null", "bool", "int", "float")})


def plain_yaml(text: str) -> object:
    """The value that a YAML document stands for; None where it is empty.

    What an anchor names is one object, however many aliases stand for it.

    Args:
        text: One document of YAML 1.2, or of 1.1 where it says so.

    Raises:
        InvalidInputError: It is no YAML, is nested deeper than `DEEPEST`, holds something else than plain
            values, or its aliases and merge keys stand for more than `MOST_REPEATED` values; the error names
            the line.
        RecursionError: Its aliases are nested too deeply.
    """
    reader = YAML(typ="safe", pure=True)
    reader.Constructor = _PlainConstructor
    reader.max_depth = DEEPEST
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a name may be anchored anew
            return reader.load(text)
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InvalidInputError(f"line {line}: {error.reason}", hint=_HINT) from error
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = "" if mark is None else f"line {mark.line + 1}: "
        too_deep = isinstance(error, MaxDepthExceededError)
        told = f"nested deeper than {DEEPEST} levels" if too_deep else error.problem or error.context
        raise InvalidInputError(f"{at}{told}", hint=_HINT) from error
    except YAMLError as error:
        raise InvalidInputError(" ".join(str(error).split()), hint=_HINT) from error


def yaml_lines(text: str) -> dict[Place, int]:
    """The line of each value of a YAML document that `plain_yaml` can read, counted from 1.

    Args:
        text: The document.

    Returns:
        From the keys and numbers that lead to a value, numbers counted from 0, to its line; of a value with a
        key the line of that.
    """
    reader = YAML(typ="safe", pure=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as above
        root = reader.compose(text)
    found: dict[Place, int] = {}
    waiting: list[tuple[Place, Node]] = [] if root is None else [((), root)]
    while waiting:
        place, node = waiting.pop()
        inner: list[tuple[str | int, Node, Node]] = []
        if isinstance(node, MappingNode):
            inner = [(key.value, key, value) for key, value in node.value if isinstance(key, ScalarNode)]
        elif isinstance(node, SequenceNode):
            inner = [(number, value, value) for number, value in enumerate(node.value)]
        for key, named, value in inner if len(place) < _LINES_DEPTH else ():
            found.setdefault((*place, key), _line(named))
            waiting.append(((*place, key), value))
    return found


class _Built(NamedTuple):
    """A value, and how many values it is made of where each alias is written out."""

    value: Any
    size: int


class _PlainConstructor(SafeConstructor):
    """Makes plain values of the nodes of a document, each of them once."""

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 - the library's own
        super().__init__(*arguments, **named)
        # By the identity of the node; None while it is being built.
        self._built: dict[int, _Built | None] = {}
        self._repeated = 0

    def construct_document(self, node: Node) -> object:
        """The value of the root node."""
        return self._value(node, _line(node)).value

    def _value(self, node: Node, line: int) -> _Built:
        """What a node stands for that is named in some line: there itself, or as an alias."""
        if id(node) in self._built:
            known = self._built[id(node)]
            if known is None:
                _refuse(line, "an alias stands for what it is a part of", _REPEATED_HINT)
            self._repeat(known.size, line)
            return known
        self._built[id(node)] = None
        if isinstance(node, ScalarNode):
            built = _Built(self._scalar(node), 1)
        elif isinstance(node, SequenceNode):
            built = self._list(node)
        else:
            built = self._object(node)
        self._built[id(node)] = built
        return built

    def _repeat(self, size: int, line: int) -> None:
        self._repeated += size
        if self._repeated > MOST_REPEATED:
            _refuse(
                line, f"aliases and merge keys stand for more than {MOST_REPEATED:,} values", _REPEATED_HINT
            )

    def _scalar(self, node: ScalarNode) -> object:
        if node.tag in _TEXTS:
            return node.value
        if node.tag not in _OTHERS | {_MOMENT}:
            _refuse_tag(node)
        if str(self.resolver.resolve(ScalarNode, node.value, (True, False))) != node.tag:
            told = f"{short_repr(node.value)} is no {_as_written(node.tag)}"
            _refuse(_line(node), told, "leave out the tag, or write a value that is one")
        if node.tag == _MOMENT:
            return node.value
        try:
            return self.construct_object(node)
        except (ValueError, IndexError) as error:  # a number of too many digits; one of YAML 1.1 without any
            raise InvalidInputError(
                f"line {_line(node)}: {short_repr(node.value)} cannot be read as {_as_written(node.tag)}",
                hint="put it in quotes",
            ) from error

    def _list(self, node: SequenceNode) -> _Built:
        if node.tag != _LIST:
            _refuse_tag(node)
        built = [self._value(each, _line(node)) for each in node.value]
        return _Built([each.value for each in built], 1 + sum(each.size for each in built))

    def _object(self, node: Node) -> _Built:
        if node.tag != _OBJECT:
            _refuse_tag(node)
        own: dict[object, object] = {}
        merged: dict[object, object] | None = None
        size = 1
        for key_node, value_node in node.value:
            line = _line(key_node)
            if not isinstance(key_node, ScalarNode):
                _refuse(line, "expected a name before the colon, found a list or an object", _PLAIN_HINT)
            key = self._value(key_node, line)
            built = self._value(value_node, line)
            size += key.size + built.size
            merges = key_node.tag == _MERGE
            if (merges and merged is not None) or (not merges and key.value in own):
                _refuse(line, f"found duplicate key {short_repr(key.value)}", "leave one of the two out")
            if merges:
                merged = self._united(built.value, line)
            else:
                own[key.value] = built.value
        return _Built((merged or {}) | own, size)

    def _united(self, value: object, line: int) -> dict[object, object]:
        """What a merge key adds; of several objects the first one that has a key gives it."""
        found: dict[object, object] = {}
        for base in reversed(value if isinstance(value, list) else [value]):
            if not isinstance(base, dict):
                _refuse(
                    line,
                    "'<<' stands before something else than objects",
                    "name an object, or a list of them",
                )
            self._repeat(len(base), line)
            found |= base
        return found


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1


def _as_written(tag: str) -> str:
    return f"!!{tag.removeprefix(_PREFIX)}" if tag.startswith(_PREFIX) else tag


def _refuse_tag(node: Node) -> NoReturn:
    kinds = {ScalarNode: "a text", SequenceNode: "a list", MappingNode: "an object"}
    _refuse(_line(node), f"found {kinds[type(node)]} with the tag {_as_written(str(node.tag))}", _PLAIN_HINT)


def _refuse(line: int, told: str, hint: str) -> NoReturn:
    raise InvalidInputError(f"line {line}: {told}", hint=hint)
