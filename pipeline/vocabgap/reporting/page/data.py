"""What the rows of a page refer to by position: names, files, and the periods of the timelines."""

import re
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import accumulate
from math import log
from typing import Final, Self

import msgspec

from vocabgap.reporting.capability import SETTLED, Asker, Listed
from vocabgap.text import shortened, visible

# The geometry of the charts: numbers only; the templates draw them, and the script as they do.


HEAT_STEPS: Final = 6
_THINNEST: Final = 5.0  # of a span, to be seen


class Spark(msgspec.Struct, frozen=True):
    """The measures of a small drawing of upright bars.

    Attributes:
        width: Of the whole.
        height: Of the highest bar.
        filled: By a bar, of the width that it has to itself.
    """

    width: int
    height: int
    filled: float


SPARK: Final = Spark(width=60, height=16, filled=0.75)


class Span(msgspec.Struct, frozen=True, array_like=True):
    """A stretch of a line of length 100."""

    start: float
    length: float


def percentage(number: float, most: float) -> float:
    """A number as a percentage of the greatest one, to one digit."""
    return round(100 * number / most, 1) if most else 0.0


def bars(numbers: Sequence[int]) -> str:
    """Upright bars side by side, as the path of an SVG; what is not zero is one pixel high at least."""
    most = max(numbers, default=0)
    step = SPARK.width / max(len(numbers), 1)
    width = round(step * SPARK.filled, 1)
    found = []
    for position, number in enumerate(numbers):
        if number:
            top = round(SPARK.height - max(1.0, SPARK.height * number / most), 1)
            found.append(f"M{position * step:.1f} {SPARK.height}V{top}h{width}V{SPARK.height}")
    return "".join(found)


def rank_span(low: int, high: int, last: int) -> Span:
    """Where the interval of a rank lies between the first and the last rank, on a logarithmic scale."""
    whole = log(last) if last > 1 else 1.0
    start, end = (round(100 * log(each) / whole, 1) for each in (low, high))
    start = min(start, 100 - _THINNEST)
    return Span(start, max(round(end - start, 1), _THINNEST))


