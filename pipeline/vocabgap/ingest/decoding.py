"""One line of a log to one record, or to the reason why there is none.

`decode_line` repairs the line and names the repairs, or rejects it and names the field and what was expected.
`RowDecoder` in rows.py reads most lines faster, with the same result.
"""

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from math import isfinite
from typing import Any, Final, get_type_hints

import msgspec
from msgspec import structs

from vocabgap.messages import ENVIRONMENT, RefusedCall, refused_call
from vocabgap.model.moments import moment_of
from vocabgap.model.other import encoded, not_taken
from vocabgap.model.record import (
    ENVIRONMENT_NOTE,
    FIELDS,
    LIST_FIELDS,
    MEDIOCRE,
    NAME_FIELDS,
    NEVER_NULL,
    NOT_GRANTED_NOTE,
    PHRASE_FIELDS,
    SATISFACTION_TEXTS,
    UNKNOWN_TOOL_NOTE,
    GapRecord,
    RejectReason,
    Repair,
    need_of,
    rating_word,
    wrong_type,
)
from vocabgap.model.sources import (
    NATIVE,
    Pointer,
    Source,
    Tree,
    allowed_values,
    date_format_of,
    pointer_of,
    several,
    tree_of,
    value_at,
)

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_COUNT: Final = get_type_hints(GapRecord, include_extras=True)["count"]
Conditions = tuple[tuple[Pointer, tuple[Any, ...]], ...]
"""Paths, and the values that an object may have there."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The reason why a line is not a record."""

    reason: RejectReason
    detail: str


@dataclass(frozen=True, slots=True)
class Decoded:
    """A record, its repairs, the text of its timestamp if that is unreadable, and its other columns."""

    record: GapRecord
    repairs: tuple[Repair, ...] = ()
    unreadable_timestamp: str | None = None
    other: str | None = None


def conditions_of(table: Mapping[str, Any]) -> Conditions:
    """Return paths and allowed values of the settings, parsed."""
    return tuple((pointer_of(path), allowed_values(value)) for path, value in table.items())


