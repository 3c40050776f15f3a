"""List gap records, newest first, with totals."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from vocabgap.errors import (
    AccessDeniedError,
    InvalidInputError,
    NotFoundError,
    StateError,
    alike,
    nearest,
    whole_number,
)
from vocabgap.ingest.scanning import (
    Scan,
    ahead_in_words,
    newest,
    newest_moment,
    scan,
    silent_files,
    undated,
    unmatched,
    with_newest_session,
)
from vocabgap.listing.finding import PROPOSED, nearest_needs
from vocabgap.model.capability import Tally
from vocabgap.model.moments import LAST, Present, known_present
from vocabgap.model.record import UNCATEGORIZED, fold_category
from vocabgap.model.selection import Selection
from vocabgap.model.settings import Settings, settings_of
from vocabgap.model.tables import IMAGE_KEY, LISTED, MENTIONS, phrase, stripped
from vocabgap.ranking.evidence import RATINGS, folded, mentions_if
from vocabgap.ranking.screening import screen
from vocabgap.reporting.published_run import PublishedRun, read_published, read_run
from vocabgap.text import count, excerpt, form, in_words, short_hash, surface_of


class Totals(msgspec.Struct, frozen=True):
    """Totals of some records; ratings, workarounds and categories count mentions."""

    records: int
    mentions: int
    images: int
    sessions: int  # known sessions
    first: datetime | None  # first readable timestamp
    last: datetime | None
    unsatisfied: int
    neutral: int
    satisfied: int
    unrated: int
    worked_around: int  # with a workaround
    categories: tuple[Tally, ...]  # most frequent first, at most 20


class Belonging(msgspec.Struct, frozen=True):
    """A capability of the published run, and the listed records and mentions that ask for it.

    All mentions and the status are None if the run was narrowed and does not have the capability.
    """

    capability_id: str
    label: str
    records: int
    listed: int
    mentions: int | None = None
    status: str | None = None


@dataclass(frozen=True, repr=False)
class Listing:
    """The selected records."""

    gaps: pl.DataFrame  # table `listed`, newest first, up to the limit
    totals: Totals  # of all selected records, also beyond the limit
    left_out: int  # selected records after the listed ones
    belonging: tuple[Belonging, ...]  # of the listed records
    nearest: list[dict[str, Any]]  # the needs nearest to a text, if one was given
    session: str | None  # the newest session, if it was asked for and is known
    notes: tuple[str, ...]  # for example filters that match no record
    published: PublishedRun | None  # the run with the capabilities
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

    A record must match every filter; it matches a filter if it matches one of its values.

    Args:
        root: Folders to search for gap logs, files of any name, or folders of shared corpora.
        limit: The largest number of records; None for all.
        now: The end of time spans; `last` for the newest record; by default the current time.
        out: The folder of the published run with the capabilities; by default the folder in the settings.
        settings: The settings; by default the default settings.
        **filters: Filters of `Selection` by name, such as `images`. A moment is a datetime with an offset, or
            text as on the command line. The session `last` is the newest session of the selected images.

    Returns:
        Table `listed`. Records without a time come last. Records of the same moment are ordered by repository
        and file, later lines first.

    Raises:
        VocabgapError: An error of `vocabgap.scan`, or an argument cannot be used.
    """
    known = Selection.__struct_fields__
    for name in filters.keys() - {*known}:
        raise InvalidInputError(f"there is no filter '{name}'", hint=nearest(name, known))
    selection = partial(Selection.asked, filters)
    return listing(root, selection, now=now, limit=limit, out=out, settings=settings).gaps


def listing(
    root: str | Path | Iterable[str | Path],
    selection: Selection | Callable[[datetime], Selection],
    *,
    now: Present | None = None,
    limit: int | None = None,
    after: str | None = None,
    out: str | Path | None = None,
    like: str | None = None,
    settings: Settings | None = None,
) -> Listing:
    """Return the selected records, newest first, with totals; see `list_gaps`.

    If the selection has time spans, it is a function of the present moment. With `after`, the list begins
    after the record of this `record_id`. With `like`, the records of the needs nearest to a text come first.
    """
    most = None if limit is None else whole_number("limit", limit, hint="leave it out to list all")
    settings = settings_of(settings)
    clock = known_present(now)
    asked = selection(clock) if callable(selection) else selection
    published, unreadable = published_in(out, settings.report.out)
    near = nearest_needs(like, published or read_published(settings.report.out)) if like is not None else None
    scanned = scan(root, settings=settings.scan, **asked.owners)
    notes = [unreadable] if unreadable else []
    if now == LAST and callable(selection):
        latest, ahead = newest_moment(scanned.lines, clock)
        asked = selection(latest)
        notes += [ahead_in_words(ahead)] * bool(ahead)
    chosen, session = with_newest_session(scanned.lines, asked)
    selected = scanned.select(chosen, **settings.aliases_by_argument)
    records = with_category(selected.records, settings)
    if LAST in chosen.sessions:
        notes.append(f"no record has a session, so there is no {LAST} session")
    else:
        unit = settings.unit(scanned.sources)
        notes += unmatched(scanned.lines, chosen, unit, **settings.aliases_by_argument)
    notes += [*unread(scanned), *silent_files(scanned, settings.sources)]
    without = undated(selected.lines, chosen)
    if without:
        notes.append(f"left out: {count(without, 'record')} without a readable timestamp")
    ordered = newest(records, most if after is None and near is None else None)
    if near is not None and published is not None:
        notes += ["no need is near this text"] * near.is_empty()
        by_words = "compared by words: this run was made without a model"
        notes += [by_words] * (published.manifest.model is None)
        needs = near["capability_id"]
        place = pl.col("capability_id").replace_strict(needs, range(len(needs)), default=None)
        ordered = with_capability(ordered, published).sort(place, nulls_last=True, maintain_order=True)
    cursor = -1 if after is None else ordered["record_id"].index_of(after)
    if cursor is None:
        raise no_cursor(str(after))
    page = ordered[cursor + 1 :][:most]
    left_out = records.height - cursor - 1 - page.height
    gaps = with_capability(page, published)
    known = belonging(gaps, published)
    first = [] if near is None else near.head(PROPOSED).to_dicts()
    notes += unranked(gaps, settings)
    return Listing(gaps, totals(records), left_out, known, first, session, tuple(notes), published, scanned)


