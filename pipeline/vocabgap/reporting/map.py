"""The places of the needs on the map: those with similar wording or the same category are close together."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vocabgap.model.capability import Capability
from vocabgap.ranking.coverage import is_listed
from vocabgap.reporting.listed import numbers_of
from vocabgap.reporting.overviews import Place
from vocabgap.text import excerpt

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
FloatArray = npt.NDArray[np.float64]


def places_of(clusters: "Clusters", ranked: pl.DataFrame) -> tuple[Place, ...]:
    """Return the places of the first capabilities that are neither settled nor rare; none if few."""
    first = ranked.filter(is_listed()).head(MOST_PLACES)
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


def spots_of(
    places: Iterable[Place], listed: Mapping[str, Capability]
) -> tuple[tuple[str, float, float, str], ...]:
    """Return identifier, place and category of the needs that a page draws on its map; none if few."""
    spots = tuple(
        (each.capability_id, each.x, each.y, excerpt(listed[each.capability_id].intent_category))
        for each in places
        if each.capability_id in listed
    )
    return spots if len(spots) >= FEWEST_CIRCLES else ()
