"""The gap record: its fields, defaults and aliases, its canonical form and its identity.

The fields are the 13 of ADR-060. Records of the draft RFC-013, and older ones with four fields, are read
into the same fields.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from itertools import repeat
from typing import Annotated, Any, Final, Literal, get_args, get_origin

import msgspec
from msgspec import structs

LOG_NAME: Final = "vocabulary_gaps.jsonl"
UNCATEGORIZED: Final = "uncategorized"
ROOT_KIND: Final = "external-source"
SHARED_TENANT: Final = "neo-shared"
"""The tenant of a corpus whose records every tenant reads."""
# A longer line is no gap record; reading it would take memory without bound.
MAX_LINE_BYTES: Final = 1 << 20
MOST_MENTIONS: Final = 10**9  # of a record
FEWEST_DIGITS: Final = 4  # of an identifier; fewer may be a rank or a typing error
# Notes of a gap that a hook or a trace showed, without a request in words.
UNKNOWN_TOOL_NOTE: Final = "of an unknown tool"
# Notes of a program that the shell of an agent did not find: a gap of the environment, not of its tools.
ENVIRONMENT_NOTE: Final = "of a program that the environment lacks"
SEEN_NOTES: Final = rf"^call( \S+)? (?:{UNKNOWN_TOOL_NOTE}|{ENVIRONMENT_NOTE})|, seen in a trace$"
# Notes of a call of a tool that exists, such as "call of a tool that is not granted: permission".
NOT_GRANTED_NOTE: Final = "of a tool that is not granted"
NOT_GRANTED_NOTES: Final = rf"^call(?: \S+)? {NOT_GRANTED_NOTE}(?:: ([a-z_]+))?"

BAD: Final = "bad"
MEDIOCRE: Final = "mediocre"
SATISFACTION_WORDS: Final[Mapping[str, int]] = {BAD: -1, MEDIOCRE: -1, "acceptable": 0, "good": 1}
_DIGITS: Final = {"-1": -1, "0": 0, "1": 1}
SATISFACTION_TEXTS: Final[Mapping[str, int]] = {**SATISFACTION_WORDS, **_DIGITS}
RATING_NAMES: Final[Mapping[int | None, str]] = {
    -1: "unsatisfied", 0: "neutral", 1: "satisfied", None: "not rated",
}  # fmt: skip
RATING_WORDS: Final[Mapping[str, int | None]] = {
    **_DIGITS, "unsatisfied": -1, "neutral": 0, "satisfied": 1, "none": None, "unrated": None,
    **SATISFACTION_WORDS,
}  # fmt: skip
CATEGORY_ALIASES: Final[Mapping[str, str]] = {
    "tonal": "tone", "colour": "color", "structure": "detail", "mask": "local", "composite": "composition",
    "white balance": "wb",
}  # fmt: skip
CATEGORIES: Final = frozenset({"tone", "wb", "color", "detail", "local", "composition", UNCATEGORIZED})
OPERATION_ALIASES: Final[Mapping[str, str]] = {"toneequalizer": "toneequal", "tone equalizer": "toneequal"}


class RejectReason(StrEnum):
    """The reason why a line, or a whole file, gave no record. The last four are about files."""

    INVALID_UTF8 = "invalid_utf8"
    INVALID_JSON = "invalid_json"
    LONE_SURROGATE = "lone_surrogate"
    NOT_AN_OBJECT = "not_an_object"
    INVALID_ROW = "invalid_row"
    MISSING_DESCRIPTION = "missing_description"
    WRONG_TYPE = "wrong_type"
    TOO_LONG = "too_long"
    TOO_DEEP = "too_deep"
    TORN = "torn"
    UNREADABLE_FILE = "unreadable_file"
    CHANGED_WHILE_READ = "changed_while_read"
    EXPANDS_TOO_FAR = "expands_too_far"
    LINK_NOT_FOLLOWED = "link_not_followed"


FILE_REASONS: Final = frozenset([*RejectReason][-4:])


class Repair(StrEnum):
    """A repair of a record that was kept. The summary of a scan counts each kind."""

    SATISFACTION_IN_WORDS = "satisfaction_in_words"
    SATISFACTION_UNKNOWN = "satisfaction_unknown"
    COUNT_UNKNOWN = "count_unknown"
    NULL_FOR_DEFAULT = "null_for_default"
    BYTE_ORDER_MARK = "byte_order_mark"
    TIMESTAMP_WITHOUT_OFFSET = "timestamp_without_offset"
    TIMESTAMP_UNREADABLE = "timestamp_unreadable"
    IMAGE_FROM_FOLDER = "image_from_folder"
    IMAGE_NOT_FOLDER = "image_not_folder"
    UNCLEAR_CORRECTION = "unclear_correction"


def _field(description: str, default: str = "", **extra: Any) -> msgspec.Meta:  # noqa: ANN401 - for any door
    """Describe a field: its meaning, and the default of a new record in words.

    Commands and tools use the other facts: option `names`, the accepted type, and the `doors` that offer it.
    """
    return msgspec.Meta(description=description, extra={"default": default, **extra})


class GapRecord(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One gap record. Field order is the order in which records are written and hashed.

    This is the only declaration of its fields. Tables, options, arguments and checks derive from it.
    A field that is added after the first 13 needs a default.
    """

    timestamp: Annotated[
        datetime | None,
        _field("When the gap was logged.", "now", accepts=datetime | str, doors={"cli"}, rare=True),
    ] = None
    image_id: Annotated[str | None, _field("The image.", "the name of the folder")] = None
    session_id: Annotated[str | None, _field("The session.", "VOCABGAP_SESSION", names=("--session",))] = None
    snapshot_hash: Annotated[
        str | None,
        _field(
            "SHA-256 (hex) of the image's state.",
            "VOCABGAP_SNAPSHOT, else HEAD",
            names=("--snapshot",),
            rare=True,
        ),
    ] = None
    description: Annotated[
        str | None, _field("What was missing.", "the capability", names=("--description", "-d"))
    ] = None
    workaround: Annotated[str, _field("What was done instead.")] = ""
    intent: Annotated[str | None, _field("What the person asked for, if possible in their own words.")] = None
    intent_category: Annotated[
        str,
        _field(
            "The kind of need, in a word or two.",
            "judged from the operations and the words",
            names=("--intent-category", "--category"),
        ),
    ] = UNCATEGORIZED
    missing_capability: Annotated[
        str | None, _field("The word or tool that was missing.", names=("--missing-capability", "--need"))
    ] = None
    operations_involved: Annotated[
        list[str], _field("Operations that the workaround used.", names=("--operation",))
    ] = []
    vocabulary_used: Annotated[list[str], _field("Vocabulary entries used.", names=("--used",))] = []
    satisfaction: Annotated[
        Literal[-1, 0, 1] | None,
        _field(
            "How well the workaround served: -1 (bad, mediocre), 0 (acceptable) or 1 (good).",
            accepts=Literal[-1, 0, 1, "bad", "mediocre", "acceptable", "good"],
        ),
    ] = None
    notes: Annotated[str, _field("Anything else; a correction names the corrected snapshot_hash.")] = ""
    count: Annotated[
        int,
        _field("How many mentions the record stands for.", "1", doors=frozenset()),
        msgspec.Meta(ge=1, le=MOST_MENTIONS),
    ] = 1
    category_guessed: Annotated[
        bool, _field("Whether vocabgap guessed the category.", "false", doors=frozenset())
    ] = False
    mediocre: Annotated[
        bool, _field("Whether the log calls the workaround mediocre, not bad.", "false", doors=frozenset())
    ] = False


