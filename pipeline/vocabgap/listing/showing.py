"""Show one image, session, capability or record with its evidence."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from vocabgap.errors import require_kind, require_text, texts, unusable
from vocabgap.ingest.accounting import corrections
from vocabgap.ingest.scanning import Scan, newest, scan
from vocabgap.listing.finding import (
    Candidate,
    Kind,
    PublishedCapabilities,
    find,
    published_in,
    with_capability,
)
from vocabgap.listing.records import Belonging, Totals, belonging, totals, unread, with_category
from vocabgap.model.capability import Capability
from vocabgap.model.settings import Settings
from vocabgap.model.tables import RECORDS, SETTLED
from vocabgap.text import printable_name


class Place(msgspec.Struct, frozen=True):
    """A line that holds a record."""

    repo_slug: str
    source_path: str  # relative to the root
    line: int  # counted from 1
    byte_offset: int | None  # of its first byte; null if a corpus does not record it
    state: str  # `counted`, `duplicate` or `superseded`


@dataclass(frozen=True, repr=False)
class Shown:
    """What a name stands for.

    Attributes:
        kind: The kind of thing.
        name: Its whole name.
        gaps: Table `listed`, newest first: its records that count; a record itself in any case.
        totals: Numbers over them.
        left_out: The number of its lines that do not count, by reason.
        belonging: The published capabilities that they belong to, most records first.
        capability: The capability; also that of a record, if it is known.
        lineage: What became of the capability since the run before, in sentences.
        commands: The command lines with which a person decides about the capability.
        places: Every line that holds a record, the one that counts first.
        superseded_by: The identities of the records that correct a record.
        supersedes: The identities of the records that it corrects.
        run: The folder of the published run.
        notes: Further notes for a person.
        scan: The scan.
    """

    kind: Kind
    name: str
    gaps: pl.DataFrame
    totals: Totals
    left_out: dict[str, int] = field(default_factory=dict)
    belonging: tuple[Belonging, ...] = ()
    capability: Capability | None = None
    lineage: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    superseded_by: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    run: Path | None = None
    notes: tuple[str, ...] = ()
    scan: Scan | None = None

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
    settings: Settings | None = None,
    deciding: str = "",
) -> Shown:
    """Show all that is known of an image, a session, a capability or a record.

    Args:
        root: Folders to search for gap logs, single log files, or folders of shared corpora.
        name: The id of an image or a session; the identifier of a capability, also a former one, its label or
            a wording; the identity of a record, or at least four of its first digits.
        kind: `image`, `session`, `capability` or `record`, if the name alone is ambiguous.
        out: The folder of the published run with the capabilities; by default that of the settings.
        tenants: Only the records of these tenants.
        repositories: Only the records of these repositories.
        settings: The settings; the defaults by default.
        deciding: Options that the commands to decide end with.

    Raises:
        NotFoundError: Nothing has this name; the error names the nearest.
        InvalidInputError: Several things have it; the error names them.
        VocabgapError: One of its kinds, as `vocabgap.scan` raises them.
    """
    require_text("name", name)
    settings = Settings() if settings is None else settings
    require_kind("settings", settings, Settings, "a Settings", hint="vocabgap.load_settings reads one")
    wanted = _kind(kind)
    whose = {"tenant_id": texts("tenants", tenants), "repo_slug": texts("repositories", repositories)}
    published, unreadable = published_in(out, settings.report.out)
    scanned = scan(root, settings=settings.scan, tenants=whose["tenant_id"], repositories=whose["repo_slug"])
    gaps = scanned.gaps
    for column, names in whose.items():
        gaps = gaps.filter(pl.col(column).is_in(names)) if names else gaps
    candidate = find(name, gaps, published, wanted)
    return Shown(
        candidate.kind,
        candidate.name,
        **_Source(gaps, settings, published, deciding).fields(candidate),
        run=None if published is None else published.folder,
        notes=(*([unreadable] if unreadable else ()), *unread(scanned)),
        scan=scanned,
    )


def _kind(kind: Kind | str | None) -> Kind | None:
    if kind is None or kind in [*Kind]:
        return None if kind is None else Kind(kind)
    expected = f"one of {', '.join(Kind)}"
    raise unusable("kind", expected, kind, hint="leave it out if the name is not ambiguous")


@dataclass(frozen=True)
class _Source:
    """The source of what is shown: table `gaps`, and the published capabilities."""

    gaps: pl.DataFrame
    settings: Settings
    published: PublishedCapabilities | None
    deciding: str

    def fields(self, candidate: Candidate) -> dict[str, Any]:
        """Return the fields of `Shown` for a candidate."""
        if candidate.kind is Kind.RECORD:
            return self._record(candidate.name)
        if candidate.kind is Kind.CAPABILITY:
            rows = self._listed(self.gaps.filter("counted")).filter(capability_id=candidate.name)
            return self._rows(rows, self.gaps.clear()) | {"belonging": ()} | self._capability(candidate.name)
        column = "image_id" if candidate.kind is Kind.IMAGE else "session_id"
        lines = self.gaps.filter(pl.col(column) == candidate.name)
        return self._rows(self._listed(lines.filter("counted")), lines)

    def _listed(self, lines: pl.DataFrame) -> pl.DataFrame:
        records = with_category(newest(lines.select(RECORDS.names)), self.settings)
        return with_capability(records, self.published)

    def _rows(self, rows: pl.DataFrame, lines: pl.DataFrame) -> dict[str, Any]:
        why_not = lines["why_not"].drop_nulls().value_counts().sort("why_not")
        return {
            "gaps": rows,
            "totals": totals(rows),
            "left_out": dict(why_not.iter_rows()),
            "belonging": belonging(rows, self.published),
        }

    def _record(self, identifier: str) -> dict[str, Any]:
        lines = self.gaps.filter(record_id=identifier).sort(
            "counted", "repo_slug", "source_path", "line", descending=[True, False, False, False]
        )
        rows = self._listed(lines.head(1))
        capability_id = rows["capability_id"][0]
        places = lines.select(*Place.__struct_fields__[:-1], pl.col("why_not").fill_null("counted"))
        pairs = corrections(self.gaps)
        return {
            **self._rows(rows, lines),
            **({} if capability_id is None else self._capability(capability_id)),
            "places": tuple(Place(*place) for place in places.iter_rows()),
            "superseded_by": tuple(later for earlier, later in pairs if earlier == identifier),
            "supersedes": tuple(earlier for earlier, later in pairs if later == identifier),
        }

    def _capability(self, identifier: str) -> dict[str, Any]:
        if self.published is None:
            return {}
        row = self.published.ranked.filter(capability_id=identifier)
        if row.is_empty():  # the run was narrowed to others
            return {}
        from vocabgap.reporting.listed import (  # noqa: PLC0415 - only a capability needs what this loads
            DECIDED,
            TO_AUTHOR,
            commands,
            lineage_of,
        )
        from vocabgap.reporting.wording import phrase  # noqa: PLC0415 - as above

        capability = Capability.of(row.row(0, named=True), self.settings.vocabulary.threshold)
        group = DECIDED if capability.status in SETTLED else TO_AUTHOR
        lines = commands([identifier], self._options(self.published.folder))
        return {
            "capability": capability,
            "lineage": tuple(
                phrase("lineage", relation)
                for relation in lineage_of(self.published.relations).get(identifier, ())
            ),
            "commands": tuple(line.line(identifier) for line in lines if line.group in {None, group}),
        }

    def _options(self, folder: Path) -> str:
        default = Path(self.settings.report.out).expanduser().resolve()
        words = [] if folder == default else ["--run", shlex.quote(printable_name(str(folder)))]
        return " ".join([*words, *([self.deciding] if self.deciding else [])])
