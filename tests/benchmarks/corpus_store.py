"""What a shared corpus of a million gap records costs on disk.

Run by `make bench`. Each measurement has a process of its own, so that memory is its own. Seconds differ from
machine to machine and from hour to hour.
"""

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from vocabgap.corpus.store import open_store
from vocabgap.schema import CHUNKS

LINES: Final = 40  # of a log
MANY: Final = 10_000  # rows that are added and deleted at once
REPORT: Final = ["tenant_id", "repo_slug", "root_kind", "source_path", "line", "content"]
WORDS: Final = 3000
HEADINGS: Final = ("wall s", "CPU s", "peak MiB", "tells")


class Cost(NamedTuple):
    """CPU and wall-clock seconds, peak resident memory in MiB, and what the work itself has to tell."""

    cpu: float
    wall: float
    peak: float
    told: object


def records(count: int, seed: int, *, first_log: int = 0) -> pl.DataFrame:
    """Gap records of three tenants with four repositories each, with metadata as a push makes it."""
    rng = np.random.default_rng(seed)
    numbers = np.arange(count)
    frame = pl.DataFrame(
        {
            "id": _hex(rng, count),
            "name": _hex(rng, count),
            "hash": _hex(rng, count),
            "log": first_log + numbers // LINES,
            "line": numbers % LINES + 1,
            "wish": _sentences(rng, count, 12),
            "way": _sentences(rng, count, 8),
        }
    ).with_columns(
        tenant_id=pl.format("tenant-{}", pl.col("log") % 3),
        repo_slug=pl.format("repo-{}", pl.col("log") // 3 % 4),
        source_path=pl.format("image-{}/vocabulary_gaps.jsonl", pl.col("log").cast(pl.String).str.zfill(6)),
    )
    record = {
        "timestamp": pl.lit("2026-04-01T10:00:00+00:00"),
        "image_id": pl.format("image-{}", "log"),
        "session_id": pl.col("hash").str.head(32),
        "description": pl.col("wish"),
        "workaround": pl.col("way"),
        "missing_capability": pl.col("wish").str.head(24),
    }
    said = {
        "schemaVersion": pl.lit("1.0.0"),
        "tenantId": pl.col("tenant_id"),
        "repoSlug": pl.col("repo_slug"),
        "rootKind": pl.lit("image-repo"),
        "sourcePath": pl.col("source_path"),
        "hashInputs": pl.lit("kind,name,content,sourcePath,parserId,parserVersion"),
        "parserId": pl.lit("vocabgap-gap-log"),
        "parserVersion": pl.lit("1.0.0"),
        "kind": pl.lit("gap-record"),
        "name": pl.col("name"),
        "hash": pl.col("hash"),
        "source": pl.col("source_path"),
        "type": pl.lit("gap-record"),
        "visibility": pl.lit("team"),
    }
    return frame.with_columns(
        root_kind=pl.lit("image-repo"),
        kind=pl.lit("gap-record"),
        content=_as_struct(record).struct.json_encode(),
        metadata=_as_struct(said).struct.json_encode(),
        embedding=pl.lit(None, pl.List(pl.Float64)),
        config_version=pl.lit(0, pl.Int64),
        ingested_at=pl.lit(datetime(2026, 4, 1, tzinfo=UTC)).cast(CHUNKS.schema["ingested_at"]),
    ).select(CHUNKS.names)


def fill(folder: Path, count: int) -> str:
    """A corpus, made by one large push."""
    with open_store(folder).changing("fill") as change:
        change.add(records(count, seed=1))
    return _size(folder)


def add(folder: Path, seed: int, first_log: int) -> str:
    """One push of new records."""
    with open_store(folder).changing("add") as change:
        return f"{change.add(pl.read_parquet(_pushed(folder, seed, first_log))):,} added"


def delete(folder: Path, logs: int) -> str:
    """Records are deleted by their paths, as tombstones name them."""
    paths = [f"image-{number:06}/vocabulary_gaps.jsonl" for number in range(0, logs * 12, 12)]
    scope = (pl.col("tenant_id") == "tenant-0") & (pl.col("repo_slug") == "repo-0")
    with open_store(folder).changing("delete") as change:
        return f"{change.delete(scope & pl.col('source_path').is_in(paths)):,} deleted"


def read(folder: Path, columns: list[str] | None) -> str:
    """All rows, in order."""
    frame = open_store(folder).version().rows(columns)
    return f"{frame.height:,} rows, {frame.estimated_size('mb'):,.0f} MiB"


def compact(folder: Path) -> str:
    """What was deleted goes."""
    return f"{open_store(folder).compact().parts} parts, {_size(folder)}"


def measured(work: Callable[[Path], object], folder: Path) -> Cost:
    """What some work costs in a new process, its imports left out."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(work, folder, sender))
    process.start()
    cost: Cost = receiver.recv()
    process.join()
    return cost


def _measure(work: Callable[[Path], object], folder: Path, sender: Connection) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    told = work(folder)
    spent = time.process_time() - cpu, time.perf_counter() - wall
    kibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sender.send(Cost(*spent, kibibytes / 1024, told))


def _pushed(folder: Path, seed: int, first_log: int) -> Path:
    """A push of records, written before anything is measured."""
    path = folder.with_name(f"push-{seed}.parquet")
    if not path.exists():
        records(MANY, seed, first_log=first_log).write_parquet(path)
    return path


def _as_struct(fields: dict[str, pl.Expr]) -> pl.Expr:
    return pl.struct([value.alias(name) for name, value in fields.items()])


def _hex(rng: np.random.Generator, count: int) -> list[str]:
    digits = rng.bytes(32 * count).hex()
    return [digits[start : start + 64] for start in range(0, 64 * count, 64)]


def _sentences(rng: np.random.Generator, count: int, words: int) -> pl.Series:
    drawn = [pl.Series(f"{place}", rng.integers(0, WORDS, count)) for place in range(words)]
    texts = [(pl.lit("word") + pl.col(series.name).cast(pl.String)) for series in drawn]
    return pl.DataFrame(drawn).select(pl.concat_str(texts, separator=" ")).to_series()


def _size(folder: Path) -> str:
    return f"{sum(path.stat().st_size for path in folder.rglob('*') if path.is_file()) / 2**20:,.0f} MiB"


def table(folder: Path, count: int) -> None:
    """Print what a corpus costs, one row a thing that is done with it."""
    new = count // LINES + 1
    few, several = MANY // LINES, range(3, 13)
    _pushed(folder, 2, new)
    for seed in several:
        _pushed(folder, seed, new + few * seed)
    steps: list[tuple[str, Callable[[Path], object]]] = [
        ("read, columns of a report", partial(read, columns=REPORT)),
        ("read, all columns", partial(read, columns=None)),
        (f"add {MANY:,}", partial(add, seed=2, first_log=new)),
        (f"add the same {MANY:,} again", partial(add, seed=2, first_log=new)),
        (f"delete {MANY:,}", partial(delete, logs=few)),
    ]
    print(f"| | {' | '.join(HEADINGS)} |\n|:--|{'--:|' * 3}:--|")
    _print(f"fill with {count:,}", measured(partial(fill, count=count), folder))
    for what, work in steps:
        _print(what, measured(work, folder))
    for seed in several:
        measured(partial(add, seed=seed, first_log=new + few * seed), folder)
    _print("read, columns of a report, after 10 more pushes", measured(partial(read, columns=REPORT), folder))
    _print("compact", measured(compact, folder))
    _print("read, columns of a report", measured(partial(read, columns=REPORT), folder))
    print()


def _print(what: str, cost: Cost) -> None:
    print(f"| {what} | {cost.wall:.3f} | {cost.cpu:.3f} | {cost.peak:,.0f} | {cost.told} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000, help="how many the corpus has")
    count = parser.parse_args().records
    with tempfile.TemporaryDirectory() as folder:
        table(Path(folder) / "corpus", count)


if __name__ == "__main__":
    main()
