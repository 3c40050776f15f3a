"""All that is known of one image, session, capability or record."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.errors import require_kind, require_text, texts, unusable
from vocabgap.gaplog.listing import newest, unread, with_category
from vocabgap.gaplog.naming import Candidate, Kind, Known, find, known_in, listed
from vocabgap.gaplog.review import Belonging, Totals, belonging, totals
from vocabgap.ingest.accounting import corrections
from vocabgap.ingest.caching import CacheUse
from vocabgap.ingest.scanning import Scan, scan
from vocabgap.ingest.selection import Selection
from vocabgap.pipeline import analyse
from vocabgap.ranking.identity import SETTLED
from vocabgap.records.moments import require_offset
from vocabgap.reporting.capability import Capability
from vocabgap.reporting.details import OPEN, Listed, lineage_in_words
from vocabgap.reporting.details import SETTLED as SETTLED_GROUP
from vocabgap.reporting.page.data import commands
from vocabgap.schema import RECORDS
from vocabgap.settings.model import Settings
from vocabgap.text import printable_name

COUNTED: Final = "counted"


class Place(msgspec.Struct, frozen=True):
    """A line that holds a record.

    Attributes:
        repo_slug: The repository.
        source_path: The log, relative to the root.
        line: The line, counted from 1.
        byte_offset: Offset of its first byte; null where a corpus does not say.
        state: `counted`, `duplicate` or `superseded`.
    """

    repo_slug: str
    source_path: str
    line: int
    byte_offset: int | None
    state: str


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
        told: What became of the capability since the run before, in sentences.
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
    told: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    superseded_by: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    run: Path | None = None
    notes: tuple[str, ...] = ()
    scan: Scan | None = None

    @property
    def cache(self) -> CacheUse | None:
        """What the cache was good for."""
        return None if self.scan is None else self.scan.cache

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
    now: datetime | None = None,
    settings: Settings | None = None,
    cache: str | Path | None = None,
    verify_hash: bool = False,
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
        repositories: The same for repositories.
        now: The moment that counts as the present where capabilities are computed; the clock's by default.
        settings: The settings in force; the defaults by default.
        cache: A folder that keeps what was read for the next time.
        verify_hash: Compare every log with the cache by its digest, not by its size and times.
        deciding: Options that the commands to decide with end in.

    Raises:
        NotFoundError: Nothing is called so; the nearest names are told.
        InvalidInputError: Several things are; they are told.
        VocabgapError: One of its kinds, as `vocabgap.scan` and `vocabgap.run` raise them.
    """
    require_text("name", name)
    settings = Settings() if settings is None else settings
    require_kind("settings", settings, Settings, "a Settings", hint="vocabgap.load_settings reads one")
    moment = require_offset(datetime.now(UTC) if now is None else now, name="now")
    wanted = _kind(kind)
    selection = Selection(tenants=texts("tenants", tenants), repositories=texts("repositories", repositories))
    published, why_not = known_in(out, settings.report.out)
    scanned = scan(
        root,
        settings=settings.scan,
        cache=cache,
        verify_hash=verify_hash,
        tenants=selection.tenants,
        repositories=selection.repositories,
    )
    gaps = scanned.gaps
    for column, names in (("tenant_id", selection.tenants), ("repo_slug", selection.repositories)):
        gaps = gaps.filter(pl.col(column).is_in(names)) if names else gaps
    computed: list[Known] = []

    def known() -> Known:
        if published is not None:
            return published
        if not computed:
            made = analyse(root, settings=settings, selection=selection, now=moment, cache=cache)
            computed.append(Known.of_analysis(made))
        return computed[0]

    found = find(name, gaps, known, is_known=published is not None, kind=wanted)
    of = known() if found.kind is Kind.CAPABILITY else published
    return _Showing(gaps, settings, of, deciding).of(
        found, notes=tuple(filter(None, (why_not, unread(scanned)))), scan=scanned
    )


