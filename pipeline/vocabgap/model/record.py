"""The gap record: its fields, defaults and aliases, its canonical form and its identity.

The shape is that of ADR-060 (13 fields); the draft of RFC-013 and the four-field records before it
are read into the same shape.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, Literal

import msgspec

LOG_NAME: Final = "vocabulary_gaps.jsonl"
UNCATEGORIZED: Final = "uncategorized"
ROOT_KIND: Final = "image-repo"
# A longer line is no gap record; to look at it would take memory without bound.
MAX_LINE_BYTES: Final = 1 << 20
FEWEST_DIGITS: Final = 4  # of an identifier: fewer may be meant as a rank, or be mistyped
# What the notes say of a gap that a program saw, and nobody asked for in words: by a hook, or in traces.
UNKNOWN_TOOL_NOTE: Final = "of an unknown tool"
SEEN_NOTES: Final = rf"^call( \S+)? {UNKNOWN_TOOL_NOTE}|, seen in a trace$"

SATISFACTION_WORDS: Final[Mapping[str, int]] = MappingProxyType(
    {"bad": -1, "mediocre": -1, "acceptable": 0, "good": 1}
)
RATING_NAMES: Final[Mapping[int | None, str]] = MappingProxyType(
    {-1: "unsatisfied", 0: "neutral", 1: "satisfied", None: "not rated"}
)
CATEGORY_ALIASES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "tonal": "tone",
        "colour": "color",
        "structure": "detail",
        "mask": "local",
        "composite": "composition",
        "white balance": "wb",
    }
)
CATEGORIES: Final = frozenset({"tone", "wb", "color", "detail", "local", "composition", UNCATEGORIZED})
OPERATION_ALIASES: Final[Mapping[str, str]] = MappingProxyType(
    {"toneequalizer": "toneequal", "tone equalizer": "toneequal"}
)


class RejectReason(StrEnum):
    """Why a line, or a whole file, gave no record. The list is closed; `FILE_REASONS` are about files."""

    INVALID_UTF8 = "invalid_utf8"
    INVALID_JSON = "invalid_json"
    LONE_SURROGATE = "lone_surrogate"
    NOT_AN_OBJECT = "not_an_object"
    MISSING_DESCRIPTION = "missing_description"
    WRONG_TYPE = "wrong_type"
    TOO_LONG = "too_long"
    TOO_DEEP = "too_deep"
    TORN = "torn"
    UNREADABLE_FILE = "unreadable_file"
    CHANGED_WHILE_READ = "changed_while_read"
    EXPANDS_TOO_FAR = "expands_too_far"
    LINK_NOT_FOLLOWED = "link_not_followed"


FILE_REASONS: Final = frozenset(
    {
        RejectReason.UNREADABLE_FILE,
        RejectReason.CHANGED_WHILE_READ,
        RejectReason.EXPANDS_TOO_FAR,
        RejectReason.LINK_NOT_FOLLOWED,
    }
)


class Repair(StrEnum):
    """What was repaired in a record that was kept. Each kind is counted in the summary of a scan."""

    SATISFACTION_IN_WORDS = "satisfaction_in_words"
    SATISFACTION_UNKNOWN = "satisfaction_unknown"
    NULL_FOR_DEFAULT = "null_for_default"
    UNKNOWN_FIELD = "unknown_field"
    REPEATED_KEY = "repeated_key"
    BYTE_ORDER_MARK = "byte_order_mark"
    TIMESTAMP_WITHOUT_OFFSET = "timestamp_without_offset"
    TIMESTAMP_UNREADABLE = "timestamp_unreadable"
    IMAGE_FROM_FOLDER = "image_from_folder"
    IMAGE_NOT_FOLDER = "image_not_folder"


class GapRecord(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One gap record. Field order is the order in which records are written and hashed."""

    timestamp: datetime | None = None
    image_id: str | None = None
    session_id: str | None = None
    snapshot_hash: str | None = None
    description: str | None = None
    workaround: str = ""
    intent: str | None = None
    intent_category: str = UNCATEGORIZED
    missing_capability: str | None = None
    operations_involved: list[str] = []
    vocabulary_used: list[str] = []
    satisfaction: Literal[-1, 0, 1] | None = None
    notes: str = ""


