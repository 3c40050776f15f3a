"""What the history of two years of nights costs a run: seconds to add to it and to tell of it, and its size.

Run by `make bench`. A run reads what is there, adds its rows, works out what the page tells, and writes the
file; the fastest of five is told.
"""

import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from page import make_corpus  # type: ignore[import-not-found]

from vocabgap.files.parquet import write_parquet
from vocabgap.ranking.capabilities import rank
from vocabgap.reporting.history import carried_on, earlier_rows, points_of_run
from vocabgap.reporting.manifest import HISTORY_NAME, MANIFEST_NAME, Rendering, encode_manifest, new_manifest
from vocabgap.schema import HISTORY

NOW: Final = datetime(2026, 7, 1, 3, 0, 17, 482_913, tzinfo=UTC)
NIGHTS: Final = 730
SIZES: Final = (40, 1_000)
TIMES: Final = 5
HEADINGS: Final = ("capabilities", "runs", "rows", "MB", "wall s", "CPU s")


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


def row(capabilities: int) -> tuple[str, ...]:
    """What one more night costs beside two years of them."""
    frame, groups = make_corpus(capabilities, capabilities * 20, capabilities * 5)
    ranked = rank(frame, groups, now=NOW)
    manifest = new_manifest(NOW, ranked.height, Rendering(10, "mentions", ""))
    walls, seconds = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / MANIFEST_NAME).write_bytes(encode_manifest(manifest))
        write_parquet(past_rows(ranked, NIGHTS), folder / HISTORY_NAME)
        for _ in range(TIMES):
            wall, cpu = time.perf_counter(), time.process_time()
            rows = carried_on(ranked, manifest, None, earlier_rows(folder))
            points_of_run(rows, manifest)
            write_parquet(rows, folder / "next.parquet", statistics=False)
            walls.append(time.perf_counter() - wall)
            seconds.append(time.process_time() - cpu)
        size = (folder / "next.parquet").stat().st_size / 1e6
    runs = rows["run"].n_unique()
    return (
        f"{ranked.height:,}", f"{runs:,}", f"{rows.height:,}",
        f"{size:.2f}", f"{min(walls):.2f}", f"{min(seconds):.2f}",
    )  # fmt: skip


def main() -> None:
    """Print a row for each size."""
    print("\n## History\n")
    print(f"| {' | '.join(HEADINGS)} |\n|{' --: |' * len(HEADINGS)}")
    for capabilities in SIZES:
        print(f"| {' | '.join(row(capabilities))} |", flush=True)


if __name__ == "__main__":
    main()
