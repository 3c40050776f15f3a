"""The map of the needs: places, circles and labels.

Needs with similar wording or the same category are close together.
"""

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import cos, pi, sin, sqrt
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl

from vocabgap.model.capability import SETTLED
from vocabgap.model.record import UNCATEGORIZED
from vocabgap.reporting.listed import numbers_of
from vocabgap.reporting.overviews import Place
from vocabgap.reporting.rows import Row

if TYPE_CHECKING:  # a program that only reads runs does not load clustering
    from vocabgap.clustering.grouping import Clusters

MOST_PLACES: Final = 60
FEWEST_PLACES: Final = 3  # fewer are all near
FEWEST_CIRCLES: Final = 15  # fewer are seen at once in the list
NEAREST: Final = 3
_NEAR: Final = 0.1  # least similarity of a need that is listed as near
# The similarity that a common category adds to two wordings. On the map of the demo, 8 of 10 of the three
# nearest needs then have the same category; without it 3 of 10.
_THEME: Final = 0.2
_STEPS: Final = 300
_TIE: Final = 1e-3  # of the distances
_DIGITS: Final = 3
WIDTH: Final = 1000
HEIGHT: Final = 640
THEMES: Final = 8  # categories with their own colour
_MARGIN: Final = 48  # for labels at the edge
# Radius: the area grows with the mentions; the smallest circle has room for a number.
_LARGEST, _SMALLEST = 36.0, 10.0
_FILLED: Final = 0.2  # largest share of the drawing that circles fill
_GAP: Final = 4.0
_ROUNDS: Final = 80  # at most, to move overlapping circles apart
_LINE: Final = 13.0  # height of a line of a label
_LETTER: Final = 6.2  # approximate width of a letter
_LETTERS: Final = 18  # of a line
_LINES: Final = 3
_ROOM: Final = 18.0  # radius of a circle with two lines
_INSIDE: Final = 5.2  # approximate width of a letter inside a circle
_NEVER: Final = 1e-9
FloatArray = npt.NDArray[np.float64]


class Line(msgspec.Struct, frozen=True):
    """A line of a label, with the middle of its base line."""

    text: str
    x: float
    y: float


class Circle(msgspec.Struct, frozen=True):
    """A capability on the map."""

    id: str
    x: float
    y: float
    radius: float
    theme: int  # 0 for categories without their own colour
    named: str  # its category, if the circle has room
    label: tuple[Line, ...]  # none if there is no room


class Theme(msgspec.Struct, frozen=True):
    """A category of the map, with its number of capabilities."""

    number: int
    name: str
    capabilities: int


class NeedsMap(msgspec.Struct, frozen=True):
    """The drawing with the meaning of its colours."""

    circles: tuple[Circle, ...]  # in order of rank
    themes: tuple[Theme, ...]
    width: int = WIDTH
    height: int = HEIGHT


class _Box(msgspec.Struct, frozen=True):
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "_Box") -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    @property
    def is_inside(self) -> bool:
        return self.left >= 0 and self.top >= 0 and self.right <= WIDTH and self.bottom <= HEIGHT


def places_of(clusters: "Clusters", ranked: pl.DataFrame) -> tuple[Place, ...]:
    """Return the places of the first capabilities that are neither settled nor rare; none if few."""
    is_listed = ~pl.col("status").is_in(SETTLED) & (pl.col("established") | pl.col("pinned"))
    first = ranked.filter(is_listed).head(MOST_PLACES)
    if first.height < FEWEST_PLACES:
        return ()
    alike = clusters.nearness(numbers_of(clusters, first))
    category = first["intent_category"].to_numpy()
    in_common = category[:, np.newaxis] == category[np.newaxis, :]
    apart = 1.0 - (alike + _THEME * in_common) / (1.0 + _THEME)
    names = first["capability_id"].to_list()
    order = np.argsort(-alike, axis=1, kind="stable").tolist()
    points = scaled(apart**2).tolist()
    return tuple(
        Place(
            name,
            x,
            y,
            tuple(names[other] for other in others if other != own and alike[own, other] >= _NEAR)[:NEAREST],
        )
        for own, (name, (x, y), others) in enumerate(zip(names, points, order, strict=True))
    )


def scaled(distances: FloatArray) -> FloatArray:
    """Return points in a plane, shape (n, 2), from -1 to 1, whose distances are close to `distances`.

    Multidimensional scaling: stress majorization from the classical solution (de Leeuw 1977). The points are
    rounded, so that they are the same with any number of threads. `distances` has the shape (n, n).
    """
    size = len(distances)
    points = _start(distances)
    for _ in range(_STEPS):
        between = points[:, np.newaxis] - points[np.newaxis, :]
        lengths = np.sqrt((between**2).sum(axis=2))
        ratios = np.divide(distances, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
        points = (ratios[:, :, np.newaxis] * between).sum(axis=1) / size
    # The direction of the map has no meaning: put the first point in the upper left.
    points *= np.where(points[0] > 0.0, -1.0, 1.0)
    return np.asarray(np.round(points / (np.abs(points).max() or 1.0), _DIGITS) + 0.0)


def _start(distances: FloatArray) -> FloatArray:
    """Return the classical solution; a spiral separates points with equal distances."""
    size = len(distances)
    turns = np.arange(size) * np.pi * (3.0 - np.sqrt(5.0))
    spiral = np.sqrt(np.arange(1.0, size + 1.0) / size)[:, np.newaxis] * np.c_[np.cos(turns), np.sin(turns)]
    between = spiral[:, np.newaxis] - spiral[np.newaxis, :]
    squares = distances**2 + _TIE * (between**2).sum(axis=2)
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, np.newaxis] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2.0)
    return np.asarray(vectors[:, :-3:-1] * np.sqrt(np.maximum(values[:-3:-1], 0.0)))


