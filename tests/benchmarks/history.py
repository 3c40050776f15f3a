"""What the history of two years of nights costs a run.

A run reads what is there, adds its rows, works out what the page tells, and writes the file.
"""

import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from benchmarks.measuring import Row, Work, cost_of
from benchmarks.records import make_corpus
from vocabgap.files.atomic import write_parquet
from vocabgap.model.tables import HISTORY
from vocabgap.ranking.capabilities import rank
from vocabgap.reporting.history import carried_on, earlier_rows, points_of_run
from vocabgap.reporting.manifest import MANIFEST_NAME, Rendering, encode_manifest, new_manifest

NOW: Final = datetime(2026, 7, 1, 3, 0, 17, 482_913, tzinfo=UTC)
NIGHTS: Final = 730
SIZES: Final = {"small": (40, 200), "large": (40, 1_000)}  # capabilities
TIMES: Final = 5


def past_rows(ranked: pl.DataFrame, nights: int) -> pl.DataFrame:
    """Rows of earlier nights: everything grows, and ranks change with it; every week something is merged."""
    rng = np.random.default_rng(nights)
    whole = ranked["mentions"].to_numpy()
    begun = rng.uniform(-0.5, 0.9, size=len(whole))
    frames = []
    for night in range(nights):
        share = np.clip((night / nights - begun) / (1 - begun), 0, 1)
        mentions = np.maximum(1, (whole * share).astype(int))
        place = np.empty(len(whole), dtype=int)
        place[np.argsort(-mentions, kind="stable")] = np.arange(1, len(whole) + 1)
        came_from: list[list[str]] = [[] for _ in whole]
        if night % 7 == 6:
            came_from[int(rng.integers(len(whole)))] = [
                ranked["capability_id"][int(rng.integers(len(whole)))]
            ]
        frames.append(
            ranked.select("capability_id", "label", "status").with_columns(
                run=pl.lit(f"{night:012x}"),
                moment=pl.lit(NOW - timedelta(days=nights - night)),
                rank=pl.Series(place),
                mentions=pl.Series(mentions),
                images=pl.Series((mentions * 0.6).astype(int)),
                sessions=pl.Series((mentions * 0.8).astype(int)),
                unsatisfied=pl.Series((mentions * 0.4).astype(int)),
                came_from=pl.Series(came_from, dtype=pl.List(pl.String)),
                narrowed=pl.lit("not known"),
            )
        )
    rows = pl.concat([pl.DataFrame(schema=HISTORY.schema).clear(), *frames], how="diagonal_relaxed")
    return rows.sort("moment", "rank").cast(HISTORY.schema)


def one_more_night(folder: Path, capabilities: int) -> Work:
    """Adds a night to two years of them; tells the size of the file in MB and the number of its rows."""
    frame, groups = make_corpus(capabilities, capabilities * 20, capabilities * 5)
    ranked = rank(frame, groups, now=NOW)
    manifest = new_manifest(NOW, ranked.height, Rendering(10, "mentions", ""))
    (folder / MANIFEST_NAME).write_bytes(encode_manifest(manifest))
    write_parquet(past_rows(ranked, NIGHTS), folder / HISTORY.file)
    following = folder / "next.parquet"

    def work() -> tuple[float, int]:
        rows = carried_on(ranked, manifest, None, earlier_rows(folder))
        points_of_run(rows, manifest)
        write_parquet(rows, following, statistics=False)
        return following.stat().st_size / 1e6, rows.height

    return work


def rows(size: str) -> Iterator[Row]:
    """One row a number of capabilities."""
    for capabilities in SIZES[size]:
        with tempfile.TemporaryDirectory() as folder:
            cost = cost_of(one_more_night, Path(folder), capabilities, times=TIMES)
        megabytes, height = cost.outcome
        of = f"{capabilities:,} capabilities, {NIGHTS:,} nights"
        yield Row(
            "add a night to the history", of, cost, note=f"{height:,} rows, {megabytes:.2f} MB"
        )
