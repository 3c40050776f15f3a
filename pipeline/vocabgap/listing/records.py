"""List gap records, newest first, with the numbers over them."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

import msgspec
import polars as pl

from vocabgap.errors import (
    AccessDeniedError,
    InvalidInputError,
    NotFoundError,
    StateError,
    alike,
    nearest,
    require_kind,
    whole_number,
)
from vocabgap.ingest.scanning import (
    Scan,
    ahead_in_words,
    newest,
    newest_moment,
    scan,
    undated,
    unmatched,
    with_newest_session,
)
from vocabgap.model.capability import Tally
from vocabgap.model.moments import LAST, Present, known_present
from vocabgap.model.record import UNCATEGORIZED, fold_category
from vocabgap.model.selection import Selection
from vocabgap.model.settings import Settings
from vocabgap.model.tables import IMAGE_KEY, LINEAGE, LISTED, RECORDS, phrase, stripped
from vocabgap.ranking.evidence import folded
from vocabgap.reporting.manifest import LINEAGE_NAME, read_manifest
from vocabgap.reporting.published_run import read_groups, read_run, read_table, resolve_target
from vocabgap.text import count, excerpt, surface

_SHOWN_CATEGORIES: Final = 20
_RUN_OPTION: Final = "--run"


class Totals(msgspec.Struct, frozen=True):
    """Numbers over some records."""

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

    Its mentions and its status are null if the run was narrowed to others.
    """

    capability_id: str
    label: str
    records: int
    mentions: int | None = None
    status: str | None = None


@dataclass(frozen=True, repr=False)
class PublishedCapabilities:
    """The capabilities of a published run."""

    ranked: pl.DataFrame  # table `capabilities`
    groups: pl.DataFrame  # table `groups`, only the surfaces of this run
    relations: pl.DataFrame  # table `lineage`
    folder: Path
    now: datetime  # the present of the run
    narrowed_to: str

    @classmethod
    def read(cls, folder: str | Path) -> Self:
        """Read the Parquet files of a run."""
        place = resolve_target(folder, option=_RUN_OPTION)
        manifest, ranked = read_run(folder, option=_RUN_OPTION)
        relations = read_table(place, LINEAGE_NAME, LINEAGE)
        return cls(ranked, read_groups(place), relations, place, manifest.now, manifest.narrowed_to)


@dataclass(frozen=True, repr=False)
class Listing:
    """The records that were asked for."""

    gaps: pl.DataFrame  # table `listed`, newest first: as many as were asked for
    totals: Totals  # over all that fit, also beyond the limit
    belonging: tuple[Belonging, ...]  # of the listed ones
    session: str | None  # the newest, if it was asked for and is known
    notes: tuple[str, ...]  # such as filters that no record fits
    published: PublishedCapabilities | None  # the run with the capabilities
    scan: Scan

    def __repr__(self) -> str:
        """Count the records in one line."""
        return f"Listing({self.gaps.height:,} of {count(self.totals.records, 'record')})"


def list_gaps(
    root: str | Path | Iterable[str | Path],
    *,
    limit: int | None = None,
    now: Present | None = None,
    out: str | Path | None = None,
    settings: Settings | None = None,
    **filters: Any,  # noqa: ANN401 - those of `Selection`
) -> pl.DataFrame:
    """Return the records that count, newest first.

    Several values of one filter widen it, several filters narrow it.

    Args:
        root: Folders to search for gap logs, single log files, or folders of shared corpora.
        limit: The largest number of records; null for all.
        now: The moment that spans count back from, `last` for the newest record; by default the clock's.
        out: The folder of the published run with the capabilities; by default that of the settings.
        settings: The settings; the defaults by default.
        **filters: The filters of `Selection` by name, such as `images`. A moment may be a datetime with an
            offset, or text as on the command line. The session `last` is the newest of the selected images.

    Returns:
        Table `listed`. Records without a time come last. Records of one moment are ordered by repository and
        file, the later line first.

    Raises:
        VocabgapError: One of its kinds, as `vocabgap.scan` raises them, or an argument cannot be used.
    """
    for name in filters.keys() - set(Selection.__struct_fields__):
        raise InvalidInputError(
            f"there is no filter '{name}'", hint=nearest(name, Selection.__struct_fields__)
        )
    selection = partial(Selection.asked, filters)
    return listing(root, selection, now=now, limit=limit, out=out, settings=settings).gaps


