"""What ranking costs: the whole stage, and the bootstrap in it, beside a plain one that counts name by name.

Run by `make bench`. Each measurement has a process of its own, so that memory is its own. The plain bootstrap
counts with one dictionary a draw, for as many draws as are worth waiting for; its seconds are those of all
draws at that pace.
"""

import argparse
import multiprocessing
import resource
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from vocabgap.ranking.capabilities import rank
from vocabgap.ranking.intervals import DRAWS, rank_intervals
from vocabgap.schema import CLUSTERS, RECORDS, WORDINGS
from vocabgap.settings.model import RankBy, RankSettings

NOW: Final = datetime(2026, 7, 1, tzinfo=UTC)
DAYS: Final = 200
EARLIEST: Final = NOW - timedelta(days=DAYS)
PLAIN_DRAWS: Final = 5
HEADINGS: Final = (
    "records",
    "capabilities",
    "images",
    "what",
    "by",
    "CPU s",
    "wall s",
    "peak MiB",
    "added MiB",
)
LEFT: Final = 5


class Groups(NamedTuple):
    """What the ranking needs to know of a clustering."""

    wordings: pl.DataFrame
    clusters: pl.DataFrame


class Corpus(NamedTuple):
    """Records and their groups."""

    records: pl.DataFrame
    groups: Groups


class Cost(NamedTuple):
    """Seconds, the peak of resident memory in MiB, and how much of it the work added."""

    cpu: float
    wall: float
    peak: float
    added: float


def make_corpus(records: int, capabilities: int, images: int) -> Corpus:
    """Records of which some capabilities are asked for far more often than others (Zipf's law)."""
    rng = np.random.default_rng(records)
    shares = 1.0 / np.arange(1, capabilities + 1)
    wanted = rng.choice(capabilities, size=records, p=shares / shares.sum())
    wanted[:capabilities] = np.arange(capabilities)  # each is asked for once at least
    image = rng.integers(0, images, size=records)
    ago = rng.integers(0, DAYS * 86_400, size=records)
    satisfaction = rng.choice([-1, 0, 1, 2], size=records)
    frame = pl.DataFrame(
        {
            "timestamp": [NOW - timedelta(seconds=int(second)) for second in ago],
            "image_id": [f"image-{number:06d}" for number in image],
            "session_id": [f"session-{number // 3}" for number in image],
            "missing_capability": [f"need {number}" for number in wanted],
            "workaround": [f"the brush, in {number % 7} steps" for number in ago],
            "operations_involved": [["exposure", "crop"][: number % 3] for number in ago],
            "satisfaction": [None if rated > 1 else rated for rated in satisfaction.tolist()],
            "line": np.arange(1, records + 1),
        }
    )
    same = {"intent_category": "tone", "notes": "", "tenant_id": "local", "repo_slug": "photos"}
    absent = [name for name in RECORDS.names if name not in frame.columns and name not in same]
    frame = frame.with_columns(
        *(pl.lit(value).alias(name) for name, value in same.items()),
        *(pl.lit(None).alias(name) for name in absent),
    )
    names = [f"need {number}" for number in range(capabilities)]
    clusters = pl.DataFrame({"cluster": range(capabilities), "label": names, "label_surface": names})
    clusters = clusters.with_columns(surfaces=1, mentions=1, cohesion=1.0, weakest_link=0.0)
    wordings = pl.DataFrame({"wording": names, "surface": names, "cluster": range(capabilities)})
    wordings = wordings.with_columns(mentions=1, similarity=1.0)
    return Corpus(
        frame.select(RECORDS.names).cast(RECORDS.schema),
        Groups(
            wordings.select(WORDINGS.names).cast(WORDINGS.schema),
            clusters.select(CLUSTERS.names).cast(CLUSTERS.schema),
        ),
    )


def stage(corpus: Corpus, by: RankBy) -> Callable[[], object]:
    """The whole stage."""
    return lambda: rank(corpus.records, corpus.groups, by=by, now=NOW)


def intervals(corpus: Corpus, by: RankBy) -> Callable[[], object]:
    """The bootstrap alone."""
    placed = corpus.records.join(
        corpus.groups.wordings.select("cluster", missing_capability="wording"), on="missing_capability"
    )
    ordered = pl.DataFrame({"cluster": corpus.groups.clusters["cluster"]}).with_columns(standing=pl.lit(1))
    return lambda: rank_intervals(placed, ordered, RankSettings(by=by), now=NOW, earliest=EARLIEST)


def plain(corpus: Corpus, by: RankBy) -> Callable[[], object]:
    """The same by mentions as anybody would write it first, for a few draws."""
    del by
    held = defaultdict(list)
    for image, need in corpus.records.select("image_id", "missing_capability").iter_rows():
        held[image].append(need)
    images = sorted(held)
    rng = np.random.default_rng(1)

    def draw() -> list[list[tuple[str, int]]]:
        tables = []
        for _ in range(PLAIN_DRAWS):
            drawn = rng.integers(0, len(images), size=len(images)).tolist()
            tables.append(Counter(need for number in drawn for need in held[images[number]]).most_common())
        return tables

    return draw


WORK: Final = {"bootstrap": intervals, "whole stage": stage, "plain bootstrap": plain}


def measured(reply: Connection, what: str, by: RankBy, size: tuple[int, int, int]) -> None:
    """Do it once on a small corpus, so that loading is not in the figures, and then on the large one."""
    prepare = WORK[what]
    prepare(make_corpus(200, 20, 50), by)()
    work = prepare(make_corpus(*size), by)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    spent = time.process_time() - cpu, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    times = DRAWS / PLAIN_DRAWS if what == "plain bootstrap" else 1.0
    reply.send(Cost(spent[0] * times, spent[1] * times, peak, peak - before))


def in_a_process(what: str, by: RankBy, size: tuple[int, int, int]) -> Cost:
    """Measure in a process that does nothing else."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=measured, args=(sender, what, by, size))
    process.start()
    sender.close()
    cost: Cost = receiver.recv()
    process.join()
    return cost


def main() -> None:
    """Print a table: one row a measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--capabilities", type=int, default=5_000)
    parser.add_argument("--images", type=int, default=25_000)
    given = parser.parse_args()
    size = (given.records, given.capabilities, given.images)
    cases = [("bootstrap", by) for by in RankBy] + [
        ("whole stage", RankBy.PRIORITY),
        ("plain bootstrap", RankBy.MENTIONS),
    ]
    print(f"| {' | '.join(HEADINGS)} |\n|{':--|' * LEFT}{'--:|' * (len(HEADINGS) - LEFT)}")
    for what, by in cases:
        cost = in_a_process(what, by, size)
        cells = (
            *(f"{number:,}" for number in size),
            what,
            by.value,
            f"{cost.cpu:.2f}",
            f"{cost.wall:.2f}",
            f"{cost.peak:,.0f}",
            f"{cost.added:,.0f}",
        )
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
