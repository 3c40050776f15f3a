"""One version of a corpus as it is read: its manifest, and its open files, which later writers cannot change.

The manifest lists the files of the newest version: parts that hold chunks, and up to four tables. No file
changes once it is written. Table `deleted` names deleted rows by the number of the part and the place in it.
So a deleted id can come again in a later part. A writer replaces the manifest after all files are on the
disk. Readers take no lock and see the old or the new version.
"""

import hashlib
import os
import re
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Annotated, Final

import msgspec
import polars as pl

from vocabgap.errors import NotFoundError, StateError
from vocabgap.files import descriptor_of, whole
from vocabgap.files.parquet import require_fair
from vocabgap.files.refusals import refusal
from vocabgap.model.tables import OWNER, REJECTS, SOURCE_PATH, UTC_MICROSECONDS, Column, Table

MANIFEST: Final = "manifest.json"
FORMAT: Final = "vocabgap-corpus"
FORMAT_VERSION: Final = 1
LOCK: Final = "writer.lock"
COPY_HINT: Final = "restore it from a copy of the folder, or restore a backup into a new folder"
_TABLE_KINDS: Final = ("deleted", "paths", "logs", "forgotten")
_NUMBERED: Final = rf"(chunks|{'|'.join(_TABLE_KINDS)})-(?P<number>[0-9]{{6,}})\.parquet"
# A killed writer may leave these files, and the next one removes them; no other file is ever removed.
NUMBERED: Final = re.compile(_NUMBERED)
OURS: Final = re.compile(rf"{_NUMBERED}|manifest\.json(\.new)?|writer\.lock")

_ROOT_KIND: Final = Column("root_kind", pl.String, "kind of root, one of the contract's three")
GAP_KIND: Final = "gap-record"
"""The kind of a chunk that is one line of a gap log."""
CHUNKS: Final = Table(
    "chunks",
    "one chunk of a shared corpus: a line of a gap log, or any other piece of a source",
    (
        Column("id", pl.String, "storage id; of a pushed chunk the SHA-256 (hex) of its owner and content"),
        Column("tenant_id", pl.String, "its tenant, as the receiving side stamped it"),
        Column("repo_slug", pl.String, "the tenant's repository"),
        _ROOT_KIND,
        Column("source_path", pl.String, "its file, relative to the root, with forward slashes"),
        Column("kind", pl.String, "its kind; `gap-record` for a line of a gap log"),
        Column("name", pl.String, "its name in the source; the record_id of a gap record"),
        Column("line", pl.Int64, "its first line in the source, counted from 1; null if unknown"),
        Column("content", pl.String, "its text; null if a restored record had none"),
        Column("metadata", pl.String, "all its metadata, as compact JSON"),
        Column("embedding", pl.List(pl.Float64), "the vector it was restored with; null for a pushed chunk"),
        Column("config_version", pl.Int64, "version of the tenant's configuration when it was ingested"),
        Column("ingested_at", UTC_MICROSECONDS, "when it was first ingested; null if a backup had none"),
        Column("backup_line", pl.String, "its line of the backup; null if an export writes the same line"),
    ),
)
REJECTED: Final = pl.Struct(
    {name: REJECTS.schema[name] for name in ("line", "byte_offset", "reason", "detail", "raw")}
)
LOGS: Final = Table(
    "logs",
    "one gap log in a shared corpus with lines that are not records",
    (
        Column("tenant_id", pl.String, "the tenant that pushed it"),
        Column("repo_slug", pl.String, "the tenant's repository"),
        _ROOT_KIND,
        SOURCE_PATH,
        Column("folder", pl.String, "folder of the log; null if it is in the path"),
        Column("passed_over", pl.Int64, "lines that its source does not count as gaps; null if not read"),
        Column("rejects", pl.List(REJECTED), "its lines without a record, with reasons"),
    ),
)
PATH_KEY: Final = (*OWNER, "source_path")
"""The columns that identify a path."""
ORDER: Final = (*PATH_KEY, "line", "id")
"""The order of chunks: text by code point, and chunks without a line first."""

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
"""The tables of a version beside its parts.

`paths` holds the last snapshot of each repository that sent one; only older chunks can be missing from it.
`forgotten` holds SHA-256 (hex), see `withdrawal.forget`.
"""


_Count = Annotated[int, msgspec.Meta(ge=0)]
_Number = Annotated[int, msgspec.Meta(ge=1)]


class FileEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of a version: its unique number, its size and its digest."""

    number: _Number
    rows: _Count
    bytes: _Count
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class PartEntry(FileEntry, frozen=True, forbid_unknown_fields=True):
    """A file of chunks; `dimension` is the length of its vectors, if it has any."""

    dimension: _Number | None = None


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A version of a corpus: its parts, oldest first, its tables, and the configurations of each tenant."""

    version: _Count = 0
    next_number: _Number = 1
    parts: tuple[PartEntry, ...] = ()
    deleted: FileEntry | None = None
    paths: FileEntry | None = None
    logs: FileEntry | None = None
    forgotten: FileEntry | None = None
    config_versions: dict[str, int] = {}

    @property
    def files(self) -> dict[str, FileEntry]:
        """Every file of the version, by name."""
        files: dict[str, FileEntry] = {file_name("chunks", part.number): part for part in self.parts}
        return files | {file_name(kind, entry.number): entry for kind, entry in self.tables.items()}

    @property
    def tables(self) -> dict[str, FileEntry]:
        """The tables that are not empty."""
        return {kind: entry for kind in _TABLE_KINDS if (entry := getattr(self, kind)) is not None}


class _Format(msgspec.Struct, frozen=True):
    format: str
    format_version: int = 0


class _Written(_Format, frozen=True, forbid_unknown_fields=True, kw_only=True):
    corpus: Manifest
    sha256: str  # of `corpus`


def file_name(kind: str, number: int) -> str:
    """Return the name of a file of `chunks`, or of a table of a version."""
    return f"{kind}-{number:06d}.parquet"


def is_corpus(folder: Path) -> bool:
    """Tell whether a folder holds a shared corpus, even a damaged one.

    A file `manifest.json` alone proves nothing: many tools write one.
    """
    try:
        content = whole(folder / MANIFEST)
    except FileNotFoundError:
        return False
    except OSError:
        content = b""
    return FORMAT.encode() in content or (folder / LOCK).is_file()


def read_manifest(folder: Path) -> Manifest | None:
    """Read the manifest of a corpus; None if there is none."""
    path = folder / MANIFEST
    try:
        content = whole(path)
    except FileNotFoundError:
        return None
    try:
        head = msgspec.json.decode(content, type=_Format)
        if head.format != FORMAT:
            raise StateError(
                f"'{path}' is the manifest of something else: format '{head.format}', expected '{FORMAT}'",
                hint="name another folder",
            )
        if head.format_version > FORMAT_VERSION:
            raise StateError(
                f"'{path}' was written by a newer vocabgap: format version {head.format_version},"
                f" this one reads {FORMAT_VERSION}",
                hint="upgrade vocabgap",
            )
        document = msgspec.json.decode(content, type=_Written)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"'{path}' is damaged, or is not the manifest of a corpus: {error}"
        raise StateError(message, hint=COPY_HINT) from error
    if document.sha256 != _digest(document.corpus):
        raise StateError(f"'{path}' is damaged: its digest is wrong", hint=COPY_HINT)
    return document.corpus


def manifest_bytes(manifest: Manifest) -> bytes:
    """Return the content of the file that makes a version the newest one."""
    digest = _digest(manifest)
    written = _Written(format=FORMAT, format_version=FORMAT_VERSION, corpus=manifest, sha256=digest)
    return msgspec.json.format(msgspec.json.encode(written), indent=1) + b"\n"


def _digest(manifest: Manifest) -> str:
    return hashlib.sha256(msgspec.json.encode(manifest, order="sorted")).hexdigest()


@contextmanager
def reading(folder: Path, done: str = "read", hint: str = "") -> Iterator[None]:
    """Turn an error of the system into one that names the corpus and the file."""
    try:
        yield
    except OSError as error:
        name = Path(error.filename or "").name
        problem = f"corpus '{folder}' cannot be {done}" + (f": {name}" if name else "")
        raise refusal(problem, error, hint=hint) from error


@dataclass(frozen=True, slots=True)
class Measures:
    """The size of a version; the bytes of `deleted` rows are still in its files."""

    version: int
    rows: int
    deleted: int
    parts: int
    bytes: int


def newest(folder: Path) -> "Version":
    """Open the newest version of a corpus.

    A compaction may remove a file after its manifest is read and before the file is opened. Then a newer
    manifest exists that does not name it.
    """
    with reading(folder):
        manifest = read_manifest(folder)
        while manifest is not None:
            try:
                return Version(folder, manifest)
            except FileNotFoundError as error:
                newer = read_manifest(folder)
                if newer is not None and newer.version == manifest.version:
                    missing = f"'{Path(error.filename).name}', a file of version {newer.version}, is missing"
                    raise StateError(f"corpus '{folder}': {missing}", hint=COPY_HINT) from error
                manifest = newer
    raise NotFoundError(
        f"there is no corpus in '{folder}'", hint="name another folder; a push or a restore creates a corpus"
    )


