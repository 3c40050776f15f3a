"""What a review is narrowed to."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Final, Self

import msgspec
import polars as pl

from vocabgap.errors import require_text, texts, unusable
from vocabgap.ingest.selection import Selection
from vocabgap.records.moments import parse_moment, require_offset
from vocabgap.records.record import SATISFACTION_WORDS
from vocabgap.reporting.capability import Tally
from vocabgap.schema import IMAGE_KEY, stripped

LAST: Final = "last"
NOT_RATED: Final = "none"
_MATCHED: Final = ("missing_capability", "description", "intent", "workaround", "notes")
_MATCHED_LISTS: Final = ("operations_involved", "vocabulary_used")
RATINGS: Final = MappingProxyType(
    {
        "-1": -1, "0": 0, "1": 1, "unsatisfied": -1, "neutral": 0, "satisfied": 1,
        NOT_RATED: None, "unrated": None, **SATISFACTION_WORDS,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    """Which records are asked for. Several values of one field widen it, several fields narrow it.

    Attributes:
        selection: What a report can be narrowed to, too; a session called `last` is the newest one.
        match: Text that is somewhere in a record, in whatever case; null for any.
        ratings: Ratings; null for a record without one. Empty for any.
    """

    selection: Selection
    match: str | None = None
    ratings: tuple[int | None, ...] = ()

    @classmethod
    def of(
        cls,
        *,
        images: Iterable[str] = (),
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        operations: Iterable[str] = (),
        match: str | None = None,
        categories: Iterable[str] = (),
        sessions: Iterable[str] = (),
        satisfaction: Iterable[int | str | None] | int | str = (),
        tenants: Iterable[str] = (),
        repositories: Iterable[str] = (),
        now: datetime,
    ) -> Self:
        """The question that some arguments ask.

        Raises:
            InvalidInputError: One of them cannot be used.
        """
        selection = Selection(
            since=_moment(since, now, "since"),
            until=_moment(until, now, "until"),
            images=texts("images", images),
            categories=texts("categories", categories),
            modules=texts("operations", operations),
            sessions=texts("sessions", sessions),
            tenants=texts("tenants", tenants),
            repositories=texts("repositories", repositories),
        )
        if match is not None:
            require_text("match", match)
            if not match.strip():
                raise unusable("match", "text that is not blank", match, hint="leave it out for every record")
        several = (satisfaction,) if isinstance(satisfaction, str | int) else tuple(satisfaction)
        return cls(selection, match, tuple(dict.fromkeys(map(rating, several))))

    @property
    def is_of_last(self) -> bool:
        """Whether the newest session is asked for, whichever that is."""
        return LAST in self.selection.sessions

    @property
    def scope(self) -> Selection:
        """Where the newest session is looked for: in the images and the time that are asked for."""
        return replace(self.selection, sessions=(), categories=(), modules=())

    def of_session(self, session_id: str) -> Self:
        """The same question with the newest session by its name."""
        named = tuple(session_id if each == LAST else each for each in self.selection.sessions)
        return replace(self, selection=replace(self.selection, sessions=named))

    def among(self, records: pl.DataFrame) -> pl.DataFrame:
        """Those of the records that the selection leaves which match and are rated as asked for."""
        if self.ratings:
            given = [each for each in self.ratings if each is not None]
            rated = pl.col("satisfaction").is_in(given).fill_null(value=False)
            unrated = pl.col("satisfaction").is_null() & (None in self.ratings)
            records = records.filter(rated | unrated)
        if self.match is not None:
            wanted = pl.select(_folded(pl.lit(self.match))).item()
            fields = [pl.col(name) for name in _MATCHED]
            fields += [pl.col(name).list.join("\n") for name in _MATCHED_LISTS]
            holding = [_folded(field).str.contains(wanted, literal=True) for field in fields]
            records = records.filter(pl.any_horizontal(holding).fill_null(value=False))
        return records


def rating(value: object) -> int | None:
    """The rating that a number or a word stands for; null for none.

    Raises:
        InvalidInputError: It stands for none.
    """
    if value is None:
        return None
    known = str(value).strip().casefold() if isinstance(value, int | str) else ""
    if isinstance(value, bool) or known not in RATINGS:
        raise unusable("satisfaction", f"one of {', '.join(RATINGS)}", value)
    return RATINGS[known]


def _moment(value: str | datetime | None, now: datetime, name: str) -> datetime | None:
    if value is None:
        return None
    return parse_moment(value, now, name=name) if isinstance(value, str) else require_offset(value, name=name)


def _folded(text: pl.Expr) -> pl.Expr:
    return text.str.normalize("NFC").str.to_lowercase()


# What a person wants to know of some records at the end of a session, in numbers.


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
