"""A gap record as somebody hands it in: its fields are checked, and its category is judged."""

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from vocabgap.errors import (
    AccessDeniedError,
    InvalidInputError,
    NotFoundError,
    StateError,
    alike,
    nearest,
    require_text,
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
    fold_category,
    in_utc,
    need_of,
)
from vocabgap.model.settings import Settings
from vocabgap.text import excerpt, stem, words

_SATISFACTIONS: Final = f"-1, 0, 1, or one of {', '.join(SATISFACTION_WORDS)}"
_SATISFACTION_HINT: Final = "it says how well the workaround served; leave it out where nobody said"
_TIME_HINT: Final = "leave it out where the gap was met just now"


def checked(fields: Mapping[str, Any], now: datetime) -> GapRecord:
    """The record of some fields, with the defaults of those that are left out or null; now is its time.

    `satisfaction` may be one of the words of the draft, and without a `description` the `missing_capability`,
    else the `intent`, is one.
    """
    unknown = [name for name in fields if name not in FIELDS]
    if unknown:
        raise InvalidInputError(f"{unknown[0]}: no field of a gap record", hint=nearest(unknown[0], FIELDS))
    given = {name: value for name, value in fields.items() if value is not None}
    for name in (*NULLABLE_TEXT_FIELDS, *TEXT_FIELDS):
        if name in given:
            require_text(name, given[name])
    given |= {each: _texts(each, given[each]) for each in LIST_FIELDS if each in given}
    if "description" not in given:  # as in the first draft of the tool
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


def unknown_category(name: str, settings: Settings, run: str | Path) -> str:
    """What is to be said of a category that neither the settings know nor a published run has; else nothing.

    Args:
        name: The category of a record that was logged.
        settings: The settings in force.
        run: The folder of the run, if there is one.
    """
    category = fold_category(name, settings.category_aliases)
    if category in settings.known_categories:
        return ""
    from vocabgap.reporting.published_run import read_run  # noqa: PLC0415 - loads Polars

    with suppress(NotFoundError, StateError, AccessDeniedError):
        _, ranked = read_run(run, option="--run")
        if category in ranked["categories"].explode().struct["name"]:
            return ""
    known = settings.known_categories - {UNCATEGORIZED}
    near = alike(category, sorted(known)) or sorted(known)
    return (
        f"category '{excerpt(category)}' is not known here; the nearest: {', '.join(near)};"
        " `known` under [categories] in vocabgap.toml adds to them"
    )


def image_name(folder: Path) -> str:
    """The image that a folder holds: its name."""
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


def _texts(name: str, value: object) -> list[str]:
    if not isinstance(value, list | tuple):
        raise unusable(name, "a list of text", value, hint="one name is a list of one")
    for each in value:
        require_text(name, each)
    return list(value)


def _satisfaction(value: object) -> int:
    """A rating, given as a number or in a word of the draft."""
    if isinstance(value, str) and value.strip().casefold() in SATISFACTION_WORDS:
        return SATISFACTION_WORDS[value.strip().casefold()]
    if isinstance(value, int) and not isinstance(value, bool) and -1 <= value <= 1:
        return value
    raise unusable("satisfaction", _SATISFACTIONS, value, hint=_SATISFACTION_HINT)


def _moment(value: object) -> datetime:
    """A time in UTC, given as one or in ISO 8601; without an offset it is in UTC already."""
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


# What people say when they ask for something of a category. A word that says where something is to be done
# outweighs what is to be done there.
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
_READ: Final = 2_000  # characters of a text: whoever says a need says it at its beginning, and somebody waits


def category(texts: Iterable[str | None], operations: Iterable[str]) -> str:
    """The category of a record that names none: of its operations, else of its words, else `uncategorized`.

    No other record is looked at: an agent waits. What stays open here is judged again, with all records at
    hand, when they are ranked. Of the texts, the most telling first, the first that tells decides.
    """
    by_operations = judge("", (), operations).category
    if by_operations != UNCATEGORIZED:
        return by_operations
    return next((name for text in texts if text and (name := _of_words(text))), UNCATEGORIZED)


def _of_words(text: str) -> str | None:
    known = _stems()
    hits = Counter(known[each] for each in {stem(word) for word in words(text[:_READ])} if each in known)
    if _PLACES in hits:
        return _PLACES
    leading = hits.most_common(2)
    if not leading or (len(leading) > 1 and leading[0][1] == leading[1][1]):
        return None
    return leading[0][0]


@cache
def _stems() -> dict[str, str]:
    return {stem(word): category for category, line in _WORDS.items() for word in line.split()}
