"""A scan that goes to Parquet batch by batch, in memory that does not grow with the number of records."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from vocabgap.errors import AccessDeniedError, StateError, expanded
from vocabgap.files.parquet import write_parquet
from vocabgap.ingest.arguments import check_arguments
from vocabgap.ingest.collecting import Collector
from vocabgap.ingest.columns import RecordColumns, RejectColumns
from vocabgap.ingest.corrections import WHY_NOT, marks, with_marks
from vocabgap.ingest.discovery import discover
from vocabgap.ingest.lines import Lines
from vocabgap.ingest.reading import MIB
from vocabgap.ingest.scanning import ScanSummary, summarize, without_cycle_search
from vocabgap.ingest.sweeping import Sweep
from vocabgap.schema import GAPS, RECORDS, REJECTS, Table
from vocabgap.settings.model import DEFAULT_MAX_EXPANDED_MIB, DEFAULT_TENANT
from vocabgap.settings.sources import Source

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
