"""What ranking costs: the whole stage, its bootstrap beside a plain one, operations, categories, coverage.

The plain bootstrap counts with one dictionary a draw, for as many draws as are worth waiting for; its seconds
are those of all draws at that pace.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from benchmarks.measuring import Cost, Row, Work, cost_of
from benchmarks.records import DAYS, NOW, Groups, make_corpus
from benchmarks.wordings import CORPORA
from vocabgap.files.parts import Parts
from vocabgap.ingest.scanning import scan
from vocabgap.model.settings import RankBy, RankSettings
from vocabgap.ranking.capabilities import rank
from vocabgap.ranking.classifying import train, verdict
from vocabgap.ranking.combinations import recurring_sets
from vocabgap.ranking.coverage import EntryIndex
from vocabgap.ranking.evidence import Whole, drawn, drawn_units
from vocabgap.ranking.intervals import DRAWS, rank_intervals
from vocabgap.ranking.vocabulary import Entry

SIZES: Final = {"small": (1_000, 20_000, 5_000), "large": (5_000, 100_000, 25_000)}
WARMING: Final = (20, 200, 50)  # capabilities, records, images
ENTRIES: Final = {"small": 5_000, "large": 20_000}
EARLIEST: Final = NOW - timedelta(days=DAYS)
PLAIN_DRAWS: Final = 5
JUDGED: Final = 20
OPERATIONS: Final = 1_000
DEMO: Final = Path(__file__).parents[2] / "data" / "demo"


def warmed(prepare: Callable[..., Work], case: tuple[int, int, int, str], *given: object) -> Work:
    """Work on a corpus that was done once on a small one, so that loading is not in the figures."""
    prepare(*make_corpus(*WARMING), *given)()
    return prepare(*make_corpus(*case), *given)


def stage(records: pl.DataFrame, groups: Groups) -> Work:
    """The whole stage."""
    return lambda: rank(records, groups, by=RankBy.PRIORITY, now=NOW)


def bootstrap(records: pl.DataFrame, groups: Groups, by: RankBy) -> Work:
    """The bootstrap alone."""
    placed = placed_in(records, groups)
    whole = Whole(NOW, EARLIEST, drawn_units(Parts.of(placed)))
    amounts = drawn(placed, whole, by)
    ordered = pl.DataFrame({"cluster": groups.clusters["cluster"]}).with_columns(standing=pl.lit(1))
    return lambda: rank_intervals(amounts, ordered, RankSettings(by=by), whole)


def placed_in(records: pl.DataFrame, groups: Groups) -> pl.DataFrame:
    """Records with their clusters."""
    clusters = groups.wordings.select("cluster", missing_capability="wording")
    return records.join(clusters, on="missing_capability")


def plain_bootstrap(records: pl.DataFrame, groups: Groups) -> Work:
    """The same by mentions as anybody would write it first, for a few draws."""
    held = defaultdict(list)
    for image, need in placed_in(records, groups).select("image_id", "cluster").iter_rows():
        held[image].append(need)
    images = sorted(held)
    rng = np.random.default_rng(1)

    def draw() -> list[list[tuple[int, int]]]:
        tables = []
        for _ in range(PLAIN_DRAWS):
            drawn = rng.integers(0, len(images), size=len(images)).tolist()
            tables.append(
                Counter(need for number in drawn for need in held[images[number]]).most_common()
            )
        return tables

    return draw


def together(records: pl.DataFrame, groups: Groups) -> Work:  # noqa: ARG001 - as the others
    """The sets of operations that stand together, of one to five in a record by Zipf's law."""
    rng = np.random.default_rng(2)
    shares = 1.0 / np.arange(1, OPERATIONS + 1)
    drawn = (
        rng.choice(OPERATIONS, size=(records.height, 5), p=shares / shares.sum())
        .astype(str)
        .tolist()
    )
    most = rng.integers(1, 6, size=records.height).tolist()
    lists = [names[:number] for names, number in zip(drawn, most, strict=True)]
    involved = records.with_columns(pl.Series("operations_involved", lists))
    return lambda: recurring_sets(involved)


def learning() -> Work:
    """Learns categories from the demo logs."""
    found = Parts.of(scan(DEMO).records)
    train(found)
    return lambda: train(found)


def judging() -> Work:
    """Judges the category of a record, each time another one."""
    classifier = train(Parts.of(scan(DEMO).records))
    text = "the shadows under the boats are too green " * 20
    verdict([text], ["unheard-of"], classifier=classifier)  # the first one reads the stop words
    turn = count()
    return lambda: verdict([f"{text} {next(turn)}"], ["unheard-of"], classifier=classifier)


def covering(number: int) -> Work:
    """Indexes so many entries, none of whose names stands in a description, and asks once."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    entries = [
        Entry(
            f"{letters[place % 26]}{place}_x",
            " ".join(f"{letters[place * step % 26]}word" for step in range(1, 13)),
        )
        for place in range(number)
    ]
    return lambda: EntryIndex(entries).covering("quay")


def rows(size: str) -> Iterator[Row]:
    """The stage and its parts."""
    times = DRAWS / PLAIN_DRAWS
    for corpus in CORPORA:
        case = *SIZES[size], corpus
        of = "{:,} capabilities, {:,} records, {:,} images, {}".format(*case)
        drawn = cost_of(warmed, plain_bootstrap, case)
        plain = Cost(drawn.wall * times, drawn.cpu * times, drawn.peak)
        for by in RankBy:
            cost = cost_of(warmed, bootstrap, case, by)
            peer = ("plain bootstrap", plain) if by is RankBy.MENTIONS else ("", None)
            yield Row(f"bootstrap by {by}", of, cost, *peer)
        yield Row("rank, by priority", of, cost_of(warmed, stage, case))
    yield Row("sets of operations", of, cost_of(warmed, together, case))
    yield Row("learn categories", "demo logs", cost_of(learning))
    yield Row("judge the category of a record", "demo logs", cost_of(judging, times=JUDGED))
    half, whole = cost_of(covering, ENTRIES[size] // 2), cost_of(covering, ENTRIES[size])
    yield Row("find what covers a need", f"{ENTRIES[size]:,} entries", whole, "half as many", half)
