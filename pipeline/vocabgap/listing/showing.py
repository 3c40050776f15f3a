"""All that is known of one image, session, capability or record."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from vocabgap.errors import require_kind, require_text, texts, unusable
from vocabgap.ingest.accounting import corrections
from vocabgap.ingest.scanning import Scan, scan
from vocabgap.ingest.selection import newest
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
from vocabgap.model.moments import Present, known_present
from vocabgap.model.selection import Selection
from vocabgap.model.settings import Settings
from vocabgap.model.tables import RECORDS, SETTLED
from vocabgap.reporting.listed import OPEN, lineage_of
from vocabgap.reporting.listed import SETTLED as SETTLED_GROUP
from vocabgap.text import printable_name


class Place(msgspec.Struct, frozen=True):
    """A line that holds a record."""

    repo_slug: str
    source_path: str  # relative to the root
    line: int  # counted from 1
    byte_offset: int | None  # of its first byte; null where a corpus does not say
    state: str  # `counted`, `duplicate` or `superseded`


@dataclass(frozen=True, repr=False)
class Shown:
    """What a name stands for.

    Attributes:
        kind: An image, a session, a capability or a record.
        name: Its name, whole.
        gaps: Table `listed`, newest first: its records that count; of a record that one, whether it counts or
            not.
        totals: Numbers over them.
        left_out: Lines of it that do not count, by why not.
        belonging: The known capabilities that they belong to, most records first.
        capability: The capability, if that is what it is; also of a record, if known. Null elsewhere.
        lineage: What became of the capability since the run before, in sentences.
        commands: The command lines with which a person decides about the capability; without a published run
            there are none.
        places: Of a record every line that holds it, the one that counts first. Empty elsewhere.
        superseded_by: Of a record the identities of those that correct it.
        supersedes: Of a record the identities of those that it corrects.
        run: The folder of the published run that capabilities are known from; null for none.
        notes: What a person should know beside it.
        scan: What was read.
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
        """What it is, in a few words."""
        return f"Shown({self.kind} {self.name!r}, {self.gaps.height:,} records)"


def show(
    root: str | Path | Iterable[str | Path],
    name: str,
    *,
    kind: Kind | str | None = None,
    out: str | Path | None = None,
    tenants: Iterable[str] = (),
    repositories: Iterable[str] = (),
    now: Present | None = None,
    settings: Settings | None = None,
    deciding: str = "",
) -> Shown:
    """All that is known of an image, a session, a capability or a record.

    Args:
        root: Folders to search for gap logs, single log files, or folders of shared corpora.
        name: The id of an image or a session; the identifier of a capability, its label or a wording, or an
            identifier that it had before; the identity of a record, or four of its first digits at least.
        kind: `image`, `session`, `capability` or `record`, where the name alone may be several.
        out: The folder of the published run that capabilities are known from. By default that of the
            settings, if a run is there; without one they are computed where they are asked for.
        tenants: Whose records are looked at.
        repositories: The repositories that are looked at.
        now: The moment that counts as the present where capabilities are computed; the clock's by default,
            and `last` that of the newest record.
        settings: The settings in force; the defaults by default.
        deciding: Options that the commands to decide with end in.

    Raises:
        NotFoundError: Nothing is called so; the error names the nearest.
        InvalidInputError: Several things are; the error names them.
        VocabgapError: One of its kinds, as `vocabgap.scan` and `vocabgap.run` raise them.
    """
    require_text("name", name)
    settings = Settings() if settings is None else settings
    require_kind("settings", settings, Settings, "a Settings", hint="vocabgap.load_settings reads one")
    known_present(now)  # told before anything is read
    wanted = _kind(kind)
    selection = Selection(tenants=texts("tenants", tenants), repositories=texts("repositories", repositories))
    published, unreadable = published_in(out, settings.report.out)
    scanned = scan(
        root,
        settings=settings.scan,
        tenants=selection.tenants,
        repositories=selection.repositories,
    )
    gaps = scanned.gaps
    for column, names in (("tenant_id", selection.tenants), ("repo_slug", selection.repositories)):
        gaps = gaps.filter(pl.col(column).is_in(names)) if names else gaps

    @lru_cache(1)
    def capabilities() -> PublishedCapabilities:
        if published is not None:
            return published
        from vocabgap.pipeline import analyse  # noqa: PLC0415 - loads what clusters and ranks

        analysis = analyse(root, settings=settings, selection=selection, now=now)
        return PublishedCapabilities.of_analysis(analysis)

    candidate = find(name, gaps, capabilities, is_known=published is not None, kind=wanted)
    known = capabilities() if candidate.kind is Kind.CAPABILITY else published
    return Shown(
        candidate.kind,
        candidate.name,
        **_Source(gaps, settings, known, deciding).fields(candidate),
        run=None if known is None else known.folder,
        notes=(*([unreadable] if unreadable else ()), *unread(scanned)),
        scan=scanned,
    )


