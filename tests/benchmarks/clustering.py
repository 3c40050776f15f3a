"""What clustering costs, beside the same groups from scikit-learn and fastcluster in the same run.

Run by `make bench`; `--size large` takes a hundred thousand and a million surfaces, which the others cannot
hold. Each measurement has a process of its own, so that memory is its own. What is timed begins with records
and ends with groups: normalising, vectorising, linkage and cut. Everyone is handed the same rows, and is
called once on a small corpus first, so that loading and compiling are not in the figures.

Only ratios, taken in one run, can be compared between machines.
"""

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from zlib import crc32

import numpy as np
import polars as pl
from scipy import sparse

from vocabgap.clustering.blending import blended_rows
from vocabgap.clustering.cutting import flat_groups
from vocabgap.clustering.linkage import DENSE_LIMIT, average_linkage, cosine_distances
from vocabgap.clustering.vectorizing import FloatArray, IntArray, Rows, vectorize, word_rows
from vocabgap.clustering.wordings import Points, points_of
from vocabgap.records.record import PHRASE_FIELDS
from vocabgap.text import surface

if TYPE_CHECKING:
    from benchmarks.wordings import draw
else:
    from wordings import draw

Solve = Callable[[Rows, FloatArray, float], IntArray]
Space = Callable[[Points], Rows]

HEADINGS: Final = (
    "surfaces", "needs", "rows", "cut", "by", "groups", "rows elsewhere", "vectorising s", "linkage s",
    "wall s", "CPU s", "peak MiB", "wall", "CPU", "peak",
)  # fmt: skip
LEFT: Final = 5  # headings of cells that are aligned to the left
WARMING: Final = DENSE_LIMIT + 500  # wordings, enough that the large way is taken
DIMENSIONS: Final = 384  # of a small sentence embedding model
BLOCK_ROWS: Final = 1_024
MEANING: Final = """
The last three columns are multiples of what ours takes. Rows elsewhere stand with other rows than in ours:
among clusters that are equally near each solver may take its own."""


class Case(NamedTuple):
    """What is clustered: a corpus, the space its rows are in, and where merging stops.

    Without needs it is one word with a number behind it, all of which share most of their trigrams.
    """

    surfaces: int
    concepts: int
    space: str
    cut: float
    by_mentions: bool = False


class Cost(NamedTuple):
    """Seconds, peak resident memory in MiB, and what came out."""

    cpu: float
    wall: float
    peak: float
    loading: float
    vectorising: float
    groups: IntArray


def default(points: Points) -> Rows:
    """Words, pairs and topic words beside trigrams."""
    return vectorize(points.contents, points.weights, points.sentence_shares)


def words(points: Points) -> Rows:
    """Plain TF-IDF of words."""
    return Rows(word_rows(points.contents, points.weights), sparse.csr_array((0, 0)))


class Chance:
    """Stands for a sentence embedder: a random vector for each word, added up, and one for the text.

    What rows of this length cost does not depend on what they mean. A model's own time is not in the figures.
    """

    name = "chance"
    digest = ""

    def __init__(self) -> None:
        self._words: dict[str, FloatArray] = {}

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """A vector a text, shape (n, 384)."""
        return np.array([self._vector(text) for text in texts])

    def _vector(self, text: str) -> FloatArray:
        total = 0.5 + 0.3 * drawn_vector(text)
        for word in text.split():
            if word not in self._words:
                self._words[word] = drawn_vector(word)
            total += self._words[word]
        return total


def drawn_vector(text: str) -> FloatArray:
    """A vector drawn by a text."""
    return np.random.default_rng(crc32(text.encode())).standard_normal(DIMENSIONS)


def ours(rows: Rows, weights: FloatArray, cut: float) -> IntArray:
    """Groups in linear memory."""
    return flat_groups(average_linkage(rows, weights, cut)[0], len(weights), cut)


def scikit_learn(rows: Rows, weights: FloatArray, cut: float) -> IntArray:  # noqa: ARG001 - it takes none
    """Groups from the full matrix, made by blocks: other metrics make more copies of it."""
    from sklearn.cluster import AgglomerativeClustering  # noqa: PLC0415 - others are measured without it

    distances = cosine_distances(rows.plain_terms(), rows.dense)
    np.fill_diagonal(distances, 0.0)
    model = AgglomerativeClustering(
        n_clusters=None, metric="precomputed", linkage="average", distance_threshold=cut
    )
    return np.asarray(model.fit_predict(distances), np.int64)


def fastcluster(rows: Rows, weights: FloatArray, cut: float) -> IntArray:  # noqa: ARG001 - it takes none
    """Groups from half the matrix, which is overwritten."""
    from scipy.cluster.hierarchy import fcluster  # noqa: PLC0415 - others are measured without it

    merges = import_module("fastcluster").linkage(_half(rows), "average", preserve_input=False)
    return np.asarray(fcluster(merges, np.nextafter(cut, 0.0), "distance"), np.int64)


