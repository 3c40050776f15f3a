"""Moments in time as people and programs write them."""

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from functools import partial
from typing import Any, Final, Literal

import msgspec

from vocabgap.errors import InvalidInputError
from vocabgap.model.record import in_utc
from vocabgap.text import shortened

MICROSECONDS_A_DAY: Final = 86_400_000_000
LAST: Final = "last"
Present = datetime | Literal["last"]
"""The present of a run: a moment, or `last` for the moment of the newest record."""


def parse_moment(text: str, now: datetime, *, name: str) -> datetime:
    """Read an ISO 8601 date, time or month, or a span before now, as a moment in UTC.

    Without an offset the text is in UTC. `2026-05` is the first moment of that month; `2w`, `7d`, `24h` and
    `30m` (minutes) are spans. An error uses `name`.
    """
    wanted = text.strip()
    units = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes"}
    span = re.fullmatch(r"([0-9]+)([wdhm])", wanted)
    is_month = re.fullmatch(r"[0-9]{4}-[0-9]{2}", wanted)
    try:
        if span:
            return now - timedelta(**{units[span[2]]: int(span[1])})
        return in_utc(datetime.fromisoformat(f"{wanted}-01" if is_month else wanted))
    except (ValueError, OverflowError) as error:
        raise InvalidInputError(
            f"{name}: '{shortened(text, 60)}' is not a moment",
            hint="expected a date or time such as 2026-05-01 or 2026-05-01T09:30:00Z, a month such as"
            " 2026-05, or a span such as 7d",
        ) from error


def parse_now(text: str | None) -> datetime:
    """Return the present of a run: the given moment, else the current time."""
    clock = datetime.now(UTC)
    return clock if text is None else parse_moment(text, clock, name="--now")


def parse_present(text: str | None) -> Present:
    """Return the present of a run, which may be `last`; by default the current time."""
    return LAST if text is not None and text.strip() == LAST else parse_now(text)


def known_present(now: Present | None) -> datetime:
    """Return the present before records are read; `last` is the current time until then."""
    return require_offset(datetime.now(UTC) if now is None or now == LAST else now, name="now")


def require_offset(moment: object, *, name: str) -> datetime:
    """Return a moment that has an offset from UTC, or raise InvalidInputError."""
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise InvalidInputError(
            f"{name}: expected a datetime with an offset, found {moment!r}",
            hint="for example datetime(2026, 5, 1, tzinfo=UTC), or datetime.now(UTC) - timedelta(days=30)",
        )
    return moment


def iso(moment: datetime) -> str:
    """Return a moment in UTC as ISO 8601 with a `Z`."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def to_minute(moment: datetime) -> str:
    """Return a moment in UTC for a person, to the minute."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def in_seconds(moment: datetime) -> str:
    """Return a moment in UTC as ISO 8601 with a `Z`, to the second."""
    return iso(moment.replace(microsecond=0))


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# A Unix time in s, ms, µs or ns: its number of digits, and the power of ten of its units per second.
_UNIX: Final = {10: 0, 13: 3, 16: 6, 19: 9}
_UNIX_TIME: Final = re.compile(
    r"(?:/Date\()?([0-9]{10}(?:[0-9]{3}){0,3})(\.[0-9]+)?(?:(?:[+-][0-9]{4})?\)/)?"
)
_SECONDS: Final = ("seconds", "_seconds", "epochSecond")  # of protobuf, Firestore and Java
_NANOS: Final = ("nanos", "nanoseconds", "_nanoseconds", "nano")
# A time of day with its zone. After an offset, the name of the zone says nothing new.
_CLOCK: Final = re.compile(
    r"(?:(?<=[0-9])T|[,:])?(?: (?:at )?)?(?<![0-9])"
    r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?"
    r"(?: ?([ap])\.?m\b\.?)?(?: ?(Z|UTC?|GMT)(?![A-Z]))?"
    r"(?: ?([+-][0-9]{2}):?([0-9]{2})?(?![0-9])(?: (?:[A-Z]{1,5}|[+-][0-9]{2,4})\b)?)?"
    r"(?: m=[+-][0-9.]+)?(?: ?\[[^][]*\]| ?\([^()]*\))?",
    re.IGNORECASE,
)
_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
_MONTH: Final = {
    name[:length]: number for number, name in enumerate(_MONTHS, 1) for length in (3, 4, len(name))
}
_AROUND: Final = frozenset((  # what says nothing new in a date
    *"-,./年月日", "st", "nd", "rd", "th", "of", "mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri",
    "sat", "sun", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
))  # fmt: skip
_DATE_PART: Final = re.compile(r"[0-9]+|[^\W\d_]+|\S")
_MOST_SIGNS: Final = 99  # of a text that may be a moment
_ORDERS: Final = ("d m Y", "m d Y", "d m y", "m d y", "y m d", "d b y", "y b d")
_FORMATS: Final = tuple(
    sign.join(f"%{part}" for part in order.split()) for order in _ORDERS for sign in "./- "
)


