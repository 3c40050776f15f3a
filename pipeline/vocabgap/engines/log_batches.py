"""Logs as work for a cluster: packed for a worker, read there, and what they gave as a scan has it.

Each step is a function over Arrow batches that knows no engine. Its rows are pieces of work; what a piece is
made of, and each table that comes of it, stands in a binary column, tables as Arrow files. So a worker gives
what a scan here would give, to the last bit.
"""

import io
import pickle
from collections import Counter
from collections.abc import Iterator
from typing import Final

import polars as pl
import pyarrow as pa

from vocabgap.ingest.discovery import LogFile
from vocabgap.ingest.lines import LogsRead
from vocabgap.ingest.scanning import read_here
from vocabgap.model.settings import ScanSettings
from vocabgap.model.tables import FILES, RECORDS, REJECTS

# Columns of what comes of a piece of work, as Spark calls them.
LOGS_READ: Final = "batch long, part long, name string, content binary"
_LOGS_READ: Final = pa.schema(
    [("batch", pa.int64()), ("part", pa.int64()), ("name", pa.string()), ("content", pa.binary())]
)
_REPAIRS: Final = {"kind": pl.String, "times": pl.Int64}


def pack_logs(logs: list[LogFile], settings: ScanSettings) -> bytes:
    """Some logs, and how they are read, as a worker gets them."""
    return pickle.dumps((logs, settings))


def read_packed_logs(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Read the logs of each row: rows of `LOGS_READ`, one a table, or a part of a large one."""
    for batch in batches:
        for number, packed in zip(batch["batch"].to_pylist(), batch["logs"].to_pylist(), strict=True):
            # What is unpacked is what the driver packed, as the function itself is.
            read = read_here(*pickle.loads(packed))  # noqa: S301
            repairs = pl.DataFrame(list(read.repairs.items()), schema=_REPAIRS, orient="row")
            tables = [("rejects", read.rejects), ("files", read.files), ("repairs", repairs)]
            tables += [("records", frame) for frame in read.records]
            for part, (name, frame) in enumerate(tables):
                row = {"batch": [number], "part": [part], "name": [name], "content": [_arrow_file(frame)]}
                yield pa.RecordBatch.from_pydict(row, schema=_LOGS_READ)


def unpack_read(rows: pa.Table) -> LogsRead:
    """What all logs gave, from rows of `LOGS_READ` in any order."""
    tables: dict[str, list[pl.DataFrame]] = {"records": [], "rejects": [], "files": [], "repairs": []}
    # Sorted as numbers: Arrow would join the contents to sort them, and cannot beyond 2 GiB.
    numbers = zip(rows["batch"].to_pylist(), rows["part"].to_pylist(), strict=True)
    for _, place in sorted((number, place) for place, number in enumerate(numbers)):
        tables[rows["name"][place].as_py()].append(pl.read_ipc(rows["content"][place].as_py()))
    repairs: Counter[str] = Counter()
    for frame in tables["repairs"]:
        repairs.update(dict(frame.iter_rows()))
    return LogsRead(
        [RECORDS.empty(), *tables["records"]],
        pl.concat([REJECTS.empty(), *tables["rejects"]]),
        pl.concat([FILES.empty(), *tables["files"]]),
        repairs,
    )


def _arrow_file(frame: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.write_ipc(file, compression="lz4")
    return file.getvalue()