class Version:
    """A version with open files."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.base = manifest
        self._parts = [Part(folder, entry) for entry in manifest.parts]
        self.config_versions = dict(manifest.config_versions)
        self._tables = {kind: schema.to_frame() for kind, schema in TABLES.items()}
        for kind, entry in manifest.tables.items():
            path = folder / file_name(kind, entry.number)
            _require_whole(path, entry, path.stat().st_size)
            content = whole(path, entry.bytes)
            _require_whole(path, entry, len(content), hashlib.sha256(content).hexdigest())
            require_fair(BytesIO(content), path)
            self._tables[kind] = pl.read_parquet(content).cast(TABLES[kind])

    def rows(self, columns: Sequence[str] | None = None, where: pl.Expr | None = None) -> pl.DataFrame:
        """Read the chunks that meet a condition, in the order of `ORDER`."""
        with reading(self.folder):
            return rows_in_order(self._parts, self._tables["deleted"], columns, where)

    def table(self, kind: str) -> pl.DataFrame:
        """Return one of the `TABLES`."""
        return self._tables[kind]

    @property
    def dimension(self) -> int | None:
        """The length of restored vectors, if any; vectors of deleted chunks count while their part exists."""
        lengths = (part.entry.dimension for part in self._parts)
        return next((length for length in lengths if length is not None), None)

    @property
    def measures(self) -> Measures:
        """The size of the version."""
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
    """An open file of chunks: it stays readable even if a compaction removes its name."""

    def __init__(self, folder: Path, entry: PartEntry) -> None:
        self.entry = entry
        self.path = folder / file_name("chunks", entry.number)
        self._descriptor = descriptor_of(self.path)
        weakref.finalize(self, os.close, self._descriptor)
        _require_whole(self.path, entry, os.fstat(self._descriptor).st_size)
        self._is_whole = False

    def scan(self) -> pl.LazyFrame:
        """Scan its rows, with columns `part` (its number) and `row` (their place); refuse a damaged file."""
        if not self._is_whole:  # Polars does not detect all damage
            digest, place = hashlib.sha256(), 0
            while block := os.pread(self._descriptor, 1 << 20, place):
                digest.update(block)
                place += len(block)
            _require_whole(self.path, self.entry, place, digest.hexdigest())
            self._is_whole = True
        stream = open(self._descriptor, "rb", closefd=False)  # noqa: SIM115 - it stays open when Polars is done
        number = pl.lit(self.entry.number, pl.UInt32).alias("part")
        require_fair(stream, self.path)
        rows = pl.scan_parquet(
            stream, row_index_name=_ROW, schema=CHUNKS.schema, missing_columns="insert"
        )  # a part of an earlier version of vocabgap lacks the newest columns
        return rows.with_columns(number)


def rows_in_order(
    parts: Sequence[Part],
    deleted: pl.DataFrame,
    columns: Sequence[str] | None = None,
    where: pl.Expr | None = None,
) -> pl.DataFrame:
    """Read the chunks of some parts, in the order of `ORDER`."""
    names = CHUNKS.names if columns is None else list(columns)
    rows = scan(parts, deleted, where)
    if len(parts) == 1:  # a part is written in that order
        return rows.select(names).collect()
    needed = dict.fromkeys((*names, *ORDER))
    return rows.select(*needed).collect().sort(ORDER).select(names)


def scan(parts: Sequence[Part], deleted: pl.DataFrame, where: pl.Expr | None = None) -> pl.LazyFrame:
    """Scan the chunks of some parts, with columns `part` and `row` of table `deleted`."""
    empty = CHUNKS.empty().lazy().with_columns(pl.lit(0, pl.UInt32).alias(name) for name in _PLACE)
    frame = pl.concat([part.scan() for part in parts]) if parts else empty
    if where is not None:
        frame = frame.filter(where)
    return frame if deleted.is_empty() else frame.join(deleted.lazy(), on=_PLACE, how="anti")


def _require_whole(path: Path, entry: FileEntry, size: int, sha256: str | None = None) -> None:
    problem = ""
    if size != entry.bytes:
        problem = f"it has {size} bytes, expected {entry.bytes}"
    elif sha256 not in {None, entry.sha256}:
        problem = f"its digest is not the one in {MANIFEST}"
    if problem:
        raise StateError(f"'{path}' is damaged: {problem}", hint=COPY_HINT)