def moment_of(value: object, date_format: str = "") -> datetime | None:
    """Return the moment of a text, a number or an object; None if it has no or several meanings.

    It reads ISO 8601, Unix times, English names of months in any order, and numbers with the year first. With
    the year last, `17.09.2026` has the day first, and `09/17/2026` is read because no month is 17. With a
    `date_format` (see `require_date_format`), only ISO 8601 and Unix times are read beside it. A time of day
    may follow any date.
    """
    text = ""
    with suppress(ValueError):  # Python writes no number of thousands of digits
        text = _bare(value)
    if date_format:
        with suppress(ValueError, OverflowError):
            return _written(text, date_format)
    if unix := _UNIX_TIME.fullmatch(text):
        units = Decimal(unix[1] + (unix[2] or ""))
        return _EPOCH + timedelta(microseconds=int(units.scaleb(6 - _UNIX[len(unix[1])])))
    for read in _READERS[:2] if date_format else _READERS:
        with suppress(ValueError, OverflowError):
            return read(text)
    return None


def is_zero_year(year: int) -> bool:
    """Tell whether a time of this year stands for no time, as in Go, .NET and Unix."""
    return not 1970 < year < 9999  # noqa: PLR2004 - no program wrote gaps before Unix


def format_of(texts: Iterable[str]) -> str:
    """Return the date format that some texts need; empty if none is needed, or several fit.

    Texts without a digit do not count. Among formats with a year of two digits, the one with the fewest
    years wins.
    """
    dates = [text.strip() for text in texts if re.search("[0-9]", text)]
    if all(map(moment_of, dates)):
        return ""
    years: dict[str, int] = {}
    for date_format in _FORMATS:
        with suppress(ValueError):
            years[date_format] = len({_written(text, date_format).year for text in dates})
    best = [date_format for date_format, number in years.items() if number == min(years.values())]
    return best[0] if len(best) == 1 else ""


def require_date_format(date_format: str, name: str) -> None:
    """Raise InvalidInputError unless a format has day, month and year. `name` begins the message.

    The directives are those of `datetime.strptime`, such as `%d.%m.%Y`, except for those of a locale.
    """
    moment = datetime(2026, 11, 23, tzinfo=UTC)
    has_year = re.search("%[YyG]", date_format) and not re.search("%[cxXZ]", date_format)
    with suppress(ValueError, re.error):  # a directive is repeated
        if has_year and _written(moment.strftime(date_format), date_format).date() == moment.date():
            return
    raise InvalidInputError(
        f"{name}: '{shortened(date_format, 60)}' is not the format of a date",
        hint="expected directives of Python for day, month and year, such as %d.%m.%Y or %m/%d/%y %H:%M",
    )


def _bare(value: Any) -> str:  # noqa: ANN401 - any JSON
    """Return the text or number of a moment; empty if it cannot be one.

    Programs export moments as objects, too: `{"$date": {"$numberLong": "…"}}`,
    `{"seconds": …, "nanos": …}`, `[2026, 8, 1, 10, 0]`.
    """
    while isinstance(value, dict):
        seconds = next((value[name] for name in _SECONDS if name in value), None)
        nanos = next((value[name] for name in _NANOS if name in value), None)
        if isinstance(nanos, int) and re.fullmatch("[0-9]{10}", str(seconds)):
            return f"{seconds}.{nanos:09}"
        value = next(iter(value.values())) if len(value) == 1 else None
    if isinstance(value, list) and len(value) in range(3, 8) and {*map(type, value)} == {int}:
        return "{}/{}/{} {}:{:02}:{:02}.{:09}".format(*value, *[0] * (7 - len(value)))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = value.strip() if isinstance(value, str) else format(Decimal(repr(value)), "f")
    return text if len(text) <= _MOST_SIGNS else ""


def _written(text: str, date_format: str = "") -> datetime:
    """Read a date in a format or with one meaning, and a time of day; raise ValueError if that fails."""
    if date_format:
        with suppress(ValueError):
            return datetime.strptime(text, date_format)  # noqa: DTZ007 - without an offset as in the text
    found = _CLOCK.search(text)
    rest = text if found is None else f"{text[: found.start()]} {text[found.end() :]}".strip()
    day = datetime.strptime(rest, date_format).date() if date_format else _day(rest)  # noqa: DTZ007
    if found is None:
        return datetime.combine(day, time())
    hour, minute, second, part, half, utc, ahead, minutes = found.groups(default="")
    hours = int(hour) % 12 + 12 * (half in "pP") if half else int(hour)
    clock = time(hours, int(minute), int(second or 0), int(part.ljust(6, "0")[:6]))
    east = timedelta(hours=int(ahead or 0), minutes=int(f"{ahead[:1]}{minutes or 0}"))
    return datetime.combine(day, clock, (timezone(east) if east else UTC) if utc or ahead else None)


# The first one reads ISO 8601 as the fast decoder (msgspec) does.
_READERS: Final = (partial(msgspec.convert, type=datetime), datetime.fromisoformat, _written)


def _day(text: str) -> date:
    """Return the day of a date without a time; raise ValueError if it has not exactly one meaning."""
    parts = [part for part in _DATE_PART.findall(text.lower()) if part not in _AROUND]
    first, second, last = parts
    if names := [part for part in parts if part in _MONTH]:
        (name,) = names
        day, year = map(int, sorted((part for part in parts if part != name), key=len))
        month = _MONTH[name]
    elif len(first) == 4:  # noqa: PLR2004 - digits
        year, month, day = map(int, parts)
    else:
        day, month, year = int(first), int(second), int(last)
        if "." not in text and day != month:
            month, day = sorted((day, month))
            if day <= 12:  # noqa: PLR2004 - it may be the month
                raise ValueError(text)
    if year < 1000:  # noqa: PLR2004 - it has two digits
        raise ValueError(text)
    return date(year, month, day)
