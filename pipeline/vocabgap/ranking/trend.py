"""Trend: what is asked for more or less than before."""

from datetime import datetime
from typing import Any, Final

import numpy as np
import polars as pl
from scipy.special import bdtr, bdtrc

from vocabgap.moments import MICROSECONDS_A_DAY
from vocabgap.schema import UTC_MICROSECONDS

SIGNIFICANCE: Final = 0.1
RECENT_PARTS: Final = 3
DAYS_A_WEEK: Final = 7
_MICROSECONDS_A_WEEK: Final = DAYS_A_WEEK * MICROSECONDS_A_DAY


def recent_weeks(window_weeks: int) -> int:
    """How many of a window's weeks are its recent third, rounded, one at least."""
    return max(1, round(window_weeks / RECENT_PARTS))


def trends(placed: pl.DataFrame, now: datetime | None, window_weeks: int) -> pl.DataFrame:
    """Mentions a week and the trend of each cluster.

    The window is the last `window_weeks` times seven days before now; what is later than now, and what has no
    readable timestamp, is in no week. The recent third is the last third of the window's weeks (4 of 12). A
    capability is

    1. without a trend (null) if none of its timestamps can be read;
    2. `new` if it was first seen within the recent third, or later than now;
    3. `fading` if nobody mentioned it within the window;
    4. `rising` if so many of its mentions in the window are recent that, were they spread evenly over the
       weeks, as many or more would be with a probability of at most 0.1 (one-sided binomial test);
    5. `fading` if so few are that as few or fewer would be with a probability of at most 0.1;
    6. `steady` otherwise. At a third recent, three of three make it rising, none of six fading.

    Each capability is compared with itself alone: where less is logged altogether, more of them fade.

    Args:
        placed: Columns `cluster` and `timestamp`, one row a record.
        now: The moment that counts as the present; null only where no timestamp is readable.
        window_weeks: Length of the window in weeks.

    Returns:
        Columns `cluster`, `weekly` (mentions in each week of the window, newest last) and `trend`, in the
        order of the clusters' numbers.
    """
    present = pl.lit(now, UTC_MICROSECONDS)
    ago = (present - pl.col("timestamp")).dt.total_microseconds()
    week = pl.when(ago >= 0).then(ago // _MICROSECONDS_A_WEEK)
    clusters = (
        placed.group_by("cluster")
        .agg(pl.col("timestamp").min().alias("first_seen"))
        .with_columns(
            (present - pl.col("first_seen")).dt.total_microseconds().alias("age"),
        )
        .sort("cluster")
        .with_row_index("row")
    )
    cells = (
        placed.select("cluster", week.alias("week"))
        .filter(pl.col("week") < window_weeks)
        .group_by("cluster", "week")
        .len("mentions")
        .join(clusters.select("cluster", "row"), on="cluster")
    )
    weekly = np.zeros((clusters.height, window_weeks), np.int64)
    weekly[cells["row"].to_numpy(), window_weeks - 1 - cells["week"].to_numpy()] = cells[
        "mentions"
    ].to_numpy()
    recent = recent_weeks(window_weeks)
    counted = pl.DataFrame(
        {
            "in_window": weekly.sum(axis=1),
            "rising": _at_least(weekly, recent) <= SIGNIFICANCE,
            "fading": _at_most(weekly, recent) <= SIGNIFICANCE,
        }
    )
    return clusters.hstack(counted).select(
        "cluster",
        pl.Series("weekly", weekly).cast(pl.List(pl.Int64)),
        pl.when(pl.col("first_seen").is_null())
        .then(None)
        .when(pl.col("age") < recent * _MICROSECONDS_A_WEEK)
        .then(pl.lit("new"))
        .when(pl.col("in_window") == 0)
        .then(pl.lit("fading"))
        .when("rising")
        .then(pl.lit("rising"))
        .when("fading")
        .then(pl.lit("fading"))
        .otherwise(pl.lit("steady"))
        .alias("trend"),
    )


def _at_least(weekly: Any, recent: int) -> Any:  # noqa: ANN401 - SciPy's functions are untyped
    """The probability of as many recent mentions or more, were they spread evenly over the window."""
    lately, total = weekly[:, -recent:].sum(axis=1), weekly.sum(axis=1)
    return np.where(lately > 0, bdtrc(lately - 1.0, total, recent / weekly.shape[1]), 1.0)


def _at_most(weekly: Any, recent: int) -> Any:  # noqa: ANN401 - the same
    """The probability of as few recent mentions or fewer."""
    lately, total = weekly[:, -recent:].sum(axis=1), weekly.sum(axis=1)
    return bdtr(lately.astype(np.float64), total, recent / weekly.shape[1])
