"""What the page costs: seconds to make it, its size, and how soon a person can use it.

Run by `make bench`. The summary and the page are made in a process of their own. Where there is Chromium, the
page is opened in it, and the milliseconds are those from the start of the navigation to the mark that the
script sets.
"""

import argparse
import multiprocessing
import resource
import shutil
import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from builders.reporting import summary_of
from vocabgap.ranking.capabilities import rank
from vocabgap.reporting.page.rendering import render_page
from vocabgap.reporting.writing import with_capabilities
from vocabgap.schema import CLUSTERS, GAPS, RECORDS, WORDINGS

NOW: Final = datetime(2026, 7, 1, tzinfo=UTC)
DAYS: Final = 200
SIZES: Final = (
    (10, 300, 80),
    (1_000, 20_000, 5_000),
    (5_000, 100_000, 25_000),
    (5_003, 1_000_000, 100_000),
)
SENTENCES: Final = 5_000  # different ones of each length
WORDS: Final = (
    "shadow", "lift", "anchored", "black", "point", "sky", "selection", "mask", "separate", "white", "hue",
    "balance", "mixed", "light", "sources", "skin", "lock", "chroma", "denoise", "limited", "dark", "tones",
    "soft", "highlight", "roll", "off", "local", "sharpening", "eyes", "background", "blur", "depth",
)  # fmt: skip
HEADINGS: Final = (
    "capabilities", "records", "summary, CPU s", "page, CPU s", "both, wall s", "MB", "peak MiB",
    "usable after ms",
)  # fmt: skip
OPENINGS: Final = 5


class Groups(NamedTuple):
    """What the ranking needs to know of a clustering."""

    wordings: pl.DataFrame
    clusters: pl.DataFrame


class Cost(NamedTuple):
    """CPU seconds of the summary and of the page, seconds of both, bytes, and the peak of memory in MiB."""

    summary: float
    page: float
    wall: float
    size: int
    peak: float


def sentence(rng: np.random.Generator, words: int) -> str:
    """Some words."""
    return " ".join(rng.choice(WORDS, size=words))


def make_corpus(capabilities: int, records: int, images: int) -> tuple[pl.DataFrame, Groups]:
    """Records of which some capabilities are asked for far more often than others, in a few wordings each."""
    rng = np.random.default_rng(records)
    shares = 1.0 / np.arange(1, capabilities + 1)
    wanted = rng.choice(capabilities, size=records, p=shares / shares.sum())
    wanted[:capabilities] = np.arange(capabilities)
    wanted.sort()
    spread = rng.geometric(0.25, size=records)
    worded = cache(lambda need, kind: f"{sentence(np.random.default_rng((need, kind)), 4)} {need} {kind}")
    wordings = [worded(*each) for each in zip(wanted.tolist(), spread.tolist(), strict=True)]

    def said(words: int) -> list[str]:
        some = [sentence(rng, words) for _ in range(SENTENCES)]
        return [some[place] for place in rng.integers(0, SENTENCES, records)]

    image = rng.integers(0, images, size=records)
    frame = pl.DataFrame(
        {
            "timestamp": [
                NOW - timedelta(seconds=int(ago)) for ago in rng.integers(0, DAYS * 86_400, records)
            ],
            "image_id": [f"market-night-{number:06d}" for number in image],
            "session_id": [f"{number // 3:08x}-0f6b-4c6e-9d0a-52f0c7a1{number % 97:04x}" for number in image],
            "snapshot_hash": [f"{number:064x}" for number in image],
            "missing_capability": wordings,
            "description": said(14),
            "intent": said(8),
            "workaround": said(9),
            "operations_involved": [
                [f"operation {number % 40}", f"operation {number % 7}"] for number in image
            ],
            "satisfaction": [None if rated > 1 else rated for rated in rng.choice([-1, 0, 1, 2], records)],
            "source_path": [f"market-night-{number:06d}/vocabulary_gaps.jsonl" for number in image],
            "line": np.arange(1, records + 1),
        }
    )
    same = {"intent_category": "tone", "notes": "", "tenant_id": "local", "repo_slug": "photos"}
    absent = [name for name in RECORDS.names if name not in frame.columns and name not in same]
    frame = frame.with_columns(
        *(pl.lit(value).alias(name) for name, value in same.items()),
        *(pl.lit(None).alias(name) for name in absent),
    )
    return frame.select(RECORDS.names).cast(RECORDS.schema), grouped(wordings, wanted)


