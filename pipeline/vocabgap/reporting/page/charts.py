"""The geometry of the charts: numbers only; the templates draw them."""

from collections.abc import Sequence
from math import log
from typing import Final, NamedTuple

import msgspec

HEAT_STEPS: Final = 6
SPARK_WIDTH: Final = 60
SPARK_HEIGHT: Final = 16


class Bar(NamedTuple):
    """One upright bar, in pixels from the upper left corner."""

    x: float
    y: float
    width: float
    height: float


class Span(msgspec.Struct, frozen=True):
    """A stretch of a line of length 100, with a mark on it."""

    start: float
    length: float
    mark: float


def share(number: float, most: float) -> float:
    """A number as a percentage of the greatest one, to one digit."""
    return round(100 * number / most, 1) if most else 0.0


def bars(numbers: Sequence[int], width: float = SPARK_WIDTH, height: float = SPARK_HEIGHT) -> list[Bar]:
    """Upright bars side by side; what is not zero is one pixel high at least."""
    most = max(numbers, default=0)
    step = width / max(len(numbers), 1)
    found = []
    for position, number in enumerate(numbers):
        tall = max(1.0, round(height * number / most, 1)) if number else 0.0
        found.append(Bar(round(position * step, 1), round(height - tall, 1), round(step * 0.75, 1), tall))
    return found


def rank_span(low: int, rank: int, high: int, last: int) -> Span:
    """Where the interval of a rank lies between the first and the last, on a logarithmic scale."""
    whole = log(last) if last > 1 else 1.0
    start, mark, end = (round(100 * log(each) / whole, 1) for each in (low, rank, high))
    return Span(start, round(max(end - start, 1.0), 1), mark)


def heat(number: int, most: int) -> int:
    """How dark a cell of a heat map is: 0 for nothing, up to `HEAT_STEPS` for the most."""
    if not number or not most:
        return 0
    return -(-number * HEAT_STEPS // most)
