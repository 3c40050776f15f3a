"""The scan: discover the logs, decode them line by line, and account for every line."""

import gc
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from vocabgap.displays import html_table
from vocabgap.errors import InvalidInputError, StateError, expanded
from vocabgap.extensions import reader_of
from vocabgap.files.parquet import write_parquet
from vocabgap.files.refusals import refusal
from vocabgap.ingest.accounting import (
    WHY_NOT,
    Account,
    ScanSummary,
    gaps_of,
    summarize,
    why_not_codes,
    with_why_not,
)
from vocabgap.ingest.caching import Cache, CacheUse, open_cache
from vocabgap.ingest.columns import RecordColumns, RejectColumns
from vocabgap.ingest.discovery import LogFile, discover, resolve_roots
from vocabgap.ingest.lines import LineDecoder, LogDecoder
from vocabgap.ingest.reading import MIB
from vocabgap.ingest.selection import Selection, select
from vocabgap.model.record import CATEGORY_ALIASES, OPERATION_ALIASES
from vocabgap.model.settings import ScanSettings, overridden
from vocabgap.model.sources import Source, checked_sources
from vocabgap.model.tables import GAPS, RECORDS, REJECTS, Table
from vocabgap.progress import tell
from vocabgap.text import count

_ARGUMENT_HINT: Final = "`vocabgap status` prints [ingest] with its defaults"


class LogsRead(NamedTuple):
    """What some logs gave.

    Attributes:
        records: Frames of table `records`, in order.
        rejects: Table `rejects`.
        files: Table `files`.
        repairs: What was repaired in records, by kind.
    """

    records: list[pl.DataFrame]
    rejects: pl.DataFrame
    files: pl.DataFrame
    repairs: Counter[str]


# Reads logs that were found, wherever that is done.
ReadLogs = Callable[[list[LogFile], ScanSettings], LogsRead]


@dataclass(frozen=True, repr=False)
class Scan:
    """What was read.

    Attributes:
        gaps: One row a readable line, with `counted` and `why_not` (table `gaps`).
        rejects: One row a bad line or unreadable file (table `rejects`).
        files: One row a log that was read (table `files`).
        summary: The account of every line.
        cache: How many logs the cache had already, in part, or not at all; None without one.
    """

    gaps: pl.DataFrame
    rejects: pl.DataFrame
    files: pl.DataFrame
    summary: ScanSummary
    cache: CacheUse | None = None

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
        """The same scan, with what the selection leaves out marked as `filtered`."""
        aliases = {"category_aliases": category_aliases, "operation_aliases": operation_aliases}
        return replace(self, gaps=select(self.gaps, selection, **aliases))

    def __repr__(self) -> str:
        """The account in one line."""
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

    def _repr_html_(self) -> str:
        """The same, and the account as a table, with the reasons of what could not be read."""
        account = asdict(self.summary)
        counts = [(name, number) for name, number in account.items() if isinstance(number, int)]
        return html_table(repr(self), ("", "number"), [*counts, *sorted(account["reasons"].items())])


def scan(
    roots: str | Path | Iterable[str | Path],
    *,
    settings: ScanSettings | None = None,
    tenant_id: str | None = None,
    sources: Mapping[str, Source | Mapping[str, Any]] | None = None,
    hidden: bool | None = None,
    max_expanded_mib: int | None = None,
    cache: str | Path | None = None,
    verify_hash: bool = False,
    tenants: Sequence[str] = (),
    repositories: Sequence[str] = (),
    read_logs: ReadLogs | None = None,
) -> Scan:
    """Read every gap log below the roots, and every gap record of the shared corpora among them.

    Args:
        roots: Folders to search for gap logs, single log files, or folders of shared corpora.
        settings: What the next four say where they are left out; `Settings.scan` gives it.
        tenant_id: Whose the records of logs are, `local` by default; those of a corpus say so themselves.
        sources: What gap logs are called and how they are read, each a `Source` or a table of its keys; the
            shipped ones by default.
        hidden: Whether files and folders are searched whose name starts with a dot.
        max_expanded_mib: How many MiB a compressed log may expand to.
        cache: A folder that keeps what was decoded of logs, so that the next scan of the same roots reads
            only what is new. The result is the same as without. A corpus is always read anew.
        verify_hash: Compare every log with the cache by its digest, not by its size and times.
        tenants: Whose records are read of corpora; those of all by default.
        repositories: Of which repositories records are read of corpora; of all by default.
        read_logs: Reads the logs elsewhere, as an engine does; there is no cache then.

    Returns:
        Records, rejects and the account of every line. Rows are ordered by repository, file and line. Chunks
        of a corpus that are no gap records are counted as passed over.

    Raises:
        NotFoundError: A root does not exist.
        AccessDeniedError: A root may not be read, or the cache may not be used.
        InvalidInputError: No root was given, an argument is out of bounds, or a cache is to be verified and
            none was given.
        StateError: The cache folder holds other files, or cannot be written; a corpus cannot be read.
    """
    if verify_hash and cache is None:
        raise InvalidInputError("there is no cache to verify", hint="name the folder of the cache, too")
    if read_logs is not None and cache is not None:
        raise InvalidInputError("an engine reads logs without a cache", hint="leave out one of them")
    settings = _in_force(settings, tenant_id, sources, hidden, max_expanded_mib)
    logs, corpora = logs_and_corpora(resolve_roots(roots))
    found = discover(logs, settings) if read_logs is not None and logs else []
    if read_logs is not None and found:
        scans = [scan_of(*read_logs(found, settings))]
    else:
        scans = [_scan_logs(logs, settings, cache, verify_hash=verify_hash)] if logs else []
    readers = {reader_of(root): None for root in corpora}
    for reader in filter(None, readers):
        scans.append(
            reader.scan.load()(
                [root for root in corpora if reader_of(root) == reader],
                tenants=tenants,
                repositories=repositories,
                sources=settings.sources,
            )
        )
    return united(scans)


