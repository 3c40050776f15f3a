"""Moments in time as people write them."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

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
