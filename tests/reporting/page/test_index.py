"""What rows refer to by position."""

from datetime import date

import pytest

from vocabgap.reporting.rows import Names, Periods


def test_a_name_has_one_position() -> None:
    names = Names()
    assert [names.place(name) for name in ("b", "a", "b")] == [0, 1, 0]
    assert names.shown(10) == ("b", "a")


def test_names_are_shown_not_obeyed_and_cut() -> None:
    names = Names()
    names.place("a\x1b[31mb")
    names.place("long name")
    assert names.shown(4) == ("a\\u0… (12 characters)", "long… (9 characters)")


TODAY = date(2027, 11, 1)


@pytest.mark.parametrize(
    ("last", "names"),
    [
        (date(2025, 11, 30), ("2025-11",)),
        (date(2026, 2, 1), ("2025-11", "2025-12", "2026-01", "2026-02")),
    ],
)
def test_periods_are_the_months_from_the_first_mention_to_the_last(
    last: date, names: tuple[str, ...]
) -> None:
    assert Periods.of([(date(2025, 11, 3), 1), (last, 1)], TODAY).names == names


def test_mentions_are_counted_in_every_period_from_the_first_to_the_last() -> None:
    periods = Periods.of([(date(2026, 1, 1), 1), (date(2026, 12, 1), 1)], TODAY)
    days = [(date(2026, 3, 1), 2), (date(2026, 3, 31), 1), (date(2026, 5, 1), 4)]
    assert periods.counted(days) == (2, 3, 0, 4)


def test_months_long_ago_and_those_of_wrong_clocks_are_counted_together() -> None:
    days = [(date(1, 1, 1), 1), (date(1970, 1, 1), 1), (date(2027, 9, 1), 60), (date(2027, 11, 1), 60)]
    periods = Periods.of([*days, (date(9999, 12, 31), 1)], TODAY)
    assert periods.names[:2] == ("before 2025-12", "2025-12")
    assert periods.names[-2:] == ("2027-11", "after 2027-11")
    assert periods.counted(days) == (0, 2, *[0] * 21, 60, 0, 60)
    assert periods.counted([(date(9999, 12, 31), 1)]) == (len(periods.names) - 1, 1)
    assert Periods.of([(date(9999, 12, 31), 1)], TODAY).names == ("9999-12",)
