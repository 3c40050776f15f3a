"""The certainty of ranks: a bootstrap over images, or over what a single image has."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from vocabgap.model.settings import RankBy, RankSettings
from vocabgap.model.tables import CAPABILITIES
from vocabgap.ranking.evidence import Whole
from vocabgap.ranking.priority import FloatArray, factors

IntArray = npt.NDArray[np.int64]
RankArray = npt.NDArray[np.int32]
TIED: Final = 0.10
"""Two capabilities are tied if the next one is level or ahead in more than this share of draws."""
DRAWS: Final = 500
CONFIDENCE: Final = 0.90
SEED: Final = 20_260_501
_LEFT_OUT: Final = round(DRAWS * (1.0 - CONFIDENCE) / 2.0)
_CELLS: Final = 1 << 21  # numbers in each array, for the draws that are computed at once
_COLUMNS: Final = ("rank_low", "rank_high", "tie_group", "next_ahead")
_INTERVALS: Final = {name: CAPABILITIES.schema[name] for name in _COLUMNS}


@dataclass(frozen=True)
class _Shares:
    """The amounts per capability and unit that is drawn: one entry per pair with records, sorted by both."""

    starts: IntArray  # first entry of each capability, and the number of entries; shape (capabilities + 1,)
    units: IntArray  # of each entry, counted from 0
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

    Each draw takes as many images as there are, with replacement and with all their records, because the
    records of one image are not independent. Capabilities that are equal in a draw share their ranks. Blocks
    (pinned, established, not established, settled) stay apart in every draw.

    The interval leaves out the lowest 5 % of the best ranks drawn and the highest 5 % of the worst. It is
    widened to contain the rank itself. The draws are the same in every run and for any order of the records.

    Draws of a single image are all alike. So they take its sessions, if it has several and each record names
    its own. Else they take mentions: the number of each kind is drawn from a Poisson distribution whose mean
    is the number seen. By images, all capabilities of a single image are tied.
    """
    if not ordered.height:
        return pl.DataFrame(schema=_INTERVALS)
    blocks = _blocks(ordered)
    shares = _shares(drawn, ordered, settings.by, whole)
    if shares.is_one_image and settings.by is RankBy.IMAGES:
        sizes = [stop - start for start, stop in blocks]
        first, end = (np.repeat(np.array(ends, np.int32), sizes) for ends in zip(*blocks, strict=True))
        best, low, high = first[np.newaxis], first, end - 1
        ahead = np.full(ordered.height, np.nan)
    else:
        best, worst = _drawn_ranks(shares, blocks, settings)
        low = np.partition(best, _LEFT_OUT, axis=0)[_LEFT_OUT]
        high = np.partition(worst, -1 - _LEFT_OUT, axis=0)[-1 - _LEFT_OUT]
        ahead = next_ahead(best)
        ahead[[stop - 1 for _, stop in blocks]] = np.nan
    place = np.arange(ordered.height, dtype=np.int64)
    return pl.DataFrame(
        {
            "rank_low": np.minimum(low, place) + 1,
            "rank_high": np.maximum(high, place) + 1,
            "tie_group": tie_groups(best),
            "next_ahead": pl.Series(ahead, nan_to_null=True),
        },
        schema=_INTERVALS,
    )


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
        starts=np.searchsorted(entries["place"].to_numpy(), np.arange(ordered.height + 1)).astype(np.int64),
        units=entries["unit"].to_numpy().astype(np.int64),
        values={name: entries[name].to_numpy() for name in wanted},
        size=drawn.height if whole.units is None else whole.units.height,
        often=often,
        is_one_image=whole.is_one_image,
    )


def _blocks(ordered: pl.DataFrame) -> list[tuple[int, int]]:
    ends = ordered["standing"].rle_id().value_counts(sort=False).sort("standing")["count"].cum_sum().to_list()
    return list(zip([0, *ends], ends, strict=False))


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
) -> tuple[RankArray, RankArray]:
    """Return best and worst place of all capabilities, counted from 0, both of shape (draws, capabilities).

    The two differ if scores are equal.
    """
    count = len(shares.starts) - 1
    best, worst = np.empty((2, DRAWS, count), np.int32)
    done = 0
    for drawn in _draws(shares.size, shares.often, max(shares.size, count, len(shares.units))):
        scores = _scores(shares, drawn, settings)
        rows = slice(done, done + len(scores))
        for start, stop in blocks:
            order = np.argsort(-scores[:, start:stop], axis=1, kind="stable")
            first, last = _ends_of_ties(np.take_along_axis(scores[:, start:stop], order, axis=1))
            np.put_along_axis(best[rows, start:stop], order, first + start, axis=1)
            np.put_along_axis(worst[rows, start:stop], order, last + start, axis=1)
        done = rows.stop
    return best, worst


def _scores(shares: _Shares, drawn: FloatArray, settings: RankSettings) -> FloatArray:
    if settings.by is not RankBy.PRIORITY:
        return shares.total(settings.by.value, drawn)
    totals = {amount: shares.total(amount, drawn) for amount in ("images", "unsatisfied", "rated")}
    return factors(settings, **totals, age=shares.least("age", drawn))["priority"]


def _ends_of_ties(scores: FloatArray) -> tuple[RankArray, RankArray]:
    """Return, for sorted scores, the first and the last position of the equal ones, along the last axis."""
    count = scores.shape[1]
    places = np.broadcast_to(np.arange(count, dtype=np.int32), scores.shape)
    border = scores[:, 1:] != scores[:, :-1]
    begins = np.pad(border, ((0, 0), (1, 0)), constant_values=True)
    ends = np.pad(border, ((0, 0), (0, 1)), constant_values=True)
    first = np.maximum.accumulate(np.where(begins, places, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, places, count)[:, ::-1], axis=1)[:, ::-1]
    return first, last


def tie_groups(best: RankArray) -> IntArray:
    """Assign numbers to tie groups: runs of neighbours whose first place is uncertain.

    A group continues while the next capability is level with its first one, or ahead of it, in more than 10 %
    of the draws.
    """
    places = np.ascontiguousarray(best.T)
    most = TIED * best.shape[0]
    numbers = np.ones(len(places), np.int64)
    first = 0
    for place in range(1, len(places)):
        numbers[place] = numbers[place - 1]
        if np.count_nonzero(places[place] <= places[first]) <= most:
            first = place
            numbers[place] += 1
    return numbers


def next_ahead(best: RankArray) -> FloatArray:
    """Return, for each capability, the share of draws in which the next is level or ahead; NaN for the last.

    `best` holds the best place of each in each draw, shape (draws, capabilities), in order of rank.
    """
    shares = np.full(best.shape[1], np.nan)
    shares[:-1] = (best[:, 1:] <= best[:, :-1]).mean(axis=0)
    return shares
