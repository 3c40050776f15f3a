"""The order of capabilities, their priority, and the trend of the mentions."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vocabgap.model.capability import SETTLED
from vocabgap.model.moments import MICROSECONDS_A_DAY
from vocabgap.model.settings import LEAST_WEEKS, RankSettings
from vocabgap.model.tables import MENTIONS, UTC_MICROSECONDS, stripped

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
SMOOTHING: Final = 5.0
"""The number of average ratings that are added to the ratings of each capability."""
# The last digits of a logarithm differ between processors; equal evidence must give equal numbers.
_DECIMALS: Final = 12
SIGNIFICANCE: Final = 0.1
"""The expected share of wrong trends among those that are shown."""
RECENT_PARTS: Final = 3
MICROSECONDS_A_WEEK: Final = 7 * MICROSECONDS_A_DAY
PINNED: Final = 0  # number of a block, see `in_order`


ORDER: Final = ("mentions", "images", "unsatisfied", "sessions", "last_seen")
"""Columns that decide after the chosen count, most first; age comes last."""


def is_established(fewest: Mapping[str, int]) -> pl.Expr:
    """Return whether a capability has at least these numbers, by column (`RankSettings.fewest`)."""
    return pl.all_horizontal(pl.col(name) >= least for name, least in fewest.items())


def in_order(
    capabilities: pl.DataFrame, by: str, fewest: Mapping[str, int], *, pins: bool = True
) -> pl.DataFrame:
    """Sort capabilities by rank, and add the number `standing` of their block.

    `by` is the column that decides first. The blocks are: pinned (if pins count), established, not
    established, dismissed or authored.
    """
    settled, is_pinned = pl.col("status").is_in(SETTLED), pl.col("pinned") & pins
    unsettled = pl.when(is_pinned).then(PINNED).when(is_established(fewest)).then(1).otherwise(2)
    numbers = (by, *ORDER)
    return capabilities.with_columns(standing=pl.when(settled).then(3).otherwise(unsettled)).sort(
        "standing", *numbers, "label", "capability_id",
        descending=[False, *(True for _ in numbers), False, False], nulls_last=True,
    )  # fmt: skip


def factors_of(
    counts: pl.DataFrame, settings: RankSettings, now: datetime | None, earliest: datetime | None
) -> pl.DataFrame:
    """Return the columns `reach`, `need`, `recency` and `priority` of some counts."""
    numbers = counts.select(
        pl.col("images", "unsatisfied").cast(pl.Float64),
        pl.sum_horizontal("unsatisfied", "neutral", "satisfied").cast(pl.Float64).alias("rated"),
        age_in_days(pl.col("last_seen"), now, earliest).alias("age"),
    )
    values = factors(settings, **{name: numbers[name].to_numpy() for name in numbers.columns})
    return pl.DataFrame(values)


def factors(
    settings: RankSettings, *, images: FloatArray, unsatisfied: FloatArray, rated: FloatArray, age: FloatArray
) -> dict[str, FloatArray]:
    """Return the three factors of the priority, each from 0 to 1, and their product.

    - reach = ln(1 + images) / ln(1 + images of the capability that has the most)
    - need = (unsatisfied + 5 p) / (rated + 5). The share of unsatisfied records in the corpus is
      p = (all unsatisfied + 1) / (all rated + 2). A capability with few or no ratings stays near p
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


