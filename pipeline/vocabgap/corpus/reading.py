"""One version of a corpus in Parquet files, as it is read."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from vocabgap.corpus.manifest import Manifest, chunks_name, deleted_name, paths_name, read_manifest
from vocabgap.corpus.ordering import ORDER, in_order
from vocabgap.corpus.parts import DELETED, OpenFile, Part, collected, readable, scan
from vocabgap.corpus.refusals import no_corpus, reading
from vocabgap.corpus.store import Measures, PathSnapshot
from vocabgap.errors import InvalidInputError, StateError
from vocabgap.schema.corpus import CHUNKS
from vocabgap.schema.table import UTC_MICROSECONDS

PATHS = pl.Schema(
    {
        "tenant_id": pl.String(),
        "repo_slug": pl.String(),
        "updated_at": UTC_MICROSECONDS,
        "paths": pl.List(pl.String()),
    }
)
"""A file of path snapshots: one row a repository."""


class ParquetVersion:
    """A version, whose files are held open: it can be read whatever is written or compacted later.

    Args:
        folder: The corpus.
        manifest: The version; kept as `base`.

    Raises:
        FileNotFoundError: A file is not there (any more).
        StateError: A file is damaged.
        OSError: The system refused.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self._folder = folder
        self.base = manifest
        self._parts = [
            Part(entry, OpenFile(folder / chunks_name(entry.number), entry)) for entry in manifest.parts
        ]
        self._paths: OpenFile | None = None
        if manifest.paths is not None:
            self._paths = OpenFile(folder / paths_name(manifest.paths.number), manifest.paths)
        self._deleted = DELETED.to_frame()
        if manifest.deleted is not None:
            file = OpenFile(folder / deleted_name(manifest.deleted.number), manifest.deleted)
            with readable(file.path):
                self._deleted = pl.read_parquet(file.stream()).select(DELETED.names()).cast(DELETED)

    def rows(self, columns: Sequence[str] | None = None, where: pl.Expr | None = None) -> pl.DataFrame:
        """As `Version.rows`.

        Raises:
            InvalidInputError: There is no such column.
            StateError: A part is damaged.
        """
        return rows_in_order(self._folder, self._parts, self._deleted, columns, where)

    @property
    def snapshots(self) -> tuple[PathSnapshot, ...]:
        """As `Version.snapshots`, by tenant and repository."""
        if self._paths is None:
            return ()
        with readable(self._paths.path):
            frame = pl.read_parquet(self._paths.stream()).select(PATHS.names())
        return tuple(PathSnapshot(row[0], row[1], tuple(row[3]), row[2]) for row in frame.iter_rows())

    @property
    def config_versions(self) -> dict[str, int]:
        """As `Version.config_versions`."""
        return dict(self.base.config_versions)

    @property
    def dimension(self) -> int | None:
        """As `Version.dimension`; deleted chunks count as long as others of their part are there."""
        lengths = (part.entry.dimension for part in self._parts)
        return next((length for length in lengths if length is not None), None)

    @property
    def measures(self) -> Measures:
        """As `Version.measures`."""
        deleted = self._deleted.height
        return Measures(
            version=self.base.version,
            rows=sum(part.entry.rows for part in self._parts) - deleted,
            deleted=deleted,
            parts=len(self._parts),
            bytes=sum(entry.bytes for entry in self.base.files.values()),
        )


def rows_in_order(
    folder: Path,
    parts: Sequence[Part],
    deleted: pl.DataFrame,
    columns: Sequence[str] | None = None,
    where: pl.Expr | None = None,
) -> pl.DataFrame:
    """The chunks of some parts that are there, in the order of `ORDER`.

    Args:
        folder: The corpus.
        parts: The parts.
        deleted: What is deleted of them.
        columns: Those that are wanted; all by default.
        where: Which rows; all by default.

    Raises:
        InvalidInputError: There is no such column.
        StateError: A part is damaged.
    """
    wanted = CHUNKS.names if columns is None else list(columns)
    if strange := [name for name in wanted if name not in CHUNKS.names]:
        raise InvalidInputError(
            f"a corpus has no column '{strange[0]}'", hint=f"it has {', '.join(CHUNKS.names)}"
        )
    found = scan(parts, deleted, where)
    with reading(folder):
        if len(parts) == 1:  # each is in order by itself
            return collected(parts, found.select(wanted))
        needed = dict.fromkeys((*wanted, *ORDER))
        return in_order(collected(parts, found.select(*needed))).select(wanted)


def newest(folder: Path) -> ParquetVersion:
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
                return ParquetVersion(folder, manifest)
            except FileNotFoundError as error:
                newer = read_manifest(folder)
                if newer is not None and newer.version == manifest.version:
                    raise missing(folder, manifest, error) from error
                manifest = newer
    raise no_corpus(folder)


def missing(folder: Path, manifest: Manifest, error: FileNotFoundError) -> StateError:
    """A file that a version needs is not there."""
    name = Path(error.filename).name
    return StateError(
        f"corpus '{folder}': '{name}', which version {manifest.version} needs, is missing",
        hint="put it back from a copy of the folder, or restore an exported backup into a new one",
    )


def snapshot_frame(snapshots: Mapping[tuple[str, str], PathSnapshot]) -> pl.DataFrame:
    """Path snapshots as a file holds them, by tenant and repository."""
    ordered = [snapshot for _, snapshot in sorted(snapshots.items())]
    return pl.DataFrame(
        {
            "tenant_id": [each.tenant_id for each in ordered],
            "repo_slug": [each.repo_slug for each in ordered],
            "updated_at": [each.updated_at for each in ordered],
            "paths": [list(each.paths) for each in ordered],
        },
        schema=PATHS,
    )
