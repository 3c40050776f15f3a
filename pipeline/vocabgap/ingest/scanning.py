"""The scan: discover the logs, decode them line by line, and account for every line."""

import gc
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import polars as pl

from vocabgap.errors import AccessDeniedError, InvalidInputError, StateError, expanded
from vocabgap.files.parquet import write_parquet
from vocabgap.ingest.accounting import (
    DUPLICATE,
    SUPERSEDED,
    WHY_NOT,
    Ledger,
    in_order,
    mark_batches,
    marks,
    with_marks,
)
from vocabgap.ingest.caching import RECORD_SCHEMA, REJECT_SCHEMA, Cache, CacheUse, Rows, Sweep, opened
from vocabgap.ingest.columns import RecordColumns, RejectColumns, with_places, with_reject_places
from vocabgap.ingest.discovery import LogFile, discover
from vocabgap.ingest.lines import Collector, Lines
from vocabgap.ingest.reading import MIB
from vocabgap.ingest.selection import Selection, select
from vocabgap.records.record import CATEGORY_ALIASES, OPERATION_ALIASES, RejectReason, Repair
from vocabgap.schema import GAPS, RECORDS, REJECTS, Table
from vocabgap.settings.model import DEFAULT_MAX_EXPANDED_MIB, DEFAULT_TENANT, IngestSettings
from vocabgap.settings.sources import Source
from vocabgap.text import count

# What a scan is asked for, checked at its door.


def check_arguments(*, tenant_id: str, hidden: bool, max_expanded_mib: int) -> None:
    """Refuse what the settings would refuse; the bounds are theirs.

    Args:
        tenant_id: Whose records these are.
        hidden: Whether files and folders are searched whose name starts with a dot.
        max_expanded_mib: How many MiB a compressed log may expand to.

    Raises:
        InvalidInputError: One is of another type, or out of bounds.
    """
    for name, setting, value in (
        ("tenant_id", "tenant", tenant_id),
        ("hidden", "hidden", hidden),
        ("max_expanded_mib", "max_expanded_mib", max_expanded_mib),
    ):
        try:
            msgspec.convert({setting: value}, IngestSettings)
        except msgspec.ValidationError as error:
            problem = str(error).partition(" - at ")[0].replace("`", "'")
            raise InvalidInputError(
                f"{name}: {problem}, found {value!r}",
                hint=f"see [ingest] {setting} under Settings in the README",
            ) from error


@dataclass(frozen=True, slots=True)
class ScanSummary:
    """The account of a scan: every line that is not blank is in exactly one of four places.

    Attributes:
        files: Logs that were read.
        unreadable: Logs, folders and links that were not read, or not to their end.
        lines: Lines that are not blank; `records + duplicates + superseded + rejects`.
        records: Records that count.
        duplicates: Second copies of a record.
        superseded: Records that a later one corrects.
        rejects: Lines that are no record.
        passed_over: Lines beside these that are no gaps, by the filter of their source.
        repairs: What was mended in records that were kept, by kind.
        reasons: Rejects and unreadable files, by reason.
    """

    files: int
    unreadable: int
    lines: int
    records: int
    duplicates: int
    superseded: int
    rejects: int
    passed_over: int
    repairs: dict[str, int]
    reasons: dict[str, int]