_DECLARED: Final = structs.fields(GapRecord)
FIELDS: Final = GapRecord.__struct_fields__
CONTRACT_FIELDS: Final = FIELDS[:13]
"""The fields that every record has (ADR-060)."""
_LATER: Final = {name: getattr(GapRecord(), name) for name in FIELDS[len(CONTRACT_FIELDS) :]}


def _of_type(wanted: object) -> tuple[str, ...]:
    return tuple(field.name for field in _DECLARED if get_args(field.type)[0] == wanted)


NULLABLE_TEXT_FIELDS: Final = _of_type(str | None)
TEXT_FIELDS: Final = _of_type(str)
LIST_FIELDS: Final = _of_type(list[str])
NAME_FIELDS: Final = ("image_id", "session_id")
"""The fields that may hold a number as a name."""
NEVER_NULL: Final = tuple(
    field.name for field in _DECLARED if type(None) not in get_args(get_args(field.type)[0])
)
_EXPECTED: Final[Mapping[Any, str]] = {
    bool: "true or false", float: "a number", int: "a whole number", list: "a list of text", str: "text",
}  # fmt: skip


def given_fields(door: str) -> list[tuple[str, Any, None]]:
    """Return the fields of a new record that a door offers, for `msgspec.defstruct`; all are optional."""
    fields: list[tuple[str, Any, None]] = []
    for field in _DECLARED:
        kind, meta = get_args(field.type)[0], field.type.__metadata__[0]
        if door in meta.extra.get("doors", {door}):
            accepted = meta.extra.get("accepts", kind)
            fields.append((field.name, Annotated[accepted | None, meta], None))
    return fields


def wrong_type(fields: dict[str, Any]) -> tuple[str, str, Any] | None:
    """Convert values to their declared types; return the first wrong one: name, expected type and value.

    Fields with the fact `accepts` are left to the caller.
    """
    for field in _DECLARED:
        name, kind, extra = field.name, get_args(field.type)[0], field.type.__metadata__[0].extra
        if name not in fields or "accepts" in extra:
            continue
        value = fields[name]
        try:
            fields[name] = msgspec.convert(value, field.type)
        except msgspec.ValidationError:
            if name in LIST_FIELDS and isinstance(value, list | tuple):
                wrong = next(item for item in value if not isinstance(item, str))
                return name, "only text in the list", wrong
            base = list if get_origin(kind) is list else (*get_args(kind), kind)[0]
            return name, _EXPECTED[base], value
    return None