@dataclass(frozen=True)
class _Showing:
    """What there is to show from.

    Attributes:
        gaps: Table `gaps`.
        settings: The settings in force.
        known: The capabilities, if they are known.
        deciding: Options that the commands to decide with end in.
    """

    gaps: pl.DataFrame
    settings: Settings
    known: Known | None
    deciding: str

    def of(self, found: Candidate, **beside: Any) -> Shown:  # noqa: ANN401 - fields of Shown
        beside["run"] = None if self.known is None else self.known.folder
        if found.kind is Kind.CAPABILITY and self.known is not None:
            return self._capability(found.name, self.known, beside)
        if found.kind is Kind.RECORD:
            return self._record(found.name, beside)
        column = "image_id" if found.kind is Kind.IMAGE else "session_id"
        lines = self.gaps.filter(pl.col(column) == found.name)
        rows = self._listed(lines.filter("counted"))
        return self._shown(found, rows, lines, beside)

    def _shown(
        self, found: Candidate, rows: pl.DataFrame, lines: pl.DataFrame, beside: dict[str, Any]
    ) -> Shown:
        why_not = lines["why_not"].drop_nulls().value_counts().sort("why_not")
        ranked = None if self.known is None else self.known.ranked
        beside.setdefault("belonging", belonging(rows, ranked))
        return Shown(found.kind, found.name, rows, totals(rows), dict(why_not.iter_rows()), **beside)

    def _listed(self, lines: pl.DataFrame) -> pl.DataFrame:
        records = with_category(newest(lines.select(RECORDS.names)), self.settings)
        return listed(records, self.known)

    def _capability(self, identifier: str, known: Known, beside: dict[str, Any]) -> Shown:
        rows = self._listed(self.gaps.filter("counted")).filter(capability_id=identifier)
        beside |= {"belonging": (), **self._of_capability(identifier, known)}
        return self._shown(Candidate(Kind.CAPABILITY, identifier), rows, self.gaps.clear(), beside)

    def _of_capability(self, identifier: str, known: Known) -> dict[str, Any]:
        """The fields of `Shown` that tell of a capability."""
        found = known.ranked.filter(capability_id=identifier)
        if found.is_empty():
            return {}
        capability = msgspec.convert(found.row(0, named=True), Capability)
        group = SETTLED_GROUP if capability.status in SETTLED else OPEN
        lines = commands([Listed(capability, group)], self._options(known.folder))
        return {
            "capability": capability,
            "told": lineage_in_words(known.relations).get(identifier, ()),
            "commands": tuple(each.line(identifier) for each in lines if each.group in {None, group}),
        }

    def _options(self, folder: Path | None) -> str | None:
        """The options of the commands; null without a published run, which they need."""
        if folder is None:
            return None
        default = Path(self.settings.report.out).expanduser().resolve()
        words = [] if folder == default else ["--run", shlex.quote(printable_name(str(folder)))]
        return " ".join([*words, *([self.deciding] if self.deciding else [])])

    def _record(self, identifier: str, beside: dict[str, Any]) -> Shown:
        lines = self.gaps.filter(record_id=identifier).sort(
            "counted", "repo_slug", "source_path", "line", descending=[True, False, False, False]
        )
        rows = self._listed(lines.head(1))
        row = rows.row(0, named=True)
        if self.known is not None and row["capability_id"] is not None:
            beside |= self._of_capability(row["capability_id"], self.known)
        beside["places"] = tuple(
            Place(*place)
            for place in lines.select(
                "repo_slug", "source_path", "line", "byte_offset", pl.col("why_not").fill_null(COUNTED)
            ).iter_rows()
        )
        pairs = corrections(self.gaps)
        beside["superseded_by"] = tuple(later for earlier, later in pairs if earlier == identifier)
        beside["supersedes"] = tuple(earlier for earlier, later in pairs if later == identifier)
        return self._shown(Candidate(Kind.RECORD, identifier), rows, lines, beside)


def _kind(kind: Kind | str | None) -> Kind | None:
    if kind is None or kind in [*Kind]:
        return None if kind is None else Kind(kind)
    expected = f"one of {', '.join(Kind)}"
    raise unusable("kind", expected, kind, hint="leave it out where the name can be of one thing only")
