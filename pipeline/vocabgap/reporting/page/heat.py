"""Which capability touches which operations: a heat map of numbers."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from vocabgap.reporting.page.charts import heat
from vocabgap.reporting.page.rows import Row

ROWS: Final = 20
OPERATIONS: Final = 12


class Cell(msgspec.Struct, frozen=True):
    """Mentions of a capability that involve an operation, and how dark that is, 0 to `charts.HEAT_STEPS`."""

    mentions: int
    step: int


class HeatMap(msgspec.Struct, frozen=True):
    """Capabilities by operations.

    Attributes:
        operations: Positions of the operations in the page's list of names, most mentions first.
        rows: The capabilities, each with a cell for every one of these.
        others: Operations of these capabilities that are not among them.
    """

    operations: tuple[int, ...]
    rows: tuple[tuple[Row, tuple[Cell, ...]], ...]
    others: int


def heat_map(rows: Sequence[Row]) -> HeatMap:
    """The heat map of the first capabilities and the operations that they involve most."""
    first = rows[:ROWS]
    totals: Counter[int] = Counter()
    for row in first:
        totals.update(_pairs(row))
    # Of equals the one that was met first stands first, which goes by rank.
    chosen = tuple(operation for operation, _ in totals.most_common(OPERATIONS))
    counts = [_pairs(row) for row in first]
    most = max((counted.get(each, 0) for counted in counts for each in chosen), default=0)
    cells = (
        tuple(Cell(counted.get(each, 0), heat(counted.get(each, 0), most)) for each in chosen)
        for counted in counts
    )
    return HeatMap(chosen, tuple(zip(first, cells, strict=True)), len(totals) - len(chosen))


def _pairs(row: Row) -> dict[int, int]:
    return dict(zip(row.operations[::2], row.operations[1::2], strict=True))
