"""One whole version of a corpus, as it is read. Its files are held open, whatever is written meanwhile.

A part, a file of chunks, never changes. Which of its rows are deleted is kept beside it, as pairs of the
part's number and the row's place in it: so an id that was deleted can come again in a later part. The
manifest is replaced when all files are on the disk; so readers, who take no lock, see the version before or
after.
"""

import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Final

import polars as pl

from vocabgap.corpus.manifest import (
    DAMAGED_HINT,
    Manifest,
    PartEntry,
    file_name,
    missing_file,
    read_manifest,
    reading,
)
from vocabgap.errors import InvalidInputError, NotFoundError, StateError
from vocabgap.files.parquet import write_parquet
from vocabgap.ingest.log_lines import STORED_LOGS
from vocabgap.schema import CHUNKS, UTC_MICROSECONDS

PATH_KEY: Final = ("tenant_id", "repo_slug", "source_path")
"""What a path is told apart by."""
ORDER: Final = (*PATH_KEY, "line", "id")
"""Columns by which chunks are ordered: text by code point, and no line before the first."""

# Small row groups, sorted and lightly compressed: what is looked for by path is found in few of them, and a
# whole read costs half the CPU of Zstandard, in files twice as large (see tests/benchmarks/corpus_store.py).
_ROW_GROUP: Final = 32_768
_ROW: Final = "row"
TABLES: Final = {
    "deleted": pl.Schema({"part": pl.UInt32(), _ROW: pl.UInt32()}),  # a row of a part, counted from 0
    "paths": pl.Schema(
        {
            "tenant_id": pl.String(),
            "repo_slug": pl.String(),
            "updated_at": UTC_MICROSECONDS,
            "paths": pl.List(pl.String()),
        }
    ),
    "logs": pl.Schema(STORED_LOGS.schema),
    "forgotten": pl.Schema(dict.fromkeys(("tenant", "repo", "record", "chunk"), pl.String())),
}
"""What a version has beside parts; in `forgotten` are SHA-256 (hex), see `upkeep.forget`."""


@dataclass(frozen=True, slots=True)
class PathSnapshot:
    """Which paths a repository had after its last push that said so.

    Attributes:
        tenant_id: Whose repository it is.
        repo_slug: The repository.
        paths: Source paths, sorted, each once.
        updated_at: When it was said. Only what was ingested until then can be missing from it.
    """

    tenant_id: str
    repo_slug: str
    paths: tuple[str, ...]
    updated_at: datetime

    @property
    def repository(self) -> tuple[str, str]:
        """Tenant and repository: each has one snapshot."""
        return self.tenant_id, self.repo_slug


@dataclass(frozen=True, slots=True)
class Measures:
    """How large a version is.

    Attributes:
        version: Its number: 1 for the first, one more with every change.
        rows: Chunks that are there.
        deleted: Rows of its files that are deleted, and whose bytes are still there.
        parts: Its files of chunks.
        bytes: Of all its files.
    """

    version: int
    rows: int
    deleted: int
    parts: int
    bytes: int


def newest(folder: Path) -> "Version":
    """The newest version of a corpus.

    A compaction may remove a file after its manifest is read and before it is opened. Then there is a newer
    manifest, which does not name it.
    """
    with reading(folder):
        manifest = read_manifest(folder)
        while manifest is not None:
            try:
                return Version(folder, manifest)
            except FileNotFoundError as error:
                newer = read_manifest(folder)
                if newer is not None and newer.version == manifest.version:
                    raise missing_file(folder, manifest.version, error) from error
                manifest = newer
    raise NotFoundError(
        f"there is no corpus in '{folder}'", hint="name its folder; a push or a restore makes one"
    )


