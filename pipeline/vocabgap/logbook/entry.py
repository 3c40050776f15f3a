"""Check the fields of a new gap record, and judge its category."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from vocabgap.errors import (
    InvalidInputError,
    nearest,
    texts,
    unusable,
)
from vocabgap.model.categories import judge
from vocabgap.model.record import (
    FIELDS,
    LIST_FIELDS,
    NULLABLE_TEXT_FIELDS,
    SATISFACTION_WORDS,
    TEXT_FIELDS,
    UNCATEGORIZED,
    GapRecord,
    fields_of,
    in_utc,
    need_of,
    wrong_type,
)
from vocabgap.text import stem, words

_SATISFACTIONS: Final = f"-1, 0, 1, or one of {', '.join(SATISFACTION_WORDS)}"
_SATISFACTION_HINT: Final = "it says how well the workaround served; leave it out where nobody said"
_TIME_HINT: Final = "leave it out where the gap was met just now"


def checked(fields: Mapping[str, Any], now: datetime) -> GapRecord:
    """Return the record of some fields; those that are missing or null get a default, the time is now.

    `satisfaction` may be a word. The default of `description` is `missing_capability`, else `intent`.
    """
    unknown = [name for name in fields if name not in FIELDS]
    if unknown:
        raise InvalidInputError(f"{unknown[0]}: no field of a gap record", hint=nearest(unknown[0], FIELDS))
    given = {name: value for name, value in fields.items() if value is not None}
    if wrong := wrong_type(given):
        raise unusable(*wrong, hint="one name is a list of one" if wrong[0] in LIST_FIELDS else "")
    for name in (*NULLABLE_TEXT_FIELDS, *TEXT_FIELDS, *LIST_FIELDS):
        texts(name, given.get(name, ()))
    if "description" not in given:
        given["description"] = need_of(given)
    if not given["description"].strip():
        hint = "say in a sentence what was missing, on the command line with --need"
        raise InvalidInputError("description: expected text that is not blank", hint=hint)
    if not given.get("image_id", "-").strip():
        hint = "leave it out where the folder has the image's name"
        raise InvalidInputError("image_id: expected text that is not blank", hint=hint)
    if "satisfaction" in given:
        given["satisfaction"] = _satisfaction(given["satisfaction"])
    given["timestamp"] = _moment(given.get("timestamp", now))
    return GapRecord(**given)


def as_written(record: GapRecord) -> dict[str, Any]:
    """Return the fields of a record as its line has them: the time in ISO 8601, with its offset."""
    fields = fields_of(record)
    if record.timestamp is not None:
        fields["timestamp"] = record.timestamp.isoformat()
    return fields


def image_name(folder: Path) -> str:
    """Return the name of a folder as the id of its image."""
    name = folder.absolute().name
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"the name of '{folder}' is not UTF-8, and cannot be an image_id", hint="give the image_id"
        ) from error
    if not name:
        raise InvalidInputError(f"'{folder}' has no name", hint="give the image_id")
    return name


def _satisfaction(value: object) -> int:
    """Return a rating that is given as a number or a word."""
    if isinstance(value, str) and value.strip().casefold() in SATISFACTION_WORDS:
        return SATISFACTION_WORDS[value.strip().casefold()]
    if isinstance(value, int) and not isinstance(value, bool) and -1 <= value <= 1:
        return value
    raise unusable("satisfaction", _SATISFACTIONS, value, hint=_SATISFACTION_HINT)


def _moment(value: object) -> datetime:
    """Return a time in UTC, given as a datetime or in ISO 8601; without an offset it is in UTC."""
    moment: object = value
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            moment = None
    if not isinstance(moment, datetime):
        expected = "a date and time in ISO 8601, such as 2026-04-01T10:00:00Z"
        raise unusable("timestamp", expected, value, hint=_TIME_HINT)
    try:
        return in_utc(moment).astimezone(UTC)
    except OverflowError as error:
        raise unusable("timestamp", "a time in the years 1 to 9999 in UTC", value, hint=_TIME_HINT) from error


# Words of requests by category. A word that names a place outweighs the others.
_WORDS: Final = {
    "tone": "shadow highlight exposure contrast luminance brightness brighten darken midtone blacks whites"
    " tonal curve dynamic hdr lift clipping gamma zone tone",
    "wb": "kelvin temperature cast tint warm warmth cool daylight tungsten",
    "color": "color colour hue saturation vibrance chroma monochrome sepia teal orange grading palette"
    " desaturate",
    "detail": "sharpen sharpness noise denoise grain texture clarity haze lens aberration fringe moire"
    " halation microcontrast blur detail softness acutance",
    "local": "mask brush gradient spot heal clone retouch selective region radial subject background sky eye"
    " skin face corner dodge burn local",
    "composition": "crop straighten horizon aspect rotate perspective keystone border frame composition",
}
_PLACES: Final = "local"
_READ: Final = 2_000  # characters of a text; a need stands at its beginning


def category(texts: Iterable[str | None], operations: Iterable[str]) -> str:
    """Return the category of a record without one: that of its operations, else of its words.

    The first text that decides counts. A report may judge the category again, with all records at hand.
    """
    by_operations = judge("", (), operations).category
    if by_operations != UNCATEGORIZED:
        return by_operations
    return next((name for text in texts if text and (name := _of_words(text))), UNCATEGORIZED)


def _of_words(text: str) -> str | None:
    known = _stems()
    hits = Counter(known[word] for word in {stem(word) for word in words(text[:_READ])} if word in known)
    if _PLACES in hits:
        return _PLACES
    leading = hits.most_common(2)
    if not leading or (len(leading) > 1 and leading[0][1] == leading[1][1]):
        return None
    return leading[0][0]


@cache
def _stems() -> dict[str, str]:
    return {stem(word): category for category, line in _WORDS.items() for word in line.split()}
