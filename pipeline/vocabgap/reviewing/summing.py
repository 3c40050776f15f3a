"""What a person wants to know of some records at the end of a session, in numbers."""

from datetime import datetime
from typing import Final

import msgspec
import polars as pl

from vocabgap.reporting.capability import Tally
from vocabgap.schema import IMAGE_KEY, stripped

_SHOWN_CATEGORIES: Final = 20


class Belonging(msgspec.Struct, frozen=True):
    """A capability that is known already, and how many of the records ask for it.

    Attributes:
        capability_id: Its identifier.
        label: Its label.
        records: Those that ask for it here.
        mentions: Those that asked for it in the run; null where that was narrowed to others.
        status: Its status there; null where it was narrowed to others.
    """

    capability_id: str
    label: str
    records: int
    mentions: int | None = None
    status: str | None = None


class Totals(msgspec.Struct, frozen=True):
    """Numbers over some records.

    Attributes:
        records: How many there are.
        images: Distinct images.
        sessions: Distinct known sessions.
        first: Earliest readable timestamp; null if none.
        last: Latest one.
        unsatisfied: Rated -1.
        neutral: Rated 0.
        satisfied: Rated 1.
        unrated: Not rated.
        worked_around: Those that say what was done instead.
        categories: Records by category, most frequent first, the first of many.
    """

    records: int
    images: int
    sessions: int
    first: datetime | None
    last: datetime | None
    unsatisfied: int
    neutral: int
    satisfied: int
    unrated: int
    worked_around: int
    categories: tuple[Tally, ...]


def totals(records: pl.DataFrame) -> Totals:
    """The numbers over records.

    Args:
        records: Columns of table `records`, and `category`.
    """
    session = pl.struct("tenant_id", "session_id").filter(stripped(pl.col("session_id")) != "")
    rated = pl.col("satisfaction")
    row = records.select(
        records=pl.len(),
        images=pl.struct(IMAGE_KEY).n_unique(),
        sessions=session.n_unique(),
        first=pl.col("timestamp").min(),
        last=pl.col("timestamp").max(),
        unsatisfied=(rated == -1).sum(),
        neutral=(rated == 0).sum(),
        satisfied=(rated == 1).sum(),
        unrated=rated.is_null().sum(),
        worked_around=(stripped(pl.col("workaround")) != "").sum(),
    ).row(0, named=True)
    tallies = records.group_by("category").len().sort("len", "category", descending=[True, False]).iter_rows()
    categories = tuple(Tally(name, number) for name, number in tallies)
    return Totals(**row, categories=categories[:_SHOWN_CATEGORIES])


def belonging(listed: pl.DataFrame, ranked: pl.DataFrame | None) -> tuple[Belonging, ...]:
    """The known capabilities that records belong to, most records first.

    Args:
        listed: Table `listed`.
        ranked: Table `capabilities` of the run that they are known from.
    """
    if ranked is None:
        return ()
    rows = (
        listed.drop_nulls("capability_id")
        .group_by("capability_id", "capability")
        .agg(records=pl.len())
        .join(ranked.select("capability_id", "mentions", "status"), on="capability_id", how="left")
        .sort("records", "capability_id", descending=[True, False])
    )
    return tuple(Belonging(*row) for row in rows.iter_rows())
