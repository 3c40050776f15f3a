"""What the page costs: to sum a report up, to make the page of it, and to wait until a person can use it."""

import shutil
import statistics
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Final

import polars as pl

from benchmarks.measuring import Cost, Row, Work, cost_of
from benchmarks.records import NOW, make_corpus
from benchmarks.wordings import CORPORA
from builders.reporting import summary_of
from vocabgap.files.parts import Parts
from vocabgap.model.tables import GAPS, RECORDS
from vocabgap.ranking.capabilities import rank
from vocabgap.reporting.page import render_page
from vocabgap.reporting.summary import Summary
from vocabgap.reporting.writing import with_capabilities

Case = tuple[int, int, int, str]  # capabilities, records, images, corpus

WARMING: Final = (10, 300, 80, "easy")
SIZES: Final = {  # capabilities, records, images
    "small": [(1_000, 20_000, 5_000)],
    "large": [(1_000, 20_000, 5_000), (5_000, 100_000, 25_000), (5_003, 1_000_000, 100_000)],
}
OPENINGS: Final = 5
CHROMIUM: Final = shutil.which("chromium")


def tables(case: Case) -> tuple[pl.DataFrame, Parts]:
    """What a report is summed up from: capabilities, and gaps that all count."""
    frame, groups = make_corpus(*case)
    ranked = rank(frame, groups, now=NOW)
    further = [name for name in GAPS.names if name not in RECORDS.names]
    absent = [pl.lit(None, GAPS.schema[name]).alias(name) for name in further]
    counted = frame.with_columns(absent).with_columns(counted=pl.lit(value=True))
    return ranked, with_capabilities(Parts.of(counted), ranked)


def summed(ranked: pl.DataFrame, gaps: Parts) -> Summary:
    """The report summed up."""
    return summary_of(ranked, top=10, gaps=gaps)


def summing(case: Case) -> Callable[[], Summary]:
    """Sums a report up."""
    render_page(summed(*tables(WARMING)))  # loads what is not measured
    return partial(summed, *tables(case))


def rendering(place: Path, case: Case) -> Work:
    """Makes the page of a summary; tells its bytes."""
    summary = summing(case)()
    return lambda: place.write_text(render_page(summary), encoding="utf-8")


def usable_after(page: Path) -> float:
    """Seconds from the start of the navigation to the mark that the script sets: the median of some tries."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only where there is a browser

    found: list[float] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        for _ in range(OPENINGS):
            tab = browser.new_page()
            tab.goto(page.as_uri())
            found.append(
                tab.evaluate("performance.getEntriesByName('usable')[0]?.startTime ?? NaN")
            )
            tab.close()
        browser.close()
    return statistics.median(found) / 1_000


def rows(size: str) -> Iterator[Row]:
    """The summary, the page and, where there is Chromium, the opening of it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "report.html")
        for numbers, corpus in product(SIZES[size], CORPORA):
            of = f"{numbers[0]:,} capabilities, {numbers[1]:,} records, {corpus}"
            yield Row("sum a report up", of, cost_of(summing, (*numbers, corpus)))
            cost = cost_of(rendering, place, (*numbers, corpus))
            yield Row("make the page", of, cost, note=f"{cost.outcome / 1e6:.2f} MB")
            if CHROMIUM:
                yield Row("open the page until it is usable", of, Cost(usable_after(place)))