@dataclass(frozen=True, repr=False)
class Scan:
    """What a scan found.

    Attributes:
        gaps: One row a readable line, with `counted` and `why_not` (table `gaps`).
        rejects: One row a bad line or unreadable file (table `rejects`).
        files: One row a log that was read (table `files`).
        summary: The account of every line.
        cache: What the cache was good for; None without one.
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
        """The same scan, with what the selection leaves out marked as `filtered`.

        Args:
            selection: What is asked for.
            category_aliases: Lower-case spelling to category.
            operation_aliases: Lower-case name to operation.
        """
        narrowed = select(
            self.gaps, selection, category_aliases=category_aliases, operation_aliases=operation_aliases
        )
        return replace(self, gaps=narrowed)

    def __repr__(self) -> str:
        """The account in one line."""
        made = self.summary
        whole = f"{count(made.lines, 'line')} in {count(made.files, 'log')}"
        counted = int(self.gaps["counted"].sum())
        left_out = f" ({counted:,} counted)" if counted != made.records else ""
        parts = (
            count(made.records, "record") + left_out,
            count(made.duplicates, "duplicate"),
            f"{made.superseded:,} superseded",
            count(made.rejects, "reject"),
        )
        return f"Scan({whole}: {', '.join(parts)})"


def scan(
    roots: str | Path | Iterable[str | Path],
    *,
    tenant_id: str = DEFAULT_TENANT,
    sources: Mapping[str, Source | Mapping[str, Any]] | None = None,
    hidden: bool = False,
    max_expanded_mib: int = DEFAULT_MAX_EXPANDED_MIB,
    cache: str | Path | None = None,
    verify_hash: bool = False,
) -> Scan:
    """Read every gap log below the roots.

    Args:
        roots: One or more folders to search for gap logs, or single log files.
        tenant_id: Whose records these are.
        sources: What gap logs are called and how they are read, each a `Source` or a table of its keys; the
            shipped ones by default.
        hidden: Whether files and folders are searched whose name starts with a dot.
        max_expanded_mib: How many MiB a compressed log may expand to.
        cache: A folder that keeps what was decoded, so that the next scan of the same roots reads only
            what is new. The result is the same as without.
        verify_hash: Compare every log with the cache by its digest, not by its size and times.

    Returns:
        Records, rejects and the account of every line. Rows are ordered by repository, file and line.

    Raises:
        NotFoundError: A root does not exist.
        AccessDeniedError: A root may not be read, or the cache may not be used.
        InvalidInputError: No root was given, an argument is out of bounds, or a cache is to be verified and
            none was given.
        StateError: The cache folder holds other files, or cannot be written.
    """
    if verify_hash and cache is None:
        raise InvalidInputError("there is no cache to verify", hint="name the folder of the cache, too")
    check_arguments(tenant_id=tenant_id, hidden=hidden, max_expanded_mib=max_expanded_mib)
    logs = discover(roots, sources=sources, hidden=hidden)
    with without_cycle_search():
        if cache is None:
            return _read(logs, tenant_id, max_expanded_mib, None)
        with opened(cache) as folder:
            store = Cache(folder, verify_hash).load() if folder is not None else None
            found = _read(logs, tenant_id, max_expanded_mib, store)
        if store is None:
            found = replace(
                found, cache=CacheUse(0, 0, found.summary.files, "the cache is in use by another run")
            )
        return found


def _read(logs: list[LogFile], tenant_id: str, max_expanded_mib: int, store: Cache | None) -> Scan:
    records: list[pl.DataFrame] = []
    rejects: list[pl.DataFrame] = []
    lines = Lines(RecordColumns(tenant_id, records.append), RejectColumns(rejects.append))
    sweep = Sweep(Collector(lines, max_expanded_mib * MIB), store)
    sweep.over(logs)
    ledger = sweep.ledger
    bad = pl.concat([REJECTS.empty(), *rejects])
    if store is not None:
        new = pl.concat([RECORDS.empty(), *records]), bad
        whole = _recalled(store, new, ledger, tenant_id)
        store.save(new, whole, ledger.logs, ledger.counts)
        records, bad = [whole[0]], whole[1]
    gaps = mark_batches(records or [RECORDS.empty()])
    files = ledger.files()
    summary = summarize(Counter(gaps["why_not"].to_list()), bad, files, ledger.repairs)
    return Scan(gaps, bad, files, summary, sweep.use() if store else None)


def _recalled(store: Cache, new: Rows, ledger: Ledger, tenant_id: str) -> Rows:
    """The rows of the cache and the new ones, in the order of the logs."""
    shards_of_records, shards_of_rejects = zip(*store.rows, strict=True) if store.rows else ((), ())
    records = pl.concat([*shards_of_records, new[0].select(*RECORD_SCHEMA)])
    rejects = pl.concat([*shards_of_rejects, new[1].select(*REJECT_SCHEMA)])
    of_records, of_rejects = zip(*ledger.counts, strict=True) if ledger.counts else ((), ())
    return (
        with_places(in_order(records, ledger.records), ledger.logs, of_records, tenant_id=tenant_id),
        with_reject_places(in_order(rejects, ledger.rejects), ledger.logs, of_rejects),
    )


@contextmanager
def without_cycle_search() -> Iterator[None]:
    """Records hold no reference cycles, but the collector would look for them over and over as they pile up.

    That costs 3 µs a record where decoding costs 1.2.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def summarize(
    why_not: Counter[str | None], rejects: pl.DataFrame, files: pl.DataFrame, repairs: Mapping[str, int]
) -> ScanSummary:
    """The account of a scan.

    Args:
        why_not: How many readable lines count (None), or why they do not.
        rejects: Table `rejects`; `reason` and `line` are enough.
        files: Table `files`.
        repairs: What was mended, by kind.
    """
    reasons = Counter(rejects["reason"].to_list())
    rejected_lines = int(rejects["line"].is_not_null().sum())
    return ScanSummary(
        files=files.height,
        unreadable=rejects.height - rejected_lines,
        lines=int(files["lines"].sum()),
        records=why_not[None],
        duplicates=why_not[DUPLICATE],
        superseded=why_not[SUPERSEDED],
        rejects=rejected_lines,
        passed_over=int(files["passed_over"].sum()),
        repairs={kind.value: repairs[kind.value] for kind in Repair if repairs.get(kind.value)},
        reasons={reason.value: reasons[reason.value] for reason in RejectReason if reasons[reason.value]},
    )