_Hashed: Final = msgspec.defstruct("_Hashed", [(name, Any, msgspec.UNSET) for name in FIELDS])


class _Canonical(msgspec.Struct):
    """A record to be hashed, with the text of its timestamp if that is unreadable."""

    record: msgspec.Struct
    unreadable_timestamp: str


_ENCODER: Final = msgspec.json.Encoder()


def fields_of(record: GapRecord) -> dict[str, Any]:
    """Return the fields of a record; fields after the first 13 only if they differ from their default."""
    fields = structs.asdict(record)
    return {name: value for name, value in fields.items() if name not in _LATER or value != _LATER[name]}


def _canonical(columns: Sequence[Sequence[Any]]) -> list[Any]:
    """Return records as they are hashed: without the later fields that have their default."""
    later = []
    for column, default in zip(columns[len(CONTRACT_FIELDS) :], _LATER.values(), strict=True):
        is_default = column.count(default) == len(column)
        later.append(
            repeat(msgspec.UNSET)
            if is_default
            else [value if value != default else msgspec.UNSET for value in column]
        )
    return list(map(_Hashed, *columns[: len(CONTRACT_FIELDS)], *later))


def record_ids(columns: Sequence[Sequence[Any]], unreadable_timestamps: Mapping[int, str]) -> list[str]:
    """Return the `record_id` of each record, given the columns of its fields.

    Unreadable timestamps are given by the place of the record.
    """
    hashed = _canonical(columns)
    lines = _ENCODER.encode_lines(hashed)  # encoded JSON has no line breaks
    ids = [hashlib.sha256(line).hexdigest() for line in lines.split(b"\n")[:-1]]
    for place, text in unreadable_timestamps.items():
        ids[place] = hashlib.sha256(_ENCODER.encode(_Canonical(hashed[place], text))).hexdigest()
    return ids


def record_id(record: GapRecord, unreadable_timestamp: str | None = None) -> str:
    """Return the identity of a record: the SHA-256 of its canonical form, image included.

    The canonical form is compact JSON with the fields in declared order and with defaults. Words of
    satisfaction are numbers, and the timestamp is in UTC. It includes the text of an unreadable timestamp:
    records that differ only there are two. A field after the first 13 is included if it differs from its
    default.
    """
    columns = [[value] for value in structs.astuple(record)]
    return record_ids(columns, {} if unreadable_timestamp is None else {0: unreadable_timestamp})[0]


def in_utc(moment: datetime) -> datetime:
    """Return a moment in UTC; a moment without an offset is in UTC.

    Raises:
        OverflowError: In UTC the moment is outside the years 1 to 9999.
    """
    if moment.tzinfo is UTC:
        return moment
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def category_key(category: str) -> str:
    """Return a category in lower case, with single spaces for underscores and white space."""
    return " ".join(category.casefold().replace("_", " ").split())


def operation_key(operation: str) -> str:
    """Return the name of an operation in lower case, without outer white space."""
    return operation.strip().casefold()


def fold_category(category: str, aliases: Mapping[str, str] = CATEGORY_ALIASES) -> str:
    """Return the category that a spelling stands for; an unknown spelling stays as it is."""
    key = category_key(category)
    for spelling in (key, key.replace(" ", "_")):
        if spelling in aliases:
            return aliases[spelling]
    if key in CATEGORIES:
        return key
    return category if key else UNCATEGORIZED


def fold_operation(operation: str, aliases: Mapping[str, str] = OPERATION_ALIASES) -> str:
    """Return the operation that a name stands for; an unknown name stays, without outer white space."""
    return aliases.get(operation_key(operation), operation.strip())


PHRASE_FIELDS: Final = ("missing_capability", "description")
"""The fields that may hold the need, not the intent behind it; the first that is not blank counts."""


def rating_word(value: object) -> str:
    """Return a rating as the keys of `RATING_WORDS` are spelled; empty if it is no text."""
    return value.strip().casefold() if isinstance(value, str) else ""


def rating(satisfaction: int | None, count: int | None = 1, *, mediocre: bool = False) -> str:
    """Return the rating of a record in words, and its mentions if they are several: `neutral, ×41`."""
    name = MEDIOCRE if mediocre and satisfaction == -1 else RATING_NAMES[satisfaction]
    return name + (f", ×{count:,}" if count and count > 1 else "")


def need_of(record: Mapping[str, Any]) -> str:
    """Return the need of a record, trimmed; empty if it has none."""
    texts = (record.get(name) for name in PHRASE_FIELDS)
    return next((text.strip() for text in texts if text and text.strip()), "")