def listing(
    root: str | Path | Iterable[str | Path],
    selection: Selection | Callable[[datetime], Selection],
    *,
    now: Present | None = None,
    limit: int | None = None,
    out: str | Path | None = None,
    settings: Settings | None = None,
) -> Listing:
    """Return the selected records, newest first, with the numbers over them; see `list_gaps`.

    A selection with spans before the present is a function of that moment.
    """
    most = None if limit is None else whole_number("limit", limit, hint="leave it out to list all")
    settings = Settings() if settings is None else settings
    require_kind("settings", settings, Settings, "a Settings", hint="vocabgap.load_settings reads one")
    clock = known_present(now)
    asked = selection(clock) if callable(selection) else selection
    published, unreadable = published_in(out, settings.report.out)
    scanned = scan(root, settings=settings.scan, tenants=asked.tenants, repositories=asked.repositories)
    notes = [unreadable] if unreadable else []
    if now == LAST and callable(selection):
        latest, ahead = newest_moment(scanned.gaps, clock)
        asked = selection(latest)
        notes += [ahead_in_words(ahead)] * bool(ahead)
    chosen, session = with_newest_session(scanned.gaps, asked)
    selected = scanned.select(chosen, **settings.aliases_by_argument).gaps
    records = with_category(selected.filter("counted").select(RECORDS.names), settings)
    if LAST in chosen.sessions:
        notes.append(f"no record has a session, so that there is no {LAST} one")
    else:
        notes += unmatched(scanned.gaps, chosen, **settings.aliases_by_argument)
    notes += unread(scanned)
    without = undated(selected, chosen)
    if without:
        notes.append(f"{count(without, 'record')} without a readable timestamp left out")
    gaps = with_capability(newest(records, most), published)
    return Listing(
        gaps, totals(records), belonging(gaps, published), session, tuple(notes), published, scanned
    )


def published_in(out: str | Path | None, default: str) -> tuple[PublishedCapabilities | None, str]:
    """Return the capabilities of the run in a folder, and why a run that is there cannot be used.

    Raises:
        VocabgapError: The folder was named and holds no readable run.
    """
    if out is not None:
        return PublishedCapabilities.read(out), ""
    try:
        if read_manifest(resolve_target(default, option=_RUN_OPTION)) is None:
            return None, ""
        return PublishedCapabilities.read(default), ""
    except NotFoundError:
        return None, ""
    except StateError as error:
        return None, f"no capability is named: {error.message}"


def with_capability(records: pl.DataFrame, published: PublishedCapabilities | None) -> pl.DataFrame:
    """Return table `listed`: records with a `category`, and the capability of each."""
    if published is None:
        unknown = pl.lit(None, pl.String)
        return records.with_columns(capability_id=unknown, capability=unknown).select(LISTED.names)
    phrases = records.with_columns(phrase().alias("phrase"))
    distinct = phrases.select("phrase").unique().drop_nulls()
    surfaces = pl.Series("surface", [surface(text) for text in distinct["phrase"]], dtype=pl.String)
    groups = published.groups.select("surface", "capability_id", capability="label")
    by_phrase = distinct.with_columns(surfaces).join(groups, on="surface", how="left").drop("surface")
    return phrases.join(by_phrase, on="phrase", how="left", maintain_order="left").select(LISTED.names)


def totals(records: pl.DataFrame) -> Totals:
    """Return the numbers over records with a `category`."""
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
    """Return the published capabilities of records of table `listed`, most records first."""
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


def with_category(records: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Add the category as the agent wrote it, aliases folded."""
    fold = partial(fold_category, aliases=settings.category_aliases)
    return records.with_columns(folded(records["intent_category"], fold).alias("category"))


def unknown_category(name: str, settings: Settings, run: str | Path) -> str:
    """Return a note on the category of a record that neither the settings nor a published run has, if any."""
    category = fold_category(name, settings.category_aliases)
    if category in settings.known_categories:
        return ""
    with suppress(NotFoundError, StateError, AccessDeniedError):
        _, ranked = read_run(run, option=_RUN_OPTION)
        if category in ranked["categories"].explode().struct["name"]:
            return ""
    known = sorted(settings.known_categories - {UNCATEGORIZED})
    near = ", ".join(alike(category, known) or known)
    return (
        f"category '{excerpt(category)}' is not known here; the nearest: {near};"
        " `known` under [categories] in vocabgap.toml adds to them"
    )


def unread(scanned: Scan) -> list[str]:
    """Return a note about the lines that could not be read, if there are any."""
    number = scanned.summary.rejects
    return [f"{count(number, 'line')} could not be read; `vocabgap check` lists them"] if number else []
