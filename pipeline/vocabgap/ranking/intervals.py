"""The certainty of ranks: a bootstrap over images, or over what a single image has."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from tempfile import SpooledTemporaryFile
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from vocabgap.files.parts import temporary_place, writing_in
from vocabgap.model.settings import RankBy, RankSettings
from vocabgap.model.tables import CAPABILITIES
from vocabgap.ranking.evidence import Whole
from vocabgap.ranking.priority import FloatArray, IntArray, factors

Int32Array = npt.NDArray[np.int32]
TIED: Final = 0.10
"""Two capabilities are tied if the next one is level or ahead in more than this share of draws."""
DRAWS: Final = 500
CONFIDENCE: Final = 0.90
SEED: Final = 20_260_501
_LEFT_OUT: Final = round(DRAWS * (1.0 - CONFIDENCE) / 2.0)
_CELLS: Final = 1 << 21  # numbers in each array, for the draws that are computed at once
_HELD: Final = 128 << 20  # bytes of places that are held in memory
_INTERVALS: Final = {name: CAPABILITIES.schema[name] for name in ("rank_low", "rank_high", "tie_group")}


@dataclass(frozen=True)
class _Shares:
    """The amounts per capability and unit that is drawn: one entry per pair with records, sorted by both."""

    starts: Int32Array  # first entry of each capability, and the number of entries; shape (capabilities + 1,)
    units: Int32Array  # of each entry, counted from 0
    values: dict[str, FloatArray]  # the amounts of each kind, in the order of the entries
    size: int  # units in all
    often: FloatArray | None  # mentions of each unit, if mentions are drawn
    is_one_image: bool

    def total(self, amount: str, drawn: FloatArray) -> FloatArray:
        """Sum an amount of each capability in some draws, shape (draws, capabilities)."""
        shape = (len(self.starts) - 1, self.size)
        held = sparse.csr_array((self.values[amount], self.units, self.starts), shape=shape)
        sums = np.asarray((held @ drawn).T, np.float64)
        return np.minimum(sums, 1.0) if self.is_one_image and amount == "images" else sums

    def least(self, amount: str, drawn: FloatArray) -> FloatArray:
        """Return the least of an amount over the drawn units; infinite if none was drawn."""
        there = drawn.T[:, self.units] > 0.0
        return np.minimum.reduceat(np.where(there, self.values[amount], np.inf), self.starts[:-1], axis=1)


def rank_intervals(
    drawn: pl.DataFrame, ordered: pl.DataFrame, settings: RankSettings, whole: Whole
) -> pl.DataFrame:
    """Return the 90 % interval of each rank and the ties, from 500 bootstrap samples of images.

    Each draw takes as many images as there are, with replacement. It takes all records of an image, because
    these are not independent. Capabilities that are equal in a draw share their ranks. Blocks
    (pinned, established, not established, settled) stay apart in every draw.

    The interval leaves out the lowest 5 % of the best ranks drawn and the highest 5 % of the worst. It is
    widened to contain the rank itself. The draws are the same in every run and for any order of the records.

    Draws of a single image are all alike. So they take its sessions, if it has several and each record names
    its own. Else they take mentions: the number of each kind is drawn from a Poisson distribution whose mean
    is the number seen. By images, all capabilities of a single image are tied.
    """
    if not ordered.height:
        return pl.DataFrame(schema=_INTERVALS)
    stops = ordered["standing"].rle().struct.field("len").cum_sum()
    blocks = list(pairwise([0, *stops]))
    shares = _shares(drawn, ordered, settings.by, whole)
    if shares.is_one_image and settings.by is RankBy.IMAGES:
        sizes = [stop - start for start, stop in blocks]
        first, end = (np.repeat(np.array(ends, np.int32), sizes) for ends in zip(*blocks, strict=True))
        low, high = first, end - 1
        groups = tie_groups([first[:, np.newaxis]])
    else:
        low, high, groups = _drawn_ranks(shares, blocks, settings)
    place = np.arange(ordered.height, dtype=np.int64)
    columns = (np.minimum(low, place) + 1, np.maximum(high, place) + 1, groups)
    return pl.DataFrame(dict(zip(_INTERVALS, columns, strict=True)), schema=_INTERVALS)


def _shares(drawn: pl.DataFrame, ordered: pl.DataFrame, by: RankBy, whole: Whole) -> _Shares:
    places = ordered.select(pl.col("cluster").cast(pl.UInt32)).with_row_index("place")
    often = None
    if whole.units is None:
        drawn = drawn.sort("cluster", "satisfaction", "timestamp").with_row_index("unit")
        often = drawn["often"].cast(pl.Float64).to_numpy()
    wanted = ("images", "unsatisfied", "rated", "age") if by is RankBy.PRIORITY else (by.value,)
    entries = (
        drawn.with_columns(pl.lit(1.0).alias("images"))
        .select("cluster", "unit", pl.col(wanted).cast(pl.Float64))
        .join(places, on="cluster")
        .sort("place", "unit")
    )
    return _Shares(
        starts=np.searchsorted(entries["place"].to_numpy(), np.arange(ordered.height + 1)).astype(np.int32),
        units=entries["unit"].to_numpy().astype(np.int32),
        values={name: entries[name].to_numpy() for name in wanted},
        size=drawn.height if whole.units is None else whole.units.height,
        often=often,
        is_one_image=whole.is_one_image,
    )


def _draws(size: int, often: FloatArray | None, widest: int) -> Iterator[FloatArray]:
    """Yield how often each unit was drawn, shape (units, draws), some draws at a time."""
    generator = np.random.Generator(np.random.PCG64(SEED))
    at_once = max(1, _CELLS // widest)
    for start in range(0, DRAWS, at_once):
        draws = min(at_once, DRAWS - start)
        if often is not None:
            times = generator.poisson(often, size=(draws, size))
        else:
            # One row per draw; the draw's number is part of the unit, so that one call counts all draws.
            units = generator.integers(0, size, size=(draws, size)) + size * np.arange(draws)[:, np.newaxis]
            times = np.bincount(units.ravel(), minlength=draws * size).reshape(draws, size)
        yield np.ascontiguousarray(times.T, np.float64)


def _drawn_ranks(
    shares: _Shares, blocks: list[tuple[int, int]], settings: RankSettings
) -> tuple[Int32Array, Int32Array, IntArray]:
    """Return both ends of each interval, counted from 0, and the tie groups.

    Memory does not hold the places of many capabilities in all draws. A file then holds them.
    """
    count = len(shares.starts) - 1
    low, high = np.empty((2, count), np.int32)
    at_once = max(1, _CELLS // DRAWS)
    rows = max(1, (1 << 15) // count)  # draws whose places fit into the cache of a processor
    with writing_in(temporary_place()), SpooledTemporaryFile(_HELD, dir=temporary_place()) as file:
        for drawn in _draws(shares.size, shares.often, max(shares.size, count, len(shares.units))):
            scores = _scores(shares, drawn, settings)
            for start in range(0, len(scores), rows):
                places = places_of(scores[start : start + rows], blocks)
                file.write(np.stack(places, axis=1).tobytes())

        def read() -> Iterator[Int32Array]:
            """Yield the best places of some capabilities at a time, one row each; note the intervals."""
            for start in range(0, count, at_once):
                size = min(at_once, count - start)
                places = np.empty((2 * DRAWS, size), np.int32)
                for number, row in enumerate(places):
                    file.seek((number * count + start) * row.itemsize)
                    row[:] = np.frombuffer(file.read(row.nbytes), row.dtype)
                best, worst = (np.ascontiguousarray(places[end::2].T) for end in range(2))
                rows = slice(start, start + size)
                low[rows] = np.partition(best, _LEFT_OUT)[:, _LEFT_OUT]
                high[rows] = np.partition(worst, -1 - _LEFT_OUT)[:, -1 - _LEFT_OUT]
                yield best

        groups = tie_groups(read())
    return low, high, groups


def _scores(shares: _Shares, drawn: FloatArray, settings: RankSettings) -> FloatArray:
    if settings.by is not RankBy.PRIORITY:
        return shares.total(settings.by.value, drawn)
    totals = {amount: shares.total(amount, drawn) for amount in ("images", "unsatisfied", "rated")}
    return factors(settings, **totals, age=shares.least("age", drawn))["priority"]


def places_of(scores: FloatArray, blocks: Sequence[tuple[int, int]]) -> tuple[Int32Array, Int32Array]:
    """Return the best and worst places in some draws, counted from 0; equal scores share them.

    `scores` and both results have the shape (draws, capabilities).
    """
    draws, count = scores.shape
    order = np.hstack([start + np.argsort(-scores[:, start:stop], axis=1) for start, stop in blocks])
    order += count * np.arange(draws)[:, np.newaxis]
    begins = np.diff(scores.ravel()[order], axis=1, prepend=np.nan) != 0.0
    begins[:, [start for start, _ in blocks]] = True
    places = np.arange(count, dtype=np.int32)
    first = np.maximum.accumulate(np.where(begins, places, 0), axis=1)
    ends = np.where(np.roll(begins, -1, axis=1), places, places[-1])
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    best, worst = np.empty((2, draws, count), np.int32)
    best.ravel()[order] = first
    worst.ravel()[order] = last
    return best, worst


def tie_groups(best: Iterable[Int32Array]) -> IntArray:
    """Assign numbers to tie groups: runs of neighbours whose first place is uncertain.

    A group continues while the next capability is level with its first one, or ahead, in more than 10 % of
    the draws. `best` yields the best places of some capabilities in order of rank, shape (capabilities,
    draws).
    """
    numbers: list[int] = []
    first: Int32Array | None = None
    for places in best:
        most = TIED * places.shape[1]
        for row in places:
            if first is None or np.count_nonzero(row <= first) <= most:
                first = row
                numbers.append(numbers[-1] + 1 if numbers else 1)
            else:
                numbers.append(numbers[-1])
    return np.array(numbers, np.int64)
