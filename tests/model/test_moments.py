from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocabgap.errors import InvalidInputError
from vocabgap.model.moments import (
    format_of,
    is_zero_year,
    iso,
    moment_of,
    parse_moment,
    parse_now,
    to_minute,
)

NOW = datetime(2026, 5, 20, 12, 0, tzinfo=UTC)
moments_in_utc = st.datetimes(timezones=st.just(UTC))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-01", datetime(2026, 5, 1, tzinfo=UTC)),
        ("2026-05-01T09:30:00", datetime(2026, 5, 1, 9, 30, tzinfo=UTC)),
        ("2026-05-01T09:30:00Z", datetime(2026, 5, 1, 9, 30, tzinfo=UTC)),
        ("2026-05-01T09:30:00+02:00", datetime(2026, 5, 1, 7, 30, tzinfo=UTC)),
        ("2026-05-01T23:30:00-01:00", datetime(2026, 5, 2, 0, 30, tzinfo=UTC)),
        ("2026-05-01T09:30:00.250Z", datetime(2026, 5, 1, 9, 30, 0, 250_000, tzinfo=UTC)),
        ("  2026-05-01 ", datetime(2026, 5, 1, tzinfo=UTC)),
        ("2026-09", datetime(2026, 9, 1, tzinfo=UTC)),
    ],
)
def test_dates_and_times_are_read_in_utc(text: str, expected: datetime) -> None:
    moment = parse_moment(text, NOW, name="--since")

    assert moment == expected
    assert moment.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("7d", timedelta(days=7)), ("2w", timedelta(weeks=2)), ("24h", timedelta(hours=24)),
        ("30m", timedelta(minutes=30)), ("0d", timedelta(0)), (" 7d ", timedelta(days=7)),
    ],
)  # fmt: skip
def test_spans_count_back_from_now(text: str, span: timedelta) -> None:
    assert parse_moment(text, NOW, name="--since") == NOW - span