@dataclass(frozen=True, slots=True)
class FieldMap:
    """A `Source` whose paths are parsed, once and not for every line.

    `origins` has the paths of each field as in the settings, `formats` the date formats behind them; `also`
    has further shapes. `taken` has the keys that fields read; None if `other` is not kept.
    """

    each: tuple[Pointer, ...]
    paths: tuple[tuple[str, tuple[Pointer, ...]], ...]
    constants: dict[str, Any]
    where: Conditions
    refusals: tuple[Pointer, ...]
    origins: dict[str, str]
    formats: dict[Pointer, str]
    split: Pointer = ()
    elsewhere: frozenset[str] = frozenset()  # the members of `split` that other logs have
    path: re.Pattern[str] | None = None
    outward: tuple[Pointer, ...] = ()  # pointers that are also followed from around an element
    also: tuple["FieldMap", ...] = ()
    taken: Tree | None = None
    known: tuple[Conditions, ...] = ()  # one of them tells a file of the source

    @classmethod
    def of(cls, source: Source) -> "FieldMap":
        """Return the map of a source."""
        first, *others = (
            cls(
                each=tuple(map(pointer_of, filter(None, several(source.each)))) or ((),) * bool(source.split),
                paths=tuple(
                    (field, tuple(map(pointer_of, several(path)))) for field, path in shape.fields.items()
                ),
                constants=shape.constants,
                where=conditions_of(shape.where),
                refusals=tuple(map(pointer_of, several(shape.refusals))),
                origins={field: " or ".join(several(path)) for field, path in shape.fields.items()},
                formats={
                    pointer_of(path): date_format_of(path)
                    for path in several(shape.fields.get("timestamp", ""))
                },
            )
            for shape in source.shapes
        )
        whole = replace(
            first,
            split=pointer_of(source.split) if source.split else (),
            path=re.compile(source.path) if source.path else None,
            outward=tuple(dict.fromkeys(pointer_of(path) for path in source.paths if path.startswith("/"))),
            also=tuple(others),
            known=tuple(map(conditions_of, source.known)),
        )
        keeps = not whole.judged_by if source.keeps_other is None else source.keeps_other
        return replace(whole, taken=tree_of(whole.reads or [(name,) for name in FIELDS]) if keeps else None)

    @property
    def shapes(self) -> tuple["FieldMap", ...]:
        """The shapes of gaps, in the order in which they are tried."""
        return (self, *self.also)

    @property
    def needs(self) -> str:
        """The detail of a reject without a need."""
        if not self.origins:
            return "field 'description': expected text, or missing_capability in its place, found none"
        mapped = " or ".join(self.origins[field] for field in PHRASE_FIELDS if field in self.origins)
        return f"expected text in {mapped or 'a field of a need, but none is mapped'}, found none"

    @property
    def reads(self) -> list[Pointer]:
        """The pointers to all values that are read of an object; empty if all are."""
        if not all(shape.paths for shape in self.shapes):
            return []
        return [path for shape in self.shapes for _, paths in shape.paths for path in paths] + self.judged_by

    @property
    def judged_by(self) -> list[Pointer]:
        """The pointers to the values that tell whether an object is a gap."""
        return [path for shape in self.shapes for path in (*dict(shape.where), *shape.refusals)]

    @property
    def is_judged(self) -> bool:
        """Whether a condition decides that an object is a gap of the first shape."""
        return bool(self.refusals) or any(values != ("",) for _, values in self.where)

    def paths_of(self, field: str) -> list[Pointer]:
        """Return the pointers to a field."""
        paths = (dict(shape.paths or {field: ((field,),)}).get(field, ()) for shape in self.shapes)
        return list(chain.from_iterable(paths))

    def may_be_gap(self, value: dict[str, Any]) -> bool:
        """Tell whether an object meets a condition, or, without one, has a key of a need."""
        shape = self.of_shape(value)
        if shape is None or shape.is_judged:
            return shape is not None
        return any(has_key(value, path) for name in PHRASE_FIELDS for path in shape.paths_of(name))

    def of_shape(self, value: dict[str, Any]) -> "FieldMap | None":
        """Return the map of the first shape that an object has; None if it is no gap at all."""
        if self.elsewhere and str(value_at(value, self.split)) in self.elsewhere:
            return None
        fitting = (shape for shape in self.shapes if matches(value, shape.where))
        return next((shape for shape in fitting if not shape.refusals or shape.refused_call(value)), None)

    def applied(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of a record that an object has."""
        if self.paths:
            mapped = {}
            for field, paths in self.paths:
                item = _first(value, paths)
                if field == "timestamp":
                    found = ((value_at(value, path), path) for path in paths)
                    dates = (in_iso(one, self.formats[path]) for one, path in found if one not in (None, ""))
                    item = next(dates, None)
                if isinstance(item, str) and field in LIST_FIELDS:
                    item = [item]
                if item is not None:
                    mapped[field] = item
        else:
            mapped = dict(value)
        if self.refusals:
            mapped |= self.refused_call(value)
        for field, constant in self.constants.items():
            if mapped.get(field) is None:
                mapped[field] = constant
        return mapped

    def refused_call(self, value: dict[str, Any]) -> dict[str, str]:
        """Return the tool and the notes of the first message that refuses a call; empty if there is none.

        The notes of such a source are the identifier of the call.
        """
        paths = dict(self.paths)
        tool, call_id = (
            str(_first(value, paths.get(name, ())) or "") for name in ("missing_capability", "notes")
        )
        for path in self.refusals:
            message = value_at(value, path)
            if isinstance(message, str) and (call := refused_call(message, tool)):
                return {"missing_capability": call.tool, "notes": noted(call, call_id)}
        return {}


def noted(call: RefusedCall, call_id: str) -> str:
    """Return the notes of a gap that is a refused call, with the identifier of the call."""
    which = f"call {call_id}" if re.fullmatch(r"[\w-]{1,128}", call_id) else "call"
    notes = {"": UNKNOWN_TOOL_NOTE, ENVIRONMENT: ENVIRONMENT_NOTE}
    return f"{which} {notes.get(call.reason, f'{NOT_GRANTED_NOTE}: {call.reason}')}"


def has_key(value: dict[str, Any], path: Pointer) -> bool:
    """Tell whether an object has a key, even without a value."""
    above = value_at(value, path[:-1])
    return path[-1] in above if isinstance(above, dict) else value_at(value, path) is not None


def in_iso(value: Any, date_format: str) -> Any:  # noqa: ANN401 - here and below: any JSON
    """Return a date in ISO 8601 if it fits the format, else the value as it is."""
    moment = moment_of(value, date_format) if date_format else None
    return value if moment is None else moment.isoformat()


def _first(value: dict[str, Any], paths: Iterable[Pointer]) -> Any:  # noqa: ANN401
    return next((item for path in paths if (item := value_at(value, path)) is not None), None)


def matches(value: dict[str, Any], conditions: Conditions) -> bool:
    """Tell whether an object has an allowed value at each path."""
    return all(any(same(value_at(value, path), one) for one in allowed) for path, allowed in conditions)


def ungrouped(number: str) -> str:
    """Return a number without the signs between groups of three digits, as in 1,041."""
    grouped = r"[0-9]{1,3}([,'\u2019\u00a0\u2009\u202f ])[0-9]{3}(\1[0-9]{3}){0,3}"
    return re.sub(r"\D", "", number) if re.fullmatch(grouped, number) else number


def is_unclear(number: str) -> bool:
    """Tell whether the dots of a number may stand between groups of three digits, as in 1.041."""
    return re.fullmatch(r"\d{1,3}(\.\d{3})+", number.strip()) is not None


def same(value: object, allowed: object) -> bool:
    """Compare as JSON does: true is not 1. Search a regular expression; an empty one fits any value."""
    if isinstance(allowed, re.Pattern):
        is_text = isinstance(value, str | int) and not isinstance(value, bool)
        return bool(allowed.search(str(value))) if is_text else value is not None and not allowed.pattern
    if allowed == "" and value is None:
        return True
    return value == allowed and isinstance(value, bool) == isinstance(allowed, bool)


NATIVE_FIELDS: Final = FieldMap.of(NATIVE)


def decode_line(line: bytes, fields: FieldMap = NATIVE_FIELDS) -> Decoded | Rejected | None:
    """Decode one line that is not blank; return None if it is no gap by the filter of its source."""
    bare = _without_marks(line)
    value = _parsed(bare)
    if isinstance(value, Rejected):
        return value
    shape = fields.of_shape(value)
    if shape is None:
        return None
    repairs = [Repair.BYTE_ORDER_MARK] * (bare != line)
    outcome = _repaired(shape.applied(value), bare, repairs, shape.origins)
    if isinstance(outcome, Decoded) and not need_of(structs.asdict(outcome.record)):
        return Rejected(RejectReason.MISSING_DESCRIPTION, shape.needs)
    if isinstance(outcome, Decoded) and fields.taken is not None:
        return replace(outcome, other=encoded([not_taken(value, fields.taken)])[0])
    return outcome


def object_of(line: bytes) -> dict[str, Any]:
    """Return the object on a line as it was written; empty if there is none."""
    value = _parsed(_without_marks(line.removesuffix(b"\r")))
    return {} if isinstance(value, Rejected) else value


def _without_marks(line: bytes) -> bytes:
    """Remove the byte order marks before a line, as in logs that were joined."""
    while line.startswith(BYTE_ORDER_MARK):
        line = line[len(BYTE_ORDER_MARK) :]
    return line


def _repaired(
    values: dict[str, Any], line: bytes, repairs: list[Repair], origins: Mapping[str, str]
) -> Decoded | Rejected:
    """Return the record of an object after repairs, or the reason why a field cannot be repaired."""
    fields = {name: value for name, value in values.items() if name in FIELDS}
    for name in nulls_for_defaults(fields):
        value = fields.pop(name)
        if value is not None:
            fields[name] = [member for member in value if member is not None]
        repairs.append(Repair.NULL_FOR_DEFAULT)
    for name in fields.keys() & NAME_FIELDS:
        fields[name] = _name(fields[name])
    if "count" in fields:
        fields["count"] = _count(fields["count"], repairs)
    if fault := _fault(fields):
        name, reason, detail = fault
        origin = f" ({origins[name]})" if name in origins else ""
        return Rejected(reason, f"field '{name}'{origin}: {detail}")
    if "satisfaction" in fields:
        if rating_word(fields["satisfaction"]) == MEDIOCRE:
            fields["mediocre"] = True
        fields["satisfaction"] = _satisfaction(fields["satisfaction"], repairs)
    timestamp = fields.pop("timestamp", None)
    moment = moment_of(timestamp)
    if timestamp is None or moment is not None:
        return Decoded(GapRecord(**fields, timestamp=moment), tuple(repairs))
    repairs.append(Repair.TIMESTAMP_UNREADABLE)
    # Keep the line for a value that is no text: writing the value may fail, as for a number of 5,000 digits.
    unreadable = timestamp if isinstance(timestamp, str) else line.decode("utf-8")
    return Decoded(GapRecord(**fields), tuple(repairs), unreadable)


def _name(value: object) -> object:
    """Return a number as text."""
    is_number = type(value) is int or (isinstance(value, float) and isfinite(value))
    return str(value) if is_number else value


def _count(value: object, repairs: list[Repair]) -> int:
    """Return a number of mentions that a record can have; 1 for any other value, and for `1.000`."""
    if not isinstance(value, bool) and not (isinstance(value, str) and is_unclear(value)):
        with suppress(ValueError):
            number = ungrouped(value.strip()) if isinstance(value, str) else value
            return msgspec.convert(number, _COUNT, strict=False)  # type: ignore[no-any-return]
    repairs.append(Repair.COUNT_UNKNOWN)
    return 1


def _satisfaction(value: object, repairs: list[Repair]) -> object:
    if value is None or (type(value) in (int, float) and value in (-1, 0, 1)):  # in Python True equals 1
        return value if value is None else int(value)
    word = rating_word(value)
    if word in SATISFACTION_TEXTS:
        repairs.append(Repair.SATISFACTION_IN_WORDS)
        return SATISFACTION_TEXTS[word]
    repairs.append(Repair.SATISFACTION_UNKNOWN)
    return None


def nulls_for_defaults(fields: Mapping[str, object]) -> list[str]:
    """Return the names of the fields with a default that are null, or lists with null in them."""
    values = ((name, fields[name]) for name in NEVER_NULL if name in fields)
    return [name for name, value in values if value is None or (isinstance(value, list) and None in value)]


def json_type(value: object) -> str:
    """Return the JSON type of a value, with its article."""
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "text", list: "a list"}
    return names.get(type(value), "an object")


def _fault(fields: dict[str, Any]) -> tuple[str, RejectReason, str] | None:
    """Return the first field that no record can have, the reason, and the detail."""
    for name in FIELDS:
        value = fields.get(name)
        texts = value if isinstance(value, list) else [value]
        if any(isinstance(text, str) and _SURROGATE.search(text) for text in texts):
            # JSON can hold it, but a frame cannot.
            detail = "expected Unicode text, found half of a surrogate pair"
            return name, RejectReason.LONE_SURROGATE, detail
    if wrong := wrong_type(fields):
        name, expected, value = wrong
        return name, RejectReason.WRONG_TYPE, f"expected {expected}, found {json_type(value)}"
    return None


def _parsed(line: bytes) -> dict[str, Any] | Rejected:
    try:
        value = DECODER.decode(line.decode("utf-8"))
    except (ValueError, RecursionError) as fault:
        return no_json(fault, "line")
    if not isinstance(value, dict):
        return Rejected(RejectReason.NOT_AN_OBJECT, f"expected an object, found {json_type(value)}")
    return value


def no_json(fault: ValueError | RecursionError, what: str) -> Rejected:
    """Return the reason why a line or a document is no JSON."""
    if isinstance(fault, RecursionError):
        return Rejected(RejectReason.TOO_DEEP, "nested too deeply to be a gap record")
    if isinstance(fault, UnicodeDecodeError):
        return Rejected(
            RejectReason.INVALID_UTF8,
            f"expected UTF-8, {fault.reason} at byte {fault.start + 1} of the {what}",
        )
    if isinstance(fault, json.JSONDecodeError):
        problem = fault.msg[:1].lower() + fault.msg[1:].removesuffix(" at")
        if fault.msg == "Extra data":
            problem = "expected one object per line, found more"
        return Rejected(RejectReason.INVALID_JSON, f"{problem} at character {fault.pos + 1} of the {what}")
    return Rejected(RejectReason.INVALID_JSON, str(fault))


def _whole_number(digits: str) -> float:
    with suppress(ValueError):  # Python refuses thousands of digits
        return int(digits)
    return float("inf")


def no_constant(name: str) -> float:
    """Refuse NaN and Infinity, which Python reads in JSON."""
    raise ValueError(f"JSON has no {name}")


DECODER: Final = json.JSONDecoder(parse_int=_whole_number, parse_constant=no_constant)
