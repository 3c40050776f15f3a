"""Gap records, newest first, as far as they are asked for, with the numbers over them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self

import msgspec
import polars as pl

from vocabgap.errors import require_kind, require_text, texts, unusable, whole_number
from vocabgap.gaplog.finding import PublishedCapabilities, published_in, with_capability
from vocabgap.ingest.scanning import Scan, scan
from vocabgap.ingest.selection import Selection, ahead_in_words, newest_moment, undated, unmatched
from vocabgap.model.moments import Present, known_present, parse_moment, require_offset
from vocabgap.model.record import LIST_FIELDS, SATISFACTION_WORDS, fold_category
from vocabgap.model.settings import Settings
from vocabgap.model.tables import IMAGE_KEY, RECORDS, stripped
from vocabgap.ranking.evidence import folded
from vocabgap.reporting.capability import Tally
from vocabgap.text import count

LAST: Final = "last"
RATING_WORDS: Final = MappingProxyType(
    {
        "-1": -1, "0": 0, "1": 1, "unsatisfied": -1, "neutral": 0, "satisfied": 1,
        "none": None, "unrated": None, **SATISFACTION_WORDS,
    }
)  # fmt: skip
_MATCHED: Final = ("missing_capability", "description", "intent", "workaround", "notes")
_SHOWN_CATEGORIES: Final = 20


@dataclass(frozen=True, slots=True)
class Query:
    """Which records are asked for. Several values of one field widen it, several fields narrow it."""

    selection: Selection  # a session called `last` is the newest one
    match: str | None = None
    ratings: tuple[int | None, ...] = ()  # null for a record without one

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
        """The query of some arguments, which `list_gaps` explains."""
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
        return cls(selection, match, tuple(dict.fromkeys(map(_rating, several))))

    def matching(self, records: pl.DataFrame) -> pl.DataFrame:
        """Those of the selected records that hold the text and are rated as asked for."""
        if self.ratings:
            given = [each for each in self.ratings if each is not None]
            rated = pl.col("satisfaction").is_in(given).fill_null(value=False)
            unrated = pl.col("satisfaction").is_null() & (None in self.ratings)
            records = records.filter(rated | unrated)
        if self.match is not None:
            wanted = pl.select(_folded(pl.lit(self.match))).item()
            fields = [pl.col(name) for name in _MATCHED]
            fields += [pl.col(name).list.join("\n") for name in LIST_FIELDS]
            holding = [_folded(field).str.contains(wanted, literal=True) for field in fields]
            records = records.filter(pl.any_horizontal(holding).fill_null(value=False))
        return records


class Totals(msgspec.Struct, frozen=True):
    """Numbers over some records: what a person wants to know at the end of a session."""

    records: int
    images: int
    sessions: int  # that are known
    first: datetime | None  # timestamp that can be read
    last: datetime | None
    unsatisfied: int
    neutral: int
    satisfied: int
    unrated: int
    worked_around: int  # those that say what was done instead
    categories: tuple[Tally, ...]  # most frequent first, the first of many


class Belonging(msgspec.Struct, frozen=True):
    """A capability of the published run, and how many of the records ask for it.

    Its mentions and its status in the run are null where that was narrowed to others.
    """

    capability_id: str
    label: str
    records: int
    mentions: int | None = None
    status: str | None = None


@dataclass(frozen=True, repr=False)
class Listing:
    """The records that were asked for."""

    gaps: pl.DataFrame  # table `listed`, newest first: as many as were asked for
    totals: Totals  # over all that fit, those beyond the limit included
    belonging: tuple[Belonging, ...]  # of the listed ones
    session: str | None  # the newest, where that was asked for and one is known
    notes: tuple[str, ...]  # what no record has of what was asked for, and the like
    published: PublishedCapabilities | None  # the run whose capabilities are named
    scan: Scan

    def __repr__(self) -> str:
        """How many there are, in one line."""
        return f"Listing({self.gaps.height:,} of {count(self.totals.records, 'record')})"


def list_gaps(
    root: str | Path | Iterable[str | Path],
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
    limit: int | None = None,
    now: Present | None = None,
    out: str | Path | None = None,
    settings: Settings | None = None,
) -> pl.DataFrame:
    """The records that count, newest first.

    Several values of one filter widen it, several filters narrow it.

    Args:
        root: Folders to search for gap logs, single log files, or folders of shared corpora.
        images: Image ids.
        since: Earliest moment, inclusive, as a datetime with an offset or as the command line takes it.
        until: Latest moment, exclusive.
        operations: Operations, matched whole; aliases fold on both sides.
        match: Text that is somewhere in a record, in whatever case.
        categories: Categories; aliases fold on both sides.
        sessions: Session ids; `last` is the newest session of the images and the time that are asked for.
        satisfaction: -1, 0, 1, a word for one of these, or `none` for what is not rated.
        tenants: Whose records.
        repositories: Repositories.
        limit: How many at most; null for all.
        now: The moment that spans count back from; the clock's by default, and `last` that of the newest
            record.
        out: The folder of the published run that capabilities are known from. By default that of the
            settings, if a run is there.
        settings: The settings in force; the defaults by default.

    Returns:
        Table `listed`. Records whose time is not known come last; those of one moment are ordered by
        repository and file, the later line first.

    Raises:
        VocabgapError: One of its kinds, as `vocabgap.scan` raises them, or an argument cannot be used.
    """
    asked = partial(
        Query.of,
        images=texts("images", images),
        since=since,
        until=until,
        operations=texts("operations", operations),
        match=match,
        categories=texts("categories", categories),
        sessions=texts("sessions", sessions),
        satisfaction=(satisfaction,) if isinstance(satisfaction, str | int) else tuple(satisfaction),
        tenants=texts("tenants", tenants),
        repositories=texts("repositories", repositories),
    )
    return listing(
        root,
        lambda moment: asked(now=moment),
        now=now,
        limit=limit,
        out=out,
        settings=settings,
    ).gaps


def listing(
    root: str | Path | Iterable[str | Path],
    query: Query | Callable[[datetime], Query],
    *,
    now: Present | None = None,
    limit: int | None = None,
    out: str | Path | None = None,
    settings: Settings | None = None,
) -> Listing:
    """The records that are asked for, newest first, with the numbers over them; see `list_gaps`.

    With spans before the present, the query is a function of that moment.
    """
    most = None if limit is None else whole_number("limit", limit, hint="leave it out to list all")
    settings = Settings() if settings is None else settings
    require_kind("settings", settings, Settings, "a Settings", hint="vocabgap.load_settings reads one")
    clock = known_present(now)
    asked = query(clock) if callable(query) else query
    published, unreadable = published_in(out, settings.report.out)
    scanned = scan(
        root,
        settings=settings.scan,
        tenants=asked.selection.tenants,
        repositories=asked.selection.repositories,
    )
    notes = [unreadable] if unreadable else []
    if now == LAST and callable(query):
        latest, ahead = newest_moment(scanned.gaps, clock)
        asked = query(latest)
        notes += [ahead_in_words(ahead)] * bool(ahead)
    selection, session = asked.selection, None
    is_of_last = LAST in selection.sessions
    if is_of_last:  # of the images and the time that are asked for
        wider = replace(selection, sessions=(), categories=(), modules=())
        session = _newest_session(scanned.select(wider).gaps.filter("counted"))
        if session is None:
            notes.append(f"no record has a session, so that there is no {LAST} one")
        else:
            names = tuple(session if each == LAST else each for each in selection.sessions)
            selection = replace(selection, sessions=names)
    selected = scanned.select(selection, **settings.folding).gaps
    records = asked.matching(selected.filter("counted").select(RECORDS.names))
    records = with_category(records, settings)
    if session is not None or not is_of_last:
        notes += unmatched(scanned.gaps, selection, **settings.folding)
    notes += unread(scanned)
    without = undated(selected, selection)
    if without:
        notes.append(f"{count(without, 'record')} without a readable timestamp left out")
    gaps = with_capability(newest(records, most), published)
    return Listing(
        gaps, totals(records), belonging(gaps, published), session, tuple(notes), published, scanned
    )


def totals(records: pl.DataFrame) -> Totals:
    """The numbers over records, which have a `category`."""
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


def belonging(gaps: pl.DataFrame, published: PublishedCapabilities | None) -> tuple[Belonging, ...]:
    """The published capabilities that records of table `listed` belong to, most records first."""
    if published is None:
        return ()
    rows = (
        gaps.drop_nulls("capability_id")
        .group_by("capability_id", "capability")
        .agg(records=pl.len())
        .join(published.ranked.select("capability_id", "mentions", "status"), on="capability_id", how="left")
        .sort("records", "capability_id", descending=[True, False])
    )
    return tuple(Belonging(*row) for row in rows.iter_rows())


def newest(records: pl.DataFrame, most: int | None = None) -> pl.DataFrame:
    """Records by time, the newest first, those without a time last; all of them, or the first."""
    if most is not None and 0 < most < records.height - records["timestamp"].null_count():
        # Only what can be among them is put in order: of a million records that is next to nothing.
        records = records.filter(pl.col("timestamp") >= records["timestamp"].top_k(most).min())
    ordered = records.sort(
        "timestamp",
        "repo_slug",
        "source_path",
        "line",
        "tenant_id",
        descending=[True, False, False, True, False],
        nulls_last=True,
    )
    return ordered if most is None else ordered.head(min(most, ordered.height))


def with_category(records: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Records with their category as the agent wrote it, aliases folded."""
    fold = partial(fold_category, aliases=settings.category_aliases)
    return records.with_columns(folded(records["intent_category"], fold).alias("category"))


def unread(scanned: Scan) -> list[str]:
    """What is to be said of lines that could not be read; nothing where there are none."""
    number = scanned.summary.rejects
    return [f"{count(number, 'line')} could not be read; `vocabgap check` lists them"] if number else []


def _newest_session(records: pl.DataFrame) -> str | None:
    """The session of the newest record that has one; null where none has."""
    known = records.filter((stripped(pl.col("session_id")) != "").fill_null(value=False))
    return None if known.is_empty() else str(newest(known, 1)["session_id"][0])


def _rating(value: object) -> int | None:
    """The rating that a number or a word stands for; null for none."""
    if value is None:
        return None
    word = str(value).strip().casefold() if isinstance(value, int | str) else ""
    if isinstance(value, bool) or word not in RATING_WORDS:
        raise unusable("satisfaction", f"one of {', '.join(RATING_WORDS)}", value)
    return RATING_WORDS[word]


def _moment(value: str | datetime | None, now: datetime, name: str) -> datetime | None:
    if value is None:
        return None
    return parse_moment(value, now, name=name) if isinstance(value, str) else require_offset(value, name=name)


def _folded(text: pl.Expr) -> pl.Expr:
    return text.str.normalize("NFC").str.to_lowercase()