class Version:
    """A version, whose files are held open: it can be read whatever is written or compacted later."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.base = manifest
        self._parts = [
            Part(entry, OpenFile(folder / file_name("chunks", entry.number), entry.bytes))
            for entry in manifest.parts
        ]
        self._config_versions = dict(manifest.config_versions)
        self._tables = {kind: schema.to_frame() for kind, schema in TABLES.items()}
        for kind, entry in manifest.tables.items():
            file = OpenFile(folder / file_name(kind, entry.number), entry.bytes)
            with _readable(file.path):
                self._tables[kind] = pl.read_parquet(file.stream()).cast(TABLES[kind])

    def rows(self, columns: Sequence[str] | None = None, where: pl.Expr | None = None) -> pl.DataFrame:
        """The chunks that are there and meet a condition, in the order of `ORDER`; null is the first line."""
        with reading(self.folder):
            return rows_in_order(self._parts, self._tables["deleted"], columns, where)

    def table(self, kind: str) -> pl.DataFrame:
        """One of the `TABLES`."""
        return self._tables[kind]

    @property
    def snapshots(self) -> tuple[PathSnapshot, ...]:
        """The last snapshot of each repository that sent one, by tenant and repository."""
        return tuple(
            PathSnapshot(tenant, repo, tuple(paths), updated)
            for tenant, repo, updated, paths in self.table("paths").iter_rows()
        )

    @property
    def config_versions(self) -> dict[str, int]:
        """How often each tenant was configured; a tenant that is not there never was."""
        return dict(self._config_versions)

    @property
    def dimension(self) -> int | None:
        """How long the vectors of restored records are; None while there are none.

        Deleted chunks count as long as others of their part are there.
        """
        lengths = (part.entry.dimension for part in self._parts)
        return next((length for length in lengths if length is not None), None)

    @property
    def measures(self) -> Measures:
        """How large it is."""
        entries = [part.entry for part in self._parts]
        deleted = self.table("deleted").height
        return Measures(
            version=self.base.version,
            rows=sum(entry.rows for entry in entries) - deleted,
            deleted=deleted,
            parts=len(entries),
            bytes=sum(entry.bytes for entry in self.base.files.values()),
        )


class OpenFile:
    """A file of a version, held open: it can be read even if a compaction removes its name meanwhile."""

    def __init__(self, path: Path, size: int) -> None:
        self.path = path
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self._descriptor)
        actual = os.fstat(self._descriptor).st_size
        if actual != size:
            raise _damaged(path, f"it has {actual} bytes, expected {size}")

    def stream(self) -> IO[bytes]:
        """The file, to be read; it stays open when the stream is closed."""
        return open(self._descriptor, "rb", closefd=False)


@dataclass(frozen=True, slots=True)
class Part:
    """A file of chunks, held open."""

    entry: PartEntry
    file: OpenFile


def write_part(path: Path, number: int, rows: pl.DataFrame) -> Part:
    """Write chunks to a new file, which is no part of a version yet."""
    dimension: int | None = rows.get_column("embedding").list.len().max()  # type: ignore[assignment]
    write_parquet(rows, path, compression="lz4", row_group_size=_ROW_GROUP)
    size = path.stat().st_size
    return Part(PartEntry(number, rows.height, size, 0, dimension), OpenFile(path, size))


def rows_in_order(
    parts: Sequence[Part],
    deleted: pl.DataFrame,
    columns: Sequence[str] | None = None,
    where: pl.Expr | None = None,
) -> pl.DataFrame:
    """The chunks of some parts that are there, in the order of `ORDER`."""
    wanted = CHUNKS.names if columns is None else list(columns)
    if strange := [name for name in wanted if name not in CHUNKS.names]:
        raise InvalidInputError(
            f"a corpus has no column '{strange[0]}'", hint=f"it has {', '.join(CHUNKS.names)}"
        )
    rows = scan(parts, deleted, where)
    if len(parts) == 1:  # written in that order
        return collected(parts, rows.select(wanted))
    needed = dict.fromkeys((*wanted, *ORDER))
    return collected(parts, rows.select(*needed)).sort(ORDER).select(wanted)


def scan(parts: Sequence[Part], deleted: pl.DataFrame, where: pl.Expr | None = None) -> pl.LazyFrame:
    """The chunks of some parts that are there, with column `row`: their place among all rows of the parts."""
    if not parts:
        frame = CHUNKS.empty().lazy().with_row_index(_ROW)
    else:
        streams = [part.file.stream() for part in parts]
        frame = pl.scan_parquet(streams, row_index_name=_ROW)
    if where is not None:
        frame = frame.filter(where)
    places = deleted.join(_starts(parts), on="part").select(pl.col("start") + pl.col(_ROW)).to_series()
    return frame if places.is_empty() else frame.filter(~pl.col(_ROW).is_in(places.implode()))


def rows_of(parts: Sequence[Part], scanned: pl.LazyFrame) -> pl.DataFrame:
    """Of chunks that `scan` gave of some parts, which rows of which part they are."""
    rows = collected(parts, scanned.select(_ROW))
    starts = _starts(parts)
    return rows.join_asof(starts, left_on=_ROW, right_on="start", check_sortedness=False).select(
        "part", (pl.col(_ROW) - pl.col("start")).alias(_ROW).cast(pl.UInt32)
    )


def collected(parts: Sequence[Part], frame: pl.LazyFrame) -> pl.DataFrame:
    """What a query on some parts gives."""
    try:
        return frame.collect()
    except (pl.exceptions.ComputeError, OSError):
        for part in parts:
            with _readable(part.file.path):
                pl.scan_parquet(part.file.stream()).collect()
        raise


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Let what Polars cannot read be told of as a damaged file."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _damaged(path, str(error).partition("\n")[0]) from error


def _starts(parts: Sequence[Part]) -> pl.DataFrame:
    rows = [part.entry.rows for part in parts]
    return pl.DataFrame(
        {
            "part": [part.entry.number for part in parts],
            "start": [sum(rows[:place]) for place in range(len(rows))],
        },
        schema={"part": pl.UInt32, "start": pl.get_index_type()},
    )


def _damaged(path: Path, problem: str) -> StateError:
    return StateError(f"'{path}' is damaged: {problem}", hint=DAMAGED_HINT)
