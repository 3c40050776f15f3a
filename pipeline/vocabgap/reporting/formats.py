"""The faces of a run: its tables and its manifest, told to people. The same two make the same bytes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import jinja2
import polars as pl
from msgspec.structs import replace

from vocabgap.ingest.accounting import ScanSummary
from vocabgap.records.moments import iso
from vocabgap.reporting.manifest import (
    CAPABILITIES_NAME,
    GAPS_NAME,
    GROUPS_NAME,
    LINEAGE_NAME,
    MANIFEST_NAME,
    MARKDOWN_NAME,
    PAGE_NAME,
    REJECTS_NAME,
    SHARE_NAME,
    Difference,
    Manifest,
    Rendering,
    describe_output,
    differences,
    encode_manifest,
    filters,
)
from vocabgap.reporting.overviews import who_asked, whose
from vocabgap.reporting.page.rendering import render_page
from vocabgap.reporting.sharing import shareable
from vocabgap.reporting.summary import Summary, summarise
from vocabgap.reporting.wording import (
    FIGURES,
    SHOWN_WORDINGS,
    changes,
    code,
    day,
    escape,
    factors,
    how_often,
    in_what,
    interval,
    is_pinned_ahead,
    next_ahead,
    number,
    place_of,
    rating,
    satisfaction,
    short_hash,
    sparkline,
    too_few,
    trend,
)
from vocabgap.settings.model import Settings
from vocabgap.text import count, in_words

# The Markdown face of a report.


def render_markdown(summary: Summary) -> str:
    """Render a report as GitHub-flavoured Markdown, ending in a newline."""
    return _ENVIRONMENT.get_template("report.md.j2").render(run=summary, shown_wordings=SHOWN_WORDINGS)


def _strong(value: object) -> str:
    return f"**{escape(value)}**"


def _environment() -> jinja2.Environment:
    # Autoescape is for HTML; here every text from a log goes through `escape` or `code`, which a test holds.
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("vocabgap.reporting"),
        autoescape=False,  # noqa: S701
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(
        data=escape,
        code=code,
        strong=_strong,
        day=day,
        iso=iso,
        count=count,
        number=number,
        satisfaction=satisfaction,
        interval=interval,
        trend=trend,
        sparkline=sparkline,
        factors=factors,
        how_often=how_often,
        who_asked=who_asked,
        whose=whose,
        is_pinned_ahead=is_pinned_ahead,
        next_ahead=next_ahead,
        place_of=place_of,
        too_few=too_few,
        changes=changes,
        in_what=in_what,
        short=short_hash,
        in_words=in_words,
        rating=rating,
    )
    environment.globals.update(FIGURES)
    return environment


_ENVIRONMENT: Final = _environment()


@dataclass(frozen=True)
class Tables:
    """The tables of a run; null is what it was published without.

    Attributes:
        capabilities: Table `capabilities`.
        gaps: Table `gaps`.
        rejects: Table `rejects`.
        lineage: Table `lineage`.
        groups: Table `groups`.
    """

    capabilities: pl.DataFrame
    gaps: pl.DataFrame | None = None
    rejects: pl.DataFrame | None = None
    lineage: pl.DataFrame | None = None
    groups: pl.DataFrame | None = None

    @property
    def files(self) -> dict[str, pl.DataFrame]:
        """The files that hold them."""
        frames = {
            CAPABILITIES_NAME: self.capabilities,
            GAPS_NAME: self.gaps,
            REJECTS_NAME: self.rejects,
            LINEAGE_NAME: self.lineage,
            GROUPS_NAME: self.groups,
        }
        return {name: frame for name, frame in frames.items() if frame is not None}


def settings_of(manifest: Manifest) -> Settings:
    """The settings that a run was made with; the built-in ones where that is not known."""
    return Settings() if manifest.parameters is None else manifest.parameters.settings


def summary_of(tables: Tables, manifest: Manifest, scanned: ScanSummary | None = None) -> Summary:
    """What the report of a run says.

    Args:
        tables: Its tables.
        manifest: Its manifest.
        scanned: The account of the scan, where the manifest does not have it yet.
    """
    settings = settings_of(manifest)
    asked = manifest.rendering or Rendering(settings.report.top, settings.rank.by.value, "")
    return summarise(
        tables.capabilities,
        now=manifest.now,
        top=asked.top,
        ranked_by=asked.ranked_by,
        gaps=tables.gaps,
        rejects=tables.rejects,
        scanned=scanned,
        account=manifest.account,
        operation_aliases=settings.operation_aliases,
        selection=None if manifest.parameters is None else filters(manifest.parameters.selection),
        command=manifest.command,
        reclassified=settings.categories.reclassify,
        covered_from=settings.vocabulary.threshold,
        has_vocabulary=bool(manifest.vocabulary),
        fewest=settings.rank.fewest,
        relations=tables.lineage,
        before=None if manifest.compared is None else manifest.compared.now,
        differences=_differences(manifest),
        deciding=asked.deciding,
        terms=manifest.terms,
    )


def _differences(manifest: Manifest) -> tuple[Difference, ...]:
    """In what the run before is narrowed, or ranked, differently."""
    if manifest.compared is None or manifest.parameters is None:
        return ()
    own, earlier = manifest.parameters.narrowing, manifest.compared.narrowing
    return differences(earlier, own, between=manifest.now - manifest.compared.now)


def write_faces(
    folder: Path, tables: Tables, summary: Summary, manifest: Manifest, fewest: int | None
) -> Manifest:
    """Write what people read beside the tables, and the manifest of it all.

    Args:
        folder: Where the files of the tables lie already.
        tables: The tables.
        summary: What the report says.
        manifest: The manifest; its outputs are yet to be listed.
        fewest: How many images what may leave the machine must be on; null where nothing is to.

    Returns:
        The manifest as it was written.
    """
    texts = {MARKDOWN_NAME: render_markdown(summary), PAGE_NAME: render_page(summary)}
    if fewest is not None and tables.gaps is not None:
        aliases = settings_of(manifest).operation_aliases
        texts[SHARE_NAME] = render_page(shareable(summary, tables.gaps.filter("counted"), fewest, aliases))
    for name, text in texts.items():
        with _named(folder / name) as path:
            path.write_text(text, encoding="utf-8", newline="\n")
    outputs = tuple(describe_output(folder / name) for name in (*texts, *tables.files))
    whole = replace(manifest, outputs=outputs)
    with _named(folder / MANIFEST_NAME) as path:
        path.write_bytes(encode_manifest(whole))
    return whole


@contextmanager
def _named(path: Path) -> Iterator[Path]:
    """Let what the disk refuses name the file, which the system does only for one that is opened."""
    try:
        yield path
    except OSError as error:
        error.filename = error.filename or str(path)
        raise
