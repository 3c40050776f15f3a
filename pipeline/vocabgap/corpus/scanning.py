"""Shared corpora as roots beside folders of logs: their gap records are read as if they stood in logs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import polars as pl

from vocabgap.corpus.gap_chunks import lines_of_chunks
from vocabgap.corpus.store import is_corpus, open_store
from vocabgap.corpus.version import Version
from vocabgap.ingest.scanning import Scan as Scan  # noqa: PLC0414 - what a corpus gives
from vocabgap.ingest.scanning import ScanRequest, united
from vocabgap.ingest.stored_lines import STORED, scan_stored
from vocabgap.schema import GAP_KIND
from vocabgap.settings.sources import Source

READ: Final = ("id", "tenant_id", "repo_slug", "root_kind", "source_path", "line", "content", "metadata")
_READABLE: Final = pl.col("kind").eq(GAP_KIND) & pl.all_horizontal(
    pl.col("content", "tenant_id", "repo_slug", "root_kind", "source_path").is_not_null()
)


class CorpusReader:
    """Reads shared corpora for `ingest.scan`, as if their gap records stood in logs."""

    def takes(self, root: Path) -> bool:
        """Whether a root is a corpus."""
        return is_corpus(root)

    def read(self, roots: Sequence[Path], request: ScanRequest) -> Scan:
        """The gap records of some corpora; a record that two of them have counts once."""
        return united(
            scan_version(
                open_store(root).version(),
                tenants=request.tenants,
                repositories=request.repositories,
                sources=request.settings.sources,
            )
            for root in roots
        )


def scan_version(
    version: Version,
    *,
    tenants: Sequence[str] = (),
    repositories: Sequence[str] = (),
    sources: Mapping[str, Source] | None = None,
) -> Scan:
    """Decode the gap records of a corpus.

    Args:
        version: The corpus.
        tenants: Whose records are read; those of all by default.
        repositories: Of which repositories; of all by default.
        sources: What gap logs are called and how they are read.
    """
    wanted = scope(tenants, repositories)
    chunks = version.rows(READ, wanted & _READABLE)
    found = scan_stored(lines_of_chunks(chunks), sources=sources)
    others = version.rows(["id"], wanted).height - chunks.height
    return replace(found, summary=replace(found.summary, passed_over=found.summary.passed_over + others))


def scope(tenants: Sequence[str] = (), repositories: Sequence[str] = ()) -> pl.Expr:
    """The chunks of some tenants and repositories, as a condition over table `chunks`; all by default."""
    wanted = pl.lit(value=True)
    for column, names in (("tenant_id", tenants), ("repo_slug", repositories)):
        if names:
            wanted &= pl.col(column).is_in(list(names))
    return wanted


def scan_chunks(
    chunks: pl.DataFrame, sources: Mapping[str, Source] | None = None
) -> tuple[pl.DataFrame, Scan]:
    """Decode those of some chunks that are gap records.

    Each line gets a number of its own, by which its record is found again.

    Returns:
        The lines (`ingest.STORED`), and the scan of them.
    """
    lines = lines_of_chunks(chunks.filter(_READABLE)) if chunks.height else STORED.empty()
    lines = lines.with_columns(line=pl.int_range(1, pl.len() + 1, dtype=pl.Int64))
    return lines, scan_stored(lines, sources=sources)
