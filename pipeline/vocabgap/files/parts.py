"""Tables in parts: more rows than memory holds.

A part is a frame in memory, or a Parquet file in a temporary folder. A *query* maps a lazy frame to a lazy
frame; Polars then reads only the columns that it needs. A *step* maps a frame to several small ones.
"""

import os
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

import polars as pl

from vocabgap.errors import StateError
from vocabgap.files.atomic import watched, write_parquet

ROW: Final = "row"
"""The column that numbers the rows in order: the upper half is the number of the part."""
MOST_ROWS: Final = 1 << 16
"""Rows after which a part is full. A table with more rows is written to files."""
MOST_BYTES: Final = 16 << 20
"""Bytes of the rows that a step gets at once, unless more have equal keys."""
_NUMBERS: Final = 1 << 32  # row numbers of a part

Query = Callable[[pl.LazyFrame], pl.LazyFrame]
Step = Callable[[pl.DataFrame], Mapping[str, pl.DataFrame]]


@dataclass(frozen=True, eq=False, repr=False)
class Parts:
    """A table in parts.

    Attributes:
        sources: One or more frames, lazy frames or files. Their rows are numbered in `ROW`.
        kept: An object that keeps the files as long as it exists, if there are any.
        queries: The queries that the rows go through when they are read.
        marks: Columns that `marked` added.
    """

    sources: Sequence[pl.DataFrame | pl.LazyFrame | Path]
    kept: object = None
    queries: tuple[Query, ...] = ()
    marks: pl.DataFrame | None = None

    @classmethod
    def of(cls, table: "pl.DataFrame | Parts") -> "Parts":
        """Return a frame as a table of one part; a table in parts stays as it is."""
        return table if isinstance(table, Parts) else Parts([table])

    @classmethod
    def read(cls, path: Path, query: Query = lambda rows: rows) -> "Parts":
        """Return the table in a Parquet file, after a query."""
        rows = query(pl.scan_parquet(path))
        height = int(rows.select(pl.len()).collect().item())
        return Parts([rows.slice(start, MOST_ROWS) for start in range(0, height or 1, MOST_ROWS)])

    def then(self, query: Query) -> Self:
        """Add a query, which keeps the rows of a part in order."""
        return replace(self, queries=(*self.queries, query))

    def marked(self, marks: pl.DataFrame) -> Self:
        """Join the columns of a small frame by `ROW`, before all queries. Rows without a mark get nulls.

        Marks are added to earlier marks. Give a row one mark at most.
        """
        known = [] if self.marks is None else [self.marks]
        return replace(self, marks=pl.concat([*known, marks]).sort(ROW))

    def each(self, query: Query) -> pl.DataFrame:
        """Run a query on each part, and return all results in order."""
        return pl.concat(self.frames(query))

    def frames(self, query: Query = pl.LazyFrame.lazy) -> Iterator[pl.DataFrame]:
        """Yield the rows of each part, or the result of a query on them."""
        for source, part in zip(self.sources, self._parts(), strict=True):
            try:
                yield query(part).collect()
            except (OSError, pl.exceptions.ComputeError) as error:
                if not isinstance(source, Path):
                    raise
                hint = "repeat the command; its temporary files must stay until it ends"
                raise StateError(f"'{source}' cannot be read: {error}", hint=hint) from error

    def by(self, keys: Sequence[str], step: Step, query: Query) -> dict[str, pl.DataFrame]:
        """Run a query on each part, and a step on its results, with all rows of equal keys at once.

        Returns:
            The frames of the step by name, of all calls; their order is undefined.
        """
        frames, held, size = self.frames(query), list[pl.DataFrame](), 0
        for frame in frames:
            held.append(frame)
            size += int(frame.estimated_size())
            if size > MOST_BYTES and len(self.sources) > 1:
                break
        else:
            return dict(step(pl.concat(held)))
        largest = max(int(frame.estimated_size()) for frame in held)
        buckets = 1 + (size + largest * (len(self.sources) - len(held))) // MOST_BYTES
        results: dict[str, list[pl.DataFrame]] = {}
        with temporary_folder() as folder:
            # Polars' own partitioned sink holds most of the rows in memory.
            for number in range(len(self.sources)):
                _scatter(held.pop(0) if held else next(frames), number, keys, buckets, folder)
            for bucket in Path(folder).iterdir():
                for name, result in step(pl.read_ipc(bucket / "*.ipc")).items():
                    results.setdefault(name, []).append(result)
        return {name: pl.concat(several) for name, several in results.items()}

    def lazy(self) -> pl.LazyFrame:
        """Return all rows as a lazy frame that reads one part after the other."""
        from polars.io.plugins import register_io_source  # noqa: PLC0415 - rarely needed

        def read(
            columns: list[str] | None, predicate: pl.Expr | None, most: int | None, _: int | None
        ) -> Iterator[pl.DataFrame]:
            def read_part(part: pl.LazyFrame) -> pl.LazyFrame:
                rows = part if predicate is None else part.filter(predicate)
                rows = rows if columns is None else rows.select(columns)
                return rows if most is None else rows.head(most)

            for frame in self.frames(read_part):
                yield frame
                if most is not None and (most := most - frame.height) <= 0:
                    return

        return register_io_source(read, schema=next(self._parts()).collect_schema(), is_pure=True)

    def collect(self) -> pl.DataFrame:
        """Return all rows as one frame."""
        return self.each(lambda part: part)

    def write(self, path: Path) -> "Parts":
        """Write all rows, without `ROW`, to one Parquet file, and return the written table.

        An OSError names the file.
        """
        if len(self.sources) == 1:
            frame = self.collect().drop(ROW, strict=False)
            write_parquet(frame, path)
            return Parts.of(frame)
        with watched(path) as file:
            self.lazy().drop(ROW, strict=False).sink_parquet(file, row_group_size=MOST_ROWS)
        return Parts.read(path)

    def _parts(self) -> Iterator[pl.LazyFrame]:
        for number, source in enumerate(self.sources):
            part = pl.scan_parquet(source) if isinstance(source, Path) else source.lazy()
            first, last = number * _NUMBERS, (number + 1) * _NUMBERS
            part = part.with_columns((pl.int_range(pl.len(), dtype=pl.Int64) + first).alias(ROW))
            if self.marks is not None:
                start, end = (int(self.marks[ROW].search_sorted(row)) for row in (first, last))
                part = part.join(self.marks[start:end].lazy(), on=ROW, how="left", maintain_order="left")
            for query in self.queries:
                part = query(part)
            yield part


