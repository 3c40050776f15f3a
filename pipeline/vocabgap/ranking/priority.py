"""Priority, from reach, need and recency; and the trend of the mentions."""

from datetime import datetime, timedelta
from typing import Final, cast

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import bdtr, bdtrc

from vocabgap.model.moments import MICROSECONDS_A_DAY
from vocabgap.model.settings import LEAST_WEEKS, RankSettings
from vocabgap.model.tables import UTC_MICROSECONDS

FloatArray = npt.NDArray[np.float64]
SMOOTHING: Final = 5.0
"""The number of average ratings that are added to the ratings of each capability."""
# The last digits of a logarithm differ between processors; equal evidence must give equal numbers.
_DECIMALS: Final = 12
SIGNIFICANCE: Final = 0.1
RECENT_PARTS: Final = 3
_MICROSECONDS_A_WEEK: Final = 7 * MICROSECONDS_A_DAY


def with_priority(
    counts: pl.DataFrame, settings: RankSettings, now: datetime | None, earliest: datetime | None
) -> pl.DataFrame:
    """Add the columns `reach`, `need`, `recency` and `priority`."""
    numbers = counts.select(
        pl.col("images", "unsatisfied").cast(pl.Float64),
        pl.sum_horizontal("unsatisfied", "neutral", "satisfied").cast(pl.Float64).alias("rated"),
        age_in_days(pl.col("last_seen"), now, earliest).alias("age"),
    )
    computed = factors(settings, **{name: numbers[name].to_numpy() for name in numbers.columns})
    return counts.with_columns(pl.Series(name, values, pl.Float64) for name, values in computed.items())


def factors(
    settings: RankSettings, *, images: FloatArray, unsatisfied: FloatArray, rated: FloatArray, age: FloatArray
) -> dict[str, FloatArray]:
    """Return the three factors of the priority, each from 0 to 1, and their product.

    - reach = ln(1 + images) / ln(1 + images of the capability that has the most)
    - need = (unsatisfied + 5 p) / (rated + 5), where p = (all unsatisfied + 1) / (all rated + 2) is the
      share of unsatisfied records in the corpus. A capability without ratings gets p; one with few ratings
      stays near p
    - recency = 0.5 ^ (days from the last mention to now / half-life)
    - priority = reach x need x recency

    All arrays have the shape (capabilities,) or (draws, capabilities); `age` are days since the last mention.
    """
    reach = np.log1p(images) / np.log1p(images.max(axis=-1, keepdims=True, initial=1.0))
    share = (unsatisfied.sum(axis=-1, keepdims=True) + 1.0) / (rated.sum(axis=-1, keepdims=True) + 2.0)
    need = (unsatisfied + SMOOTHING * share) / (rated + SMOOTHING)
    recency = np.power(0.5, age / settings.half_life_days)
    computed = {"reach": reach, "need": need, "recency": recency, "priority": reach * need * recency}
    return {name: np.round(values, _DECIMALS) for name, values in computed.items()}


def age_in_days(moment: pl.Expr, now: datetime | None, earliest: datetime | None) -> pl.Expr:
    """Return the days from a moment to now, at least 0.

    An unknown moment is as old as the earliest readable timestamp; if there is none, every age is 0.
    """
    dated = moment.fill_null(pl.lit(earliest, UTC_MICROSECONDS))
    microseconds = (pl.lit(now, UTC_MICROSECONDS) - dated).dt.total_microseconds()
    return (microseconds.cast(pl.Float64) / MICROSECONDS_A_DAY).clip(lower_bound=0.0).fill_null(0.0)


def trends(
    clustered: pl.DataFrame, now: datetime | None, earliest: datetime | None, window_weeks: int
) -> pl.DataFrame:
    """Return when each cluster was first seen, its mentions per week, and its trend.

    The window is the last `window_weeks` weeks before now, or the time since the first record of all, if that
    is shorter. Mentions after now, or without a readable timestamp, are in no week. The recent third is the
    last third of the window's weeks (4 of 12). The trend is

    1. null if the capability has no readable timestamp, if the first record of all is less than three weeks
       old, or if nothing was logged within the window;
    2. `new` if the capability was first seen within the recent third, or later than now;
    3. `fading` if nobody mentioned it within the window;
    4. `rising` or `fading` if an even spread over the window would give as many recent mentions or more, or
       as few or fewer, with a probability of at most 0.1 (one-sided binomial tests);
    5. `steady` otherwise.
    """
    lived = float(window_weeks)
    if earliest is not None and now is not None:
        lived = min(lived, max(0.0, (now - earliest) / timedelta(weeks=1)))
    weeks = min(window_weeks, int(lived) + 1)
    newest = cast("datetime | None", clustered["timestamp"].max())
    is_stale = days_stale(newest, now, window_weeks) is not None
    present = pl.lit(now, UTC_MICROSECONDS)
    ago = (present - pl.col("timestamp")).dt.total_microseconds()
    week = pl.when(ago >= 0).then(ago // _MICROSECONDS_A_WEEK)
    clusters = (
        clustered.group_by("cluster")
        .agg(pl.col("timestamp").min().alias("first_seen"))
        .with_columns((present - pl.col("first_seen")).dt.total_microseconds().alias("age"))
        .sort("cluster")
        .with_row_index("row")
    )
    cells = (
        clustered.select("cluster", week.alias("week"))
        .filter(pl.col("week") < weeks)
        .group_by("cluster", "week")
        .len("mentions")
        .join(clusters.select("cluster", "row"), on="cluster")
    )
    weekly = np.zeros((clusters.height, weeks), np.int64)
    weekly[cells["row"].to_numpy(), weeks - 1 - cells["week"].to_numpy()] = cells["mentions"].to_numpy()
    recent = recent_weeks(weeks)
    lately, whole = weekly[:, -recent:].sum(axis=1), weekly.sum(axis=1)
    share = recent / max(lived, recent)
    counted = pl.DataFrame(
        {
            "in_window": whole,
            "rising": np.where(lately > 0, bdtrc(lately - 1.0, whole, share), 1.0) <= SIGNIFICANCE,
            "fading": bdtr(lately.astype(np.float64), whole, share) <= SIGNIFICANCE,
        }
    )
    return clusters.hstack(counted).select(
        "cluster",
        "first_seen",
        pl.Series("weekly", weekly).cast(pl.List(pl.Int64)),
        pl.when(pl.col("first_seen").is_null() | pl.lit(lived < LEAST_WEEKS or is_stale))
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


def days_stale(newest: datetime | None, now: datetime | None, window_weeks: int) -> int | None:
    """Return the age of the newest record in days if it is older than the window, else None."""
    if newest is None or now is None or now - newest < timedelta(weeks=window_weeks):
        return None
    return (now - newest).days


def recent_weeks(window_weeks: int) -> int:
    """Return the number of weeks in a window's recent third, rounded, at least one."""
    return max(1, round(window_weeks / RECENT_PARTS))
