"""Tables whose parts stay on the workers of a cluster, as Arrow files in rows of Spark.

Spark moves and repeats rows without a look into them. So no type is converted, and each query and step is the
same Polars code as on this machine.
"""

import io
import secrets
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import polars as pl

from vocabgap.errors import StateError
from vocabgap.files.atomic import put_in_place, write_parquet
from vocabgap.files.parts import (
    BUCKET,
    ROW,
    Parts,
    Query,
    Shared,
    Step,
    bucket_of,
    gathered,
    numbered,
    queried,
    scatter,
)
from vocabgap.text import count

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

ROWS: Final = "part long, place long, name string, content binary"
"""Columns of rows that hold a frame each, as Spark names them."""
PART: Final = "part"
"""The name of a row with a part of a table."""
FILE: Final = "file"
"""The name of a row with the path of a Parquet file, which holds a part of a table."""
_SHARED_AT_ONCE: Final = 4  # frames that a worker process keeps

Named = Iterable[tuple[int, str, pl.DataFrame]]
"""Frames with a place and a name."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SparkParts(Parts):
    """A table whose parts are rows of Spark; the one source is an empty part.

    Attributes:
        rows: The parts, in rows named `PART` or `FILE`.
        heights: The rows of each numbered part, in order.
        buckets: The number of buckets; each has to fit into the memory of a worker.
        share: A function that sends a frame to the workers.
        tasks: The number of tasks for rows that are spread anew: Sail runs all of them at once.
        folder: A folder for the buckets; without one, the rows of Spark hold them.
    """

    rows: "DataFrame"
    heights: Mapping[int, int]
    buckets: int
    share: Callable[[pl.DataFrame], Shared]
    tasks: int
    folder: str | None = None

    def shared(self, frame: pl.DataFrame) -> Shared:
        """Send a frame to the workers."""
        return self.share(frame)

    def frames(self, query: Query = pl.LazyFrame.lazy) -> Iterator[pl.DataFrame]:
        """Yield the rows of each part, or the result of a query on them; all workers run it first."""
        yield from collected(self._mapped(lambda _, part: [(0, "", query(part).collect())]))[""]

    def by(self, keys: Sequence[str], step: Step, query: Query) -> dict[str, pl.DataFrame]:
        """Run a query on each part, and a step on its results, with all rows of equal keys at once."""
        if self.folder is not None:
            with TemporaryDirectory(dir=self.folder, ignore_cleanup_errors=True) as folder:
                results = self._by_files(keys, step, query, folder)
        else:
            results = self._by_rows(keys, step, query)
        if not results:  # no part has a row
            return super().by(keys, step, query)
        return {name: pl.concat(frames) for name, frames in results.items()}

    def _by_rows(self, keys: Sequence[str], step: Step, query: Query) -> dict[str, list[pl.DataFrame]]:
        bucket = bucket_of(keys, self.buckets)

        def spread_rows(_: int, part: pl.LazyFrame) -> Named:
            bucketed = query(part).collect().with_columns(bucket)
            frames = bucketed.partition_by(BUCKET, as_dict=True, include_key=False)
            return ((number, "", frame) for (number,), frame in frames.items())

        def run_step(rows: "pa.Table") -> "pa.Table":
            results = step(pl.concat(in_order(rows)[""]))
            number = rows["place"][0].as_py()
            return table_of(row_of(number, 0, *result) for result in results.items())

        return collected(self._mapped(spread_rows).groupBy("place").applyInArrow(run_step, ROWS))

    def _by_files(
        self, keys: Sequence[str], step: Step, query: Query, folder: str
    ) -> dict[str, list[pl.DataFrame]]:
        """Work as `_by_rows` does: Sail joins the rows of a group into arrays of at most 2 GiB."""
        buckets = self.buckets

        def write_rows(number: int, part: pl.LazyFrame) -> Named:
            scatter(query(part).collect(), number, keys, buckets, folder)
            return []

        def run_step(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
            for batch in batches:
                for place, bucket in zip(batch["place"].to_pylist(), batch["name"].to_pylist(), strict=True):
                    for result in step(gathered(Path(bucket))).items():
                        yield row_of(place, 0, *result)

        fetched(self._mapped(write_rows))
        paths = sorted(str(bucket) for bucket in Path(folder).iterdir())
        if not paths:
            return {}
        work = table_of(row_of(0, place, bucket, b"") for place, bucket in enumerate(paths))
        return collected(spread(self.rows.sparkSession, work, self.tasks).mapInArrow(run_step, ROWS))

    def write(self, path: Path, address: str = "", /) -> "SparkParts":
        """Write all rows, without `ROW`, to a new folder of Parquet files in order, one per part.

        The workers write them, and have to see the folder as this machine does. With the address of a
        report, the new folder is there. A repeated task writes the same file again. Return the written table.
        """
        folder = f"{address or path.parent}/{path.name}"
        files = {number: f"{folder}/{place:05}.parquet" for place, number in enumerate(self.heights)}
        if not address:
            path.mkdir()

        def write_part(number: int, part: pl.LazyFrame) -> Named:
            file, rows = files[number], part.drop(ROW, strict=False).collect()
            if address:
                with created(file) as there:
                    rows.write_parquet(there)
            else:
                write_once(rows, Path(file))
            yield 0, "", pl.DataFrame({"bytes": 0 if address else Path(file).stat().st_size})

        sizes = pl.concat(collected(self._mapped(write_part))[""])["bytes"]
        if address:
            return self
        written = zip(map(Path, files.values()), sizes, strict=True)
        if missing := sum(not file.is_file() or file.stat().st_size != size for file, size in written):
            raise StateError(
                f"the workers wrote '{path}', but {count(missing, 'file')} cannot be seen here",
                hint="choose a folder on a file system that this machine and all workers share",
            )
        for leftover in path.glob("*.parquet.*"):  # of workers that were killed
            leftover.unlink(missing_ok=True)
        rows = table_of(row_of(number, 0, FILE, file.encode()) for number, file in files.items())
        empty = next(self._parts()).drop(ROW, strict=False).collect()
        return replace(
            self,
            sources=[numbered(empty, 0)],
            rows=spread(self.rows.sparkSession, rows, self.tasks),
            queries=(),
            marks=None,
        )

    def _mapped(self, work: Callable[[int, pl.LazyFrame], Named]) -> "DataFrame":
        """Return rows of the frames that a function makes of each part, given its number."""
        session: Any = self.rows.sparkSession
        if session.is_stopped:
            raise closed_engine()
        marks, queries, heights = self.marks, self.queries, self.heights

        def run(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
            for batch in batches:
                for row in batch.to_pylist():
                    content, number = row["content"], row["part"]
                    if row["name"] == FILE:
                        rows = pl.scan_parquet(content.decode())
                    else:
                        frame = pl.read_ipc(content)
                        if frame.height != heights[number]:  # a lost part was read again
                            raise StateError("a log was changed during the report", hint="repeat the report")
                        rows = frame.lazy()
                    part = queried(numbered(rows, number), number, marks, queries)
                    for place, name, frame in work(number, part):
                        yield row_of(number, place, name, frame)

        return self.rows.mapInArrow(run, ROWS)


def closed_engine() -> StateError:
    """Return the error for an engine, or one of its tables, that is used after its block."""
    hint = "use it inside the block of `with vocabgap.spark_engine()`"
    return StateError("the engine is closed", hint=hint)


@dataclass(frozen=True)
class SharedFrame:
    """A frame that was sent to the workers as a file; they read it when they need it."""

    path: str
    frame: pl.DataFrame | None = field(default=None, compare=False, repr=False)

    def lazy(self) -> pl.LazyFrame:
        """Return its rows."""
        return (_read_shared(self.path) if self.frame is None else self.frame).lazy()

    def __reduce__(self) -> tuple[object, ...]:
        return SharedFrame, (self.path,)


@lru_cache(_SHARED_AT_ONCE)
def _read_shared(path: str) -> pl.DataFrame:
    if not Path(path).is_absolute():
        from pyspark import SparkFiles  # noqa: PLC0415 - an extra

        path = SparkFiles.get(path)
    return pl.read_ipc(path)


def stored(part: pl.DataFrame, number: int, folder: str | None) -> "pa.RecordBatch":
    """Return the row of a part; with a folder, a file there holds the part."""
    if folder is None:
        return row_of(number, 0, PART, part)
    path = Path(folder, f"{number}.parquet")
    write_once(part, path, compression="lz4", statistics=False)
    return row_of(number, 0, FILE, str(path).encode())


def write_once(frame: pl.DataFrame, path: Path, **options: Any) -> None:  # noqa: ANN401 - of Polars
    """Write a Parquet file that appears as a whole, so that a second worker may write the same one."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        write_parquet(frame, temporary, **options)
        put_in_place(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def created(address: str) -> "pa.NativeFile":
    """Create a file in an object store, with the credentials of this process: Spark chooses names itself."""
    store, path = opened(address)
    if store.type_name == "local":
        store.create_dir(path.rpartition("/")[0])
    return store.open_output_stream(path)


def opened(address: str) -> Any:  # noqa: ANN401 - of pyarrow
    """Return the object store of an address, and the path there."""
    from pyarrow.fs import FileSystem  # noqa: PLC0415 - part of the extra

    return FileSystem.from_uri(quote(address.replace("s3a:", "s3:", 1), safe=":/@"))


def row_of(part: int, place: int, name: str, content: pl.DataFrame | bytes) -> "pa.RecordBatch":
    """Return a row of `ROWS`; a frame becomes an Arrow file."""
    import pyarrow as pa  # noqa: PLC0415 - part of the extra

    row = {"part": part, "place": place, "name": name, "content": packed(content)}
    return pa.RecordBatch.from_pydict({column: [value] for column, value in row.items()})


def table_of(rows: Iterable["pa.RecordBatch"]) -> "pa.Table":
    """Return one or more rows as a table."""
    import pyarrow as pa  # noqa: PLC0415 - part of the extra

    return pa.Table.from_batches(rows)


def spread(session: "SparkSession", rows: "pa.Table", most: int) -> "DataFrame":
    """Spread rows over at most so many tasks."""
    return session.createDataFrame(rows).repartition(max(1, min(rows.num_rows, most)))


def packed(content: pl.DataFrame | bytes) -> bytes:
    """Return a frame as an Arrow file; bytes stay as they are."""
    if isinstance(content, bytes):
        return content
    file = io.BytesIO()
    content.write_ipc(file, compression="lz4")
    return file.getvalue()


def portions(sizes: Sequence[int], most_bytes: int, most: int | None = None) -> Iterator[slice]:
    """Cut a list of things into slices of at most `most` things and `most_bytes`, or of one larger thing."""
    start, total = 0, 0
    for place, size in enumerate(sizes):
        if place > start and (total + size > most_bytes or place - start == most):
            yield slice(start, place)
            start, total = place, 0
        total += size
    if sizes:
        yield slice(start, len(sizes))


def fetched(frame: "DataFrame") -> "pa.Table":
    """Run the work on the cluster, and return its rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return frame.toArrow()


def collected(frame: "DataFrame") -> dict[str, list[pl.DataFrame]]:
    """Run the work on the cluster, and return its frames by name, in order of their parts and places."""
    return in_order(fetched(frame))


def in_order(rows: "pa.Table") -> dict[str, list[pl.DataFrame]]:
    """Return the frames of rows by name, in order of their parts and places."""
    frames: dict[str, list[pl.DataFrame]] = {}
    # Sorted as numbers: Arrow would join the contents to sort them, and cannot beyond 2 GiB.
    order = zip(rows["part"].to_pylist(), rows["place"].to_pylist(), range(rows.num_rows), strict=True)
    for _, _, row in sorted(order):
        frames.setdefault(rows["name"][row].as_py(), []).append(pl.read_ipc(rows["content"][row].as_py()))
    return frames
