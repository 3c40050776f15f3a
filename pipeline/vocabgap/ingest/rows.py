"""Decode many lines at once to rows: the values of a record in the order of its fields.

`RowDecoder` decodes the lines of a source into objects of one type, which has the keys that the source reads.
Then it converts the values column by column. If it cannot decode a line, or cannot convert a value, then
`decode_line` decodes that line alone, and repairs or rejects it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import reduce
from operator import attrgetter, or_
from types import UnionType
from typing import Any, Final, Literal, NamedTuple, Union, get_args, get_origin

import msgspec
from msgspec.structs import astuple

from vocabgap.ingest.decoding import Decoded, FieldMap, Rejected, decode_line, in_iso, object_of, same
from vocabgap.model.moments import moment_of
from vocabgap.model.other import encoded, not_taken
from vocabgap.model.record import (
    FIELDS,
    LIST_FIELDS,
    NAME_FIELDS,
    NEVER_NULL,
    PHRASE_FIELDS,
    GapRecord,
    Repair,
)
from vocabgap.model.sources import Pointer, Tree

_Column = Sequence[Any]
Columns = list[_Column]
_DEFAULTS: Final = {name: getattr(GapRecord(), name) for name in NEVER_NULL}


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
_TYPES: Final = {name: _types(get_args(kind)[0]) for name, kind in _KINDS.items()}
# Values of these types may become a field, too.
_ALSO: Final = {
    **dict.fromkeys(NAME_FIELDS, frozenset({int})),
    **dict.fromkeys(LIST_FIELDS, frozenset({str})),
    **dict.fromkeys(("timestamp", "satisfaction", "count"), frozenset({str, int, float})),
}
_TEXTS: Final = frozenset({str, list, type(None)})
_OBJECT: Final = msgspec.json.Decoder(dict[str, Any]).decode


class LinesRead(NamedTuple):
    """The records of many lines that were read at once.

    Attributes:
        columns: The columns of the lines that are records, in the order of the fields; empty if none is.
        positions: The positions of these lines.
        repairs: The number of repairs in the records, by kind.
        passed_over: The number of lines that are no gaps by the filter of their source.
        rejected: The reasons why lines are no records, by position. All other lines are blank.
        unreadable: The texts of unreadable timestamps, by place among the records.
        other: Column `other` of the records; empty if all are null.
    """

    columns: Columns
    positions: Sequence[int]
    repairs: Counter[str]
    passed_over: int
    rejected: dict[int, Rejected]
    unreadable: dict[int, str]
    other: Sequence[str | None] = ()


class _Gaps(NamedTuple):
    """The columns of the objects that are gaps, the places of these, and those of doubtful objects."""

    columns: Columns
    places: Sequence[int]
    doubtful: Collection[int]
    repairs: Counter[str]


class RowDecoder:
    """A decoder of many lines of one source."""

    def __init__(self, fields: FieldMap) -> None:
        """Prepare the types of a source."""
        self._fields = fields
        self._where = list(dict.fromkeys(path for shape in fields.shapes for path, _ in shape.where))
        self._mapped = all(shape.paths for shape in fields.shapes)
        self._strict: Callable[[bytes], Any] | None = None  # it refuses other keys
        self._decode: Callable[[bytes], Any] | None = None
        self._values: Callable[[Any], tuple[Any, ...]] = astuple
        self._pointers: list[Pointer] = []
        if self._mapped:
            self._map()
        elif not fields.where and not fields.refusals and not fields.also:
            self._strict, self._decode = self._records(strict=True), self._records(strict=False)

    def read(self, lines: list[bytes]) -> LinesRead:
        """Read lines, and decode one by one those that cannot be decoded with the others."""
        filled = [position for position, line in enumerate(lines) if line.strip()]
        objects, taken = self._objects([lines[at] for at in filled] if len(filled) < len(lines) else lines)
        positions: Sequence[int] = filled
        doubtful: Collection[int] = ()
        if None in objects:
            doubtful = {place for place, value in enumerate(objects) if value is None}
        while True:
            if doubtful:  # leave them out, so that only the repairs of the others count
                places = [place for place in range(len(objects)) if place not in doubtful]
                objects = [objects[place] for place in places]
                positions = [positions[place] for place in places]
            gaps = self._gaps(objects)
            if not gaps.doubtful:
                break
            doubtful = gaps.doubtful
        others = sorted({*filled}.difference(positions)) if len(positions) < len(filled) else ()
        passed_over = len(positions) - len(gaps.places)
        if passed_over:
            positions = [positions[place] for place in gaps.places]
        rests = () if taken is None else [not_taken(_whole(lines[at]), taken) for at in positions]
        read = LinesRead(gaps.columns, positions, gaps.repairs, passed_over, {}, {}, encoded(rests))
        return self._with_others(read, lines, others) if others else read

    def _with_others(self, read: LinesRead, lines: list[bytes], others: Iterable[int]) -> LinesRead:
        """Add the lines at some positions, each decoded alone."""
        repaired: dict[int, Decoded] = {}
        passed_over = read.passed_over
        for position in others:
            outcome = decode_line(lines[position].removesuffix(b"\r"), self._fields)
            if outcome is None:
                passed_over += 1
            elif isinstance(outcome, Rejected):
                read.rejected[position] = outcome
            else:
                read.repairs.update(outcome.repairs)
                repaired[position] = outcome
        if not repaired:
            return read._replace(passed_over=passed_over)
        rows = dict(zip(read.positions, zip(*read.columns, strict=True), strict=True))
        rows |= {position: astuple(decoded.record) for position, decoded in repaired.items()}
        other = dict(zip(read.positions, read.other, strict=False))
        other |= {position: decoded.other for position, decoded in repaired.items()}
        positions = sorted(rows)
        texts = {
            place: repaired[position].unreadable_timestamp
            for place, position in enumerate(positions)
            if position in repaired
        }
        return read._replace(
            columns=list(zip(*(rows[position] for position in positions), strict=True)),
            positions=positions,
            passed_over=passed_over,
            unreadable={place: text for place, text in texts.items() if text is not None},
            other=[other.get(position) for position in positions] if any(other.values()) else (),
        )

    def _map(self) -> None:
        """Make the type of the objects of a mapped source, unless its paths contradict each other."""
        scalars = frozenset({str, int, float, bool})
        kinds: dict[Pointer, frozenset[Any]] = dict.fromkeys(self._where, scalars)
        for shape in self._fields.shapes:
            for field, paths in shape.paths:
                kinds |= {
                    path: kinds.get(path, frozenset()) | _TYPES[field] | _ALSO.get(field, frozenset())
                    for path in paths
                }
        self._pointers = list(kinds)
        tree: Tree = {}
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
        with suppress(ValueError):  # a key that no type can have
            self._decode = msgspec.json.Decoder(_object_type(tree, kinds)).decode
        values = attrgetter(*names)
        self._values = values if len(names) > 1 else lambda value: (values(value),)

    def _objects(self, lines: list[bytes]) -> tuple[list[Any], Tree | None]:
        """Return the object of each line (None if it is unreadable), and the keys that fields read."""
        objects: list[Any] = []
        decode = self._strict or self._decode
        if decode is None or self._decode is None:
            return [None] * len(lines), None
        rest = iter(lines)
        while len(objects) < len(lines):
            try:
                objects.extend(map(decode, rest))
            except (ValueError, RecursionError, OverflowError) as fault:  # objects before a bad line stay
                if decode is self._strict and "unknown field" in str(fault):  # a block has one type
                    objects, rest, decode = [], iter(lines), self._decode
                else:
                    objects.append(None)
        if decode is self._strict:
            return objects, None
        if not all(map(bytes.isascii, lines)):  # values of other keys may be any bytes
            pairs = zip(objects, lines, strict=True)
            objects = [value if _is_utf8(line) else None for value, line in pairs]
        return objects, self._fields.taken

    def _records(self, *, strict: bool) -> Callable[[bytes], Any]:
        """Return a decoder of the records of a native log; a strict one refuses other keys."""
        defaults = {**dict.fromkeys(FIELDS), **_DEFAULTS, **dict.fromkeys(self._fields.constants)}
        also = {name: types for name, types in _ALSO.items() if name not in LIST_FIELDS}
        fields: list[Any] = [
            (name, _kind(_TYPES[name] | also.get(name, frozenset())), default)
            for name, default in defaults.items()
        ]
        return msgspec.json.Decoder(msgspec.defstruct("Record", fields, forbid_unknown_fields=strict)).decode

    def _gaps(self, objects: list[Any]) -> _Gaps:
        """Return the gaps among some objects."""
        if not objects:
            return _Gaps([], [], [], Counter())
        columns: Columns = list(zip(*map(self._values, objects), strict=True))
        if not self._mapped:
            return self._native(columns)
        values = dict(zip(self._pointers, columns, strict=True))
        shapes = self._shapes_of(values, len(objects))
        rows: dict[int, tuple[Any, ...]] = {}
        doubtful: set[int] = set()
        for shape in self._fields.shapes:
            places = [place for place, chosen in enumerate(shapes) if chosen is shape]
            if shape.refusals:  # each message is read alone
                doubtful.update(places)
            elif len(places) == len(objects):
                return _Gaps(*_checked(_mapped(shape, values, len(objects))), Counter())
            elif places:
                chosen: dict[Pointer, _Column] = {
                    path: [column[place] for place in places] for path, column in values.items()
                }
                columns, _, unsure = _checked(_mapped(shape, chosen, len(places)))
                doubtful.update(places[place] for place in unsure)
                rows.update(zip(places, zip(*columns, strict=True), strict=True))
        in_order = sorted(rows)
        columns = list(zip(*(rows[place] for place in in_order), strict=True))
        return _Gaps(columns, in_order, doubtful, Counter())

    def _native(self, columns: Columns) -> _Gaps:
        repairs: Counter[str] = Counter()
        named = dict(zip(FIELDS, columns, strict=False))
        for name, constant in self._fields.constants.items():
            named[name] = _filled(named[name], constant)
        for name, default in _DEFAULTS.items():
            if None in named[name]:
                repairs[Repair.NULL_FOR_DEFAULT] += named[name].count(None)
                named[name] = _filled(named[name], default)
        # The decoder has checked the type of a text.
        unchecked = [name for name in FIELDS if name in NAME_FIELDS or not _TYPES[name] <= _TEXTS]
        return _Gaps(*_checked(named, unchecked), +repairs)

    def _shapes_of(self, values: dict[Pointer, _Column], size: int) -> list[FieldMap | None]:
        """Return the shape of each object; None for one that is no gap."""
        if not self._where:
            return [self._fields] * size
        columns = [values[path] for path in self._where]
        keys = list(zip(*columns, *(map(type, column) for column in columns), strict=True))  # true is not 1
        known = {key: self._shape_of(dict(zip(self._where, key, strict=False))) for key in set(keys)}
        return [known[key] for key in keys]

    def _shape_of(self, values: dict[Pointer, Any]) -> FieldMap | None:
        for shape in self._fields.shapes:
            if all(any(same(values[path], value) for value in allowed) for path, allowed in shape.where):
                return shape
        return None


def _object_type(tree: Tree, kinds: dict[Pointer, frozenset[Any]], at: Pointer = ()) -> type[msgspec.Struct]:
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
    kinds = (list[str] if kind is list else kind for kind in types if kind not in (datetime, type(None)))
    return reduce(or_, kinds, None)


def _whole(line: bytes) -> dict[str, Any]:
    try:
        return _OBJECT(line)
    except (ValueError, RecursionError):
        return object_of(line)


def _is_utf8(line: bytes) -> bool:
    with suppress(UnicodeDecodeError):
        line.decode()
        return True
    return False


def _mapped(shape: FieldMap, values: dict[Pointer, _Column], size: int) -> dict[str, _Column]:
    """Return the columns of a record that the objects of a shape have."""
    named: dict[str, _Column] = {}
    for field, paths in shape.paths:
        columns: list[_Column] = [values[path] for path in paths]
        if field == "timestamp":  # it is empty if the writer has no clock
            columns = [[None if time == "" else time for time in column] for column in columns]
            for place, date_format in enumerate(map(shape.formats.__getitem__, paths)):
                if date_format:
                    columns[place] = [in_iso(time, date_format) for time in columns[place]]
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


def _checked(
    named: dict[str, _Column], unchecked: Iterable[str] = FIELDS
) -> tuple[Columns, Sequence[int], Collection[int]]:
    """Return columns in order, all places, and the places with a doubtful value, or without a need.

    The columns that are not `unchecked` have the right types.
    """
    doubtful: set[int] = set()
    for name in unchecked:
        types, column = _TYPES[name], named[name]
        if name in NAME_FIELDS and int in set(map(type, column)):
            column = [str(value) if type(value) is int else value for value in column]
        if not types <= _TEXTS:
            column = _converted(name, column, doubtful)
        elif not types.issuperset(map(type, column)):
            doubtful.update(place for place, value in enumerate(column) if type(value) not in types)
        named[name] = column
    columns = [named[name] for name in FIELDS]
    phrases = [named[name] for name in PHRASE_FIELDS]
    if not doubtful and not any(
        None not in column and all(column) and not any(map(str.isspace, column)) for column in phrases
    ):
        needs = (any(text and not text.isspace() for text in texts) for texts in zip(*phrases, strict=True))
        doubtful.update(place for place, has_need in enumerate(needs) if not has_need)
    return columns, range(len(columns[0])), doubtful


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
