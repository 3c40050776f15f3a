from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocabgap.errors import InvalidInputError
from vocabgap.model.moments import iso, parse_moment, parse_now

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
