"""A change to a corpus in Parquet files: new files beside the old ones, and a manifest that names them."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
import polars as pl

from vocabgap.corpus.chunks import fresh_chunks, require_fitting, vector_length
from vocabgap.corpus.compacting import stretches
from vocabgap.corpus.manifest import FileEntry, Manifest, deleted_name, paths_name
from vocabgap.corpus.ordering import PATH_KEY, in_order
from vocabgap.corpus.parts import DELETED, Part, collected, rows_of, scan, write_part
from vocabgap.corpus.reading import ParquetVersion, rows_in_order, snapshot_frame
from vocabgap.corpus.refusals import writing
from vocabgap.corpus.store import PathSnapshot
from vocabgap.disk import sync, sync_folder
from vocabgap.parquet import write_parquet

# Every part is a file that readers hold open. From so many on, those are joined that together are small.
_MANY_PARTS: Final = 48
_SMALL_TOGETHER: Final = 262_144  # rows


class ParquetChange(ParquetVersion):
    """A version in the making. What is added lies in files by then; no manifest names them until the end."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        super().__init__(folder, manifest)
        self._next = manifest.next_number
        self._config_versions = dict(manifest.config_versions)
        self._before = {(each.tenant_id, each.repo_slug): each for each in super().snapshots}
        self._snapshots = dict(self._before)

    @property
    def snapshots(self) -> tuple[PathSnapshot, ...]:
        """As `Version.snapshots`, by tenant and repository."""
        return tuple(self._snapshots[key] for key in sorted(self._snapshots))

    @property
    def config_versions(self) -> dict[str, int]:
        """As `Version.config_versions`."""
        return dict(self._config_versions)

    def delete(self, where: pl.Expr) -> int:
        """As `Change.delete`. Only the columns that the condition names are read."""
        with writing(self._folder):
            found = rows_of(self._parts, scan(self._parts, self._deleted, where))
        self._deleted = pl.concat([self._deleted, found]).sort("part", "row")
        self._drop_emptied()
        return found.height

    def add(self, rows: pl.DataFrame) -> int:
        """As `Change.add`."""
        fresh = fresh_chunks(rows)
        require_fitting(vector_length(fresh), self.dimension)
        with writing(self._folder):
            ids = fresh.select("id").lazy()
            known = scan(self._parts, self._deleted).select("id").join(ids, on="id", how="semi")
            fresh = fresh.join(collected(self._parts, known), on="id", how="anti", maintain_order="left")
            if fresh.is_empty():
                return 0
            self._parts.append(self._new_part(in_order(fresh)))
            if len(self._parts) >= _MANY_PARTS:
                self._join_small()
        return fresh.height

    def keep_snapshot(self, snapshot: PathSnapshot) -> None:
        """As `Change.keep_snapshot`."""
        self._snapshots[snapshot.tenant_id, snapshot.repo_slug] = snapshot

    def drop_snapshots(self, tenant_id: str, repo_slug: str | None = None) -> int:
        """As `Change.drop_snapshots`."""
        gone = [key for key in self._snapshots if key[0] == tenant_id and repo_slug in {None, key[1]}]
        for key in gone:
            del self._snapshots[key]
        return len(gone)

    def configure(self, tenant_id: str) -> int:
        """As `Change.configure`."""
        version = self._config_versions.get(tenant_id, 0) + 1
        self._config_versions[tenant_id] = version
        return version

    def rewrite(self) -> None:
        """Write what is there into new parts, each of a stretch of paths, that hold nothing else.

        They are written one by one, so that a corpus need not fit into memory.
        """
        with writing(self._folder):
            wholes = stretches(self._counts())
            if self._deleted.is_empty() and len(self._parts) == len(wholes):
                return
            self._parts = [self._new_part(self.rows(where=where)) for where in wholes]
        self._deleted = DELETED.to_frame()

    def manifest(self) -> Manifest:
        """The version as it is to be, whose files are on the disk; the old one where nothing has changed.

        Raises:
            OSError: The system refused.
        """
        base = self.base
        deleted = self._deleted_by_part()
        parts = tuple(
            msgspec.structs.replace(part.entry, deleted=deleted.get(part.entry.number, 0))
            for part in self._parts
        )
        changed = msgspec.structs.replace(base, parts=parts, config_versions=self._config_versions)
        if self._snapshots != self._before:
            frame = snapshot_frame(self._snapshots)
            changed = msgspec.structs.replace(changed, paths=self._written(frame, paths_name))
        if {part.number: part.deleted for part in parts if part.deleted} != {
            part.number: part.deleted for part in base.parts if part.deleted
        }:
            changed = msgspec.structs.replace(changed, deleted=self._written(self._deleted, deleted_name))
        if changed == base:
            return base
        for name in changed.files.keys() - base.files.keys():
            sync(self._folder / name)
        sync_folder(self._folder)
        return msgspec.structs.replace(changed, version=base.version + 1, next_number=self._next)

    def _drop_emptied(self) -> None:
        """Let go of parts of which nothing is there any more."""
        deleted = self._deleted_by_part()
        self._parts = [part for part in self._parts if deleted.get(part.entry.number, 0) < part.entry.rows]
        left = [part.entry.number for part in self._parts]
        self._deleted = self._deleted.filter(pl.col("part").is_in(left))

    def _join_small(self) -> None:
        """Put the smallest parts into one, as many as are small together."""
        rows = 0
        small: list[Part] = []
        for part in sorted(self._parts, key=lambda each: (each.entry.rows, each.entry.number)):
            rows += part.entry.rows
            if rows > _SMALL_TOGETHER:
                break
            small.append(part)
        if len(small) < _MANY_PARTS // 2:
            return
        joined = self._new_part(rows_in_order(self._folder, small, self._deleted))
        self._parts = [part for part in self._parts if part not in small] + [joined]
        self._drop_emptied()

    def _deleted_by_part(self) -> dict[int, int]:
        return dict(self._deleted.get_column("part").value_counts().iter_rows())

    def _counts(self) -> pl.DataFrame:
        counted = scan(self._parts, self._deleted).select(PATH_KEY).group_by(PATH_KEY).len()
        return collected(self._parts, counted).sort(PATH_KEY)

    def _new_part(self, rows: pl.DataFrame) -> Part:
        return write_part(self._folder, self._number(), rows, vector_length(rows))

    def _written(self, frame: pl.DataFrame, name: Callable[[int], str]) -> FileEntry | None:
        if frame.is_empty():
            return None
        number = self._number()
        path = self._folder / name(number)
        write_parquet(frame, path)
        return FileEntry(number, frame.height, path.stat().st_size)

    def _number(self) -> int:
        number = self._next
        self._next += 1
        return number
