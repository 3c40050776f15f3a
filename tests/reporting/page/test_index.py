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


@pytest.mark.parametrize(
    ("last", "names"),
    [
        (date(2025, 11, 30), ("2025-11",)),
        (date(2026, 2, 1), ("2025-11", "2025-12", "2026-01", "2026-02")),
        (date(2027, 11, 1), ("2025", "2026", "2027")),
    ],
)
def test_periods_are_months_and_years_where_months_are_many(last: date, names: tuple[str, ...]) -> None:
    assert Periods.of([(date(2025, 11, 3), 1), (last, 1)]).names == names


def test_mentions_are_counted_in_every_period_from_the_first_to_the_last() -> None:
    periods = Periods.of([(date(2026, 1, 1), 1), (date(2026, 12, 1), 1)])
    days = [(date(2026, 3, 1), 2), (date(2026, 3, 31), 1), (date(2026, 5, 1), 4)]
    assert periods.counted(days) == (2, 3, 0, 4)


def test_one_clock_that_was_wrong_does_not_make_years_of_everybodys_months() -> None:
    days = [(date(1, 1, 1), 1), (date(1970, 1, 1), 1), (date(2026, 3, 1), 60), (date(2026, 6, 1), 60)]
    periods = Periods.of([*days, (date(9999, 12, 31), 1)])
    assert periods.months == 1
    assert periods.names[:2] == ("before 2026-03", "2026-03")
    assert periods.names[-1].startswith("after ")
    assert periods.counted(days) == (0, 2, 60, 0, 0, 60)
    assert periods.counted([(date(9999, 12, 31), 1)]) == (len(periods.names) - 1, 1)


def test_many_years_are_not_endless() -> None:
    days = [(date(year, 1, 1), 1) for year in range(1, 2027)]
    periods = Periods.of(days)
    assert (periods.months == 12, len(periods.names)) == (True, 26)
    assert sum(periods.counted(days)[1:]) == len(days)
