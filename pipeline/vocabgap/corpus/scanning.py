"""Shared corpora as roots beside folders of logs: their gap records are read as if they stood in logs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from vocabgap.corpus.gap_chunks import lines_of_chunks
from vocabgap.corpus.places import is_corpus, open_store
from vocabgap.corpus.store import Version
from vocabgap.errors import InvalidInputError
from vocabgap.ingest.discovery import resolve_roots
from vocabgap.ingest.scanning import Scan, ScanSummary
from vocabgap.ingest.scanning import scan as scan_logs
from vocabgap.ingest.scanning import scan_to_parquet as logs_to_parquet
from vocabgap.ingest.verbatim import STORED, scan_stored, united
from vocabgap.schema import GAP_KIND
from vocabgap.settings.model import DEFAULT_MAX_EXPANDED_MIB, DEFAULT_TENANT
from vocabgap.settings.sources import Source

READ: Final = ("id", "tenant_id", "repo_slug", "root_kind", "source_path", "line", "content", "metadata")
_READABLE: Final = pl.col("kind").eq(GAP_KIND) & pl.all_horizontal(
    pl.col("content", "tenant_id", "repo_slug", "root_kind", "source_path").is_not_null()
)


def scan(
    roots: str | Path | Iterable[str | Path],
    *,
    tenant_id: str = DEFAULT_TENANT,
    sources: Mapping[str, Source | Mapping[str, Any]] | None = None,
    hidden: bool = False,
    max_expanded_mib: int = DEFAULT_MAX_EXPANDED_MIB,
    cache: str | Path | None = None,
    verify_hash: bool = False,
    tenants: Sequence[str] = (),
    repositories: Sequence[str] = (),
) -> Scan:
    """Read every gap log below the roots, and every gap record of the shared corpora among them.

    Args:
        roots: Folders to search for gap logs, single log files, or folders of shared corpora.
        tenant_id: Whose the records of logs are; those of a corpus say so themselves.
        sources: What gap logs are called and how they are read, each a `Source` or a table of its keys; the
            shipped ones by default.
        hidden: Whether files and folders are searched whose name starts with a dot.
        max_expanded_mib: How many MiB a compressed log may expand to.
        cache: A folder that keeps what was decoded of logs, so that the next scan of the same roots reads
            only what is new. The result is the same as without. A corpus is always read anew.
        verify_hash: Compare every log with the cache by its digest, not by its size and times.
        tenants: Whose records are read of corpora; those of all by default.
        repositories: The same for repositories.

    Returns:
        Records, rejects and the account of every line. Rows are ordered by repository, file and line. Chunks
        of other kinds are counted as passed over.

    Raises:
        NotFoundError: A root does not exist.
        AccessDeniedError: A root may not be read, or the cache may not be used.
        InvalidInputError: No root was given, an argument is out of bounds, or a cache is to be verified and
            none was given.
        StateError: The cache folder holds other files, or cannot be written; a corpus cannot be read.
    """
    named = resolve_roots(roots)
    corpora = [root for root in named if is_corpus(root)]
    logs = [root for root in named if root not in corpora]
    if verify_hash and cache is None:
        raise InvalidInputError("there is no cache to verify", hint="name the folder of the cache, too")
    found = []
    if logs:
        found.append(
            scan_logs(
                logs,
                tenant_id=tenant_id,
                sources=sources,
                hidden=hidden,
                max_expanded_mib=max_expanded_mib,
                cache=cache,
                verify_hash=verify_hash,
            )
        )
    for root in corpora:
        version = open_store(root).version()
        found.append(scan_version(version, tenants=tenants, repositories=repositories, sources=sources))
    return united(found)


def scan_to_parquet(
    roots: str | Path | Iterable[str | Path],
    out: str | Path,
    *,
    tenant_id: str = DEFAULT_TENANT,
    sources: Mapping[str, Source | Mapping[str, Any]] | None = None,
    hidden: bool = False,
    max_expanded_mib: int = DEFAULT_MAX_EXPANDED_MIB,
) -> ScanSummary:
    """Read every gap log below the roots into Parquet files, for logs that do not fit in memory.

    Args:
        roots: One or more folders to search for gap logs, or single log files; no shared corpus.
        out: A folder that does not exist yet, or is empty. It gets `gaps-*.parquet` and `rejects-*.parquet`,
            numbered in the order of the rows, and `files.parquet`; all of them or none.
        tenant_id: Whose records these are.
        sources: What gap logs are called and how they are read, each a `Source` or a table of its keys; the
            shipped ones by default.
        hidden: Whether files and folders are searched whose name starts with a dot.
        max_expanded_mib: How many MiB a compressed log may expand to.

    Returns:
        The account of every line, as `scan` gives it.

    Raises:
        NotFoundError: A root does not exist.
        AccessDeniedError: A root may not be read, or the folder not be written.
        InvalidInputError: No root was given, one is a shared corpus, or an argument cannot be used.
        StateError: The folder holds files, or the disk is full.
    """
    named = resolve_roots(roots)
    for root in named:
        if is_corpus(root):
            raise InvalidInputError(
                f"'{root}' is a shared corpus, and only logs are read bit by bit",
                hint="vocabgap.scan reads it as a whole",
            )
    return logs_to_parquet(
        named,
        out,
        tenant_id=tenant_id,
        sources=sources,
        hidden=hidden,
        max_expanded_mib=max_expanded_mib,
    )


def scan_version(
    version: Version,
    *,
    tenants: Sequence[str] = (),
    repositories: Sequence[str] = (),
    sources: Mapping[str, Source | Mapping[str, Any]] | None = None,
) -> Scan:
    """Decode the gap records of a corpus.

    Args:
        version: The corpus.
        tenants: Whose records are read; those of all by default.
        repositories: The same for repositories.
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


def readable(chunks: pl.DataFrame) -> pl.DataFrame:
    """The rows of table `chunks` that hold a line of a gap log (`ingest.STORED`)."""
    return lines_of_chunks(chunks.filter(_READABLE)) if chunks.height else STORED.empty()
