"""The records of some logs, newest first, as far as they are asked for."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from vocabgap.errors import require_kind, whole_number
from vocabgap.gaplog.naming import Known, known_in, listed
from vocabgap.gaplog.review import LAST, Belonging, Question, Totals, belonging, totals
from vocabgap.ingest.caching import CacheUse
from vocabgap.ingest.scanning import Scan, scan
from vocabgap.ingest.selection import undated, unmatched
from vocabgap.records.moments import require_offset
from vocabgap.records.record import fold_category
from vocabgap.schema import RECORDS, stripped
from vocabgap.settings.model import Settings
from vocabgap.text import count


@dataclass(frozen=True, repr=False)
class Review:
    """The records that were asked for.

    Attributes:
        gaps: Table `listed`, newest first: as many as were asked for.
        totals: Numbers over all that fit, those beyond the limit included.
        belonging: The known capabilities that the listed ones belong to.
        session: The newest session, where that was asked for; null where it was not, or none is known.
        notes: What no record has of what was asked for, and the like, a sentence each.
        known: The published run whose capabilities are named; null where there is none.
        scan: What was read.
    """

    gaps: pl.DataFrame
    totals: Totals
    belonging: tuple[Belonging, ...]
    session: str | None
    notes: tuple[str, ...]
    known: Known | None
    scan: Scan

    @property
    def cache(self) -> CacheUse | None:
        """What the cache was good for."""
        return self.scan.cache

    def __repr__(self) -> str:
        """How many there are, in one line."""
        return f"Review({self.gaps.height:,} of {count(self.totals.records, 'record')})"


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
    now: datetime | None = None,
    out: str | Path | None = None,
    settings: Settings | None = None,
    cache: str | Path | None = None,
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
        now: The moment that spans count back from; the clock's by default.
        out: The folder of the published run that capabilities are known from. By default that of the
            settings, if a run is there.
        settings: The settings in force; the defaults by default.
        cache: A folder that keeps what was read for the next time.

    Returns:
        Table `listed`. Records whose time is not known come last; those of one moment are ordered by
        repository and file, the later line first.

    Raises:
        VocabgapError: One of its kinds, as `vocabgap.scan` raises them, or an argument cannot be used.
    """
    moment = require_offset(datetime.now(UTC) if now is None else now, name="now")
    question = Question.of(
        images=images,
        since=since,
        until=until,
        operations=operations,
        match=match,
        categories=categories,
        sessions=sessions,
        satisfaction=satisfaction,
        tenants=tenants,
        repositories=repositories,
        now=moment,
    )
    return review(root, question, limit=limit, out=out, settings=settings, cache=cache).gaps


def review(
    root: str | Path | Iterable[str | Path],
    question: Question,
    *,
    limit: int | None = None,
    out: str | Path | None = None,
    settings: Settings | None = None,
    cache: str | Path | None = None,
    verify_hash: bool = False,
) -> Review:
    """The records that are asked for, newest first, with the numbers over them.

    Args:
        root: As `list_gaps`, here and below.
        question: What is asked for.
        limit: How many are listed at most; null for all.
        out: The folder of the published run that capabilities are known from.
        settings: The settings in force.
        cache: A folder that keeps what was read.
        verify_hash: Compare every log with the cache by its digest, not by its size and times.

    Raises:
        VocabgapError: One of its kinds.
    """
    most = None if limit is None else whole_number("limit", limit, hint="leave it out to list all")
    settings = Settings() if settings is None else settings
    require_kind("settings", settings, Settings, "a Settings", hint="vocabgap.load_settings reads one")
    known, why_not = known_in(out, settings.report.out)
    asked = question.selection
    scanned = scan(
        root,
        settings=settings.scan,
        cache=cache,
        verify_hash=verify_hash,
        tenants=asked.tenants,
        repositories=asked.repositories,
    )
    notes = [why_not] if why_not else []
    session = None
    if question.is_of_last:
        scope = scanned.select(question.scope).gaps.filter("counted")
        session = newest_session(scope)
        if session is None:
            notes.append(f"no record has a session, so that there is no {LAST} one")
        else:
            question = question.of_session(session)
    narrowed = scanned.select(
        question.selection,
        category_aliases=settings.category_aliases,
        operation_aliases=settings.operation_aliases,
    )
    found = question.among(narrowed.gaps.filter("counted").select(RECORDS.names))
    found = with_category(found, settings)
    if session is not None or not question.is_of_last:
        notes += unmatched(
            scanned.gaps,
            question.selection,
            category_aliases=settings.category_aliases,
            operation_aliases=settings.operation_aliases,
        )
    notes += filter(None, [unread(scanned)])
    without = undated(narrowed.gaps, question.selection)
    if without:
        notes.append(f"{count(without, 'record')} without a readable timestamp left out")
    shown = listed(newest(found, most), known)
    ranked = None if known is None else known.ranked
    return Review(shown, totals(found), belonging(shown, ranked), session, tuple(notes), known, scanned)


def unread(scanned: Scan) -> str:
    """What is to be said of lines that could not be read; nothing where there are none."""
    number = scanned.summary.rejects
    return f"{count(number, 'line')} could not be read; `vocabgap check` lists them" if number else ""


def newest(records: pl.DataFrame, most: int | None = None) -> pl.DataFrame:
    """Records by time, the newest first, those without a time last.

    Args:
        records: Columns of table `records`.
        most: How many at most; null for all.
    """
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


def newest_session(records: pl.DataFrame) -> str | None:
    """The session of the newest record that has one; null where none has.

    Args:
        records: Columns of table `records`.
    """
    known = records.filter((stripped(pl.col("session_id")) != "").fill_null(value=False))
    return None if known.is_empty() else str(newest(known, 1)["session_id"][0])


def with_category(records: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Records with their category as the agent wrote it, aliases folded."""
    known = records["intent_category"].unique().sort()
    folded = [fold_category(each, settings.category_aliases) for each in known]
    names = pl.Series(folded, dtype=pl.String)
    return records.with_columns(pl.col("intent_category").replace_strict(known, names).alias("category"))