class Collector:
    """A collector of the frames of a table in parts; it writes a large table to files."""

    def __init__(self) -> None:
        self._frames: list[pl.DataFrame] = []
        self._rows = 0
        self._folder: KeptFolder | None = None
        self._files: list[Path] = []
        self._writing: Future[None] | None = None
        self._writer = ThreadPoolExecutor(1)

    def add(self, frame: pl.DataFrame) -> None:
        """Add a frame. All frames have one schema."""
        if self._rows >= MOST_ROWS:
            self._store()
        self._frames.append(frame)
        self._rows += frame.height

    def parts(self, empty: pl.DataFrame) -> Parts:
        """Return the table; without any frame, it is `empty`."""
        if self._folder is None:
            return Parts.of(pl.concat(self._frames or [empty]))
        self._store()
        self._wait()
        return Parts(self._files, self._folder)

    def _store(self) -> None:
        """Begin to write the frames; wait for the part before."""
        if self._folder is None:
            self._folder = KeptFolder()
        self._wait()
        path = Path(self._folder.name, f"{len(self._files)}.parquet")
        self._writing = self._writer.submit(write_part, pl.concat(self._frames), path)
        self._files.append(path)
        self._frames, self._rows = [], 0

    def _wait(self) -> None:
        if self._writing is not None:
            self._writing.result()


def write_part(frame: pl.DataFrame, path: Path) -> None:
    """Write a temporary Parquet file."""
    with writing_in(str(path.parent)):
        write_parquet(frame, path, compression="lz4", statistics=False)


def _scatter(frame: pl.DataFrame, number: int, keys: Sequence[str], buckets: int, folder: str) -> None:
    """Write the rows of a part to folders of buckets; rows with equal keys are in the same one."""
    bucketed = frame.with_columns(bucket=pl.struct(keys).hash() % buckets)
    for (name,), rows in bucketed.partition_by("bucket", as_dict=True, include_key=False).items():
        bucket = Path(folder, str(name))
        with writing_in(folder):
            bucket.mkdir(exist_ok=True)
            with watched(bucket / f"{number}.ipc") as file:
                rows.write_ipc(file)


_KEPT: Final = set[str]()
_ENDING: Final = threading.Event()  # no new folder is created


class KeptFolder:
    """A private folder that is removed with this object, or at the end of the process."""

    def __init__(self, prefix: str = "vocabgap-", place: Path | None = None) -> None:
        """Create a folder whose name begins with a prefix, by default in the place of temporary folders."""
        if _ENDING.is_set():
            raise StateError("no temporary folder can be created, because the program is ending")
        above = str(place or temporary_place())
        with writing_in(above):
            self.name = tempfile.mkdtemp(prefix=prefix, dir=above)
        _KEPT.add(self.name)
        self.remove = weakref.finalize(self, _removed, self.name, os.getpid())


def _removed(folder: str, process: int) -> None:
    if os.getpid() == process:  # not in a fork
        shutil.rmtree(folder, ignore_errors=True)
        if not Path(folder).exists():
            _KEPT.discard(folder)


def remove_kept() -> None:
    """Remove all folders of this process, even if threads of an engine still write there."""
    _ENDING.set()
    for _ in range(5):
        for name in [*_KEPT]:
            _removed(name, os.getpid())
        time.sleep(0.05)


@contextmanager
def temporary_folder() -> Iterator[str]:
    """Yield a private folder for the time of a block."""
    kept = KeptFolder()
    try:
        yield kept.name
    finally:
        kept.remove()


def temporary_place() -> str:
    """Return the folder of temporary folders; Python would ignore an unusable TMPDIR."""
    return os.environ.get("TMPDIR") or tempfile.gettempdir()


@contextmanager
def writing_in(folder: str) -> Iterator[None]:
    """Raise StateError if temporary files cannot be written to a folder."""
    try:
        yield
    except OSError as error:
        hint = "free some space, or name another folder in TMPDIR; with a cluster, in --out"
        raise StateError(f"temporary files cannot be written to '{folder}': {error}", hint=hint) from error