def needs_map(places: Sequence[Place], rows: Mapping[str, Row], categories: Sequence[str]) -> NeedsMap | None:
    """Return the map of the places whose rows are on a page, or None if it would have few circles."""
    known = [each for each in places if each.capability_id in rows]
    if len(known) < FEWEST_CIRCLES:
        return None
    shown = [rows[each.capability_id] for each in known]
    most = max(row["mentions"] for row in shown)
    shares = [row["mentions"] / most for row in shown]
    largest = min(_LARGEST, sqrt(_FILLED * WIDTH * HEIGHT / pi / sum(shares)))
    radii = [max(largest * sqrt(share), _SMALLEST) for share in shares]
    xs = _spread([each.x for each in known], WIDTH)
    ys = _spread([each.y for each in known], HEIGHT)
    _part(xs, ys, radii)
    names = [_category(row, categories) for row in shown]
    counted = Counter(names).most_common()  # of equal counts, the first by rank
    numbers = {name: number for number, (name, _) in enumerate(counted[:THEMES], 1)}
    themes = [Theme(numbers[name], name, capabilities) for name, capabilities in counted[:THEMES]]
    rest = sum(capabilities for _, capabilities in counted[THEMES:])
    labels = _labels([row["label"] for row in shown], xs, ys, radii)
    circles = tuple(
        Circle(
            place.capability_id,
            round(x, 1),
            round(y, 1),
            round(radius, 1),
            numbers.get(name, 0),
            name if radius >= _ROOM and len(name) * _INSIDE < 2 * radius else "",
            label,
        )
        for place, x, y, radius, name, label in zip(known, xs, ys, radii, names, labels, strict=True)
    )
    return NeedsMap(circles, (*themes, *([Theme(0, "other", rest)] if rest else ())))


def _category(row: Row, categories: Sequence[str]) -> str:
    """Return the most frequent category of a row; `uncategorized` if it has no other."""
    names = [categories[place] for place in row["categories"][::2]]
    return next((name for name in names if name != UNCATEGORIZED), UNCATEGORIZED)


def _spread(numbers: Sequence[float], size: float) -> list[float]:
    low, high = min(numbers), max(numbers)
    whole = (high - low) or 1.0
    return [_MARGIN + (size - 2 * _MARGIN) * (each - low) / whole for each in numbers]


def _part(xs: list[float], ys: list[float], radii: Sequence[float]) -> None:
    """Move overlapping circles apart, each by half the distance, until none overlap."""
    for _ in range(_ROUNDS):
        moved = False
        for one in range(len(xs)):
            for other in range(one):
                dx, dy = xs[one] - xs[other], ys[one] - ys[other]
                apart = sqrt(dx * dx + dy * dy)
                short = radii[one] + radii[other] + _GAP - apart
                if short <= _NEVER:
                    continue
                moved = True
                # Circles at the same place move in a direction of their own.
                dx, dy = (dx / apart, dy / apart) if apart > _NEVER else (cos(one), sin(one))
                for each, way in ((one, short / 2), (other, -short / 2)):
                    edge = radii[each] + 1
                    xs[each] = min(max(xs[each] + dx * way, edge), WIDTH - edge)
                    ys[each] = min(max(ys[each] + dy * way, edge), HEIGHT - edge)
        if not moved:
            return


def _labels(
    texts: Sequence[str], xs: Sequence[float], ys: Sequence[float], radii: Sequence[float]
) -> list[tuple[Line, ...]]:
    """Return the label of each circle, below, above or beside it; better ranks get the room first."""
    taken = [_Box(x - r, y - r, x + r, y + r) for x, y, r in zip(xs, ys, radii, strict=True)]
    labels: list[tuple[Line, ...]] = []
    for text, x, y, radius in zip(texts, xs, ys, radii, strict=True):
        lines = textwrap.wrap(text, _LETTERS, max_lines=_LINES, placeholder="…", break_on_hyphens=False)
        free = (box for box in _boxes(lines, x, y, radius) if not any(map(box.meets, taken)))
        box = next((box for box in free if box.is_inside), None)
        if box is None:
            labels.append(())
            continue
        taken.append(box)
        middle = round((box.left + box.right) / 2, 1)
        bases = (round(box.top + _LINE * (place + 0.8), 1) for place in range(len(lines)))
        labels.append(tuple(Line(line, middle, base) for line, base in zip(lines, bases, strict=True)))
    return labels


def _boxes(lines: Sequence[str], x: float, y: float, radius: float) -> Iterator[_Box]:
    """Yield possible boxes for a label: below, above, right and left of its circle."""
    half, height = max(map(len, lines), default=0) * _LETTER / 2, _LINE * len(lines)
    for middle_x, middle_y in (
        (x, y + radius + height / 2 + 2),
        (x, y - radius - height / 2 - 2),
        (x + radius + half + 4, y),
        (x - radius - half - 4, y),
    ):
        yield _Box(middle_x - half, middle_y - height / 2, middle_x + half, middle_y + height / 2)