@pytest.mark.parametrize(
    "text",
    ["", "7", "-7d", "7 d", "7y", "7d\n7d", "2026-13", "2026-9", "2026-02-30", "2026-05-01T25:00",
     "0001-01-01T00:00:00+05:00", "1778000000"],
)  # fmt: skip
def test_what_is_no_moment_is_named_with_an_example_of_one(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_moment(text, NOW, name="--until")

    assert f"--until: '{text}'" in str(caught.value)
    assert "2026-05-01" in str(caught.value)
    assert "7d" in str(caught.value)


def test_now_is_the_clock_where_none_was_given() -> None:
    before = datetime.now(UTC)

    now = parse_now(None)

    assert before <= now <= datetime.now(UTC)


@given(moments_in_utc)
def test_a_moment_that_was_written_is_read_back(moment: datetime) -> None:
    assert parse_moment(iso(moment), NOW, name="--since") == moment
    assert iso(moment).endswith("Z")


WRITTEN = [
    "2026-08-01T10:00:00Z", "2026-08-01 12:00:00+02", "2026-08-01 12:00:00 +02:00", "20260801T100000Z",
    "2026-W31-6T10:00:00Z", "2026-08-01T12:00:00+02:00[Europe/Berlin]", "2026-08-01T10:00:00Z[UTC]",
    "Sat, 01 Aug 2026 10:00:00 GMT", "Sat, 1 Aug 2026 12:00:00 +0200 (CEST)",
    "Sat Aug 01 10:00:00 +0000 2026", "Sat Aug  1 10:00:00 UTC 2026",
    "Sat Aug 01 2026 12:00:00 GMT+0200 (Central European Summer Time)",
    "2026-08-01 12:00:00.000000001 +0200 CEST m=+0.5", "01/Aug/2026:12:00:00 +0200",
    "/Date(1785578400000)/", "/Date(1785578400000+0200)/", "1785578400", "1785578400000", 1785578400,
    1785578400.0, 1785578400000000000, {"$date": "2026-08-01T10:00:00Z"},
    {"$date": {"$numberLong": "1785578400000"}}, {"$date": 1785578400000}, {"seconds": "1785578400"},
    {"seconds": 1785578400, "nanos": 0}, {"_seconds": 1785578400, "_nanoseconds": 0},
    {"epochSecond": 1785578400, "nano": 999}, {"value": "2026-08-01T10:00:00Z"},
]  # fmt: skip
WITHOUT_ZONE = [
    "2026-08-01T10:00:00.0000000", "2026-08-01 10:00:00,000", "2026/08/01 10:00:00", "2026-8-1 10:00",
    "2026. 8. 1. 10:00", "2026年8月1日 10:00", "01-Aug-2026 10:00:00", "1 Aug 2026, 10:00",
    "1. August 2026 10:00", "Aug 1, 2026 10:00 AM", "August 1st, 2026 at 10:00 a.m.",
    "Saturday, August 1, 2026 10:00:00 AM", "Sat Aug  1 10:00:00 2026", "01AUG2026:10:00:00",
    "2026-Aug-01 10:00", "01.08.2026 10:00", "1. 8. 2026 10:00", [2026, 8, 1, 10, 0],
    [2026, 8, 1, 10, 0, 0, 999],
]  # fmt: skip
DOUBTFUL = [
    "08/01/2026", "01-08-2026", "01.08.26", "01/Aug/26", "1 Aug 26", "13/13/2026", "13.13.2026",
    "08.17.2026", "2026-08-01 10:00 CEST", "10:00", "August 2026", "2026-08", "Sprint 1 Aug 2026",
    "Aug Aug 1 2026", "32 Aug 2026", "1 Aug 2026 25:00", "1 2 Aug 2026", "1 Aug 2026 2026", "today", "",
    " ", "1" * 5_000, "(" * 5_000, True, None, 0, -1, 17.09, 2026.0801, float("inf"), 10**400, [],
    [2026], [2026, 8, True], {}, {"seconds": 1, "nanos": 2}, {"a": 1, "b": 2},
]  # fmt: skip


def test_a_moment_has_at_most_99_signs() -> None:
    longest = f"2026-08-01T10:00:00.{'0' * 78}Z"

    assert len(longest) == 99
    assert moment_of(longest) == datetime(2026, 8, 1, 10, tzinfo=UTC)
    assert moment_of(longest.replace("Z", "0Z")) is None


@pytest.mark.parametrize("value", WRITTEN, ids=repr)
def test_each_notation_with_one_meaning_is_read(value: object) -> None:
    moment = moment_of(value)

    assert moment is not None
    assert moment.replace(microsecond=0) == datetime(2026, 8, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize("value", WITHOUT_ZONE, ids=repr)
def test_a_time_without_a_zone_stays_without_one(value: object) -> None:
    assert moment_of(value) == datetime(2026, 8, 1, 10)  # noqa: DTZ001 - that is the point


@pytest.mark.parametrize("value", DOUBTFUL, ids=lambda value: repr(value)[:40])
def test_what_has_several_meanings_or_none_is_not_read(value: object) -> None:
    assert moment_of(value) is None


def test_a_number_that_python_does_not_write_is_no_moment() -> None:
    huge = 10**5_000

    read = map(moment_of, (huge, -huge, [huge, 8, 1], {"seconds": huge, "nanos": 1}))

    assert [*read] == [None] * 4


@pytest.mark.parametrize("text", ["17/09/2026", "09/17/2026", "17-9-2026", "17.09.2026"])
def test_a_number_above_twelve_is_a_day(text: str) -> None:
    assert moment_of(text) == datetime(2026, 9, 17)  # noqa: DTZ001


@given(
    st.datetimes(datetime(1971, 1, 1), datetime(9998, 1, 1)),  # noqa: DTZ001
    st.sampled_from(
        ["%d %B %Y %H:%M:%S", "%a %b %d %H:%M:%S %Y", "%Y/%m/%d %I:%M:%S %p", "%d.%m.%Y, %H:%M:%S"]
    ),
)
def test_a_moment_in_another_notation_is_the_same(moment: datetime, notation: str) -> None:
    assert moment_of(moment.strftime(notation)) == moment.replace(microsecond=0)


@pytest.mark.parametrize(
    ("texts", "date_format"),
    [
        (["17.09.2026", "03.09.2026"], ""),  # none is needed
        (["03/09/2026"], ""),  # two fit
        (["03/09/2026", "05/12/2026"], ""),
        (["03/09/2026", "17/09/2026"], "%d/%m/%Y"),
        (["9/3/2026 1:05 PM", "n/a", "9/17/2026 2:05 AM"], "%m/%d/%Y"),
        (["09.17.2026", "09.03.2026"], "%m.%d.%Y"),
        (["17.09.26", "03.10.26"], "%d.%m.%y"),
        (["01.08.26"], ""),
        (["26-09-17", "26-10-03"], "%y-%m-%d"),
        (["15/Aug/23 6:12 PM", "16/Aug/23 6:12 PM"], "%d/%b/%y"),
        (["17/09/2026", "last week, 3 times"], ""),
        (["a wish"], ""),
        ([], ""),
    ],
)
def test_a_column_of_dates_tells_its_format(texts: list[str], date_format: str) -> None:
    assert format_of(texts) == date_format
    assert not date_format or all(moment_of(text, date_format) for text in texts if text != "n/a")


@pytest.mark.parametrize("year", [1, 1601, 1900, 1969, 1970, 9999])
def test_years_of_zero_times_are_none_of_a_log(year: int) -> None:
    assert is_zero_year(year)
    assert not is_zero_year(2026)


def test_with_a_format_other_notations_are_not_read() -> None:
    assert moment_of("17 May 2026") == datetime(2026, 5, 17)  # noqa: DTZ001
    assert moment_of("17 May 2026", "%d/%m/%Y") is None
    assert moment_of("17/05/2026", "%d/%m/%Y") == datetime(2026, 5, 17)  # noqa: DTZ001
    assert moment_of("2026-05-17", "%d/%m/%Y") == datetime(2026, 5, 17)  # noqa: DTZ001


def test_a_moment_for_a_person_is_in_utc_to_the_minute() -> None:
    moment = datetime(2026, 8, 1, 1, 30, 59, tzinfo=timezone(timedelta(hours=2)))

    assert to_minute(moment) == "2026-07-31 23:30 UTC"
