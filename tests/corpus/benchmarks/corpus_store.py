"""What a shared corpus of gap records costs on disk, beside Polars reading the same files."""

import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from benchmarks.measuring import Row, Work, cost_of
from vocabgap.corpus.store import Store
from vocabgap.corpus.version import CHUNKS

SIZES: Final = {"small": 50_000, "large": 1_000_000}  # records
LINES: Final = 40  # of a log
SCOPES: Final = 12  # of tenant and repository
SHARE: Final = 100  # a hundredth of the rows is added and deleted at once
PUSHES: Final = 10
REPORT: Final = ["tenant_id", "repo_slug", "root_kind", "source_path", "line", "content"]
WORDS: Final = 3000


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
        source_path=pl.format(
            "image-{}/vocabulary_gaps.jsonl", pl.col("log").cast(pl.String).str.zfill(6)
        ),
    )
    record = {
        "timestamp": pl.lit("2026-04-01T10:00:00+00:00"),
        "image_id": pl.format("image-{}", "log"),
        "session_id": pl.col("hash").str.head(32),
        "description": pl.col("wish"),
        "workaround": pl.col("way"),
        "missing_capability": pl.col("wish").str.head(24),
    }
    metadata = {
        "schemaVersion": pl.lit("1.0.0"),
        "tenantId": pl.col("tenant_id"),
        "repoSlug": pl.col("repo_slug"),
        "rootKind": pl.lit("external-source"),
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
        root_kind=pl.lit("external-source"),
        kind=pl.lit("gap-record"),
        content=_as_struct(record).struct.json_encode(),
        metadata=_as_struct(metadata).struct.json_encode(),
        embedding=pl.lit(None, pl.List(pl.Float64)),
        backup_line=pl.lit(None, pl.String),
        config_version=pl.lit(0, pl.Int64),
        ingested_at=pl.lit(datetime(2026, 4, 1, tzinfo=UTC)).cast(CHUNKS.schema["ingested_at"]),
    ).select(CHUNKS.names)


def fill(folder: Path, count: int) -> Work:
    """A corpus, made by one large push."""
    return lambda: _add(folder, records(count, seed=1))


def add(folder: Path, many: int, seeds: list[int], first_log: int) -> Work:
    """Pushes of new records, one a seed."""
    pushes = [records(many, seed, first_log=first_log + seed * many) for seed in seeds]
    return lambda: [_add(folder, push) for push in pushes]


def _add(folder: Path, rows: pl.DataFrame) -> int:
    with Store(folder).changing("add") as change:
        return change.add(rows)


def delete(folder: Path, many: int) -> int:
    """Records are deleted by their paths, as tombstones name them; tells how many."""
    logs = range(0, many // LINES * SCOPES, SCOPES)
    paths = [f"image-{number:06}/vocabulary_gaps.jsonl" for number in logs]
    scope = (pl.col("tenant_id") == "tenant-0") & (pl.col("repo_slug") == "repo-0")
    with Store(folder).changing("delete") as change:
        return change.delete(scope & pl.col("source_path").is_in(paths))


def read(folder: Path, columns: list[str] | None) -> str:
    """All rows, in order."""
    frame = Store(folder).version().rows(columns)
    return f"{frame.height:,} rows, {frame.estimated_size('mb'):,.0f} MiB"


def read_parquet(folder: Path, columns: list[str] | None) -> None:
    """All rows of its files, those of each part in their own order."""
    pl.read_parquet(folder / "chunks-*.parquet", columns=columns)


def compact(folder: Path) -> str:
    """What was deleted goes."""
    parts = Store(folder).compact().parts
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return f"{parts} parts, {size / 2**20:,.0f} MiB"


def _as_struct(fields: dict[str, pl.Expr]) -> pl.Expr:
    return pl.struct([value.alias(name) for name, value in fields.items()])


def _hex(rng: np.random.Generator, count: int) -> list[str]:
    digits = rng.bytes(32 * count).hex()
    return [digits[start : start + 64] for start in range(0, 64 * count, 64)]


def _sentences(rng: np.random.Generator, count: int, words: int) -> pl.Series:
    drawn = [pl.Series(f"{place}", rng.integers(0, WORDS, count)) for place in range(words)]
    texts = [(pl.lit("word") + pl.col(series.name).cast(pl.String)) for series in drawn]
    return pl.DataFrame(drawn).select(pl.concat_str(texts, separator=" ")).to_series()


def rows(size: str) -> Iterator[Row]:
    """What is done with a corpus, in turn."""
    count = SIZES[size]
    many = count // SHARE
    of, first_log = f"{count:,} records", count // LINES + 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "corpus")

        def reading(what: str, columns: list[str] | None) -> Row:
            cost = cost_of(partial, read, folder, columns)
            beside = cost_of(partial, read_parquet, folder, columns)
            return Row(f"corpus: {what}", of, cost, "Polars alone", beside, note=cost.outcome)

        yield Row("corpus: fill", of, cost_of(fill, folder, count))
        yield reading("read the columns of a report", REPORT)
        yield reading("read all columns", None)
        for what in (f"add {many:,}", f"add the same {many:,} again"):
            yield Row(f"corpus: {what}", of, cost_of(add, folder, many, [2], first_log))
        yield Row(f"corpus: delete {many:,}", of, cost_of(partial, delete, folder, many))
        cost_of(add, folder, many, list(range(3, 3 + PUSHES)), first_log)
        yield reading(f"read the columns of a report, {PUSHES} pushes later", REPORT)
        cost = cost_of(partial, compact, folder)
        yield Row("corpus: compact", of, cost, note=cost.outcome)
        yield reading("read the columns of a report, compacted", REPORT)
