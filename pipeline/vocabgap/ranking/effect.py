"""The effect of authoring a need: its events since then, compared with the expected ones.

Without an effect, the events of a need would follow those of all others. A need is authored because it stood
high, so part of its rate is chance: the expected rate lies between its own and the mean of all needs
(empirical Bayes [1]). It depends on the events before alone, not on why the need was chosen. Given them, the
events after have a negative binomial distribution; the interval has its mid-p limits [2]. Without the
allowance it is that of the conditional test of two Poisson rates (`found_trends`), by [3] with mid-p. Bursts
and few other events divide all counts, like overdispersion [4].

[1] Hauer, E. (1997). *Observational Before-After Studies in Road Safety*. Pergamon.
[2] Kulkarni, P. M., Tripathi, R. C. and Michalek, J. E. (1998). Maximum (max) and mid-p confidence intervals
and p values for the standardized mortality and incidence ratios. *American Journal of Epidemiology* 147.
[3] Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits. *Biometrika* 26.
[4] McCullagh, P. and Nelder, J. A. (1989). *Generalized Linear Models*. Chapman and Hall.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from vocabgap.files.parts import ROW, Parts
from vocabgap.model.effect import FEWER, GONE, MORE, NO_CHANGE, TOO_EARLY
from vocabgap.model.tables import EFFECTS, phrase, stripped
from vocabgap.ranking.priority import MICROSECONDS_A_WEEK, FloatArray, IntArray, separated
from vocabgap.text import count

ALARM_WEEKS: Final = (1, 2, 3, 4, 6, 8, 12)  # the last weeks that `came_back` compares
_THIRD, _HALF, _LESS, _ABOVE = 1 / 3, 1 / 2, 0.9, 1 / 0.9  # ratios that limit the verdicts
# Weeks after, and events expected there, that a verdict needs. Without an effect, three expected events all
# stay away in 5 % of cases.
_WEEKS, _EXPECTED = 4, 3
OF_GROUPS: Final = {"cluster": pl.Int64} | {
    name: kind for name, kind in EFFECTS.schema.items() if name not in {"capability_id", "label"}
}
"""The columns of `effects_of`."""
NO_EFFECTS: Final = pl.DataFrame(schema=OF_GROUPS)
_BUSIEST: Final = 1_000  # needs with the most events, from which `spread` is estimated
_DECIMALS: Final = 6
_NOT_BEFORE: Final = "mentions before it was authored"
_NOT_AFTER: Final = "records after the decision, which is later than the log"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Authoring(NamedTuple):
    """A decision that a need was authored."""

    cluster: int
    decision_id: str
    decided: datetime
    entries: tuple[str, ...]
    anew: bool = False  # whether it begins a new effect, such as after `reopen`


class Events(NamedTuple):
    """The events of all needs in order of time, shape (events,); moments are microseconds since 1970."""

    moments: IntArray
    needs: IntArray  # numbers of clusters
    sizes: FloatArray  # mentions; 1 for a session within an hour
    squares: FloatArray


class Weeks(NamedTuple):
    """The effective events around an authoring, and the distribution that those before it give."""

    start: int  # the weeks before begin after this moment, and the weeks after follow `split`
    split: int
    before: float  # weeks
    after: float
    size: float  # events before, plus alpha of the prior
    rate: float  # 1, plus beta of the prior
    kappa: float  # see `spread`
    others_before: float
    own: FloatArray  # events of the need in each week after
    others: FloatArray  # events of the other needs in each week after
    scale: float  # effective events for each event of the need

    def compared(
        self, own: FloatArray, others: FloatArray, weeks: FloatArray
    ) -> tuple[FloatArray, FloatArray, float, FloatArray]:
        """Return the arguments of `limits` for some events after; all arrays have one shape."""
        later, earlier = np.maximum(others, 0.5), max(self.others_before, 0.5)
        noise = self.kappa * (1 / self.before + 1 / weeks) + 1 / later + 1 / earlier
        extra = 1 + noise / (1 / (own + 0.5) + 1 / self.size)
        return self.size / extra, own / extra, self.rate, later / earlier


def effects_of(
    records: Parts, wordings: pl.DataFrame, authorings: Sequence[Authoring], now: datetime, window_weeks: int
) -> pl.DataFrame:
    """Return the columns of table `effects` for groups, the newest effect first.

    A later decision about the same need adds its entries to the effect. It begins a new effect if the need
    had come back, or if the decision is marked as `anew`. The weeks before begin after the earlier effect, or
    with the first record of a younger log, or with the first mention of a younger need (which is no event).

    Args:
        records: All records that count, selected or not, with the columns of table `records`.
        wordings: Table `wordings`: the groups of all records.
        authorings: The active decisions, in any order.
        now: The present. Later records do not count, nor do records without a readable timestamp.
        window_weeks: The number of weeks before, at most.
    """
    if not authorings:
        return NO_EFFECTS
    log = _read(records, wordings, authorings, now)
    effects: dict[int, list[Authoring]] = {}
    for authoring in sorted(authorings, key=lambda each: (each.cluster, each.decided, each.entries)):
        several = effects.setdefault(authoring.cluster, [])
        is_known = several and not authoring.anew
        if is_known and came_back(log.weeks(several, _number(authoring.decided), window_weeks)) is None:
            entries = dict.fromkeys((*several[-1].entries, *authoring.entries))
            several[-1] = several[-1]._replace(entries=tuple(entries))
        else:
            several.append(authoring)
    rows = [
        log.row(several[: number + 1], end, window_weeks)
        for several in effects.values()
        for number, end in enumerate([*map(log.since, several[1:]), _number(now)])
    ]
    return pl.DataFrame(rows, schema=OF_GROUPS, orient="row").sort(
        "since", "cluster", descending=[True, False]
    )


@dataclass(frozen=True)
class _Log:
    """The parts of all records that the effects depend on."""

    authored: Collection[int]  # clusters
    events: Events
    own: pl.DataFrame  # records of the authored needs
    used: pl.DataFrame  # records and the entries that they used

    def uses(self, authoring: Authoring) -> pl.DataFrame:
        """Return the records that used one of its entries."""
        return self.used.filter(pl.col("entry").is_in(authoring.entries)).unique(ROW)

    def since(self, authoring: Authoring) -> int:
        """Return the moment of the decision, or of the first use of an entry if that is later."""
        first = self.uses(authoring)["moment"].sort().head(1)
        return max(map(int, (_number(authoring.decided), *first)))

    def weeks(self, several: Sequence[Authoring], end: int, window_weeks: int) -> Weeks:
        """Return the events around the last authoring of a need, up to a moment."""
        split, moments, need = self.since(several[-1]), self.events.moments, several[-1].cluster
        oldest, first = (int(of.min(initial=split)) for of in (moments, moments[self.events.needs == need]))
        starts = (split - window_weeks * MICROSECONDS_A_WEEK, *map(self.since, several[-2:-1]))
        start = min(split, first if first > max(oldest, *starts) else max(oldest - 1, *starts))
        return around(self.events, need, self.authored, (start, split, max(split, end)))

    def row(self, several: Sequence[Authoring], end: int, window_weeks: int) -> dict[str, Any]:
        """Return the row of the last authoring of a need, up to a moment."""
        authoring, weeks, moment = several[-1], self.weeks(several, end, window_weeks), pl.col("moment")
        own = self.own.filter(moment <= end, cluster=authoring.cluster)
        is_first = own["moment"].min() == weeks.start  # of a younger need: a mention before, but no event
        before = own.filter(moment > weeks.start - is_first, moment <= weeks.split)
        after = own.filter(moment > weeks.split)
        used = self.uses(authoring).filter(moment > _number(authoring.decided))
        row, week = estimated(weeks), came_back(weeks)
        if row["missing"] and before.is_empty():
            row["missing"] = _NOT_BEFORE
        if weeks.split > end:
            row["missing"] = _NOT_AFTER
        return row | {
            **{name: getattr(authoring, name) for name in ("cluster", "decision_id", "entries", "decided")},
            "since": _moment(weeks.split),
            "weeks_before": round(weeks.before, _DECIMALS),
            "weeks_after": round(weeks.after, _DECIMALS),
            "mentions_before": before["count"].sum(),
            "mentions_after": after["count"].sum(),
            "used_since": used["count"].sum(),
            "rating_before": _rating(before),
            "rating_after": _rating(after),
            "came_back": None if week is None else _moment(weeks.split + week * MICROSECONDS_A_WEEK),
        }


def _read(records: Parts, wordings: pl.DataFrame, authorings: Sequence[Authoring], now: datetime) -> _Log:
    """Read the records in one pass."""
    authored = {authoring.cluster for authoring in authorings}
    entries = {entry for authoring in authorings for entry in authoring.entries}
    groups = wordings.lazy().select("wording", "cluster")
    moment = pl.col("timestamp").to_physical().alias("moment")
    columns = ("cluster", "tenant_id", "session_id", "timestamp", "count", "satisfaction", "vocabulary_used")

    def clustered(part: pl.LazyFrame) -> pl.LazyFrame:
        dated = part.filter(pl.col("timestamp") <= now).with_columns(phrase().alias("wording"))
        return dated.join(groups, on="wording").select(*columns, moment, ROW)

    def step(part: pl.DataFrame) -> dict[str, pl.DataFrame]:
        events = separated(part, pl.col("moment") // (MICROSECONDS_A_WEEK // (7 * 24)))
        used = part.select("moment", "count", ROW, entry="vocabulary_used").explode("entry")
        return {
            "events": events.select(pl.col("moment").to_physical(), "cluster", "separate", "squares"),
            "own": part.filter(pl.col("cluster").is_in(authored)).drop("vocabulary_used"),
            "used": used.with_columns(stripped(pl.col("entry"))).filter(pl.col("entry").is_in(entries)),
        }

    tables = records.by(["cluster"], step, clustered)
    events = tables["events"].cast({"separate": pl.Float64}).sort(pl.all())
    return _Log(authored, Events(*map(pl.Series.to_numpy, events)), tables["own"], tables["used"])


def around(events: Events, need: int, authored: Collection[int], bounds: tuple[int, int, int]) -> Weeks:
    """Sum the effective events (see `trends`) of the weeks around an authoring.

    The others are the needs that are not among the `authored`; if these have no event, all other needs. The
    weeks before are after the first of the `bounds`, up to the second; the weeks after end with the third.
    """
    start, split, end = bounds
    before, after = (split - start) / MICROSECONDS_A_WEEK, (end - split) / MICROSECONDS_A_WEEK
    first, last = np.searchsorted(events.moments, (start, end), side="right")
    moments, needs, sizes, squares = (column[first:last] for column in events)
    numbers, rows = np.unique(np.append(needs, need), return_inverse=True)
    place, rows = rows[-1], rows[:-1]
    scale = np.bincount(rows, sizes, numbers.size) / np.maximum(np.bincount(rows, squares, numbers.size), 1)
    columns = (moments - split - 1) // MICROSECONDS_A_WEEK + ceil(before)
    shape = (numbers.size, ceil(before) + ceil(after))
    from scipy import sparse  # noqa: PLC0415 - a run without authored needs does not need it

    weekly = sparse.csr_array((sizes * scale[rows], (rows, columns)), shape=shape)
    earlier, later = weekly[:, : ceil(before)], weekly[:, ceil(before) :]
    by_need, is_other = earlier.sum(axis=1), ~np.isin(numbers, [*authored, need])
    if not by_need[is_other].any():
        is_other = numbers != need
    busiest = np.argsort(-by_need, kind="stable")[:_BUSIEST]
    kappa = spread(earlier[busiest].toarray(), earlier.sum(axis=0))
    alpha, beta = prior(by_need, kappa / before) if before else (0.0, 0.0)
    return Weeks(
        *(start, split, before, after),
        size=alpha + by_need[place],
        rate=1 + beta,
        kappa=kappa,
        others_before=by_need[is_other].sum(),
        own=later[[place]].toarray()[0],
        others=later[is_other].sum(axis=0),
        scale=scale[place],
    )


def prior(before: FloatArray, extra: float) -> tuple[float, float]:
    """Return alpha and beta of a gamma distribution of the needs' rates, by moments.

    `before` are the events of each need. `extra` is the variance by bursts, relative to the squared mean.
    Without two needs, or without any event, both are 0.
    """
    if before.size < 2 or not before.any():  # noqa: PLR2004 - a variance needs two
        return 0.0, 0.0
    mean = before.mean()
    between = max(before.var(ddof=1) - mean - extra * mean**2, mean / 1_000) / (1 + extra)
    return mean**2 / between, mean / between


def spread(weekly: FloatArray, total: FloatArray) -> float:
    """Return kappa: the variance of the needs' weekly rates beyond chance, relative to their squares.

    The function compares two weeks in turn of a need with the same weeks of all others. `weekly` has the
    shape (needs, weeks); `total` are the weeks of all needs. If kappa is not significant (one-sided, 5 %), it
    is 0.
    """
    rest = total - weekly
    first, both = weekly[:, :-1], weekly[:, :-1] + weekly[:, 1:]
    share = rest[:, :-1] / np.maximum(rest[:, :-1] + rest[:, 1:], 1e-9)
    chance = share * (1 - share)
    over = ((first - both * share) ** 2 - both * chance).sum()
    variance = (both * chance * (1 + 2 * chance * (both - 3))).sum()  # of a squared binomial error
    by_kappa = (2 * chance**2 * both * np.maximum(both - 1, 0)).sum()
    return float(over / by_kappa) if by_kappa > 0 and over > 1.645 * np.sqrt(max(variance, 0)) else 0.0


def at_most(
    size: FloatArray, own: FloatArray, rate: float, growth: FloatArray, effect: FloatArray | float
) -> FloatArray:
    """Return the mid-p probability of at most `own` events.

    Their distribution is negative binomial, with the mean `effect x growth x size / rate`.
    """
    from scipy.special import betainc  # noqa: PLC0415 - a run without authored needs does not need it

    share = rate / (rate + effect * growth)
    fewer = np.where(own > 0, betainc(size, np.maximum(own, 1e-12), share), 0.0)
    return np.asarray((betainc(size, own + 1, share) + fewer) / 2)


def limits(size: FloatArray, own: FloatArray, rate: float, growth: FloatArray) -> FloatArray:
    """Return both ends of the 90 % interval of each effect, shape (2, effects); one-sided without events."""
    chance = np.array([np.full(own.shape, 0.95), np.where(own > 0, 0.05, 0.1)])
    low, high = np.full(chance.shape, -12.0), np.full(chance.shape, 8.0)  # logarithms of the effects
    for _ in range(40):
        middle = (low + high) / 2
        is_above = at_most(size, own, rate, growth, np.exp(middle)) > chance
        low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
    return np.where([own > 0, own >= 0], np.exp(low), 0.0)


def verdict_of(low: float, high: float) -> str:
    """Return the verdict for an interval of an effect."""
    cases = {GONE: high < _THIRD, FEWER: high < _LESS, MORE: low > _ABOVE, NO_CHANGE: low > _HALF}
    return next((verdict for verdict, holds in cases.items() if holds), TOO_EARLY)


def estimated(weeks: Weeks) -> dict[str, Any]:
    """Return the columns `expected` to `missing` of an effect."""
    row: dict[str, Any] = dict.fromkeys(("expected", "ratio", "ratio_low", "ratio_high"))
    row |= {"verdict": TOO_EARLY, "missing": _NOT_BEFORE}
    if not weeks.size + weeks.others_before:
        return row
    if not weeks.others_before * weeks.others.sum():
        return row | {"missing": "later mentions of other needs"}
    own, others = weeks.own.sum(), weeks.others.sum()
    expected = weeks.size / weeks.rate * others / weeks.others_before
    (low,), (high,) = limits(*weeks.compared(*np.array([[own], [others], [weeks.after]])))
    numbers = (expected / (weeks.scale or 1), own / expected, low, high)
    row |= {name: round(float(number), _DECIMALS) for name, number in zip(row, numbers, strict=False)}
    more = ceil(max(_WEEKS, _EXPECTED / expected * weeks.after) - weeks.after)
    if more > 0:
        return row | {"missing": f"about {count(more, 'more week')} like these"}
    verdict = verdict_of(low, high)
    return row | {"verdict": verdict, "missing": "more mentions" if verdict == TOO_EARLY else None}


def came_back(weeks: Weeks) -> int | None:
    """Return the week after authoring in which a need came back, counted from 1; None if it did not.

    The function compares counts at the end of each week with a mention. The need came back if its last
    `ALARM_WEEKS` have three events or more, and more than the effect explains. The effect explains its upper
    limit in the weeks before them, or a third of the usual rate if that is more. The need never left if all
    weeks since authoring have more than half of the usual rate. A comparison errs in 1 % of cases.
    """
    looks = np.arange(1, int(weeks.after) + 1)
    if not looks.size or not weeks.size:
        return None
    own, others = (np.append(0.0, events.cumsum()) for events in (weeks.own, weeks.others))

    def is_above(first: IntArray, last: IntArray, effect: FloatArray | float) -> npt.NDArray[np.bool_]:
        events, length = own[last] - own[first], (last - first).astype(np.float64)
        chance = at_most(*weeks.compared(events, others[last] - others[first], length), effect)
        return np.asarray((events.round(_DECIMALS) >= 3) & (chance > 0.99))  # noqa: PLR2004

    is_back = is_above(0 * looks, looks, _HALF)
    _, upper = limits(*weeks.compared(own[looks], others[looks], looks.astype(np.float64)))
    for length in ALARM_WEEKS:
        last = looks[length:]
        is_back[length:] |= is_above(last - length, last, np.maximum(upper[: last.size], _THIRD))
    weeks_back = looks[is_back & (weeks.own[: looks.size] > 0)]
    return int(weeks_back[0]) if weeks_back.size else None


def _rating(records: pl.DataFrame) -> float | None:
    """Return the mean satisfaction of the rated mentions."""
    rated = records.drop_nulls("satisfaction")
    if rated.is_empty():
        return None
    return round(float(np.average(rated["satisfaction"], weights=rated["count"])), _DECIMALS)


def _number(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _moment(number: int) -> datetime:
    return _EPOCH + timedelta(microseconds=number)