def weekly(
    clustered: pl.DataFrame, now: datetime | None, earliest: datetime | None, window_weeks: int
) -> pl.DataFrame:
    """Return when each cluster was first seen, and its mentions per week, for `trends`.

    A row is one week of a cluster, counted backwards from now; earlier weeks than the window are one row.
    Mentions after now, or without a readable timestamp, are in no week. A cluster has a row in any case.
    """
    _, weeks = _window(now, earliest, window_weeks)
    ago = (pl.lit(now, UTC_MICROSECONDS) - pl.col("timestamp")).dt.total_microseconds()
    cells = (
        separated(clustered, pl.when(ago >= 0).then(ago // (MICROSECONDS_A_DAY // 24)))
        .group_by("cluster", week=(pl.col("hour") // (7 * 24)).clip(upper_bound=weeks))
        .agg(pl.col("mentions", "separate", "squares").sum())
    )
    first = clustered.group_by("cluster").agg(pl.col("timestamp").min().alias("first_seen"))
    return first.join(cells, on="cluster", how="left")


def separated(dated: pl.DataFrame, hour: pl.Expr) -> pl.DataFrame:
    """Count the mentions of each cluster, session and hour, from its first `moment`; no hour, no row.

    A test counts the events `separate`: the mentions of a session within an hour once, others each. `squares`
    is the sum of the squared sizes of these events.
    """
    session = pl.when(stripped(pl.col("session_id")) != "").then("session_id").alias("session")
    is_alone, squares = pl.col("session").is_null(), pl.col("count").cast(pl.Float64).pow(2).sum()
    return (
        dated.select("cluster", "tenant_id", "timestamp", "count", session, hour.alias("hour"))
        .drop_nulls("hour")
        .group_by("cluster", "tenant_id", "hour", "session")
        .agg(MENTIONS, moment=pl.col("timestamp").min(), squares=squares)
        .with_columns(
            separate=pl.when(is_alone).then("mentions").otherwise(1),
            squares=pl.when(is_alone).then("squares").otherwise(1),
        )
    )


def trends(
    weeks_of: pl.DataFrame, now: datetime | None, earliest: datetime | None, window_weeks: int
) -> pl.DataFrame:
    """Return when each cluster was first seen, its mentions per week, and its trend, given table `weeks`.

    The window is the last `window_weeks` weeks before now; it begins with the first record of all if that is
    later. The recent third is the last third of the window's weeks (4 of 12). The trend is

    1. null if the capability has no readable timestamp, if the first record of all is younger than three
       weeks, or if the recent third has no record at all;
    2. `new` if the capability was first seen within the recent third, or later than now;
    3. otherwise that of `found_trends`, which compares the recent third with the window. If the capability
       was not mentioned within the window, it compares the window with all time before now. `rising` needs
       a record of any capability in at least half of the weeks before the recent third.

    The test counts the mentions of one session within an hour once, because a session may repeat itself.
    Without a session, a record of many mentions is one event of this size. Such mentions tell less than
    single ones: the test scales them to the effective number of events, (sum of sizes)² / sum of squares.
    """
    lived, weeks = _window(now, earliest, window_weeks)
    recent = recent_weeks(weeks)
    age = (pl.lit(now, UTC_MICROSECONDS) - pl.col("first_seen")).dt.total_microseconds()
    ordered = weeks_of.sort("cluster")
    clusters = ordered.unique("cluster", keep="first", maintain_order=True).select(
        "cluster", "first_seen", (age < recent * MICROSECONDS_A_WEEK).fill_null(value=True).alias("is_new")
    )
    cells = ordered.with_columns(row=pl.col("cluster").rle_id()).drop_nulls("week")
    counted = np.zeros((3, clusters.height, 1 + weeks))  # the first column has all earlier weeks
    place = cells["row"].to_numpy(), weeks - cells["week"].to_numpy()
    counted[:, *place] = cells.select("mentions", "separate", "squares").to_numpy().T
    mentions, separate, squares = counted
    window = separate[:, 1:].sum(axis=1)
    lately = separate[:, -recent:].sum(axis=1)
    is_past = window == 0
    whole = np.where(is_past, separate[:, 0], window)
    is_busy = separate[:, 1:].sum(axis=0) > 0
    is_long = 2 * is_busy[:-recent].sum() >= max(weeks - recent, 1)
    tested = found_trends(
        np.where(is_past, window, lately),
        whole,
        np.where(is_past, weeks / max(lived, weeks), recent / max(min(lived, window_weeks), recent)),
        log_lately=np.where(is_past, window.sum(), lately.sum()),
        log_whole=np.where(is_past, separate.sum(), window.sum()),
        skipped=clusters["is_new"].to_numpy(),
        busy=is_busy[-recent:].sum() / is_busy.sum() if is_long else 1.0,
        scale=whole / np.maximum(np.where(is_past, squares[:, 0], squares[:, 1:].sum(axis=1)), 1),
    )
    is_unknown = pl.col("first_seen").is_null() | pl.lit(lived < LEAST_WEEKS or not lately.any())
    return clusters.select(
        "cluster",
        "first_seen",
        pl.Series("weekly", mentions[:, 1:]).cast(pl.List(pl.Int64)),
        pl.when(is_unknown)
        .then(None)
        .when("is_new")
        .then(pl.lit("new"))
        .otherwise(pl.Series(tested).replace("", None))
        .alias("trend"),
    )


def _window(now: datetime | None, earliest: datetime | None, most: int) -> tuple[float, int]:
    """Return the weeks since the first record of all, and the number of weeks in the window."""
    lived = float(most)
    if earliest is not None and now is not None:
        lived = max(0.0, (now - earliest) / timedelta(weeks=1))
    return lived, min(most, int(lived) + 1)


def found_trends(
    lately: IntArray,
    whole: IntArray,
    even: FloatArray,
    *,
    log_lately: IntArray,
    log_whole: IntArray,
    skipped: npt.NDArray[np.bool_],
    busy: float = 0.0,
    scale: FloatArray | float = 1.0,
) -> npt.NDArray[np.str_]:
    """Return `rising`, `fading` or `steady` for each capability, empty if its mentions show neither.

    If the rate of a capability is flat, its late mentions are a binomial sample of all its mentions
    (`whole`). This is the conditional test of two Poisson rates [1]; `even` is the expected share. If the
    whole log has more or fewer mentions lately, no single need has a trend. So a change must exceed both
    `even` and the share of the other capabilities in the log. The others may be few: they get as many extra
    mentions with the share `even` as the capability has. A rise must also exceed `busy`, the share of the
    late weeks among the weeks with any record: a short log with one old record shows no rise.

    At most 10 % of all changes are expected to be wrong [2]. Only capabilities with enough mentions for a
    possible change count as tests [3]. `scale` reduces the mentions to the effective number of events [5]. A
    capability is steady if its mentions exclude that its rate doubled,
    and that it halved (two one-sided tests [4]).

    [1] Przyborowski, J. and Wilenski, H. (1940). Homogeneity of results in testing samples from Poisson
    series. *Biometrika* 31.
    [2] Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate. *Journal of the Royal
    Statistical Society B* 57.
    [3] Tarone, R. E. (1990). A modified Bonferroni method for discrete data. *Biometrics* 46.
    [4] Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach.
    *Journal of Pharmacokinetics and Biopharmaceutics* 15.
    [5] Kish, L. (1965). *Survey Sampling*. Wiley.
    """
    from scipy.special import bdtr, bdtrc  # noqa: PLC0415 - a list of records does not need it

    usual = (log_lately - lately + whole * even) / np.maximum(log_whole, 1)
    lately, whole = (np.rint(mentions * scale).astype(np.int64) for mentions in (lately, whole))
    high, low = np.maximum(np.maximum(even, usual), busy), np.minimum(even, usual)
    more, fewer = bdtrc(lately - 1.0, whole, high), bdtr(lately, whole, low)
    chance = 2 * np.minimum(more, fewer)
    possible = ~skipped & (2 * np.minimum(high**whole, (1 - low) ** whole) <= SIGNIFICANCE)
    ordered = np.sort(chance[possible])
    significant = ordered[ordered <= SIGNIFICANCE * np.arange(1, ordered.size + 1) / max(ordered.size, 1)]
    is_found = possible & (chance <= significant.max(initial=-1.0))
    doubled = bdtr(lately, whole, 2 * even / (1 + even))
    halved = bdtrc(lately - 1.0, whole, even / (2 - even))
    is_steady = np.maximum(doubled, halved) <= SIGNIFICANCE / 2
    cases = {"rising": is_found & (more < fewer), "fading": is_found, "steady": is_steady}
    return np.select([*cases.values()], [*cases], "")


def recent_weeks(window_weeks: int) -> int:
    """Return the number of weeks in a window's recent third, rounded, at least one."""
    return max(1, round(window_weeks / RECENT_PARTS))
