"""Priority: how many it reaches, how badly it is needed, and how lately it was asked for."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vocabgap.records.moments import MICROSECONDS_A_DAY
from vocabgap.schema import UTC_MICROSECONDS
from vocabgap.settings.model import DEFAULT_HALF_LIFE_DAYS

FloatArray = npt.NDArray[np.float64]

SMOOTHING: Final = 5.0
"""Ratings of the whole corpus's kind that each capability is given beside its own."""

# The last digits of a logarithm differ from processor to processor; equal evidence has to give equal numbers.
_DECIMALS: Final = 12
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Weights:
    """How the factors of the priority are weighted.

    Attributes:
        half_life_days: Days after which a mention counts half, above 0.
        reach: Exponent of the reach, from 0, which leaves the factor out.
        need: Exponent of the need.
        recency: Exponent of the recency.
    """

    half_life_days: float = DEFAULT_HALF_LIFE_DAYS
    reach: float = 1.0
    need: float = 1.0
    recency: float = 1.0


@dataclass(frozen=True)
class Counted:
    """What the priority is made of; arrays of shape (capabilities,) or (draws, capabilities).

    Attributes:
        images: Distinct images.
        unsatisfied: Records with satisfaction -1.
        rated: Records with any satisfaction.
        age: Days since the last mention, from 0.
    """

    images: FloatArray
    unsatisfied: FloatArray
    rated: FloatArray
    age: FloatArray


@dataclass(frozen=True)
class Factors:
    """The three factors, each from 0 to 1, and their weighted product; arrays of one shape."""

    reach: FloatArray
    need: FloatArray
    recency: FloatArray
    priority: FloatArray


def factors(counted: Counted, weights: Weights) -> Factors:
    """The factors of the priority and their product.

    - reach = ln(1 + images) / ln(1 + images of the capability that has the most), 0 to 1
    - need = (unsatisfied + 5 p) / (rated + 5), where p = (all unsatisfied + 1) / (all rated + 2) is the share
      of unsatisfied records in the whole corpus: a capability without ratings is taken to be as bad as the
      corpus is, and few ratings move it only a little
    - recency = 0.5 ^ (days from the last mention to now / half-life)
    - priority = reach ^ reach_weight x need ^ need_weight x recency ^ recency_weight

    Args:
        counted: What was counted, of all capabilities.
        weights: The half-life and the exponents.
    """
    most = counted.images.max(axis=-1, keepdims=True, initial=1.0)
    reach = np.log1p(counted.images) / np.log1p(most)
    unsatisfied = counted.unsatisfied.sum(axis=-1, keepdims=True)
    share = (unsatisfied + 1.0) / (counted.rated.sum(axis=-1, keepdims=True) + 2.0)
    need = (counted.unsatisfied + SMOOTHING * share) / (counted.rated + SMOOTHING)
    recency = np.power(0.5, counted.age / weights.half_life_days)
    product = reach**weights.reach * need**weights.need * recency**weights.recency
    return Factors(*(np.round(factor, _DECIMALS) for factor in (reach, need, recency, product)))


def constant(moment: datetime | None) -> pl.Expr:
    """A moment for every row, in UTC.

    From a number, for Polars makes a series of a `datetime`, by five steps, before it makes an expression.
    """
    microseconds = None if moment is None else (moment - _EPOCH) // timedelta(microseconds=1)
    return pl.lit(microseconds, pl.Int64).cast(UTC_MICROSECONDS)


def age_in_days(moment: pl.Expr, now: datetime | None, earliest: datetime | None) -> pl.Expr:
    """Days from a moment to now.

    A moment after now has the age 0. One that is not known is as old as the earliest readable timestamp of
    all records; where none is readable, every age is 0.

    Args:
        moment: Timestamps in UTC.
        now: The moment that counts as the present.
        earliest: The earliest readable timestamp; null if there is none.
    """
    known = moment.fill_null(constant(earliest))
    microseconds = (constant(now) - known).dt.total_microseconds()
    return (microseconds.cast(pl.Float64) / MICROSECONDS_A_DAY).clip(lower_bound=0.0).fill_null(0.0)


def prioritised(
    counts: pl.DataFrame, weights: Weights, now: datetime | None, earliest: datetime | None
) -> pl.DataFrame:
    """Add the columns `reach`, `need`, `recency` and `priority`.

    Args:
        counts: Columns `images`, `unsatisfied`, `neutral`, `satisfied` and `last_seen`, a row a capability.
        weights: The half-life and the exponents.
        now: The moment that counts as the present.
        earliest: The earliest readable timestamp of all records; null if there is none.
    """
    numbers = counts.select(
        pl.col("images", "unsatisfied").cast(pl.Float64),
        pl.sum_horizontal("unsatisfied", "neutral", "satisfied").cast(pl.Float64).alias("rated"),
        age_in_days(pl.col("last_seen"), now, earliest).alias("age"),
    )
    found = factors(Counted(**{name: numbers[name].to_numpy() for name in numbers.columns}), weights)
    return counts.with_columns(
        pl.Series(name, getattr(found, name), pl.Float64) for name in ("reach", "need", "recency", "priority")
    )