class CompleteRecord(GapRecord, kw_only=True, forbid_unknown_fields=True):
    """The same with every field said, as records are written now: each takes a key of its line."""

    timestamp: datetime | None
    image_id: str | None
    session_id: str | None
    snapshot_hash: str | None
    description: str | None
    workaround: str
    intent: str | None
    intent_category: str
    missing_capability: str | None
    operations_involved: list[str]
    vocabulary_used: list[str]
    satisfaction: Literal[-1, 0, 1] | None
    notes: str


FIELDS: Final = GapRecord.__struct_fields__
NULLABLE_TEXT_FIELDS: Final = (
    "image_id", "session_id", "snapshot_hash", "description", "intent", "missing_capability",
)  # fmt: skip
TEXT_FIELDS: Final = ("workaround", "intent_category", "notes")
LIST_FIELDS: Final = ("operations_involved", "vocabulary_used")


class _Canonical(msgspec.Struct):
    """A record ready to be hashed: the unreadable timestamp that it came with is part of it."""

    record: GapRecord
    unreadable_timestamp: str | None = None


_ENCODER = msgspec.json.Encoder()


def record_ids(records: Sequence[GapRecord], unreadable_timestamps: Mapping[int, str]) -> list[str]:
    """The identity of many records at once, as `record_id` gives it one by one.

    The timestamps that could not be read are by position in `records`.
    """
    sha256 = hashlib.sha256
    canonical = _ENCODER.encode_lines(records).split(b"\n")  # JSON holds no line break of its own
    canonical.pop()
    ids = [sha256(line).hexdigest() for line in canonical]
    for position, text in unreadable_timestamps.items():
        ids[position] = record_id(records[position], text)
    return ids


def record_id(record: GapRecord, unreadable_timestamp: str | None = None) -> str:
    """The identity of a record: the SHA-256 of its canonical form, image included.

    The canonical form is compact JSON with every field in declared order, defaults filled in, aliases
    of satisfaction resolved and the timestamp in UTC. A timestamp's own text is part of it where it could not
    be read, so that two records which differ only there stay two.
    """
    if unreadable_timestamp is None:
        return hashlib.sha256(_ENCODER.encode(record)).hexdigest()
    return hashlib.sha256(_ENCODER.encode(_Canonical(record, unreadable_timestamp))).hexdigest()


def in_utc(moment: datetime) -> datetime:
    """A moment in UTC; one without an offset is taken to be in UTC already.

    Raises:
        OverflowError: The moment lies outside the years 1 to 9999 once shifted to UTC.
    """
    if moment.tzinfo is UTC:
        return moment
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def category_key(category: str) -> str:
    """How a category's spelling is looked up: case folded, underscores as spaces, white space folded."""
    return " ".join(category.casefold().replace("_", " ").split())


def operation_key(operation: str) -> str:
    """How an operation's name is looked up: case folded, outer white space aside."""
    return operation.strip().casefold()


def fold_category(category: str, aliases: Mapping[str, str] = CATEGORY_ALIASES) -> str:
    """The category that a spelling stands for; one that is not known is kept as it is."""
    key = category_key(category)
    for spelling in (key, key.replace(" ", "_")):
        if spelling in aliases:
            return aliases[spelling]
    if key in CATEGORIES:
        return key
    return category if key else UNCATEGORIZED


def fold_operation(operation: str, aliases: Mapping[str, str] = OPERATION_ALIASES) -> str:
    """The operation that a name stands for; one that is not known is kept, outer white space aside."""
    return aliases.get(operation_key(operation), operation.strip())


PHRASE_FIELDS: Final = ("missing_capability", "description", "intent")
"""The fields that may say it: the first that is not blank does."""


def need_of(record: Mapping[str, Any]) -> str:
    """What a record says is missing, trimmed; empty where it says nothing."""
    texts = (record.get(name) for name in PHRASE_FIELDS)
    return next((text.strip() for text in texts if text and text.strip()), "")
