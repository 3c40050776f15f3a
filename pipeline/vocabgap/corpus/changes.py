"""A change to a corpus whose chunks lie in Parquet parts: new parts beside the old ones, which stay."""

from collections.abc import Callable, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.corpus.chunks import PATH_KEY, fresh_chunks, in_order, require_fitting, vector_length
from vocabgap.corpus.manifest import (
    FileEntry,
    Manifest,
    chunks_name,
    deleted_name,
    paths_name,
    read_manifest,
)
from vocabgap.corpus.parts import (
    DELETED,
    Contents,
    OpenFile,
    Part,
    PartsVersion,
    collected,
    readable,
    rows_in_order,
    rows_of,
    scan,
    write_part,
)
from vocabgap.corpus.store import (
    PathSnapshot,
    missing_file,
    no_corpus,
    reading,
    snapshot_frame,
    snapshots_of,
    writing,
)
from vocabgap.files.atomic import sync, sync_folder
from vocabgap.files.parquet import write_parquet

# How a corpus is cut into parts when it is compacted.


# A part that is written anew has about so many rows, more only where a single path has.
_PART_ROWS: Final = 262_144


def stretches(counts: pl.DataFrame) -> list[pl.Expr]:
    """Conditions, each of which a stretch of paths meets that makes a part; together all paths meet them.

    Args:
        counts: Tenant, repository, source path and `len`, the number of its chunks, in order.
    """
    ends = counts.select(((pl.col("len").cum_sum() - 1) // _PART_ROWS).alias("stretch"), *PATH_KEY)
    return [
        _least(stretch.row(0)[1:]) & ~_least(stretch.row(-1)[1:], above=True)
        for stretch in ends.partition_by("stretch", maintain_order=True)
    ]


def _least(key: Sequence[Any], *, above: bool = False) -> pl.Expr:
    """Whether a row's path is a given one or comes later; with `above` only if it comes later."""
    pairs = reversed(list(zip(PATH_KEY, key, strict=True)))
    return reduce(
        lambda rest, pair: (pl.col(pair[0]) > pair[1]) | ((pl.col(pair[0]) == pair[1]) & rest),
        pairs,
        pl.lit(not above),
    )


# Every part is a file that readers hold open. From so many on, those are joined that together are small.
_MANY_PARTS: Final = 48
_SMALL_TOGETHER: Final = 262_144  # rows


class PartsChange(PartsVersion):
    """A version in the making. What is added lies in files by then, which no version names until the end.

    Args:
        folder: The corpus.
        contents: The version that is changed.
        write: Writes chunks, in order, to a new part.
    """

    def __init__(self, folder: Path, contents: Contents, write: Callable[[pl.DataFrame], Part]) -> None:
        super().__init__(folder, contents)
        self._write = write
        self._said: dict[tuple[str, str], PathSnapshot | None] = {}

    @property
    def snapshots(self) -> tuple[PathSnapshot, ...]:
        """As `Version.snapshots`, by tenant and repository."""
        return tuple(snapshot for _, snapshot in sorted(self._snapshots().items()))

    @property
    def snapshots_changed(self) -> bool:
        """Whether they are not those of the version that is changed."""
        return bool(self._said) and self.snapshots != super().snapshots

    @property
    def parts(self) -> tuple[Part, ...]:
        """The files of chunks of the version in the making."""
        return tuple(self._parts)

    @property
    def deleted(self) -> pl.DataFrame:
        """Which of their rows are deleted, by part and row."""
        return self._deleted

    @property
    def deleted_by_part(self) -> dict[int, int]:
        """How many rows are deleted of each part that lacks any."""
        return dict(self._deleted.get_column("part").value_counts().iter_rows())

    def delete(self, where: pl.Expr) -> int:
        """As `Change.delete`. Only the columns that the condition names are read."""
        with writing(self.folder):
            found = rows_of(self._parts, scan(self._parts, self._deleted, where))
        self._deleted = pl.concat([self._deleted, found]).sort("part", "row")
        self._drop_emptied()
        return found.height

    def add(self, rows: pl.DataFrame) -> int:
        """As `Change.add`."""
        fresh = fresh_chunks(rows)
        require_fitting(vector_length(fresh), self.dimension)
        with writing(self.folder):
            ids = fresh.select("id").lazy()
            known = scan(self._parts, self._deleted).select("id").join(ids, on="id", how="semi")
            fresh = fresh.join(collected(self._parts, known), on="id", how="anti", maintain_order="left")
            if fresh.is_empty():
                return 0
            self._parts.append(self._write(in_order(fresh)))
            if len(self._parts) >= _MANY_PARTS:
                self._join_small()
        return fresh.height

    def keep_snapshot(self, snapshot: PathSnapshot) -> None:
        """As `Change.keep_snapshot`."""
        self._said[snapshot.tenant_id, snapshot.repo_slug] = snapshot

    def drop_snapshots(self, tenant_id: str, repo_slug: str | None = None) -> int:
        """As `Change.drop_snapshots`."""
        gone = [key for key in self._snapshots() if key[0] == tenant_id and repo_slug in {None, key[1]}]
        self._said.update(dict.fromkeys(gone))
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
        with writing(self.folder):
            counted = scan(self._parts, self._deleted).select(PATH_KEY).group_by(PATH_KEY).len()
            wholes = stretches(collected(self._parts, counted).sort(PATH_KEY))
            if self._deleted.is_empty() and len(self._parts) == len(wholes):
                return
            self._parts = [self._write(self.rows(where=where)) for where in wholes]
        self._deleted = DELETED.to_frame()

    def rewrite_part(self, part: Part) -> None:
        """Write what is there of a part into a new one, which takes its place."""
        with writing(self.folder):
            self._replace([part], self._write(rows_in_order([part], self._deleted)))

    def _snapshots(self) -> dict[tuple[str, str], PathSnapshot]:
        said = {(each.tenant_id, each.repo_slug): each for each in super().snapshots} | self._said
        return {key: snapshot for key, snapshot in said.items() if snapshot is not None}

    def _join_small(self) -> None:
        """Put the smallest parts into one, as many as are small together."""
        rows = 0
        small: list[Part] = []
        for part in sorted(self._parts, key=lambda each: (each.entry.rows, each.entry.number)):
            rows += part.entry.rows
            if rows > _SMALL_TOGETHER:
                break
            small.append(part)
        if len(small) >= _MANY_PARTS // 2:
            self._replace(small, self._write(rows_in_order(small, self._deleted)))

    def _replace(self, old: list[Part], new: Part) -> None:
        self._parts = [part for part in self._parts if part not in old] + [new]
        self._forget_others()

    def _drop_emptied(self) -> None:
        """Let go of parts of which nothing is there any more."""
        deleted = self.deleted_by_part
        self._parts = [part for part in self._parts if deleted.get(part.entry.number, 0) < part.entry.rows]
        self._forget_others()

    def _forget_others(self) -> None:
        numbers = [part.entry.number for part in self._parts]
        self._deleted = self._deleted.filter(pl.col("part").is_in(numbers))


# Versions of a corpus as its manifest names them: how the newest is opened, and how a change becomes
# it.


class ParquetChange(PartsChange):
    """A change whose files are numbered, and named by a manifest at the end.

    Args:
        folder: The corpus.
        base: The version that is changed.

    Raises:
        StateError: A file of that version is missing or damaged.
        OSError: The system refused.
    """

    def __init__(self, folder: Path, base: Manifest) -> None:
        try:
            contents = _contents(folder, base)
        except FileNotFoundError as error:
            raise missing_file(folder, base.version, error) from error
        super().__init__(folder, contents, self._write_part)
        self.base = base
        self._next = base.next_number

    def manifest(self) -> Manifest:
        """The version as it is to be, whose files are on the disk; the old one where nothing has changed.

        The first change makes a version even if it brings nothing: the corpus is there then.

        Raises:
            OSError: The system refused.
        """
        base = self.base
        deleted = self.deleted_by_part
        parts = tuple(
            msgspec.structs.replace(part.entry, deleted=deleted.get(part.entry.number, 0))
            for part in self.parts
        )
        changed = msgspec.structs.replace(base, parts=parts, config_versions=self.config_versions)
        if self.snapshots_changed:
            frame = snapshot_frame(self.snapshots)
            changed = msgspec.structs.replace(changed, paths=self._written(frame, paths_name(self._next)))
        # Rows are only ever deleted, so that a part of which as many are has lost the same.
        if deleted != {part.number: part.deleted for part in base.parts if part.deleted}:
            file = self._written(self.deleted, deleted_name(self._next))
            changed = msgspec.structs.replace(changed, deleted=file)
        if changed == base and base.version:
            return base
        for name in sorted(changed.files.keys() - base.files.keys()):
            sync(self.folder / name)
        sync_folder(self.folder)
        return msgspec.structs.replace(changed, version=base.version + 1, next_number=self._next)

    def _write_part(self, rows: pl.DataFrame) -> Part:
        number = self._number_taken()
        return write_part(self.folder / chunks_name(number), number, rows, vector_length(rows))

    def _written(self, frame: pl.DataFrame, name: str) -> FileEntry | None:
        if frame.is_empty():
            return None
        path = self.folder / name
        write_parquet(frame, path)
        return FileEntry(self._number_taken(), frame.height, path.stat().st_size)

    def _number_taken(self) -> int:
        number = self._next
        self._next += 1
        return number


def newest(folder: Path) -> PartsVersion:
    """The newest version of a corpus.

    A compaction may remove a file after its manifest is read and before it is opened. Then there is a newer
    manifest, which does not name it.

    Raises:
        NotFoundError: There is no corpus.
        StateError: It is damaged.
        AccessDeniedError: It may not be read.
    """
    with reading(folder):
        manifest = read_manifest(folder)
        while manifest is not None:
            try:
                return PartsVersion(folder, _contents(folder, manifest))
            except FileNotFoundError as error:
                newer = read_manifest(folder)
                if newer is not None and newer.version == manifest.version:
                    raise missing_file(folder, manifest.version, error) from error
                manifest = newer
    raise no_corpus(folder)


def _contents(folder: Path, manifest: Manifest) -> Contents:
    entries = manifest.parts
    contents = Contents(
        manifest.version,
        [Part(entry, OpenFile(folder / chunks_name(entry.number), entry.bytes)) for entry in entries],
        config_versions=manifest.config_versions,
        other_bytes=sum(file.bytes for file in (manifest.deleted, manifest.paths) if file is not None),
    )
    if manifest.paths is not None:
        paths = OpenFile(folder / paths_name(manifest.paths.number), manifest.paths.bytes)
        contents.snapshots = partial(_read_snapshots, paths)
    if manifest.deleted is not None:
        deleted = OpenFile(folder / deleted_name(manifest.deleted.number), manifest.deleted.bytes)
        with readable(deleted.path):
            contents.deleted = pl.read_parquet(deleted.stream()).select(DELETED.names()).cast(DELETED)
    return contents


def _read_snapshots(file: OpenFile) -> tuple[PathSnapshot, ...]:
    with readable(file.path):
        return snapshots_of(pl.read_parquet(file.stream()))