def grouped(wordings: list[str], wanted: np.ndarray) -> Groups:
    """The groups of these wordings."""
    spoken = pl.DataFrame({"wording": wordings, "cluster": wanted})
    each = spoken.group_by("wording", "cluster", maintain_order=True).agg(pl.len().alias("mentions"))
    clusters = each.group_by("cluster", maintain_order=True).agg(
        pl.col("wording").first().alias("label"),
        pl.col("wording").first().alias("label_surface"),
        pl.len().alias("surfaces"),
        pl.col("mentions").sum(),
    )
    return Groups(
        each.with_columns(surface="wording", similarity=pl.lit(0.75))
        .select(WORDINGS.names)
        .cast(WORDINGS.schema),
        clusters.with_columns(
            cohesion=pl.lit(0.75),
            weakest_link=pl.lit(0.5),
            mentions_low="mentions",
            mentions_high="mentions",
            mixed=pl.lit(value=False),
        )
        .select(CLUSTERS.names)
        .cast(CLUSTERS.schema),
    )


def measured(reply: Connection, size: tuple[int, int, int], place: Path) -> None:
    """Make the page once for a small corpus, so that loading is not in the figures, and then this one."""
    for corpus in (SIZES[0], size):
        records, groups = make_corpus(*corpus)
        ranked = rank(records, groups, now=NOW)
        counted = records.with_columns(
            *(pl.lit(None, GAPS.schema[name]).alias(name) for name in GAPS.names if name not in RECORDS.names)
        )
        gaps = with_capabilities(counted.with_columns(counted=pl.lit(value=True)), ranked)
        wall, start = time.perf_counter(), time.process_time()
        summary = summary_of(ranked, top=10, gaps=gaps)
        summed = time.process_time()
        page = render_page(summary)
        made = time.process_time()
        wall = time.perf_counter() - wall
    place.write_text(page, encoding="utf-8")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    reply.send(Cost(summed - start, made - summed, wall, place.stat().st_size, peak))


def in_a_process(size: tuple[int, int, int], place: Path) -> Cost:
    """Measure in a process that does nothing else."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=measured, args=(sender, size, place))
    process.start()
    sender.close()
    cost: Cost = receiver.recv()
    process.join()
    return cost


def usable_after(page: Path) -> float | None:
    """Milliseconds from the start of the navigation until the list can be used: the median of some tries."""
    chromium = shutil.which("chromium")
    if chromium is None:
        return None
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only where there is a browser

    found: list[float] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(OPENINGS):
            tab = browser.new_page()
            tab.goto(page.as_uri())
            found.append(tab.evaluate("performance.getEntriesByName('usable')[0]?.startTime ?? NaN"))
            tab.close()
        browser.close()
    return statistics.median(found)


def main() -> None:
    """Print a table: one row a size."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    print(f"| {' | '.join(HEADINGS)} |\n|{'--:|' * len(HEADINGS)}")
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            place = Path(folder) / "report.html"
            cost = in_a_process(size, place)
            usable = usable_after(place)
            cells = (
                f"{size[0]:,}",
                f"{size[1]:,}",
                f"{cost.summary:.2f}",
                f"{cost.page:.2f}",
                f"{cost.wall:.2f}",
                f"{cost.size / 1e6:.2f}",
                f"{cost.peak:,.0f}",
                "–" if usable is None else f"{usable:,.0f}",
            )
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