def _half(rows: Rows) -> FloatArray:
    """Distances above the diagonal, row by row."""
    terms = rows.plain_terms()
    count = terms.shape[0]
    half = np.empty(count * (count - 1) // 2)
    filled = 0
    for start in range(0, count, BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        block = (terms[part] @ terms.T).toarray()
        if rows.dense is not None:
            block += rows.dense[part] @ rows.dense.T
        for number, row in enumerate(block, start=start):
            end = filled + count - number - 1
            half[filled:end] = np.maximum(1.0 - row[number + 1 :], 0.0)
            filled = end
    return half


def embedded(points: Points) -> Rows:
    """Words and contrasts beside vectors of a sentence embedder."""
    return blended_rows(points, Chance())


SPACES: Final[dict[str, Space]] = {"words": words, "default": default, "embedded": embedded}
SMALL: Final = [
    Case(20_000, 2_000, "words", 0.5),
    Case(20_000, 2_000, "default", 0.5),
    Case(20_000, 2_000, "embedded", 0.7),
    Case(20_000, 0, "default", 0.5),
]
LARGE: Final = [
    *(
        Case(100_000, 2_000, space, cut, by_mentions=True)
        for space in ("words", "default")
        for cut in (0.7, 0.9)
    ),
    Case(1_000_000, 20_000, "words", 0.5, by_mentions=True),
    Case(1_000_000, 20_000, "words", 0.7, by_mentions=True),
    Case(1_000_000, 20_000, "default", 0.7, by_mentions=True),
]


def write_records(path: Path, surfaces: int, concepts: int, by_mentions: bool) -> None:
    """Records that ask with so many distinct surfaces, one each or as often as they were drawn."""
    if not concepts:
        asking(f"deploy{number}" for number in range(surfaces)).write_parquet(path)
        return
    corpus = draw(surfaces, concepts, form=surface)
    times = corpus.mentions if by_mentions else [1] * surfaces
    asking(text for text, count in zip(corpus.texts, times, strict=True) for _ in range(count)).write_parquet(
        path
    )


def asking(needs: Iterable[str]) -> pl.DataFrame:
    """Records that ask for some needs, one each."""
    asked = pl.DataFrame({PHRASE_FIELDS[0]: list(needs)})
    return asked.with_columns(pl.lit(None, pl.String).alias(name) for name in PHRASE_FIELDS[1:])


def grouped(path: Path, case: Case, solve: Solve) -> Cost:
    """What the groups of some records cost, from the records on."""
    loading = time.perf_counter()
    solve(*_rows(asking(draw(WARMING, 200, form=surface).texts), SPACES[case.space]), case.cut)
    loading = time.perf_counter() - loading
    records = pl.read_parquet(path)
    wall, cpu = time.perf_counter(), time.process_time()
    rows, weights = _rows(records, SPACES[case.space])
    vectorising = time.perf_counter() - wall
    groups = solve(rows, weights, case.cut)
    seconds = time.process_time() - cpu, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Cost(*seconds, peak, loading, vectorising, groups)


def _rows(records: pl.DataFrame, space: Space) -> tuple[Rows, FloatArray]:
    points = points_of(records).with_texts(records)
    return space(points), points.weights


def in_a_process(work: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401 - whatever the work gives
    """What some work gives in a new process; None where that came to nothing, as for want of memory."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, work, arguments))
    process.start()
    sender.close()  # so that the end of the process is the end of the pipe
    try:
        given = receiver.recv()
    except EOFError:
        given = None
    process.join()
    return given


def _send(sender: Connection, work: Callable[..., Any], arguments: tuple[object, ...]) -> None:
    sender.send(work(*arguments))


def elsewhere(one: IntArray, other: IntArray) -> int:
    """Number of rows that two partitions put with different rows."""
    pair = one * (other.max() + 1) + other
    _, number, together = np.unique(pair, return_inverse=True, return_counts=True)
    same = (np.bincount(one)[one] == together[number]) & (np.bincount(other)[other] == together[number])
    return int(len(one) - same.sum())


def line(case: Case, name: str, cost: Cost, own: Cost) -> str:
    """One row of the table, with ratios to what ours costs."""
    cells = (
        f"{case.surfaces:,}",
        f"{case.concepts:,}",
        case.space,
        f"{case.cut}",
        name,
        f"{len(np.unique(cost.groups)):,}",
        f"{elsewhere(own.groups, cost.groups):,}",
        f"{cost.vectorising:.2f}",
        f"{cost.wall - cost.vectorising:.2f}",
        f"{cost.wall:.2f}",
        f"{cost.cpu:.2f}",
        f"{cost.peak:,.0f}",
        f"{cost.wall / own.wall:.1f}",
        f"{cost.cpu / own.cpu:.1f}",
        f"{cost.peak / own.peak:.1f}",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print a table: one row a case and solver."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=("small", "large"), default="small")
    large = parser.parse_args().size == "large"
    peers: dict[str, Solve] = {} if large else {"scikit-learn": scikit_learn}
    remarks = []
    if not large and find_spec("fastcluster"):
        peers["fastcluster"] = fastcluster
    elif not large:
        remarks.append("fastcluster is not installed: its rows are left out.")
    print(f"| {' | '.join(HEADINGS)} |\n|{':--|' * LEFT}{'--:|' * (len(HEADINGS) - LEFT)}")
    loading = []
    with tempfile.TemporaryDirectory() as folder:
        for case in LARGE if large else SMALL:
            path = Path(folder, f"{case.surfaces}-{case.concepts}.parquet")
            if not path.exists():
                in_a_process(write_records, path, case.surfaces, case.concepts, case.by_mentions)
            own = in_a_process(grouped, path, case, ours)
            for name, solve in {"ours": ours, **peers}.items():
                cost = own if solve is ours else in_a_process(grouped, path, case, solve)
                if own is None or cost is None:
                    remarks.append(f"{name} ended without groups of {case.surfaces:,} surfaces.")
                else:
                    print(line(case, name, cost, own), flush=True)
            loading += [own.loading] if own else []
    seconds = " / ".join(f"{once:.1f}" for once in loading)
    print("", *remarks, f"Loading, compiling and a small call, beforehand: {seconds} s.", MEANING, sep="\n")


if __name__ == "__main__":
    main()
