"""One line of a log to one record, or to the reason why there is none.

A clean line costs one strict decode. Only a line that fails it is looked at field by field, so that what
can be mended is mended and counted, and what cannot is rejected with the field and the expectation named.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Final

import msgspec

from vocabgap.record import FIELDS, SATISFACTION_WORDS, GapRecord, RejectReason, Repair

_STRICT = msgspec.json.Decoder(GapRecord)
_ANY = msgspec.json.Decoder()
_RFC_3339: Final[Callable[[str], datetime]] = partial(msgspec.convert, type=datetime)

_OPTIONAL_TEXT: Final = (
    "image_id",
    "session_id",
    "snapshot_hash",
    "description",
    "intent",
    "missing_capability",
)
_TEXT: Final = ("workaround", "intent_category", "notes")
_LISTS: Final = ("operations_involved", "vocabulary_used")
_DETAIL_LIMIT: Final = 200
_REFUSALS: Final = (msgspec.DecodeError, ValueError, RecursionError, OverflowError)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A record, what was mended in it, and what stands for its timestamp where that could not be read."""

    record: GapRecord
    repairs: tuple[Repair, ...] = ()
    unreadable_timestamp: str | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a line is not a record."""

    reason: RejectReason
    detail: str


@dataclass(slots=True)
class _Mending:
    """The field-by-field reading of an object that the strict decoder refused."""

    fields: dict[str, Any]
    line: bytes
    repairs: list[Repair] = field(default_factory=list)
    unreadable_timestamp: str | None = None

    def record(self) -> GapRecord | str:
        """The mended record, or a sentence about the field that cannot be mended."""
        unknown = self.fields.keys() - set(FIELDS)
        self.repairs.extend(Repair.UNKNOWN_FIELD for _ in unknown)
        known = {name: value for name, value in self.fields.items() if name not in unknown}
        for name in (*_TEXT, *_LISTS):
            if name in known and known[name] is None:
                del known[name]
                self.repairs.append(Repair.NULL_FOR_DEFAULT)
        if "satisfaction" in known:
            known["satisfaction"] = self._satisfaction(known["satisfaction"])
        if "timestamp" in known:
            known["timestamp"] = self._timestamp(known["timestamp"])
        for name in (*_OPTIONAL_TEXT, *_TEXT):
            if not isinstance(known.get(name), str | None):
                return f"field '{name}': expected text, found {_kind(known[name])}"
        for name in _LISTS:
            wrong = _not_names(known.get(name, []))
            if wrong:
                return f"field '{name}': expected a list of text, found {wrong}"
        return GapRecord(**known)

    def _satisfaction(self, value: object) -> object:
        # True == 1 in Python, and 1.0 too; neither is what the schema allows.
        if value is None or (type(value) is int and value in (-1, 0, 1)):
            return value
        if isinstance(value, str) and value.strip().casefold() in SATISFACTION_WORDS:
            self.repairs.append(Repair.SATISFACTION_IN_WORDS)
            return SATISFACTION_WORDS[value.strip().casefold()]
        self.repairs.append(Repair.SATISFACTION_UNKNOWN)
        return None

    def _timestamp(self, value: object) -> datetime | None:
        if value is None:
            return None
        if isinstance(value, str):
            for parse in (_RFC_3339, datetime.fromisoformat):  # the first one as the strict decoder does
                with suppress(ValueError):
                    return parse(value.strip())
            self.unreadable_timestamp = value
        else:
            # Not the value's text: to make it may fail, for a deep list or a number of 5,000 digits.
            self.unreadable_timestamp = self.line.decode("utf-8")
        self.repairs.append(Repair.TIMESTAMP_UNREADABLE)
        return None


def clean_record(line: bytes) -> GapRecord | None:
    """The record of a line that needs no mending; None for any other line, which `decode_line` then reads."""
    try:
        record = _STRICT.decode(line)
    except _REFUSALS:
        return None
    description = record.description  # tried first by itself: this runs once for every line
    if (description and not description.isspace()) or _says_something(record):
        return record
    return None


def decode_line(line: bytes) -> Decoded | Rejected:
    """Read one line that is not blank.

    Args:
        line: The bytes of the line without its newline.

    Returns:
        The record with its repairs, or the reason why there is none. Nothing is raised, whatever the bytes.
    """
    try:
        decoded = Decoded(_STRICT.decode(line))
    except _REFUSALS:
        outcome = _decode_loosely(line)
        if isinstance(outcome, Rejected):
            return outcome
        decoded = outcome
    if not _says_something(decoded.record):
        return Rejected(
            RejectReason.MISSING_DESCRIPTION,
            "field 'description': expected text, or missing_capability or intent in its place, found none",
        )
    return decoded


def _decode_loosely(line: bytes) -> Decoded | Rejected:
    try:
        value = _ANY.decode(line)
    except RecursionError:
        return Rejected(RejectReason.TOO_DEEP, "nested too deeply to be a gap record")
    except (msgspec.DecodeError, ValueError, OverflowError) as error:
        return _syntax_error(line, error)
    if not isinstance(value, dict):
        return Rejected(RejectReason.NOT_AN_OBJECT, f"expected an object, found {_kind(value)}")
    mending = _Mending(value, line)
    record = mending.record()
    if isinstance(record, str):
        return Rejected(RejectReason.WRONG_TYPE, record)
    return Decoded(record, tuple(mending.repairs), mending.unreadable_timestamp)


def _syntax_error(line: bytes, error: Exception) -> Rejected:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as fault:
        return Rejected(
            RejectReason.INVALID_UTF8, f"byte {fault.start} of the line: expected UTF-8, {fault.reason}"
        )
    return Rejected(RejectReason.INVALID_JSON, str(error)[:_DETAIL_LIMIT])


def _says_something(record: GapRecord) -> bool:
    texts = (record.description, record.missing_capability, record.intent)
    return any(text and not text.isspace() for text in texts)


def _not_names(value: object) -> str:
    """What is wrong with a value that should be a list of text; empty if nothing is."""
    if not isinstance(value, list):
        return _kind(value)
    return next((f"a list with {_kind(item)}" for item in value if not isinstance(item, str)), "")


def _kind(value: object) -> str:
    names = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "text",
        list: "a list",
        dict: "an object",
    }
    return "null" if value is None else names[type(value)]
