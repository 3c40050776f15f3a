"""The dendrogram of one group as text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl
from rich.cells import cell_len, set_cell_size

from vocabgap.text import carried, excerpt

_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_LINES: Final = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"  # by the sum of the four directions that a line leaves in
_PLAIN: Final = str.maketrans(_LINES, " |||-+++-+++-+++")
_CUT, _PLAIN_CUT = "…", "..."  # behind a wording that is cut
_SCALE: Final = "cosine distance"
_TEXT_WIDTH: Final = 48  # cells for the lines, and at most as many for a wording


@dataclass(frozen=True, slots=True)
class _Join:
    """A merge in the drawing: two horizontal lines that end at one upright line."""

    height: float  # of the upright line
    ends: tuple[tuple[float, float], tuple[float, float]]  # row and height at which the two lines begin
    row: float  # from which the line of the whole goes on


def text_dendrogram(surfaces: pl.DataFrame, linkage: pl.DataFrame, *, encoding: str = "utf-8") -> str:
    """Draw the dendrogram of a group as text, a line for each surface, from table `linkage` of the group.

    ASCII characters draw the lines if the encoding has no others.
    """
    wordings, mentions = surfaces["wording"].to_list(), surfaces["mentions"].to_list()
    order, joins = _laid_out(mentions, linkage)
    is_plain = any(carried(line, encoding) != line for line in (_LINES, _CUT))
    names = [carried(excerpt(wordings[number]), encoding) for number in order]
    width = min(max(map(cell_len, [*names, _SCALE] if joins else names)), _TEXT_WIDTH)
    counts = [f"{mentions[number]:,}" for number in order]
    wide = max(map(len, counts))
    grid = _drawn(len(order), joins)
    lines = []
    for name, count, marks in zip(names, counts, grid, strict=True):
        drawn = "".join(_LINES[mark] for mark in marks).rstrip()
        if is_plain:
            drawn = drawn.translate(_PLAIN)
        lines.append(f"{_fitted(name, width, _PLAIN_CUT if is_plain else _CUT)}  {count:>{wide}} {drawn}")
    if joins:
        top = f"{joins[-1].height:.2f}"
        lines.append(f"{_SCALE:<{width}}  {'':>{wide}} 0{top:>{_TEXT_WIDTH - 1}}")
    return "\n".join(line.rstrip() for line in lines)


def _laid_out(mentions: Sequence[int], linkage: pl.DataFrame) -> tuple[list[int], list[_Join]]:
    """Return the surfaces from top to bottom, so that no lines cross, and the merges between them.

    SciPy's `dendrogram(no_plot=True)` calls itself at every merge: a chain of 1,000 wordings ends it.
    """
    count = len(mentions)
    merges = linkage.select("left", "right", "height").rows()
    first = list(range(count))
    weight = [*mentions]
    sides: list[tuple[int, int]] = []
    for left, right, _ in merges:
        # The more mentioned side comes first; the surfaces sort as their numbers do.
        upper, lower = sorted((left, right), key=lambda side: (-weight[side], first[side]))
        sides.append((upper, lower))
        weight.append(weight[left] + weight[right])
        first.append(min(first[left], first[right]))
    order: list[int] = []
    waiting = [count + len(merges) - 1]
    while waiting:
        node = waiting.pop()
        if node < count:
            order.append(node)
        else:
            waiting += reversed(sides[node - count])
    row: list[float] = [0.0] * count
    for position, number in enumerate(order):
        row[number] = position
    height = [0.0] * count
    joins = []
    for (upper, lower), (_, _, meeting) in zip(sides, merges, strict=True):
        ends = ((row[upper], height[upper]), (row[lower], height[lower]))
        join = _Join(meeting, ends, (row[upper] + row[lower]) / 2)
        joins.append(join)
        row.append(join.row)
        height.append(meeting)
    return order, joins


def _drawn(rows: int, joins: Sequence[_Join]) -> list[list[int]]:
    """Return, for each cell of the text, the directions in which lines leave it."""
    grid = [[0] * _TEXT_WIDTH for _ in range(rows)]
    top = joins[-1].height if joins else 0.0

    def column(height: float) -> int:
        return 1 + round((_TEXT_WIDTH - 3) * height / top) if top else 1

    for join in joins:
        x = column(join.height)
        (first, since), (second, other) = join.ends
        for row, height in ((int(first), since), (int(second), other)):
            start = column(height) if height else 0
            for cell in range(start, x):
                grid[row][cell] |= _RIGHT
                grid[row][cell + 1] |= _LEFT
        for row in range(int(first), int(second)):
            grid[row][x] |= _DOWN
            grid[row + 1][x] |= _UP
    if joins:
        grid[int(joins[-1].row)][column(joins[-1].height)] |= _RIGHT
    return grid


def _fitted(name: str, width: int, cut: str) -> str:
    is_long = cell_len(name) > width
    return set_cell_size(name, width - len(cut)) + cut if is_long else set_cell_size(name, width)
