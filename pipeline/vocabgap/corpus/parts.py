"""Files of chunks and what is deleted of them: how they are written, held open and read.

A part never changes. Which of its rows are deleted is kept beside it, as pairs of the part's number and the
row's place in it: so an id that was deleted can come again in a later part.
"""

import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

import polars as pl

from vocabgap.corpus.chunks import ORDER, in_order
from vocabgap.corpus.manifest import PartEntry
from vocabgap.corpus.store import Measures, PathSnapshot, reading
from vocabgap.errors import InvalidInputError, StateError
from vocabgap.files.parquet import write_parquet
from vocabgap.schema import CHUNKS

# Small row groups, sorted and lightly compressed: what is looked for by path is found in few of them, and a
# whole read costs half the CPU of Zstandard, in files twice as large (see tests/benchmarks/corpus_store.py).
_ROW_GROUP: Final = 32_768
_ROW: Final = "row"
DELETED: Final = pl.Schema({"part": pl.UInt32(), _ROW: pl.UInt32()})
"""A row of a part that is deleted, counted from 0."""


class OpenFile:
    """A file of a version, held open: it can be read even if a compaction removes its name meanwhile.

    Args:
        path: The file.
        size: How many bytes it was written with.

    Raises:
        FileNotFoundError: It is not there (any more).
        StateError: It does not have the size that it was written with.
        OSError: The system refused.
    """

    def __init__(self, path: Path, size: int) -> None:
        self.path = path
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self._descriptor)
        found = os.fstat(self._descriptor).st_size
        if found != size:
            raise _damaged(path, f"it has {found} bytes, expected {size}")

    def stream(self) -> IO[bytes]:
        """The file, to be read; it stays open when the stream is closed."""
        return open(self._descriptor, "rb", closefd=False)


@dataclass(frozen=True, slots=True)
class Part:
    """A file of chunks, held open; `ordered` says whether they are in the order in which they are read."""

    entry: PartEntry
    file: OpenFile
    ordered: bool = True


def write_part(path: Path, number: int, rows: pl.DataFrame, dimension: int | None) -> Part:
    """Write chunks to a new file, which is no part of a version yet.

    Args:
        path: The file.
        number: That of the part.
        rows: Table `chunks`, in the order in which they are read.
        dimension: The length of their vectors, if any has one.

    Raises:
        OSError: The system refused.
    """
    write_parquet(rows, path, compression="lz4", row_group_size=_ROW_GROUP)
    size = path.stat().st_size
    return Part(PartEntry(number, rows.height, size, 0, dimension), OpenFile(path, size))


def scan(parts: Sequence[Part], deleted: pl.DataFrame, where: pl.Expr | None = None) -> pl.LazyFrame:
    """The chunks of some parts that are there, with column `row`: their place among all rows of the parts."""
    if not parts:
        frame = CHUNKS.empty().lazy().with_row_index(_ROW)
    else:
        streams = [part.file.stream() for part in parts]
        frame = pl.scan_parquet(streams, row_index_name=_ROW)
    if where is not None:
        frame = frame.filter(where)
    gone = _places(parts, deleted)
    return frame if gone.is_empty() else frame.filter(~pl.col(_ROW).is_in(gone.implode()))


def rows_of(parts: Sequence[Part], found: pl.LazyFrame) -> pl.DataFrame:
    """Of chunks that `scan` found in some parts, which rows of which part they are."""
    rows = collected(parts, found.select(_ROW))
    starts = _starts(parts)
    return rows.join_asof(starts, left_on=_ROW, right_on="start", check_sortedness=False).select(
        "part", (pl.col(_ROW) - pl.col("start")).alias(_ROW).cast(pl.UInt32)
    )


def collected(parts: Sequence[Part], frame: pl.LazyFrame) -> pl.DataFrame:
    """What a query on some parts gives.

    Raises:
        StateError: A part is damaged; the error names it.
    """
    try:
        return frame.collect()
    except (pl.exceptions.ComputeError, OSError):
        for part in parts:
            with readable(part.file.path):
                pl.scan_parquet(part.file.stream()).collect()
        raise


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Let what Polars cannot read be told of as a damaged file."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _damaged(path, str(error).partition("\n")[0]) from error


def _places(parts: Sequence[Part], deleted: pl.DataFrame) -> pl.Series:
    places = deleted.join(_starts(parts), on="part").select(pl.col("start") + pl.col(_ROW))
    return places.to_series().rename(_ROW)


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
    return StateError(
        f"'{path}' is damaged: {problem}",
        hint="put it back from a copy of the folder, or restore an exported backup into a new one",
    )


# One version of a corpus whose chunks lie in Parquet parts, as it is read.


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
