"""Where needs lie on a map: those that are put alike near each other, and those of one category, too."""

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vocabgap.model.tables import SETTLED
from vocabgap.reporting.overviews import Place

if TYPE_CHECKING:  # whoever only reads a run clusters nothing
    from vocabgap.clustering.grouping import Clusters

MOST_PLACES: Final = 60
FEWEST_PLACES: Final = 3  # fewer are no map
NEAREST: Final = 3
_NEAR: Final = 0.1  # similarity from which on another need is called near
# What a category in common adds to the similarity of wordings. On the demo's map, of the three nearest ones,
# 8 of 10 are of one category then, 3 of 10 without.
_THEME: Final = 0.2
_STEPS: Final = 300
_TIE: Final = 1e-3  # of the distances
_DIGITS: Final = 3

FloatArray = npt.NDArray[np.float64]


def places_of(clusters: "Clusters", ranked: pl.DataFrame) -> tuple[Place, ...]:
    """The places of the first capabilities that are neither settled nor too rare; none where they are few.

    Args:
        clusters: The groups that were ranked.
        ranked: Table `capabilities`.
    """
    is_listed = ~pl.col("status").is_in(SETTLED) & (pl.col("established") | pl.col("pinned"))
    first = ranked.filter(is_listed).head(MOST_PLACES)
    if first.height < FEWEST_PLACES:
        return ()
    wording = first.select(pl.col("variants").list.first().struct.field("wording"))
    placed = wording.join(clusters.wordings, on="wording", how="left", maintain_order="left")
    alike = clusters.nearness(placed["cluster"].to_list())
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
    """Points of a plane that lie about as far apart as is said, shape (n, 2), within -1 and 1.

    Multidimensional scaling: the classical solution is the start, from which the stress is majorized (de
    Leeuw 1977). Only the start is left to a numerical library, and the points are rounded, so that they are
    the same with any number of threads.

    Args:
        distances: Shape (n, n), symmetric, the diagonal 0.
    """
    size = len(distances)
    points = _start(distances)
    for _ in range(_STEPS):
        between = points[:, np.newaxis] - points[np.newaxis, :]
        lengths = np.sqrt((between**2).sum(axis=2))
        ratios = np.divide(distances, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
        points = (ratios[:, :, np.newaxis] * between).sum(axis=1) / size
    # How the map is turned means nothing: the first point is put to the upper left.
    points *= np.where(points[0] > 0.0, -1.0, 1.0)
    return np.asarray(np.round(points / (np.abs(points).max() or 1.0), _DIGITS) + 0.0)


def _start(distances: FloatArray) -> FloatArray:
    """The classical solution. Where points are as far from one another as others, a spiral parts them."""
    size = len(distances)
    turns = np.arange(size) * np.pi * (3.0 - np.sqrt(5.0))
    spiral = np.sqrt(np.arange(1.0, size + 1.0) / size)[:, np.newaxis] * np.c_[np.cos(turns), np.sin(turns)]
    between = spiral[:, np.newaxis] - spiral[np.newaxis, :]
    squares = distances**2 + _TIE * (between**2).sum(axis=2)
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, np.newaxis] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2.0)
    return np.asarray(vectors[:, :-3:-1] * np.sqrt(np.maximum(values[:-3:-1], 0.0)))
