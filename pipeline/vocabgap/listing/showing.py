"""Show one image, session, capability or record with its evidence."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import polars as pl

from vocabgap.errors import InvalidInputError, NotFoundError, alike, converted, require_text, texts
from vocabgap.ingest.accounting import corrections
from vocabgap.ingest.scanning import Scan, newest, scan, unmatched
from vocabgap.listing.finding import proposed
from vocabgap.listing.records import (
    Belonging,
    Totals,
    belonging,
    published_in,
    totals,
    unranked,
    unread,
    with_capability,
    with_category,
)
from vocabgap.model.capability import Capability
from vocabgap.model.lookup import find_capability
from vocabgap.model.record import FEWEST_DIGITS
from vocabgap.model.selection import Selection
from vocabgap.model.settings import Settings, settings_of
from vocabgap.model.sources import IMAGE
from vocabgap.model.tables import GAPS, LISTED, RECORDS, counted
from vocabgap.reporting.published_run import PublishedRun, read_gaps, read_published
from vocabgap.text import excerpt, unit_names, visible

if TYPE_CHECKING:
    from vocabgap.pipeline import Analysis


class Place(msgspec.Struct, frozen=True):
    """A line with a record."""

    repo_slug: str
    source_path: str  # relative to the root
    line: int  # counted from 1
    byte_offset: int | None  # of its first byte; None if a corpus does not record it
    state: str  # `counted`, `duplicate` or `superseded`


class Kind(StrEnum):
    """A kind of thing with a name."""

    IMAGE = "image"
    SESSION = "session"
    CAPABILITY = "capability"
    RECORD = "record"


class Candidate(NamedTuple):
    """A thing that a name may mean."""

    kind: Kind
    name: str
    tenant_id: str = ""  # here and below: empty if not needed to distinguish
    repo_slug: str = ""
    label: str = ""

    def __str__(self) -> str:
        """Describe the candidate in an error."""
        label = f" ({excerpt(self.label)})" if self.label else ""
        repository = f" in repository {excerpt(self.repo_slug)}" if self.repo_slug else ""
        tenant = f" of tenant {excerpt(self.tenant_id)}" if self.tenant_id else ""
        return f"{self.kind} {excerpt(self.name)}{label}{repository}{tenant}"


@dataclass(frozen=True, repr=False)
class Shown:
    """The thing that a name means."""

    kind: Kind
    name: str  # the full name
    gaps: pl.DataFrame  # table `listed`, newest first: records that count; a shown record always
    totals: Totals  # of these records
    scan: Scan | None  # None if the published run was read
    left_out: dict[str, int] = field(default_factory=dict)  # reason to number of lines that do not count
    belonging: tuple[Belonging, ...] = ()  # the published capabilities of its records, most records first
    run: Path | None = None  # the folder of the published run
    notes: tuple[str, ...] = ()
    capability: Capability | None = None  # also the capability of a record, if known
    lineage: tuple[str, ...] = ()  # sentences about changes since the run before
    effects: tuple[dict[str, Any], ...] = ()  # rows of table `effects`
    places: tuple[Place, ...] = ()  # all lines of a record, the counted line first
    superseded_by: tuple[str, ...] = ()  # records that correct the shown record
    supersedes: tuple[str, ...] = ()  # records that the shown record corrects
    unit: str = IMAGE
    ranked_by: str = ""  # the order of the published run

    def __repr__(self) -> str:
        """Name the thing in a few words."""
        return f"Shown({self.kind} {self.name!r}, {self.gaps.height:,} records)"


def show(
    root: str | Path | Iterable[str | Path],
    name: str,
    *,
    kind: Kind | str | None = None,
    out: str | Path | None = None,
    tenants: Iterable[str] = (),
    repositories: Iterable[str] = (),
    shared: bool = True,
    settings: Settings | None = None,
) -> Shown:
    """Show an image, a session, a capability or a record with its evidence.

    Args:
        root: Folders to search for gap logs, files of any name, or folders of shared corpora. Without any,
            the records are those of the published run.
        name: The id of an image or a session. Or the identifier (also a former one), the label or a wording
            of a capability. Or the identity of a record, or at least its first four digits.
        kind: `image`, `session`, `capability` or `record`, if the name is ambiguous.
        out: The folder of the published run with the capabilities; by default the folder in the settings.
        tenants: Only the records that these tenants of a corpus may read.
        repositories: Only the records of these repositories.
        shared: Whether the records of `neo-shared` are among them.
        settings: The settings; by default the default settings.

    Raises:
        NotFoundError: Nothing has this name; the error lists similar names.
        InvalidInputError: Several things have this name; the error lists them.
        StateError: Nothing in the logs has this name, and the run with the capabilities is damaged.
        VocabgapError: An error of `vocabgap.scan`.
    """
    require_text("name", name)
    settings = settings_of(settings)
    wanted = converted(kind, Kind | None, "kind", hint="leave it out if the name is not ambiguous")
    selection = Selection(
        tenants=texts("tenants", tenants),
        repositories=texts("repositories", repositories),
        no_shared=not shared,
    )
    roots = [root] if isinstance(root, str | Path) else [*root]
    scanned, unreadable = None, ""
    if roots:
        published, unreadable = published_in(out, settings.report.out)
        scanned = scan(roots, settings=settings.scan, **selection.owners)
        known, unit = scanned.lines, settings.unit(scanned.sources)
    else:
        published = read_published(settings.report.out if out is None else out)
        known, unit = read_gaps(published.folder), published.manifest.unit
    gaps = known.collect().select(GAPS.names)
    for of, value in selection.in_force():
        gaps = gaps.filter(of.where(value) if of.where else pl.col(of.column).is_in(value))
    try:
        found = find(name, gaps, published, wanted, unit)
    except NotFoundError:
        if wanted not in {None, Kind.IMAGE} or not _is_folder(roots, name):
            if unreadable and wanted in {None, Kind.CAPABILITY}:
                read_published(settings.report.out)  # the run may have it: raise why it cannot be read
            raise
        found = Candidate(Kind.IMAGE, name)  # an image without gaps

    def listed(lines: pl.DataFrame) -> pl.DataFrame:
        return with_capability(with_category(newest(lines.select(RECORDS.names)), settings), published)

    further: dict[str, Any] = {}
    capability_id = None
    if found.kind is Kind.CAPABILITY:
        lines, capability_id = gaps.clear(), found.name
        rows = listed(gaps.filter("counted")).filter(capability_id=found.name)
    elif found.kind is Kind.RECORD:
        by = ("counted", "repo_slug", "source_path", "line")
        lines = gaps.filter(record_id=found.name).sort(by, descending=[True, False, False, False])
        rows = listed(lines.head(1))
        capability_id = rows["capability_id"][0]
        further = _surroundings(found.name, lines, gaps)
    else:
        lines = gaps.filter(pl.col(f"{found.kind}_id") == found.name)
        rows = listed(lines.filter("counted"))
    if published is not None and capability_id is not None:
        tables = published.capabilities, published.lineage, published.effects
        further |= _capability(capability_id, tables, settings)
    return Shown(
        found.kind,
        found.name,
        rows,
        totals(rows),
        scanned,
        left_out=dict(lines["why_not"].drop_nulls().value_counts().sort("why_not").iter_rows()),
        belonging=() if found.kind is Kind.CAPABILITY else belonging(rows, published),
        run=None if published is None else published.folder,
        notes=(
            *([unreadable] if unreadable else ()),
            *unranked(rows, settings),
            *(unread(scanned) if scanned else ()),
            *unmatched(known, selection),
        ),
        unit=unit,
        ranked_by="" if published is None else published.manifest.ranked_by,
        **further,
    )


def ranked_capability(analysis: "Analysis", name: str, settings: Settings) -> Shown:
    """Show a capability of a ranking that need not be published.

    Raises:
        NotFoundError: No capability has this name; the error lists similar names.
    """
    from vocabgap.reporting.writing import with_capabilities  # noqa: PLC0415 - loads SciPy and Jinja

    row = find_capability(analysis.ranked, name).row(0, named=True)
    identifier = row["capability_id"]
    gaps = with_capabilities(analysis.scan.lines, analysis.ranked)
    records = gaps.then(partial(counted, capability_id=identifier)).collect()
    rows = with_category(newest(records.select(RECORDS.names)), settings)
    belongs = {"capability_id": pl.lit(identifier), "capability": pl.lit(row["label"])}
    return Shown(
        Kind.CAPABILITY,
        identifier,
        rows.with_columns(**belongs).select(LISTED.names),
        totals(rows),
        analysis.scan,
        **_capability(identifier, (analysis.ranked, analysis.lineage.relations, analysis.effects), settings),
    )


def _is_folder(roots: Iterable[str | Path], name: str) -> bool:
    """Tell whether a root has a folder of this name."""
    with suppress(OSError, ValueError):  # it cannot be the name of a file
        return Path(name).name == name and any(Path(root, name).is_dir() for root in roots)
    return False


def _surroundings(identifier: str, lines: pl.DataFrame, gaps: pl.DataFrame) -> dict[str, Any]:
    """Return the lines of a record, and the records that it corrects or that correct it."""
    places = lines.select(*Place.__struct_fields__[:-1], pl.col("why_not").fill_null("counted"))
    pairs = corrections(gaps)
    return {
        "places": tuple(Place(*place) for place in places.iter_rows()),
        "superseded_by": tuple(later for earlier, later in pairs if earlier == identifier),
        "supersedes": tuple(earlier for earlier, later in pairs if later == identifier),
    }


def _capability(identifier: str, tables: Sequence[pl.DataFrame], settings: Settings) -> dict[str, Any]:
    """Return what the tables `capabilities`, `lineage` and `effects` say about a capability."""
    ranked, lineage, effects = tables
    row = ranked.filter(capability_id=identifier)
    if row.is_empty():  # the run was narrowed and does not have it
        return {}
    # Only a capability needs this module.
    from vocabgap.reporting.wording import phrase  # noqa: PLC0415

    relations = lineage.filter(capability_id=identifier).iter_rows(named=True)
    return {
        "capability": Capability.of(row.row(0, named=True), settings.vocabulary.threshold),
        "lineage": tuple(phrase("lineage", relation) for relation in relations),
        "effects": tuple(effects.filter(capability_id=identifier).iter_rows(named=True)),
    }


def find(
    name: str, gaps: pl.DataFrame, published: PublishedRun | None, kind: Kind | None, unit: str = IMAGE
) -> Candidate:
    """Return the thing of table `gaps`, or the published capability, that a name means.

    A full name has precedence over a label, a wording, and the first characters of an identifier.

    Raises:
        NotFoundError: Nothing has this name; the error lists similar names.
        InvalidInputError: Several things have this name; the error lists them.
    """
    wanted = name.strip()
    is_start = pl.col("record_id").str.starts_with(wanted.casefold())
    records = gaps.filter(is_start)["record_id"].unique().sort() if len(wanted) >= FEWEST_DIGITS else ()
    begun = [Candidate(Kind.RECORD, record) for record in records]
    for candidates in (
        [*_logged(name, wanted, gaps), *_published(wanted, published, is_identifier=True)],
        [*begun, *_published(wanted, published, is_identifier=False)],
    ):
        fitting = [candidate for candidate in candidates if kind in {None, candidate.kind}]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            most = 5
            several = ", ".join(map(str, fitting[:most]))
            more = f" and {len(fitting) - most:,} more" if len(fitting) > most else ""
            raise InvalidInputError(
                f"'{excerpt(wanted)}' is ambiguous: {several}{more}",
                hint="add --kind, --repo or --tenant, or write the full name",
            )
    raise _unknown(wanted, gaps, published, kind, unit)


def _logged(name: str, wanted: str, gaps: pl.DataFrame) -> list[Candidate]:
    """Return the images, sessions and records with this name, or with a name that is shown like it."""
    candidates = []
    for kind, *columns in (
        (Kind.IMAGE, "image_id", "tenant_id", "repo_slug"),
        (Kind.SESSION, "session_id", "tenant_id"),
    ):
        names = gaps[columns[0]].drop_nulls().unique()
        meant = [logged for logged in names if logged in {name, wanted} or visible(logged) == wanted]
        rows = gaps.filter(pl.col(columns[0]).is_in(meant)).select(columns).unique()
        ordered = rows.sort(*columns[1:], columns[0]).rows()
        candidates += [Candidate(kind, *(row if len(ordered) > 1 else row[:1])) for row in ordered]
    if not gaps.filter(record_id=wanted.casefold()).is_empty():
        candidates.append(Candidate(Kind.RECORD, wanted.casefold()))
    return candidates


def _published(wanted: str, published: PublishedRun | None, *, is_identifier: bool) -> list[Candidate]:
    """Return the capabilities with an identifier, also a former one; or else with another name."""
    if published is None:
        return []
    if is_identifier:
        rows = published.capabilities.filter(capability_id=wanted)
        former = (published.lineage.filter(previous_id=wanted), published.groups.filter(group_id=wanted))
        for successors in former:
            if rows.is_empty():
                ids = successors["capability_id"].drop_nulls()
                rows = published.capabilities.filter(pl.col("capability_id").is_in(ids.implode()))
    else:
        try:
            rows = find_capability(published.capabilities, wanted)
        except NotFoundError:
            return []
    pairs = rows.sort("rank").select("capability_id", "label").iter_rows()
    return [Candidate(Kind.CAPABILITY, identifier, label=label) for identifier, label in pairs]


def _unknown(
    wanted: str, gaps: pl.DataFrame, published: PublishedRun | None, kind: Kind | None, unit: str
) -> NotFoundError:
    kinds = (of for of in (Kind.IMAGE, Kind.SESSION) if kind in {None, of})
    names = [name for of in kinds for name in gaps[f"{of}_id"].drop_nulls().unique().sort()]
    near = ", ".join(f"'{excerpt(name)}'" for name in alike(wanted, dict.fromkeys(names)))
    hints = [f"similar names: {near}"] if near else []
    if kind in {None, Kind.CAPABILITY}:
        no_run = "to name capabilities, run `vocabgap report ROOTS` first"
        hints.append(no_run if published is None else proposed(published, wanted).sentence)
    one = unit_names(unit)[0]
    what = {None: f"{one}, session, capability or record", Kind.IMAGE: one}.get(kind, kind)
    return NotFoundError(
        f"no {what} is called '{excerpt(wanted, 120)}'",
        hint="; ".join(hints or ["`vocabgap list` shows the records"]),
    )