def logs_and_corpora(roots: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """The roots that are searched for logs, and those that are shared corpora."""
    kinds: tuple[list[Path], list[Path]] = ([], [])
    for root in roots:
        kinds[reader_of(root) is not None].append(root)
    return kinds


def _in_force(
    settings: ScanSettings | None,
    tenant_id: str | None,
    sources: Mapping[str, Source | Mapping[str, Any]] | None,
    hidden: bool | None,
    max_expanded_mib: int | None,
) -> ScanSettings:
    """The settings with what is said beside them; each within the bounds that `[ingest]` has."""
    return overridden(
        settings or ScanSettings(),
        {"tenant": "tenant_id"},
        _ARGUMENT_HINT,
        tenant=tenant_id,
        sources=None if sources is None else checked_sources(sources),
        hidden=hidden,
        max_expanded_mib=max_expanded_mib,
    )


def _scan_logs(
    roots: list[Path], settings: ScanSettings, folder: str | Path | None, *, verify_hash: bool
) -> Scan:
    """Read what is new, and recall from the cache in a folder what is not."""
    with without_cycle_search():
        logs = discover(roots, settings)
        if folder is None:
            return _read(logs, settings)
        with open_cache(folder, verify_hash=verify_hash) as cache:
            scanned = _read(logs, settings, cache)
    if cache is None:
        use = CacheUse(0, 0, scanned.summary.files, "the cache is in use by another run")
        scanned = replace(scanned, cache=use)
    return scanned


def _read(logs: list[LogFile], settings: ScanSettings, cache: Cache | None = None) -> Scan:
    read, use = _decoded(logs, settings, cache)
    if cache is not None:
        new = pl.concat([RECORDS.empty(), *read.records]), read.rejects
        records, rejects = cache.rows(new, settings.tenant)
        cache.save(new, (records, rejects))
        read = read._replace(records=[records], rejects=rejects)
    return replace(scan_of(*read), cache=use)


def read_logs(logs: list[LogFile], settings: ScanSettings) -> LogsRead:
    """Read some logs, and account for every line of them."""
    with without_cycle_search():
        return _decoded(logs, settings)[0]


def _decoded(
    logs: list[LogFile], settings: ScanSettings, cache: Cache | None = None
) -> tuple[LogsRead, CacheUse | None]:
    records: list[pl.DataFrame] = []
    rejects: list[pl.DataFrame] = []
    lines = LineDecoder(RecordColumns(settings.tenant, records.append), RejectColumns(rejects.append))
    account, use = _collect(logs, lines, settings, cache)
    bad = pl.concat([REJECTS.empty(), *rejects])
    return LogsRead(records, bad, account.files(), account.repairs), use


def _collect(
    logs: Sequence[LogFile], lines: LineDecoder, settings: ScanSettings, cache: Cache | None = None
) -> tuple[Account, CacheUse | None]:
    """Read every log that is not known as it is, and account for all of them."""
    account = Account()
    decoder = LogDecoder(lines, settings.max_expanded_mib * MIB)
    unchanged = resumed = whole = 0
    for done, log in enumerate(logs):
        tell("logs", done, len(logs))
        known = cache.recall(log, decoder.max_expanded) if cache else None
        if cache and known and cache.is_unchanged(known):
            cache.keep(log, known)
            account.add(log, known.state)
            unchanged += 1
            continue
        before = decoder.totals
        # One that is compressed is read whole, and so is a document.
        at_once = log.kind.compression or log.kind.fields.each
        read = decoder.read(log, known.state if known and not at_once else None)
        if cache:
            cache.learn(log, read, before, decoder.totals, known)
        if read:
            account.add(log, read.state)
            resumed, whole = resumed + read.resumed, whole + (not read.resumed)
    lines.flush()
    return account, CacheUse(unchanged, resumed, whole, cache.note) if cache else None


@contextmanager
def without_cycle_search() -> Iterator[None]:
    """Records hold no reference cycles, but Python would look for them over and over as they pile up.

    That costs 3 µs a record where decoding costs 1.2.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def united(scans: Iterable[Scan]) -> Scan:
    """Several scans, at least one, as one: a record that two of them have counts once."""
    several = list(scans)
    if len(several) == 1:
        return several[0]
    order = ("repo_slug", "source_path", "tenant_id", "line")
    records = pl.concat([each.gaps.select(RECORDS.names) for each in several]).sort(
        order, maintain_order=True
    )
    rejects = pl.concat([each.rejects for each in several])
    files = pl.concat([each.files for each in several])
    repairs: Counter[str] = Counter()
    for each in several:
        repairs.update(each.summary.repairs)
    whole = scan_of(
        [records],
        rejects.sort("repo_slug", "source_path", "line", maintain_order=True),
        files.sort("repo_slug", "source_path", maintain_order=True),
        repairs,
    )
    return replace(whole, cache=several[0].cache)


def scan_of(
    records: list[pl.DataFrame], rejects: pl.DataFrame, files: pl.DataFrame, repairs: Mapping[str, int]
) -> Scan:
    """A scan of tables `records` (frames in order), `rejects` and `files`: says which lines count."""
    gaps = gaps_of(records or [RECORDS.empty()])
    return Scan(gaps, rejects, files, summarize(Counter(gaps["why_not"].to_list()), rejects, files, repairs))


def scan_to_parquet(
    roots: str | Path | Iterable[str | Path],
    out: str | Path,
    *,
    settings: ScanSettings | None = None,
    tenant_id: str | None = None,
    sources: Mapping[str, Source | Mapping[str, Any]] | None = None,
    hidden: bool | None = None,
    max_expanded_mib: int | None = None,
) -> ScanSummary:
    """Read every gap log below the roots into Parquet files, batch by batch, where memory is too small.

    Args:
        roots: One or more folders to search for gap logs, or single log files; no shared corpus.
        out: A folder that does not exist yet, or is empty. It gets `gaps-*.parquet` and `rejects-*.parquet`,
            numbered in the order of the rows, and `files.parquet`; all of them or none.
        settings: As `scan` takes them, like the next four.
        tenant_id: Whose records these are.
        sources: What gap logs are called and how they are read.
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
    settings = _in_force(settings, tenant_id, sources, hidden, max_expanded_mib)
    resolved = resolve_roots(roots)
    for corpus in logs_and_corpora(resolved)[1]:
        raise InvalidInputError(
            f"'{corpus}' is a shared corpus, and only logs are read bit by bit",
            hint="vocabgap.scan reads it as a whole",
        )
    with _new_folder(expanded(out)) as folder, without_cycle_search():
        logs = discover(resolved, settings)
        records, rejects = _Parts(folder, GAPS), _Parts(folder, REJECTS)
        lines = LineDecoder(RecordColumns(settings.tenant, records.add), RejectColumns(rejects.add))
        account, _ = _collect(logs, lines, settings)
        for parts in (records, rejects):
            if not parts.paths:
                parts.add((RECORDS if parts is records else REJECTS).empty())
        why_not = why_not_codes(records.lazy())
        _write_why_not(records.paths, why_not)
        files = account.files()
        write_parquet(files, folder / "files.parquet")
        times = Counter({why: int(np.count_nonzero(why_not == code)) for code, why in enumerate(WHY_NOT)})
        reasons = rejects.lazy().select("line", "reason").collect()
        return summarize(times, reasons, files, account.repairs)


@dataclass(slots=True)
class _Parts:
    """Numbered Parquet files of one table."""

    folder: Path
    table: Table
    paths: list[Path] = field(default_factory=list)

    def add(self, frame: pl.DataFrame) -> None:
        path = self.folder / f"{self.table.name}-{len(self.paths) + 1:05d}.parquet"
        write_parquet(frame, path)
        self.paths.append(path)

    def lazy(self) -> pl.LazyFrame:
        return pl.scan_parquet(self.paths, glob=False)


def _write_why_not(paths: list[Path], why_not: "np.ndarray[tuple[int], np.dtype[np.uint8]]") -> None:
    """Say of each line of each part whether it counts."""
    start = 0
    for path in paths:
        lines = pl.read_parquet(path, glob=False, memory_map=False)
        write_parquet(with_why_not(lines, why_not[start : start + lines.height]), path)
        start += lines.height


@contextmanager
def _new_folder(out: Path) -> Iterator[Path]:
    """A folder that appears under its name only when all is in it."""
    temporary = None
    try:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise StateError(f"'{out}' is there already", hint="name a folder that does not exist yet")
        out.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))  # nobody else's to read
        yield temporary
        temporary.replace(out)
    except OSError as error:
        raise refusal(f"'{out}' cannot be written", error, hint="name another folder") from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
