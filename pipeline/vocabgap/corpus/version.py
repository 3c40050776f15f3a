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
from typing import Final

import polars as pl

from vocabgap.corpus.manifest import (
    DAMAGED_HINT,
    FileEntry,
    Manifest,
    PartEntry,
    file_name,
    read_manifest,
    reading,
)
from vocabgap.errors import NotFoundError, StateError
from vocabgap.files.parquet import write_parquet
from vocabgap.schema import CHUNKS, LOGS, UTC_MICROSECONDS

PATH_KEY: Final = ("tenant_id", "repo_slug", "source_path")
"""What a path is told apart by."""
ORDER: Final = (*PATH_KEY, "line", "id")
"""Columns by which chunks are ordered: text by code point, and no line before the first."""

# Small row groups, sorted and lightly compressed: what is looked for by path is found in few of them, and a
# whole read costs half the CPU of Zstandard, in files twice as large (see tests/benchmarks/corpus_store.py).
_ROW_GROUP: Final = 32_768
_ROW: Final = "row"
_PLACE: Final = ("part", _ROW)
TABLES: Final = {
    "deleted": pl.Schema(dict.fromkeys(_PLACE, pl.UInt32())),  # a row of a part, counted from 0
    "paths": pl.Schema(
        {
            "tenant_id": pl.String(),
            "repo_slug": pl.String(),
            "updated_at": UTC_MICROSECONDS,
            "paths": pl.List(pl.String()),
        }
    ),
    "logs": LOGS.schema,
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
                    missing = (
                        f"'{Path(error.filename).name}', which version {newer.version} needs, is missing"
                    )
                    raise StateError(f"corpus '{folder}': {missing}", hint=DAMAGED_HINT) from error
                manifest = newer
    raise NotFoundError(
        f"there is no corpus in '{folder}'", hint="name its folder; a push or a restore makes one"
    )


class Version:
    """A version, whose files are held open: it can be read whatever is written or compacted later.

    Attributes:
        config_versions: How often each tenant was configured; a tenant that is not there never was.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.base = manifest
        self._parts = [Part(folder, entry) for entry in manifest.parts]
        self.config_versions = dict(manifest.config_versions)
        self._tables = {kind: schema.to_frame() for kind, schema in TABLES.items()}
        for kind, entry in manifest.tables.items():
            path = folder / file_name(kind, entry.number)
            content = path.read_bytes()
            _require_size(path, len(content), entry)
            with _readable(path):
                self._tables[kind] = pl.read_parquet(content).cast(TABLES[kind])

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


class Part:
    """A file of chunks, held open: it can be read even if a compaction removes its name meanwhile."""

    def __init__(self, folder: Path, entry: PartEntry) -> None:
        self.entry = entry
        self.path = folder / file_name("chunks", entry.number)
        self._descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self._descriptor)
        _require_size(self.path, os.fstat(self._descriptor).st_size, entry)

    def scan(self) -> pl.LazyFrame:
        """Its rows, with the number of the `part` and their place in it, `row`."""
        stream = open(self._descriptor, "rb", closefd=False)  # noqa: SIM115 - it stays open when Polars is done
        number = pl.lit(self.entry.number, pl.UInt32).alias("part")
        return pl.scan_parquet(stream, row_index_name=_ROW).with_columns(number)


def write_part(folder: Path, number: int, rows: pl.DataFrame) -> Part:
    """Write chunks to a new file, which is no part of a version yet."""
    path = folder / file_name("chunks", number)
    dimension: int | None = rows.get_column("embedding").list.len().max()  # type: ignore[assignment]
    write_parquet(rows, path, compression="lz4", row_group_size=_ROW_GROUP)
    return Part(folder, PartEntry(number, rows.height, path.stat().st_size, dimension))


def rows_in_order(
    parts: Sequence[Part],
    deleted: pl.DataFrame,
    columns: Sequence[str] | None = None,
    where: pl.Expr | None = None,
) -> pl.DataFrame:
    """The chunks of some parts that are there, in the order of `ORDER`."""
    wanted = CHUNKS.names if columns is None else list(columns)
    rows = scan(parts, deleted, where)
    if len(parts) == 1:  # written in that order
        return collected(parts, rows.select(wanted))
    needed = dict.fromkeys((*wanted, *ORDER))
    return collected(parts, rows.select(*needed)).sort(ORDER).select(wanted)


def scan(parts: Sequence[Part], deleted: pl.DataFrame, where: pl.Expr | None = None) -> pl.LazyFrame:
    """The chunks of some parts that are there, with columns `part` and `row` of table `deleted`."""
    empty = CHUNKS.empty().lazy().with_columns(pl.lit(0, pl.UInt32).alias(name) for name in _PLACE)
    frame = pl.concat([part.scan() for part in parts]) if parts else empty
    if where is not None:
        frame = frame.filter(where)
    return frame if deleted.is_empty() else frame.join(deleted.lazy(), on=_PLACE, how="anti")


def collected(parts: Sequence[Part], frame: pl.LazyFrame) -> pl.DataFrame:
    """What a query on some parts gives."""
    try:
        return frame.collect()
    except (pl.exceptions.ComputeError, OSError):
        for part in parts:
            with _readable(part.path):
                part.scan().collect()
        raise


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Let what Polars cannot read be told of as a damaged file."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _damaged(path, str(error).partition("\n")[0]) from error


def _require_size(path: Path, size: int, entry: FileEntry) -> None:
    if size != entry.bytes:
        raise _damaged(path, f"it has {size} bytes, expected {entry.bytes}")


def _damaged(path: Path, problem: str) -> StateError:
    return StateError(f"'{path}' is damaged: {problem}", hint=DAMAGED_HINT)
