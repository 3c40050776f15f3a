"""One version of a corpus whose chunks lie in Parquet parts, as it is read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from vocabgap.corpus.ordering import ORDER, in_order
from vocabgap.corpus.parts import DELETED, Part, collected, scan
from vocabgap.corpus.refusals import reading
from vocabgap.corpus.store import Measures, PathSnapshot
from vocabgap.errors import InvalidInputError
from vocabgap.schema import CHUNKS


@dataclass(slots=True)
class Contents:
    """What a version holds.

    Attributes:
        number: That of the version.
        parts: Its files of chunks, held open.
        deleted: Which of their rows are deleted.
        snapshots: Reads the path snapshots, by tenant and repository.
        config_versions: How often each tenant was configured.
        other_bytes: Of its files besides its parts.
        old_bytes: Of files in the folder that only earlier versions have.
    """

    number: int
    parts: list[Part] = field(default_factory=list)
    deleted: pl.DataFrame = field(default_factory=DELETED.to_frame)
    snapshots: Callable[[], tuple[PathSnapshot, ...]] = tuple
    config_versions: dict[str, int] = field(default_factory=dict)
    other_bytes: int = 0
    old_bytes: int = 0


class PartsVersion:
    """A version, whose files are held open: it can be read whatever is written or compacted later.

    Args:
        folder: The corpus.
        contents: What it holds.
    """

    def __init__(self, folder: Path, contents: Contents) -> None:
        self.folder = folder
        self._number = contents.number
        self._parts = list(contents.parts)
        self._deleted = contents.deleted
        self._read_snapshots = contents.snapshots
        self._config_versions = dict(contents.config_versions)
        self._other = (contents.other_bytes, contents.old_bytes)

    def rows(self, columns: Sequence[str] | None = None, where: pl.Expr | None = None) -> pl.DataFrame:
        """As `Version.rows`.

        Raises:
            InvalidInputError: There is no such column.
            StateError: A part is damaged.
        """
        with reading(self.folder):
            return rows_in_order(self._parts, self._deleted, columns, where)

    @property
    def snapshots(self) -> tuple[PathSnapshot, ...]:
        """As `Version.snapshots`, by tenant and repository."""
        with reading(self.folder):
            return self._read_snapshots()

    @property
    def config_versions(self) -> dict[str, int]:
        """As `Version.config_versions`."""
        return dict(self._config_versions)

    @property
    def dimension(self) -> int | None:
        """As `Version.dimension`; deleted chunks count as long as others of their part are there."""
        lengths = (part.entry.dimension for part in self._parts)
        return next((length for length in lengths if length is not None), None)

    @property
    def measures(self) -> Measures:
        """As `Version.measures`."""
        entries = [part.entry for part in self._parts]
        other_bytes, old_bytes = self._other
        return Measures(
            version=self._number,
            rows=sum(entry.rows for entry in entries) - self._deleted.height,
            deleted=self._deleted.height,
            parts=len(entries),
            bytes=sum(entry.bytes for entry in entries) + other_bytes,
            old_bytes=old_bytes,
        )


def rows_in_order(
    parts: Sequence[Part],
    deleted: pl.DataFrame,
    columns: Sequence[str] | None = None,
    where: pl.Expr | None = None,
) -> pl.DataFrame:
    """The chunks of some parts that are there, in the order of `ORDER`.

    Args:
        parts: The parts.
        deleted: What is deleted of them.
        columns: Those that are wanted; all by default.
        where: Which rows; all by default.

    Raises:
        InvalidInputError: There is no such column.
        StateError: A part is damaged.
        OSError: The system refused.
    """
    wanted = CHUNKS.names if columns is None else list(columns)
    if strange := [name for name in wanted if name not in CHUNKS.names]:
        raise InvalidInputError(
            f"a corpus has no column '{strange[0]}'", hint=f"it has {', '.join(CHUNKS.names)}"
        )
    found = scan(parts, deleted, where)
    if len(parts) == 1 and parts[0].ordered:
        return collected(parts, found.select(wanted))
    needed = dict.fromkeys((*wanted, *ORDER))
    return in_order(collected(parts, found.select(*needed))).select(wanted)