def heat(number: int, most: int) -> int:
    """How dark a cell of a heat map is: 0 for nothing, up to `HEAT_STEPS` for the most."""
    if not number or not most:
        return 0
    return -(-number * HEAT_STEPS // most)


_MOST: Final = 24  # months; more of them are shown as years
_TAIL: Final = 0.05  # of the mentions, at either end: what is no part of the bulk


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
    """The months that most mentions are in; the years where the months are many.

    What little is earlier or later than they are is told as one period before, or after, all of them: a clock
    that was wrong once does not make years of everybody's months.

    Attributes:
        first: The number of the first period.
        names: Their names, in order.
        are_years: Whether they are years.
    """

    first: int
    names: tuple[str, ...]
    are_years: bool

    @classmethod
    def of(cls, on_days: Sequence[tuple[date, int]]) -> Self:
        """The periods of a report.

        Args:
            on_days: Days on which something came up, one at least, with mentions; the earliest first.
        """
        days = [day for day, _ in on_days]
        bulk = _bulk(on_days)
        are_years = len(range(_month(bulk[0]), _month(bulk[1]) + 1)) > _MOST
        number, name = (_year, _year_name) if are_years else (_month, _month_name)
        earliest, latest = number(days[0]), number(days[-1])
        # Beyond the bulk there is as much as there is room for, the newest first.
        last = min(latest, max(number(bulk[0]) + _MOST - 1, number(bulk[1])))
        first = max(earliest, last - _MOST + 1)
        names = [name(each) for each in range(first, last + 1)]
        if earliest < first:
            names.insert(0, f"before {name(first)}")
        if latest > last:
            names.append(f"after {name(last)}")
        return cls(first - (earliest < first), tuple(names), are_years)

    def counted(self, on_days: Iterable[tuple[date, int]]) -> tuple[int, ...]:
        """Position of the first period with a mention, then the mentions of each from there to the last one.

        Args:
            on_days: Days with their mentions, the earliest first.
        """
        counts: dict[int, int] = {}
        for day, mentions in on_days:
            number = (_year if self.are_years else _month)(day) - self.first
            place = min(max(number, 0), len(self.names) - 1)
            counts[place] = counts.get(place, 0) + mentions
        if not counts:
            return ()
        first, last = min(counts), max(counts)
        return (first, *(counts.get(place, 0) for place in range(first, last + 1)))


class Index:
    """What the rows of one page refer to by position, and what all of them are measured by.

    Args:
        on_days: The days on which anything came up, with their mentions, the earliest first.
        named_by: What stands before the name of an image or a log.
        askers: Whose records there are.
        last_rank: The last rank that any interval reaches.
    """

    def __init__(
        self,
        on_days: Sequence[tuple[date, int]] = (),
        *,
        named_by: tuple[str, ...] = (),
        askers: tuple[Asker, ...] = (),
        last_rank: int = 1,
    ) -> None:
        self.categories, self.operations, self.images, self.files = Names(), Names(), Names(), Names()
        self.first_day = on_days[0][0] if on_days else None
        self.periods = Periods.of(on_days) if on_days else None
        self.named_by, self.askers, self.last_rank = named_by, askers, last_rank


def shown(text: str, most: int) -> str:
    """A text from a log as a page shows it: so many characters at most."""
    return shortened(visible(text), most)


def days_together(each_on_days: Iterable[Sequence[tuple[date, int]]]) -> list[tuple[date, int]]:
    """The days of several, the earliest first, with the mentions of all of them."""
    counts: dict[date, int] = {}
    for on_days in each_on_days:
        for day, mentions in on_days:
            counts[day] = counts.get(day, 0) + mentions
    return sorted(counts.items())


def _bulk(on_days: Sequence[tuple[date, int]]) -> tuple[date, date]:
    """The days between which all mentions are but a small part at either end."""
    whole = sum(mentions for _, mentions in on_days)
    return _beyond(on_days, whole * _TAIL), _beyond(on_days[::-1], whole * _TAIL)


def _beyond(on_days: Sequence[tuple[date, int]], mentions: float) -> date:
    """The first day on which there are more mentions, with those of the days before, than so many."""
    sums = accumulate(number for _, number in on_days)
    return next(day for (day, _), passed in zip(on_days, sums, strict=True) if passed > mentions)


def _month(day: date) -> int:
    return day.year * 12 + day.month - 1


def _month_name(number: int) -> str:
    return f"{number // 12:04}-{number % 12 + 1:02}"


def _year(day: date) -> int:
    return day.year


def _year_name(number: int) -> str:
    return f"{number:04}"


# The command lines with which a person decides about a capability.


_OURS: Final = re.compile(r"cap-[0-9a-f]{12}")


class Command(msgspec.Struct, frozen=True):
    """What a command does, and its words before and after the capability's identifier.

    Attributes:
        does: What it does, in a word or two.
        before: The words up to the identifier.
        after: The words from there on; those in capitals are for the person to fill in.
        group: The group of capabilities that it is for; null for all.
    """

    does: str
    before: str
    after: str
    group: str | None = None

    def line(self, capability_id: str) -> str:
        """The whole line. Nothing that a log says is in it, so that it can be pasted unread."""
        return f"{self.before}{capability_id}{self.after}"


_COMMANDS: Final = (
    ("merge", "vocabgap decide merge ", " OTHER", None),
    ("split", "vocabgap decide split ", " --wording 'WORDING'", None),
    ("rename", "vocabgap decide rename ", " 'NEW LABEL'", None),
    ("pin", "vocabgap decide pin ", "", None),
    ("dismiss", "vocabgap decide dismiss ", " --why 'REASON'", None),
    ("author", "vocabgap decide author ", " --entry ENTRY", None),
    ("reopen", "vocabgap decide reopen ", "", SETTLED),
)


def commands(everything: Sequence[Listed], deciding: str | None) -> tuple[Command, ...]:
    """The commands for every capability; none where there is none.

    Args:
        everything: The capabilities. If one has an identifier that is not of our making, there are no
            commands: what a shell would make of it is not known.
        deciding: The options that all of them end in; null where nobody is to be told of commands.
    """
    if deciding is None or not everything:
        return ()
    if any(not _OURS.fullmatch(each.capability.capability_id) for each in everything):
        return ()
    options = f" {deciding}" if deciding else ""
    return tuple(Command(does, before, after + options, group) for does, before, after, group in _COMMANDS)