# A scan that goes to Parquet batch by batch, in memory that does not grow with the number of records.


FILES_NAME: Final = "files.parquet"
_HINT: Final = "name another folder"


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


def scan_to_parquet(
    roots: str | Path | Iterable[str | Path],
    out: str | Path,
    *,
    tenant_id: str = DEFAULT_TENANT,
    sources: Mapping[str, Source | Mapping[str, Any]] | None = None,
    hidden: bool = False,
    max_expanded_mib: int = DEFAULT_MAX_EXPANDED_MIB,
) -> ScanSummary:
    """Read every gap log below the roots into Parquet files, for corpora that do not fit in memory.

    Args:
        roots: One or more folders to search for gap logs, or single log files.
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
        InvalidInputError: No root was given, or an argument cannot be used.
        StateError: The folder holds files, or the disk is full.
    """
    check_arguments(tenant_id=tenant_id, hidden=hidden, max_expanded_mib=max_expanded_mib)
    with _new_folder(expanded(out)) as folder, without_cycle_search():
        logs = discover(roots, sources=sources, hidden=hidden)
        records, rejects = _Parts(folder, GAPS), _Parts(folder, REJECTS)
        lines = Lines(RecordColumns(tenant_id, records.add), RejectColumns(rejects.add))
        sweep = Sweep(Collector(lines, max_expanded_mib * MIB))
        sweep.over(logs)
        for parts in (records, rejects):
            if not parts.paths:
                parts.add((RECORDS if parts is records else REJECTS).empty())
        found = marks(records.lazy())
        _mark(records.paths, found)
        files = sweep.ledger.files()
        write_parquet(files, folder / FILES_NAME)
        why_not = Counter({why: int(np.count_nonzero(found == code)) for code, why in enumerate(WHY_NOT)})
        told = rejects.lazy().select("line", "reason").collect()
        return summarize(why_not, told, files, sweep.ledger.repairs)


def _mark(paths: list[Path], found: "np.ndarray[tuple[int], np.dtype[np.uint8]]") -> None:
    """Say of each line of each part whether it counts."""
    start = 0
    for path in paths:
        lines = pl.read_parquet(path, glob=False, memory_map=False)
        write_parquet(with_marks(lines, found[start : start + lines.height]), path)
        start += lines.height


@contextmanager
def _new_folder(out: Path) -> Iterator[Path]:
    """A folder that appears under its name only when all is in it."""
    made = None
    try:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise StateError(f"'{out}' is there already", hint="name a folder that does not exist yet")
        out.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))  # nobody else's to read
        yield made
        made.replace(out)
    except PermissionError as error:
        raise AccessDeniedError(f"'{out}' cannot be written: {error.strerror}", hint=_HINT) from error
    except OSError as error:
        raise StateError(f"'{out}' cannot be written: {error.strerror or error}", hint=_HINT) from error
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