def no_cursor(cursor: str) -> InvalidInputError:
    """Return the error for a cursor that is not in a list."""
    return InvalidInputError(
        f"cursor: the list has no '{excerpt(cursor)}'", hint="leave it out to begin again"
    )


def published_in(out: str | Path | None, default: str) -> tuple[PublishedRun | None, str]:
    """Return the capabilities of the run in a folder, and a message if the run cannot be used.

    Raises:
        VocabgapError: `out` is given and has no readable run.
    """
    if out is not None:
        return read_published(out), ""
    try:
        return read_published(default), ""
    except NotFoundError:
        return None, ""
    except StateError as error:
        return None, f"capabilities are not shown: {error.message}"


def with_capability(records: pl.DataFrame, published: PublishedRun | None) -> pl.DataFrame:
    """Return table `listed`: add the capability to records that have a `category`."""
    if published is None:
        return records.match_to_schema(LISTED.schema, missing_columns="insert", extra_columns="ignore")
    phrases = records.with_columns(phrase().alias("phrase"))
    distinct = phrases.select("phrase").unique().drop_nulls()
    names = {name for name in published.groups["surface"] if surface_of(name) != name}
    surfaces = pl.Series("surface", [form(text, names) for text in distinct["phrase"]], dtype=pl.String)
    groups = published.groups.select("surface", "capability_id", capability="label")
    by_phrase = distinct.with_columns(surfaces).join(groups, on="surface", how="left").drop("surface")
    return phrases.join(by_phrase, on="phrase", how="left", maintain_order="left").select(LISTED.names)


def totals(records: pl.DataFrame) -> Totals:
    """Return the totals of records that have a `category`."""
    session = pl.struct("tenant_id", "session_id").filter(stripped(pl.col("session_id")) != "")
    row = records.select(
        MENTIONS,
        *RATINGS,
        records=pl.len(),
        images=pl.struct(IMAGE_KEY).n_unique(),
        sessions=session.n_unique(),
        first=pl.col("timestamp").min(),
        last=pl.col("timestamp").max(),
        worked_around=mentions_if(stripped(pl.col("workaround")) != ""),
    ).row(0, named=True)
    tallies = records.group_by("category").agg(MENTIONS)
    ordered = tallies.sort("mentions", "category", descending=[True, False])
    return Totals(**row, categories=tuple(Tally(*row) for row in ordered.head(20).iter_rows()))


def belonging(gaps: pl.DataFrame, published: PublishedRun | None) -> tuple[Belonging, ...]:
    """Return the published capabilities of records of table `listed`, most records first."""
    if published is None:
        return ()
    rows = (
        gaps.drop_nulls("capability_id")
        .group_by("capability_id", "capability")
        .agg(pl.len().alias("records"), MENTIONS.alias("listed"))
        .join(
            published.capabilities.select("capability_id", "mentions", "status"),
            on="capability_id",
            how="left",
        )
        .sort("records", "capability_id", descending=[True, False])
    )
    return tuple(Belonging(*row) for row in rows.iter_rows())


def with_category(records: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Add the category of the agent, with aliases replaced."""
    fold = partial(fold_category, aliases=settings.category_aliases)
    return records.with_columns(folded(records["intent_category"], fold).alias("category"))


def unknown_category(name: str, settings: Settings, run: str | Path) -> str:
    """Return a note if neither the settings nor a published run has a category, else empty text."""
    category = fold_category(name, settings.category_aliases)
    if category in settings.known_categories:
        return ""
    with suppress(NotFoundError, StateError, AccessDeniedError):
        _, ranked = read_run(run, option="--run")
        if category in ranked["categories"].explode().struct["name"]:
            return ""
    known = sorted(settings.known_categories - {UNCATEGORIZED})
    near = alike(category, known)
    listed = f"{'similar' if near else 'known'} categories: {', '.join(near or known)}"
    how_to = "to add it, use `known` under [categories] in vocabgap.toml"
    return f"category '{excerpt(category)}' is not known; {listed}; {how_to}"


def unread(scanned: Scan) -> list[str]:
    """Return a note on lines that could not be read, if there are any."""
    number = count(scanned.summary.rejects, "line")
    note = f"{number} could not be read; `vocabgap check` for the same folders lists them"
    return [note] if scanned.summary.rejects else []


def unranked(listed: pl.DataFrame, settings: Settings) -> list[str]:
    """Return a note on records of table `listed` that rules keep from the ranking, if there are any."""
    none = pl.lit(None, pl.String)
    lines = listed.with_columns(counted=pl.lit(value=True), why_not=none, rule=none)
    marked = screen(lines, settings.rules).drop_nulls("rule").select("record_id", "why_not", "rule").rows()
    most = 5
    reasons = (f"{short_hash(name)} ({in_words(why)}: {rule})" for name, why, rule in marked[:most])
    more = f" and {len(marked) - most:,} more" if len(marked) > most else ""
    return [f"not ranked: {', '.join(reasons)}{more}"] if marked else []
