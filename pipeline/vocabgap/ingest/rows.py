"""Decode many lines at once to rows: the values of a record in the order of its fields.

`RowDecoder` decodes the lines of a source into objects of one type, which has the keys that the source reads.
Then it converts the values column by column. Some lines need a closer look: it cannot decode the line, or it
cannot convert a value. It leaves them to `decode_line`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import reduce
from itertools import compress
from operator import attrgetter, or_
from types import UnionType
from typing import Any, Final, Literal, NamedTuple, Union, get_args, get_origin

import msgspec

from vocabgap.ingest.decoding import FieldMap, moment_of, object_of, same
from vocabgap.model.record import (
    FIELDS,
    LIST_FIELDS,
    NAME_FIELDS,
    NEVER_NULL,
    PHRASE_FIELDS,
    GapRecord,
    Repair,
)
from vocabgap.model.sources import Pointer

_Column = Sequence[Any]
Columns = list[_Column]
Row = tuple[Any, ...]
NO_GAP: Final[Row] = ()
"""The row of a line that is no gap by the filter of its source."""
_FAULTS: Final = (ValueError, RecursionError, OverflowError)
_MOST_KEYS: Final = 64  # that a native log has beside those of a record, and are counted here
_DEFAULTS: Final = {name: getattr(GapRecord(), name) for name in NEVER_NULL}
_SCALARS: Final = frozenset({str, int, float, bool})


def _types(kind: Any) -> frozenset[type]:  # noqa: ANN401 - a type
    """Return the types of the values that a field may have."""
    if get_origin(kind) is Literal:
        return frozenset(map(type, get_args(kind)))
    if get_origin(kind) in (Union, UnionType):
        return frozenset().union(*map(_types, get_args(kind)))
    return frozenset({get_origin(kind) or kind})


_KINDS: Final[dict[str, Any]] = {field.name: field.type for field in msgspec.structs.fields(GapRecord)}
_COLUMNS: Final[dict[str, Any]] = {
    **{name: list[kind] for name, kind in _KINDS.items()},  # type: ignore[valid-type]
    "timestamp": list[datetime | None],  # found faster than a type with a description
}
# Usual values of these fields need no conversion.
_USUAL: Final[dict[str, frozenset[Any]]] = {
    "satisfaction": frozenset({-1, 0, 1, None}),
    "count": frozenset({1}),
}
_WHOLE: Final = frozenset({int, type(None)})
_TYPES: Final = {name: _types(get_args(kind)[0]) for name, kind in _KINDS.items()}
# Values of these types may become a field, too.
_ALSO: Final = {
    **dict.fromkeys(NAME_FIELDS, frozenset({int})),
    **dict.fromkeys(LIST_FIELDS, frozenset({str})),
    **dict.fromkeys(("timestamp", "satisfaction", "count"), frozenset({str, int, float})),
}
_AS_THEY_ARE: Final = frozenset({str, list, type(None)})
_NOT_TEXT: Final = [
    name for name, types in _TYPES.items() if name in NAME_FIELDS or not types <= _AS_THEY_ARE
]
_Tree = dict[str, "_Tree"]


class LinesRead(NamedTuple):
    """The records of many lines that were read at once.

    Attributes:
        columns: The columns of the lines that are records, in the order of the fields; empty if none is.
        positions: The positions of these lines.
        closer: The positions of lines that need a closer look. All others are no gaps.
        repairs: The number of repairs in the records, by kind.
    """

    columns: Columns
    positions: Sequence[int]
    closer: Sequence[int]
    repairs: Counter[str]


class _Read(NamedTuple):
    """The columns of some objects; or the row of each, `NO_GAP`, or None if it needs a closer look."""

    columns: Columns
    rows: list[Row | None]
    repairs: Counter[str]


class RowDecoder:
    """A decoder of many lines of one source."""

    def __init__(self, fields: FieldMap) -> None:
        """Prepare the types of a source."""
        self._fields = fields
        self._shapes = fields.shapes
        self._where = list(dict.fromkeys(path for shape in self._shapes for path, _ in shape.where))
        self._mapped = all(shape.paths for shape in self._shapes)
        self._keys: list[str] = []  # foreign ones of a native log
        self._decode: Callable[[bytes], Any] | None = None
        self._values: Callable[[Any], Row] = msgspec.structs.astuple
        self._pointers: list[Pointer] = []
        if self._mapped:
            self._map()
        elif not fields.where and not fields.refusals and not fields.also:
            self._prepare_records()

    def read(self, lines: list[bytes]) -> LinesRead:
        """Read lines, and leave the ones that need a closer look."""
        objects = self._objects(lines)
        positions: Sequence[int] = range(len(lines))
        while True:
            if None in objects:
                positions = [at for at, one in zip(positions, objects, strict=True) if one is not None]
                objects = [one for one in objects if one is not None]
            if not objects:
                return LinesRead([], [], range(len(lines)), Counter())
            columns, rows, repairs = self._read(objects)
            if None not in rows:
                break
            # Leave out what needs a closer look, so that only the rest counts.
            objects = [None if row is None else one for one, row in zip(objects, rows, strict=True)]
        closer: Sequence[int] = ()
        if len(positions) < len(lines):
            closer = sorted({*range(len(lines))}.difference(positions))
        if rows:
            positions = [at for at, row in zip(positions, rows, strict=True) if row]
            columns = list(zip(*filter(None, rows), strict=True))
        return LinesRead(columns, positions, closer, repairs)

    def _map(self) -> None:
        """Make the type of the objects of a mapped source, unless its paths contradict each other."""
        kinds: dict[Pointer, frozenset[Any]] = dict.fromkeys(self._where, _SCALARS)
        for shape in self._shapes:
            for field, paths in shape.paths:
                kinds |= {
                    path: kinds.get(path, frozenset()) | _TYPES[field] | _ALSO.get(field, frozenset())
                    for path in paths
                }
        self._pointers = list(kinds)
        tree: _Tree = {}
        names = []
        for pointer in kinds:
            below, name = tree, []
            for key in pointer:
                name.append(f"_{[*below, key].index(key)}")
                below = below.setdefault(key, {})
            names.append(".".join(name))
        inner = {pointer[:end] for pointer in kinds for end in range(1, len(pointer))}
        if inner & kinds.keys() or any(list in kinds[path] for path in self._where):
            return
        try:
            self._decode = msgspec.json.Decoder(_object_type(tree, kinds)).decode
        except ValueError:  # a key that no type can have
            return
        values = attrgetter(*names)
        self._values = values if len(names) > 1 else lambda one: (values(one),)

    def _objects(self, lines: list[bytes]) -> list[Any]:
        """Return the object on each line, or None if it cannot be decoded."""
        objects: list[Any] = []
        if self._decode is None:
            return [None] * len(lines)
        rest = iter(lines)
        while len(objects) < len(lines):
            try:
                objects.extend(map(self._decode, rest))
            except _FAULTS as fault:  # objects before a bad line stay
                line = lines[len(objects)]
                if "unknown field" in str(fault) and self._learn(line):
                    objects, rest = [], iter(lines)  # all objects of a block have one type
                else:
                    objects.append(None)
        if (self._mapped or self._keys) and not all(
            map(bytes.isascii, lines)
        ):  # values of other keys may be any bytes
            objects = [one if _is_utf8(line) else None for one, line in zip(objects, lines, strict=True)]
        return objects

    def _learn(self, line: bytes) -> bool:
        """Add the foreign keys of a line to the type of a native log; tell whether that helps."""
        keys = [key for key in object_of(line) if key not in FIELDS and key not in self._keys]
        if not keys or len(self._keys) + len(keys) > _MOST_KEYS or not all(map(_is_simple, keys)):
            return False
        self._keys += keys
        self._prepare_records()
        return True

    def _prepare_records(self) -> None:
        """Make the type of the records of a native log, with foreign keys that are only counted."""
        defaults = {**dict.fromkeys(FIELDS), **_DEFAULTS, **dict.fromkeys(self._fields.constants)}
        fields: list[Any] = [
            (
                name,
                _kind(_TYPES[name] | (frozenset() if name in LIST_FIELDS else _ALSO.get(name, frozenset()))),
                default,
            )
            for name, default in defaults.items()
        ]
        names = {f"_{place}": key for place, key in enumerate(self._keys)}
        fields += [(name, msgspec.Raw | msgspec.UnsetType, msgspec.UNSET) for name in names]
        record = msgspec.defstruct("Record", fields, rename=names, forbid_unknown_fields=True)
        self._decode = msgspec.json.Decoder(record).decode

    def _read(self, objects: list[Any]) -> _Read:
        """Return the columns or the rows of some objects."""
        columns: Columns = list(zip(*map(self._values, objects), strict=True))
        if not self._mapped:
            return self._native(columns)
        values = dict(zip(self._pointers, columns, strict=True))
        shapes = self._shapes_of(values, len(objects))
        rows: list[Row | None] = [NO_GAP] * len(objects)
        for shape in self._shapes:
            chosen = [one is shape for one in shapes]
            if shape.refusals:  # a message needs a closer look
                rows = [None if is_one else row for is_one, row in zip(chosen, rows, strict=True)]
            elif all(chosen):
                return _found(_mapped(shape, values, len(objects)))
            elif any(chosen):
                of_shape: dict[Pointer, _Column] = {
                    path: list(compress(column, chosen)) for path, column in values.items()
                }
                found = _found(_mapped(shape, of_shape, sum(chosen)))
                read = iter(found.rows or zip(*found.columns, strict=True))
                rows = [next(read) if is_one else row for is_one, row in zip(chosen, rows, strict=True)]
        return _Read([], rows, Counter())

    def _native(self, columns: Columns) -> _Read:
        repairs: Counter[str] = Counter()
        foreign = columns[len(FIELDS) :]
        if foreign:
            found = sum(len(column) - column.count(msgspec.UNSET) for column in foreign)
            repairs[Repair.UNKNOWN_FIELD] += found
        named = dict(zip(FIELDS, columns, strict=False))
        for name, constant in self._fields.constants.items():
            named[name] = _filled(named[name], constant)
        for name, default in _DEFAULTS.items():
            if None in named[name]:
                repairs[Repair.NULL_FOR_DEFAULT] += named[name].count(None)
                named[name] = _filled(named[name], default)
        return _found(named, _NOT_TEXT, +repairs)

    def _shapes_of(self, values: dict[Pointer, _Column], size: int) -> list[FieldMap | None]:
        """Return the shape of each object; None for one that is no gap."""
        if not self._where:
            return [self._fields] * size
        columns = [values[path] for path in self._where]
        keys = list(zip(*columns, *(map(type, column) for column in columns), strict=True))  # true is not 1
        known = {key: self._shape_of(dict(zip(self._where, key, strict=False))) for key in set(keys)}
        return [known[key] for key in keys]

    def _shape_of(self, values: dict[Pointer, Any]) -> FieldMap | None:
        for shape in self._shapes:
            if all(any(same(values[path], one) for one in allowed) for path, allowed in shape.where):
                return shape
        return None


def _object_type(tree: _Tree, kinds: dict[Pointer, frozenset[Any]], at: Pointer = ()) -> type[msgspec.Struct]:
    """Return the type of an object with the keys of a tree."""
    fields: list[Any] = []
    names = {}
    for place, (key, below) in enumerate(tree.items()):
        names[name := f"_{place}"] = key
        if below:
            inner = _object_type(below, kinds, (*at, key))
            fields.append((name, inner, msgspec.field(default_factory=inner)))
        else:
            fields.append((name, _kind(kinds[*at, key]), None))
    return msgspec.defstruct("Object", fields, rename=names)


def _kind(types: Iterable[Any]) -> Any:  # noqa: ANN401 - a type
    kinds = (list[str] if one is list else one for one in types if one not in (datetime, type(None)))
    return reduce(or_, kinds, None)


def _is_simple(key: str) -> bool:
    """Tell whether a type can have a key."""
    return key.isprintable() and '"' not in key and "\\" not in key


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _mapped(shape: FieldMap, values: dict[Pointer, _Column], size: int) -> dict[str, _Column]:
    """Return the columns of a record that the objects of a shape have."""
    named: dict[str, _Column] = {}
    for field, paths in shape.paths:
        columns: list[_Column] = [values[path] for path in paths]
        if field == "timestamp" and any("" in each for each in columns):  # of a writer without a clock
            columns = [[None if at == "" else at for at in each] for each in columns]
        column, *others = columns
        for other in others:
            if None in column:
                column = [b if a is None else a for a, b in zip(column, other, strict=True)]
        if field in LIST_FIELDS and str in set(map(type, column)):
            column = [[value] if isinstance(value, str) else value for value in column]
        named[field] = column
    for field in FIELDS:
        for default in (shape.constants.get(field), _DEFAULTS.get(field)):
            named[field] = _filled(named.get(field) or [None] * size, default)
    return named


def _filled(column: _Column, default: object) -> _Column:
    if default is None or None not in column:
        return column
    return [default if value is None else value for value in column]


def _found(
    named: dict[str, _Column], checked: Iterable[str] = FIELDS, repairs: Counter[str] | None = None
) -> _Read:
    """Return columns, or rows with None for one that has a doubtful value, or no need.

    The columns that are not `checked` have the right types.
    """
    doubtful: set[int] = set()
    for name in checked:
        types, column = _TYPES[name], named[name]
        found = set(map(type, column))
        if name in NAME_FIELDS and int in found:
            named[name] = [str(value) if type(value) is int else value for value in column]
            found.discard(int)
        if not types <= _AS_THEY_ARE:
            if not (found <= _WHOLE and _USUAL.get(name, frozenset()).issuperset(column)):
                named[name] = _converted(name, column, doubtful)
        elif not found <= types:
            doubtful.update(at for at, value in enumerate(named[name]) if type(value) not in types)
            named[name] = [value if type(value) in types else None for value in named[name]]
    phrases = [named[name] for name in PHRASE_FIELDS]
    if not any(
        None not in column and all(column) and not any(map(str.isspace, column)) for column in phrases
    ):
        needs = (any(text and not text.isspace() for text in texts) for texts in zip(*phrases, strict=True))
        doubtful.update(at for at, says_something in enumerate(needs) if not says_something)
    columns = [named[name] for name in FIELDS]
    if not doubtful:
        return _Read(columns, [], repairs or Counter())
    rows: list[Row | None] = list(zip(*columns, strict=True))
    for at in doubtful:
        rows[at] = None
    return _Read([], rows, repairs or Counter())


def _converted(name: str, column: _Column, doubtful: set[int]) -> _Column:
    """Return the values of a field that is no text and no list; add the places of others to `doubtful`."""
    with suppress(ValueError):
        return msgspec.convert(column, _COLUMNS[name])  # type: ignore[no-any-return]
    values: list[Any] = []
    for value in column:
        try:
            values.append(moment_of(value) if name == "timestamp" else msgspec.convert(value, _KINDS[name]))
        except ValueError:
            values.append(None)
        if values[-1] is None and value is not None:
            doubtful.add(len(values) - 1)
    return values
