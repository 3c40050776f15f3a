"""What ranking costs, and how often a category that `--reclassify` gives is that of the agent.

The whole stage, the bootstrap in it, beside a plain one that counts name by name, and the operations that
stand together. Categories are those of records whose agent gave one, each left out in turn: a tenth of the
records, or all that ask for some needs, beside the former way, which asked operations first.

Run by `make bench`. Each measurement has a process of its own, so that memory is its own. The plain bootstrap
counts with one dictionary a draw, for as many draws as are worth waiting for; its seconds are those of all
draws at that pace.
"""

import argparse
import multiprocessing
import resource
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from vocabgap.clustering.grouping import cluster
from vocabgap.ingest.scanning import scan
from vocabgap.ranking.capabilities import rank
from vocabgap.ranking.classifying import operations_of, reclassify, train, with_categories
from vocabgap.ranking.combinations import recurring_sets
from vocabgap.ranking.coverage import EntryIndex
from vocabgap.ranking.intervals import DRAWS, rank_intervals
from vocabgap.ranking.vocabulary import Entry
from vocabgap.records.categories import OPERATION_CATEGORIES, judge
from vocabgap.records.record import PHRASE_FIELDS
from vocabgap.schema import CLUSTERS, GAPS, RECORDS, WORDINGS, phrase
from vocabgap.settings.model import RankBy, RankSettings

NOW: Final = datetime(2026, 7, 1, tzinfo=UTC)
DAYS: Final = 200
EARLIEST: Final = NOW - timedelta(days=DAYS)
PLAIN_DRAWS: Final = 5
TURNS: Final = 20
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
OPERATIONS: Final = 1_000
DEMO: Final = Path("data/demo")
FOLDS: Final = 10


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
    clusters = clusters.with_columns(mentions_low=1, mentions_high=1, mixed=False)
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


def together(corpus: Corpus, by: RankBy) -> Callable[[], object]:
    """The sets of operations that stand together, of one to five in a record by Zipf's law."""
    del by
    rng = np.random.default_rng(2)
    shares = 1.0 / np.arange(1, OPERATIONS + 1)
    height = corpus.records.height
    drawn = rng.choice(OPERATIONS, size=(height, 5), p=shares / shares.sum()).astype(str).tolist()
    most = rng.integers(1, 6, size=height).tolist()
    lists = [names[:number] for names, number in zip(drawn, most, strict=True)]
    records = corpus.records.with_columns(pl.Series("operations_involved", lists))
    return lambda: recurring_sets(records)


WORK: Final = {
    "bootstrap": intervals,
    "whole stage": stage,
    "plain bootstrap": plain,
    "operations together": together,
}


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


def words_first(left_out: pl.DataFrame, rest: pl.DataFrame) -> Sequence[str | None]:
    """The category of each record, as `--reclassify` gives it."""
    return reclassify(left_out, corpus=rest).gaps["category"].to_list()


def operations_first(left_out: pl.DataFrame, rest: pl.DataFrame) -> Sequence[str | None]:
    """As it was given before: words are asked only where operations tell nothing."""
    classifier, _ = train(rest)
    table = {**operations_of(rest), **OPERATION_CATEGORIES}
    given = []
    for *texts, involved in left_out.select(*PHRASE_FIELDS, "operations_involved").iter_rows():
        by_operations = judge("", (), involved, table=table)
        judged = by_operations if by_operations.by else judge("", texts, (), classifier=classifier)
        given.append(judged.category if judged.by else None)
    return given


def print_categories(roots: Sequence[Path]) -> None:
    """How many of the categories that are given are the agent's, and how many records stay without one."""
    headings = ("corpus", "left out", "way", "records", "given", "right of these", "undecided")
    print(f"\n| {' | '.join(headings)} |\n|{':--|' * 3}{'--:|' * 4}")
    rng = np.random.default_rng(0)
    for root in roots:
        gaps = with_categories(scan(root).gaps.filter("counted")).with_row_index("row")
        found = cluster(gaps.select(RECORDS.names), embedder="none").wordings
        needs = gaps.select(phrase().alias("wording")).join(
            found, on="wording", how="left", maintain_order="left"
        )
        of_records = rng.permutation(gaps.height) % FOLDS
        of_needs = rng.permutation(found["cluster"].n_unique()) % FOLDS
        turns = {"records": of_records, "needs": of_needs[needs["cluster"].to_numpy()]}
        known = (gaps["category_by"] == "agent").fill_null(value=False).to_numpy()
        blank = gaps.with_columns(
            pl.lit("").alias("intent_category"),
            pl.lit(None, pl.String).alias("category"),
            pl.lit(None, pl.String).alias("category_by"),
        )
        for what, turn in turns.items():
            for way in (operations_first, words_first):
                given: dict[int, str | None] = {}
                for fold in range(FOLDS):
                    left_out = blank.filter((turn == fold) & known)
                    rest = gaps.filter(turn != fold)
                    categories = way(left_out.select(GAPS.names), rest.select(GAPS.names))
                    given.update(zip(left_out["row"].to_list(), categories, strict=True))
                true = gaps["category"].to_list()
                decided = [row for row, category in given.items() if category is not None]
                right = sum(given[row] == true[row] for row in decided) / max(len(decided), 1)
                cells = (
                    *(
                        str(root),
                        what,
                        way.__name__.replace("_", " "),
                        f"{len(given):,}",
                        f"{len(decided):,}",
                    ),
                    *(f"{right:.3f}", f"{1 - len(decided) / max(len(given), 1):.3f}"),
                )
                print(f"| {' | '.join(cells)} |", flush=True)


def print_scale() -> None:
    """What judging one record costs beside learning, and twice the entries of a vocabulary beside half."""
    found = scan(DEMO).records
    start = time.process_time()
    classifier, _ = train(found)
    learning = time.process_time() - start
    text = "the shadows under the boats are too green " * 20
    judge("", [text], ["unheard-of"], classifier=classifier)  # the first one reads the stop words
    start = time.process_time()
    for turn in range(TURNS):
        judge("", [f"{text} {turn}"], ["unheard-of"], classifier=classifier)
    judging = (time.process_time() - start) / TURNS
    print(f"\nLearning takes as long as judging {learning / judging:,.0f} records.")
    small, large = (covering_cost(number) for number in (10_000, 20_000))
    print(f"Twice the entries of a vocabulary take {large / small:.1f} times as long.")


def covering_cost(number: int) -> float:
    """CPU seconds to index so many entries, none of whose names stands in a description, and to ask once."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    entries = [
        Entry(
            f"{letters[place % 26]}{place}_x",
            " ".join(f"{letters[place * step % 26]}word" for step in range(1, 13)),
        )
        for place in range(number)
    ]
    start = time.process_time()
    EntryIndex(entries).covering("quay")
    return time.process_time() - start


def main() -> None:
    """Print two tables: one row a measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--capabilities", type=int, default=5_000)
    parser.add_argument("--images", type=int, default=25_000)
    parser.add_argument("--categories", type=Path, nargs="+", default=[DEMO], help="gap logs with categories")
    given = parser.parse_args()
    size = (given.records, given.capabilities, given.images)
    cases = [("bootstrap", by) for by in RankBy] + [
        ("whole stage", RankBy.PRIORITY),
        ("plain bootstrap", RankBy.MENTIONS),
        ("operations together", RankBy.MENTIONS),
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
    print_categories(given.categories)
    print_scale()


if __name__ == "__main__":
    main()
