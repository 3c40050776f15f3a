"""Reading an object field by field where the strict decoder refused it; what is repaired is counted."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Final

import msgspec

from vocabgap.records.record import FIELDS, SATISFACTION_WORDS, GapRecord, RejectReason, Repair

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


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a line is not a record."""

    reason: RejectReason
    detail: str


@dataclass(slots=True)
class Repairing:
    """An object on its way to a record.

    Attributes:
        fields: The object, keys of other records among them.
        line: The line that it stood on.
        repairs: What was repaired so far.
        unreadable_timestamp: What stands for the timestamp where it could not be read.
        origins: Field of the record to where in the object it lies, if it is not called so there.
    """

    fields: dict[str, Any]
    line: bytes
    repairs: list[Repair] = field(default_factory=list)
    unreadable_timestamp: str | None = None
    origins: dict[str, str] = field(default_factory=dict)

    def record(self) -> GapRecord | Rejected:
        """The repaired record, or what about a field cannot be repaired."""
        unknown = self.fields.keys() - set(FIELDS)
        self.repairs.extend(Repair.UNKNOWN_FIELD for _ in unknown)
        known = {name: value for name, value in self.fields.items() if name not in unknown}
        for name in nulls_for_defaults(known):
            del known[name]
            self.repairs.append(Repair.NULL_FOR_DEFAULT)
        wrong = _wrong_type(known) or _unpaired_surrogate(known)
        if wrong is not None:
            name, reason, detail = wrong
            origin = f" ({self.origins[name]})" if name in self.origins else ""
            return Rejected(reason, f"field '{name}'{origin}: {detail}")
        if "satisfaction" in known:
            known["satisfaction"] = self._satisfaction(known["satisfaction"])
        if "timestamp" in known:
            known["timestamp"] = self._timestamp(known["timestamp"])
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


def nulls_for_defaults(fields: Mapping[str, object]) -> list[str]:
    """The fields that are null where a default stands."""
    return [name for name in (*_TEXT, *_LISTS) if name in fields and fields[name] is None]


def kind(value: object) -> str:
    """What JSON calls a value, with its article."""
    if value is None:
        return "null"
    for types, name in (
        (bool, "a boolean"),
        ((int, float), "a number"),
        (str, "text"),
        (list, "a list"),
    ):
        if isinstance(value, types):
            return name
    return "an object"


# A field, what is wrong with it, and what was expected.
_Wrong = tuple[str, RejectReason, str]


def _wrong_type(known: dict[str, Any]) -> _Wrong | None:
    for name in (*_OPTIONAL_TEXT, *_TEXT):
        if not isinstance(known.get(name), str | None):
            found = kind(known[name])
            return name, RejectReason.WRONG_TYPE, f"expected text, found {found}"
    for name in _LISTS:
        found = _not_names(known.get(name, []))
        if found:
            return name, RejectReason.WRONG_TYPE, f"expected a list of text, found {found}"
    return None


def _not_names(value: object) -> str:
    """What is wrong with a value that should be a list of text; empty if nothing is."""
    if not isinstance(value, list):
        return kind(value)
    return next((f"a list with {kind(item)}" for item in value if not isinstance(item, str)), "")


def _unpaired_surrogate(known: dict[str, Any]) -> _Wrong | None:
    """JSON can write half a character; no frame can hold it, and any stand-in would be other text."""
    for name in FIELDS:
        value = known.get(name)
        texts = value if isinstance(value, list) else [value]
        for text in texts:
            if isinstance(text, str) and not text.isascii():
                try:
                    text.encode()
                except UnicodeEncodeError:
                    return (
                        name,
                        RejectReason.LONE_SURROGATE,
                        "expected Unicode text, found half of a surrogate pair",
                    )
    return None
