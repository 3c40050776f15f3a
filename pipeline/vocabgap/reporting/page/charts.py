"""The geometry of the charts: numbers only; the templates draw them, and the script as they do."""

from collections.abc import Sequence
from math import log
from typing import Final

import msgspec

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
