"""The dendrogram of one group, as text and as a picture."""

import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl
from rich.cells import cell_len, set_cell_size

from vocabgap.errors import InvalidInputError, NotFoundError, StateError, expanded
from vocabgap.files.atomic import write_whole
from vocabgap.files.refusals import FileKind, file_kind, refusal
from vocabgap.reporting.wording import environment
from vocabgap.text import carried, excerpt

_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_LINES: Final = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"  # by the sum of the four directions that a line leaves in
_PLAIN: Final = str.maketrans(_LINES, " |||-+++-+++-+++")
_CUT, _PLAIN_CUT = "…", "..."  # behind a wording that is cut
_SCALE: Final = "cosine distance"
_TEXT_WIDTH: Final = 48  # cells for the lines, and at most as many for a wording

# Pixels: above the first row, of a row, of the lines across, and of a character across.
_HEAD, _ROW, _PLOT, _CHARACTER = 40, 20, 420, 7.2
_TICKS: Final = 5
_SVG: Final = b"<svg"


@dataclass(frozen=True, slots=True)
class Leaf:
    """One surface of a group, by its most mentioned wording."""

    wording: str
    mentions: int


@dataclass(frozen=True, slots=True)
class _Join:
    """A merge in the drawing: two horizontal lines that end at one upright line."""

    height: float  # of the upright line
    ends: tuple[tuple[float, float], tuple[float, float]]  # row and height at which the two lines begin
    row: float  # from which the line of the whole goes on


def leaves_of(surfaces: pl.DataFrame) -> list[Leaf]:
    """Return the leaves of a frame with the columns `wording` and `mentions`."""
    return [Leaf(*row) for row in surfaces.select("wording", "mentions").iter_rows()]


def text_dendrogram(leaves: Sequence[Leaf], linkage: pl.DataFrame, *, encoding: str = "utf-8") -> str:
    """Draw the dendrogram of a group as text, a line for each surface, from table `linkage` of the group.

    ASCII characters draw the lines if the encoding has no others.
    """
    order, joins = _laid_out(leaves, linkage)
    is_plain = any(carried(line, encoding) != line for line in (_LINES, _CUT))
    names = [carried(excerpt(leaves[number].wording), encoding) for number in order]
    width = min(max(map(cell_len, [*names, _SCALE] if joins else names)), _TEXT_WIDTH)
    counts = [f"{leaves[number].mentions:,}" for number in order]
    wide = max(map(len, counts))
    grid = _drawn(len(leaves), joins)
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


def svg_dendrogram(leaves: Sequence[Leaf], linkage: pl.DataFrame, *, title: str) -> str:
    """Draw the dendrogram of a group as an SVG picture without script, font or file beside it."""
    order, joins = _laid_out(leaves, linkage)
    shown = excerpt(title)
    names = [f"{excerpt(leaves[number].wording)} ({leaves[number].mentions:,})" for number in order]
    margin = 20 + _CHARACTER * max(map(cell_len, names))
    top = joins[-1].height if joins else 0.0
    scale = _PLOT / top if top else 0.0
    lines = [
        {
            "x": margin + scale * join.height,
            "starts": [margin + scale * height for _, height in join.ends],
            "rows": [_HEAD + _ROW * row for row, _ in join.ends],
        }
        for join in joins
    ]
    ticks = [(margin + _PLOT * tick / _TICKS, top * tick / _TICKS) for tick in range(_TICKS + 1)]
    return (
        environment(autoescape=True)
        .get_template("dendrogram.svg.j2")
        .render(
            title=shown,
            names=[(_HEAD + _ROW * row, name) for row, name in enumerate(names)],
            lines=lines,
            ticks=ticks if top else [],
            margin=margin,
            bottom=_HEAD + _ROW * len(order),
            width=max(margin + _PLOT, _CHARACTER * cell_len(shown)) + _HEAD,
        )
    )


def _laid_out(leaves: Sequence[Leaf], linkage: pl.DataFrame) -> tuple[list[int], list[_Join]]:
    """Return the leaves from top to bottom, so that no lines cross, and the merges between them.

    SciPy's `dendrogram(no_plot=True)` calls itself at every merge: a chain of 1,000 wordings ends it.
    """
    count = len(leaves)
    merges = linkage.select("left", "right", "height").rows()
    first = list(range(count))
    weight = [leaf.mentions for leaf in leaves]
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
    if cell_len(name) > width:
        return set_cell_size(name, width - len(cut)) + cut
    return set_cell_size(name, width)


def picture_place(path: str | Path) -> Path:
    """Return the place for a picture. There may be nothing, an empty file, or an earlier picture.

    Raises:
        InvalidInputError: It is no path.
        NotFoundError: Its folder does not exist.
        StateError: Something else is there.
        AccessDeniedError: The operating system refused.
    """
    place = expanded(path)
    with _naming(path):
        kind = file_kind(place)
        if kind is FileKind.NOTHING:
            if not place.parent.is_dir():
                raise NotFoundError(f"--svg: the folder of '{path}' does not exist", hint="make it first")
        elif kind is not FileKind.FILE:
            raise StateError(f"--svg: '{path}' is {kind}, no picture", hint="name a file")
        elif not _may_be_replaced(place):
            raise StateError(f"--svg: '{path}' exists, and is no picture", hint="name another file")
        return place.resolve()


def write_picture(path: str | Path, picture: str) -> None:
    """Write a picture, or replace an earlier one; for errors see `picture_place`."""
    place = picture_place(path)
    with _naming(path):
        # Gap text is private: only the owner may read a new picture; an earlier one keeps its permissions.
        write_whole(place, picture.encode(), stat.S_IMODE(place.stat().st_mode) if place.exists() else 0o600)


@contextmanager
def _naming(path: str | Path) -> Iterator[None]:
    """Name the file of the option in an error of the system."""
    try:
        yield
    except ValueError as error:
        raise InvalidInputError(f"--svg: '{path}' is no path", hint="name another file") from error
    except OSError as error:
        raise refusal(f"--svg: '{path}' cannot be written", error, hint="name another file") from error


def _may_be_replaced(place: Path) -> bool:
    with place.open("rb") as content:
        return content.read(len(_SVG)) in {b"", _SVG}
