"""The faces of a run: its tables and its manifest, told to people. The same two make the same bytes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from msgspec.structs import replace

from vocabgap.ingest import ScanSummary
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
    Manifest,
    Rendering,
    describe_output,
    encode_manifest,
)
from vocabgap.reporting.markdown import render_markdown
from vocabgap.reporting.narrowing import Difference, differences, filters
from vocabgap.reporting.page import render_page
from vocabgap.reporting.sharing import shareable
from vocabgap.reporting.summary import Summary, summarise
from vocabgap.settings.model import Settings


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
        fewest=(settings.rank.min_images, settings.rank.min_sessions),
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
