"""The scan: discover the logs, decode them line by line, and account for every line."""

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from vocabgap.extensions import RootReader, reader_of
from vocabgap.ingest.accounting import ScanSummary, gaps_of, summarize
from vocabgap.ingest.discovery import LogFile, discover, resolve_roots
from vocabgap.ingest.lines import LogDecoder, LogsRead
from vocabgap.ingest.reading import MIB
from vocabgap.ingest.selection import select
from vocabgap.model.record import CATEGORY_ALIASES, OPERATION_ALIASES
from vocabgap.model.selection import Selection
from vocabgap.model.settings import ScanSettings, overridden
from vocabgap.model.sources import Source, checked_sources
from vocabgap.model.tables import RECORDS
from vocabgap.progress import tell
from vocabgap.text import count

_ARGUMENT_HINT: Final = "`vocabgap status` prints [ingest] with its defaults"


ReadLogs = Callable[[list[LogFile], ScanSettings], LogsRead]
"""A function that reads discovered logs, here or elsewhere."""


@dataclass(frozen=True, repr=False)
class Scan:
    """The tables of a scan, and its account.

    Attributes:
        gaps: One row per readable line, with `counted` and `why_not` (table `gaps`).
        rejects: One row per bad line or unreadable file (table `rejects`).
        files: One row per log that was read (table `files`).
        summary: The account of every line.
    """

    gaps: pl.DataFrame
    rejects: pl.DataFrame
    files: pl.DataFrame
    summary: ScanSummary

    @property
    def records(self) -> pl.DataFrame:
        """The records that count (table `records`)."""
        return self.gaps.filter("counted").select(RECORDS.names)

    def select(
        self,
        selection: Selection,
        *,
        category_aliases: Mapping[str, str] = CATEGORY_ALIASES,
        operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
    ) -> "Scan":
        """Return the scan with every record outside a selection marked as `filtered`."""
        aliases = {"category_aliases": category_aliases, "operation_aliases": operation_aliases}
        return replace(self, gaps=select(self.gaps, selection, **aliases))

    def __repr__(self) -> str:
        """Return the account in one line."""
        summary = self.summary
        whole = f"{count(summary.lines, 'line')} in {count(summary.files, 'log')}"
        counted = int(self.gaps["counted"].sum())
        left_out = f" ({counted:,} counted)" if counted != summary.records else ""
        parts = (
            count(summary.records, "record") + left_out,
            count(summary.duplicates, "duplicate"),
            f"{summary.superseded:,} superseded",
            count(summary.rejects, "reject"),
        )
        return f"Scan({whole}: {', '.join(parts)})"


def scan(
    roots: str | Path | Iterable[str | Path],
    *,
    settings: ScanSettings | None = None,
    tenant_id: str | None = None,
    sources: Mapping[str, Source | Mapping[str, Any]] | None = None,
    hidden: bool | None = None,
    max_expanded_mib: int | None = None,
    tenants: Sequence[str] = (),
    repositories: Sequence[str] = (),
    read_logs: ReadLogs | None = None,
) -> Scan:
    """Read every gap log below the roots, and every gap record of the shared corpora among them.

    Args:
        roots: Folders to search for gap logs, single log files, or folders of shared corpora.
        settings: Defaults of the next four arguments; `Settings.scan` gives them.
        tenant_id: The tenant of records of logs, `local` by default; records of a corpus name theirs.
        sources: The kinds of gap logs and how each is read: a `Source` or a table of its keys. The shipped
            ones by default.
        hidden: Whether to search files and folders whose name starts with a dot.
        max_expanded_mib: The most MiB that a compressed log may expand to.
        tenants: Tenants whose records are read from corpora; all by default.
        repositories: Repositories whose records are read from corpora; all by default.
        read_logs: A function that reads the logs elsewhere, as an engine does.

    Returns:
        Records, rejects and the account of every line. Rows are ordered by repository, file and line. Chunks
        of a corpus that are no gap records count as passed over.

    Raises:
        NotFoundError: A root does not exist.
        AccessDeniedError: A root may not be read.
        InvalidInputError: No root was given, or an argument is out of bounds.
        StateError: A corpus cannot be read.
    """
    settings = overridden(
        settings or ScanSettings(),
        {"tenant": "tenant_id"},
        _ARGUMENT_HINT,
        tenant=tenant_id,
        sources=None if sources is None else checked_sources(sources),
        hidden=hidden,
        max_expanded_mib=max_expanded_mib,
    )
    scans: list[Scan] = []
    whose = {"tenants": tenants, "repositories": repositories}
    for reader, of_reader in by_reader(resolve_roots(roots)).items():
        if reader is not None:
            scans.append(reader.scan.load()(of_reader, sources=settings.sources, **whose))
            continue
        logs = discover(of_reader, settings)
        read = read_here if read_logs is None or not logs else read_logs
        scans.insert(0, scan_of(*read(logs, settings)))
    return united(scans)


def by_reader(roots: Iterable[Path]) -> dict[RootReader | None, list[Path]]:
    """Group roots by the reader that they belong to; those of None are searched for logs."""
    groups: dict[RootReader | None, list[Path]] = {}
    for root in roots:
        groups.setdefault(reader_of(root), []).append(root)
    return groups


def read_here(logs: list[LogFile], settings: ScanSettings) -> LogsRead:
    """Read logs in this process."""
    decoder = LogDecoder(settings.tenant, settings.max_expanded_mib * MIB)
    with without_cycle_search():
        for done, log in enumerate(logs):
            tell("logs", done, len(logs))
            decoder.read(log)
        return decoder.tables()


@contextmanager
def without_cycle_search() -> Iterator[None]:
    """Keep Python from looking for reference cycles: records hold none.

    The search costs 3 µs a record; decoding costs 1.2.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def united(scans: Iterable[Scan]) -> Scan:
    """Unite one or more scans: a record that two of them have counts once."""
    several = list(scans)
    if len(several) == 1:
        return several[0]
    order = ("repo_slug", "source_path", "tenant_id", "line")
    records = pl.concat([one.gaps.select(RECORDS.names) for one in several]).sort(order, maintain_order=True)
    rejects = pl.concat([one.rejects for one in several])
    files = pl.concat([one.files for one in several])
    repairs: Counter[str] = Counter()
    for one in several:
        repairs.update(one.summary.repairs)
    return scan_of(
        [records],
        rejects.sort("repo_slug", "source_path", "line", maintain_order=True),
        files.sort("repo_slug", "source_path", maintain_order=True),
        repairs,
    )


def scan_of(
    records: list[pl.DataFrame], rejects: pl.DataFrame, files: pl.DataFrame, repairs: Mapping[str, int]
) -> Scan:
    """Tell which lines count, and return the scan of `records` (frames in order), `rejects` and `files`."""
    gaps = gaps_of(records or [RECORDS.empty()])
    return Scan(gaps, rejects, files, summarize(gaps, rejects, files, repairs))
