"""What the rows of a page refer to by position: names, files, and the periods of the timelines."""

from collections.abc import Iterable
from datetime import date
from typing import Final, Self

import msgspec

from vocabgap.text import shortened, visible

_MONTHS: Final = 24  # more of them are shown as years


class Names:
    """Names in the order in which they are first asked for, each once."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def place(self, name: str) -> int:
        """The position of a name."""
        return self._known.setdefault(name, len(self._known))

    def shown(self, most: int) -> tuple[str, ...]:
        """All of them, safe to show."""
        return tuple(shown(name, most) for name in self._known)


class Periods(msgspec.Struct, frozen=True):
    """The months between two days; the years where the months are many.

    Attributes:
        first: The number of the first period.
        names: Their names, in order.
        are_years: Whether they are years.
    """

    first: int
    names: tuple[str, ...]
    are_years: bool

    @classmethod
    def between(cls, first: date, last: date) -> Self:
        """The periods from one day to another."""
        months = range(_month(first), _month(last) + 1)
        if len(months) <= _MONTHS:
            return cls(months[0], tuple(f"{each // 12:04}-{each % 12 + 1:02}" for each in months), False)
        years = range(first.year, last.year + 1)
        return cls(first.year, tuple(f"{each:04}" for each in years), True)

    def counted(self, on_days: Iterable[tuple[date, int]]) -> tuple[int, ...]:
        """Position of the first period with a mention, then the mentions of each from there to the last one.

        Args:
            on_days: Days with their mentions, the earliest first.
        """
        counts: dict[int, int] = {}
        for day, mentions in on_days:
            place = (day.year if self.are_years else _month(day)) - self.first
            counts[place] = counts.get(place, 0) + mentions
        if not counts:
            return ()
        first, last = min(counts), max(counts)
        return (first, *(counts.get(place, 0) for place in range(first, last + 1)))


class Index:
    """What the rows of one page refer to by position.

    Args:
        days: The first and the last day on which anything came up; null if no day is known.
        with_repository: Whether a log is named with its repository.
        last_rank: The last rank that any of them might have.
    """

    def __init__(self, days: tuple[date, date] | None, *, with_repository: bool, last_rank: int = 1) -> None:
        self.categories, self.operations, self.images, self.files = Names(), Names(), Names(), Names()
        self.first_day = None if days is None else days[0]
        self.periods = None if days is None else Periods.between(*days)
        self.with_repository = with_repository
        self.last_rank = last_rank


def shown(text: str, most: int) -> str:
    """A text from a log as a page shows it: so many characters at most."""
    return shortened(visible(text), most)


def _month(day: date) -> int:
    return day.year * 12 + day.month - 1
