"""A shared corpus in a folder of Parquet files, and the changes to it. No server is needed.

A change writes new parts beside the old ones, which stay until a new manifest is written.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.corpus.version import (
    CHUNKS,
    LOCK,
    MANIFEST,
    NUMBERED,
    ORDER,
    OURS,
    TABLES,
    FileEntry,
    Manifest,
    Measures,
    Part,
    PartEntry,
    Version,
    file_name,
    manifest_bytes,
    newest,
    read_manifest,
    reading,
    rows_in_order,
    scan,
)
from vocabgap.errors import StateError
from vocabgap.files import opened
from vocabgap.files.atomic import sync, write_parquet
from vocabgap.files.locking import lock_file
from vocabgap.files.signals import deferred_signals
from vocabgap.model.tables import OWNER
from vocabgap.text import printable_name

_TEMPORARY: Final = "manifest.json.new"
# Row groups are small and sorted, so a search by path reads few of them. Reading LZ4 costs half the CPU of
# Zstandard, but the files are twice as large (see tests/corpus/benchmarks/corpus_store.py).
_ROW_GROUP: Final = 32_768
_PART_ROWS: Final = 262_144  # of a merged part
_MANY_PARTS: Final = 48  # readers hold all parts open; at this number, small parts are merged


writing = partial(reading, done="changed", hint="nothing was changed")
"""A form of `reading` for changes: nothing is changed before the manifest is replaced."""


class Store:
    """A corpus in a folder. The first change creates the folder."""

    def __init__(self, folder: Path, on_wait: Callable[[str], None] = lambda _: None) -> None:
        self.folder = folder
        self._on_wait = on_wait

    def version(self) -> Version:
        """Open the newest version; later changes do not affect it."""
        return newest(self.folder)

    @contextmanager
    def changing(self, purpose: str) -> Iterator["Change"]:
        """Lock the corpus and yield a change. It takes effect if the block ends without an error.

        Writers who wait for the lock see the `purpose`. If the lock, the folder or the disk fails, nothing
        is changed.
        """
        with ExitStack() as lock:
            with writing(self.folder):
                self.folder.mkdir(parents=True, exist_ok=True)
                self._require_own()
                lock.enter_context(
                    lock_file(
                        self.folder / LOCK,
                        f"corpus '{self.folder}'",
                        purpose=purpose,
                        undone="nothing was changed",
                        on_wait=self._on_wait,
                    )
                )
                self._clear()  # files that a killed writer left
                change = Change(self.folder, read_manifest(self.folder) or Manifest())
            try:
                yield change
                with writing(self.folder):
                    manifest = change.manifest()
                    if manifest != change.base:
                        write_manifest(self.folder, manifest)
            finally:
                # The next writer removes files that cannot be removed now.
                with suppress(OSError, StateError):
                    self._clear()

    def compact(self) -> Measures:
        """Rewrite the chunks, and remove every file that holds deleted ones."""
        self.version()
        with self.changing("compact") as change:
            before = change.base.files
            change.rewrite()
        files = (read_manifest(self.folder) or Manifest()).files
        left = [name for name in before if name not in files and (self.folder / name).exists()]
        if left:
            raise StateError(
                f"corpus '{self.folder}' is compacted, but '{left[0]}', which still holds deleted records,"
                " could not be removed",
                hint="check the permissions of the folder, and compact it again",
            )
        return self.version().measures

    def _clear(self) -> None:
        """Remove the files that the newest version does not need. The caller holds the lock.

        Files of earlier versions are removed after the disk confirms this manifest. Until then a loss of
        power may restore the older manifest.
        """
        with deferred_signals():
            manifest, earlier = read_manifest(self.folder) or Manifest(), list[Path]()
            for path in sorted(self.folder.iterdir()):
                if path.name == _TEMPORARY:
                    path.unlink()
                elif (numbered := NUMBERED.fullmatch(path.name)) and path.name not in manifest.files:
                    if int(numbered["number"]) < manifest.next_number:
                        earlier.append(path)
                    else:  # left by an unfinished change: no manifest ever named it
                        path.unlink()
            if earlier:
                sync(self.folder)
            for path in earlier:
                path.unlink()

    def _require_own(self) -> None:
        """Refuse a folder that has foreign files and no manifest."""
        if (self.folder / MANIFEST).exists():
            return
        strange = sorted(path.name for path in self.folder.iterdir() if not OURS.fullmatch(path.name))
        if strange:
            other = f"holds other files, such as '{printable_name(strange[0])}'"
            hint = "name an empty folder, or one that does not exist yet"
            raise StateError(f"'{self.folder}' is not a corpus, and {other}", hint=hint)


class Change(Version):
    """An unpublished version of one writer. Reading includes the changes so far.

    Added chunks are already in numbered files, but no manifest names these files yet.
    """

    def __init__(self, folder: Path, base: Manifest) -> None:
        super().__init__(folder, base)
        self._next = base.next_number
        self._before = dict(self._tables)

    def delete(self, where: pl.Expr) -> int:
        """Delete the chunks that meet a condition over columns of table `chunks`; return their number."""
        with writing(self.folder):
            deleted = scan(self._parts, self.table("deleted"), where).select("part", "row").collect()
        self.keep("deleted", pl.concat([self.table("deleted"), deleted]).sort("part", "row"))
        by_part = dict(self.table("deleted")["part"].value_counts().iter_rows())
        self._keep_parts(
            [part for part in self._parts if by_part.get(part.entry.number, 0) < part.entry.rows]
        )
        return deleted.height

    def add(self, rows: pl.DataFrame) -> int:
        """Add the chunks whose id is new; return their number.

        If rows share an id, the first one is added. Each call reads all ids, so add many rows at once.
        """
        fresh = rows.select(CHUNKS.names).unique("id", keep="first", maintain_order=True)
        with writing(self.folder):
            ids = fresh.select("id").lazy()
            present = scan(self._parts, self.table("deleted")).select("id").join(ids, on="id", how="semi")
            fresh = fresh.join(present.collect(), on="id", how="anti", maintain_order="left")
            if fresh.is_empty():
                return 0
            self._parts.append(self._write(fresh.sort(ORDER)))
            if len(self._parts) >= _MANY_PARTS:
                self.rewrite()
        return fresh.height

    def keep(self, kind: str, table: pl.DataFrame) -> None:
        """Replace one of the version's tables."""
        self._tables[kind] = table

    def keep_paths(self, tenant_id: str, repo_slug: str, paths: Sequence[str], moment: datetime) -> None:
        """Replace the snapshot of a repository."""
        new = pl.DataFrame([(tenant_id, repo_slug, moment, list(paths))], TABLES["paths"], orient="row")
        others = self.table("paths").join(new, on=OWNER, how="anti")
        self.keep("paths", pl.concat([others, new]).sort(OWNER))

    def configure(self, tenant_id: str) -> int:
        """Start a new configuration of a tenant; return its version."""
        version = self.config_versions.get(tenant_id, 0) + 1
        self.config_versions[tenant_id] = version
        return version

    def rewrite(self) -> None:
        """Rewrite parts without their deleted rows, and merge small parts, a few at a time."""
        deleted = self.table("deleted")
        holed, parts = set(deleted["part"]), []
        with writing(self.folder):
            for group in _together(self._parts):
                is_done = len(group) == 1 and group[0].entry.number not in holed
                parts.append(group[0] if is_done else self._write(rows_in_order(group, deleted)))
        self._keep_parts(sorted(parts, key=lambda part: part.entry.number))

    def _keep_parts(self, parts: list[Part]) -> None:
        self._parts = parts
        numbers = [part.entry.number for part in parts]
        self.keep("deleted", self.table("deleted").filter(pl.col("part").is_in(numbers)))

    def manifest(self) -> Manifest:
        """Write the files of the new version; return its manifest, or the old one if nothing has changed.

        The first change always makes a version, so that the corpus exists afterwards.
        """
        base = self.base
        parts = tuple(part.entry for part in self._parts)
        tables = {
            kind: FileEntry(*self._written(kind, table)) if table.height else None
            for kind, table in self._tables.items()
            if not table.equals(self._before[kind])
        }
        changed = msgspec.structs.replace(base, parts=parts, config_versions=self.config_versions, **tables)
        if changed == base and base.version:
            return base
        for name in sorted(changed.files.keys() - base.files.keys()):
            sync(self.folder / name)
        sync(self.folder)
        return msgspec.structs.replace(changed, version=base.version + 1, next_number=self._next)

    def _write(self, rows: pl.DataFrame) -> Part:
        dimension: int | None = rows.get_column("embedding").list.len().max()  # type: ignore[assignment]
        fields = self._written("chunks", rows, compression="lz4", row_group_size=_ROW_GROUP)
        return Part(self.folder, PartEntry(*fields, dimension))

    def _written(self, kind: str, rows: pl.DataFrame, **options: Any) -> tuple[int, int, int, str]:  # noqa: ANN401
        """Write rows to a new file, which no version names yet; return the fields of its entry."""
        number, self._next = self._next, self._next + 1
        path = self.folder / file_name(kind, number)
        write_parquet(rows, path, **options)
        with opened(path) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return number, rows.height, path.stat().st_size, digest


def _together(parts: Iterable[Part]) -> list[list[Part]]:
    """Group parts, the smallest first, so that each group of several has at most `_PART_ROWS` rows."""
    groups: list[list[Part]] = []
    rows = _PART_ROWS
    for part in sorted(parts, key=lambda part: (part.entry.rows, part.entry.number)):
        rows += part.entry.rows
        if rows > _PART_ROWS:
            groups.append([])
            rows = part.entry.rows
        groups[-1].append(part)
    return groups


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Make a version the newest one. Its files are on the disk already."""
    temporary = folder / _TEMPORARY
    temporary.write_bytes(manifest_bytes(manifest))
    sync(temporary)
    with deferred_signals():
        temporary.replace(folder / MANIFEST)
        try:
            sync(folder)
        except OSError as error:
            raise StateError(
                f"corpus '{folder}' is changed, but the disk did not confirm it: {error.strerror or error}",
                hint="check the disk: if it loses power now, the change may be lost",
            ) from error
