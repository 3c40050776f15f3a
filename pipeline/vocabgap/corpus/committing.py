"""Versions of a corpus as its manifest names them: how the newest is opened, and how a change becomes it."""

from functools import partial
from pathlib import Path

import msgspec
import polars as pl

from vocabgap.corpus.changing import PartsChange
from vocabgap.corpus.chunks import vector_length
from vocabgap.corpus.manifest import (
    FileEntry,
    Manifest,
    chunks_name,
    deleted_name,
    paths_name,
    read_manifest,
)
from vocabgap.corpus.parts import DELETED, OpenFile, Part, readable, write_part
from vocabgap.corpus.path_snapshots import snapshot_frame, snapshots_of
from vocabgap.corpus.reading import Contents, PartsVersion
from vocabgap.corpus.refusals import missing_file, no_corpus, reading
from vocabgap.corpus.store import PathSnapshot
from vocabgap.files.atomic import sync, sync_folder
from vocabgap.files.parquet import write_parquet


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