def _kind(kind: Kind | str | None) -> Kind | None:
    if kind is None or kind in [*Kind]:
        return None if kind is None else Kind(kind)
    expected = f"one of {', '.join(Kind)}"
    raise unusable("kind", expected, kind, hint="leave it out where the name can be of one thing only")


@dataclass(frozen=True)
class _Source:
    """What there is to show from: table `gaps`, and the capabilities, if they are known."""

    gaps: pl.DataFrame
    settings: Settings
    known: PublishedCapabilities | None
    deciding: str  # options that the commands to decide with end in

    def fields(self, candidate: Candidate) -> dict[str, Any]:
        """What `Shown` says of a candidate."""
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
        return with_capability(records, self.known)

    def _rows(self, rows: pl.DataFrame, lines: pl.DataFrame) -> dict[str, Any]:
        """The records and the numbers over them; `lines` are those that count and those that do not."""
        why_not = lines["why_not"].drop_nulls().value_counts().sort("why_not")
        return {
            "gaps": rows,
            "totals": totals(rows),
            "left_out": dict(why_not.iter_rows()),
            "belonging": belonging(rows, self.known),
        }

    def _record(self, identifier: str) -> dict[str, Any]:
        lines = self.gaps.filter(record_id=identifier).sort(
            "counted", "repo_slug", "source_path", "line", descending=[True, False, False, False]
        )
        rows = self._listed(lines.head(1))
        capability_id = rows["capability_id"][0]
        places = lines.select(
            "repo_slug", "source_path", "line", "byte_offset", pl.col("why_not").fill_null("counted")
        )
        pairs = corrections(self.gaps)
        return {
            **self._rows(rows, lines),
            **({} if capability_id is None else self._capability(capability_id)),
            "places": tuple(Place(*place) for place in places.iter_rows()),
            "superseded_by": tuple(later for earlier, later in pairs if earlier == identifier),
            "supersedes": tuple(earlier for earlier, later in pairs if later == identifier),
        }

    def _capability(self, identifier: str) -> dict[str, Any]:
        """The evidence for a capability, what became of it, and how to decide about it."""
        if self.known is None or (row := self.known.ranked.filter(capability_id=identifier)).is_empty():
            return {}
        from vocabgap.reporting.listed import commands  # noqa: PLC0415 - only a capability needs it
        from vocabgap.reporting.wording import phrase  # noqa: PLC0415 - likewise

        capability = Capability.of(row.row(0, named=True), self.settings.vocabulary.threshold)
        group = SETTLED_GROUP if capability.status in SETTLED else OPEN
        lines = commands([identifier], self._options(self.known.folder))
        return {
            "capability": capability,
            "lineage": tuple(
                phrase("lineage", each) for each in lineage_of(self.known.relations).get(identifier, ())
            ),
            "commands": tuple(each.line(identifier) for each in lines if each.group in {None, group}),
        }

    def _options(self, folder: Path | None) -> str | None:
        """The options of the commands; null without a published run, which they need."""
        if folder is None:
            return None
        default = Path(self.settings.report.out).expanduser().resolve()
        words = [] if folder == default else ["--run", shlex.quote(printable_name(str(folder)))]
        return " ".join([*words, *([self.deciding] if self.deciding else [])])
