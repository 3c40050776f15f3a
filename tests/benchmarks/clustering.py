"""What clustering costs, beside the same groups from scikit-learn and fastcluster.

What is timed begins with records and ends with groups: normalising, vectorising, linkage and cut. The search
for the nearest of each wording, which linkage begins with, also stands alone, beside sparse_dot_topn.
Everyone is handed the same rows, and is called once on a small corpus first, so that loading and compiling
are not in the figures. Only ours can hold a hundred thousand wordings and more.
"""

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import chain, product, repeat
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np
import polars as pl
from scipy import sparse

from benchmarks.measuring import Cost, Row, Work, cost_of
from benchmarks.wordings import CORPORA, draw
from vocabgap.clustering.blending import blended_rows
from vocabgap.clustering.cutting import flat_groups, linkage_table
from vocabgap.clustering.vectorizing import vectorize, word_rows
from vocabgap.clustering.wordings import Points, points_of
from vocabgap.linkage import FloatArray, IntArray, Rows, dendrogram_of
from vocabgap.linkage.agglomeration import DENSE_LIMIT
from vocabgap.linkage.blocks import SparseNeighbours
from vocabgap.linkage.rows import cosine_distances
from vocabgap.model.record import PHRASE_FIELDS
from vocabgap.text import surface

Solve = Callable[[Rows, FloatArray, float], IntArray]
Space = Callable[[Points], Rows]

WARMING: Final = DENSE_LIMIT + 500  # wordings, enough that the large way is taken
DIMENSIONS: Final = 384  # of a small sentence embedding model
BLOCK_ROWS: Final = 1_024
LEAST_SIMILARITY: Final = 0.3  # that is searched for
SEARCHED: Final = {  # wordings, needs, corpus
    "small": [*product([20_000], [2_000, 10_000], CORPORA)],
    "large": [*product([100_000], [2_000, 10_000, 50_000], CORPORA)],
    "huge": [*product([100_000], [10_000, 50_000], CORPORA)],
}
SIZE: Final = "{:,} wordings, {:,} needs, {}"


class Case(NamedTuple):
    """What is clustered: a corpus, the space its rows are in, and where merging stops.

    Without needs it is one word with a number behind it, all of which share most of their trigrams. With
    peers each wording counts once, for they know no weights.
    """

    wordings: int
    needs: int
    space: str
    cut: float
    corpus: str = "easy"
    peers: bool = True


def default(points: Points) -> Rows:
    """Words, pairs and topic words beside trigrams."""
    return vectorize(points.contents, points.sentence_shares)


def words(points: Points) -> Rows:
    """Plain TF-IDF of words."""
    return Rows(word_rows(points.contents))


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
    merges, _ = dendrogram_of(rows, weights, cut)
    return flat_groups(linkage_table(*merges), len(weights), cut)


def scikit_learn(rows: Rows, weights: FloatArray, cut: float) -> IntArray:  # noqa: ARG001 - it takes none
    """Groups from the full matrix, made by blocks: other metrics make more copies of it."""
    from sklearn.cluster import AgglomerativeClustering  # noqa: PLC0415 - others are measured without it

    distances = cosine_distances(rows)
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
PEERS: Final[dict[str, Solve]] = {"scikit-learn": scikit_learn, "fastcluster": fastcluster}
CASES: Final = {
    "small": [
        Case(4_000, 400, "words", 0.5),
        Case(4_000, 400, "default", 0.5),
        Case(4_000, 400, "embedded", 0.7),
        Case(4_000, 0, "default", 0.5),
        *(Case(20_000, 10_000, "default", 0.7, corpus, peers=False) for corpus in CORPORA),
    ],
    "large": [
        Case(20_000, 2_000, "words", 0.5),
        Case(20_000, 2_000, "default", 0.5),
        Case(20_000, 10_000, "default", 0.5, "logs"),
        Case(20_000, 2_000, "embedded", 0.7),
        Case(20_000, 10_000, "embedded", 0.7, "logs"),
        Case(20_000, 0, "default", 0.5),
        *(
            Case(100_000, needs, "default", 0.7, corpus, peers=False)
            for needs in (2_000, 10_000, 50_000)
            for corpus in CORPORA
        ),
        *(Case(100_000, 2_000, space, 0.9, peers=False) for space in ("words", "default")),
    ],
    "huge": [
        *(Case(100_000, 50_000, "default", 0.7, corpus, peers=False) for corpus in CORPORA),
        Case(1_000_000, 10_000, "default", 0.7, peers=False),
    ],
}


def write_records(path: Path, case: Case) -> None:
    """Records that ask with so many distinct surfaces, one each or as often as they were drawn."""
    if not case.needs:
        asking(f"deploy{number}" for number in range(case.wordings)).write_parquet(path)
        return
    drawn = CORPORA[case.corpus](case.wordings, case.needs, form=surface)
    times = [1] * case.wordings if case.peers else drawn.mentions
    asking(chain.from_iterable(map(repeat, drawn.texts, times))).write_parquet(path)


def asking(needs: Iterable[str]) -> pl.DataFrame:
    """Records that ask for some needs, one each."""
    asked = pl.DataFrame({PHRASE_FIELDS[0]: list(needs)})
    return asked.with_columns(pl.lit(None, pl.String).alias(name) for name in PHRASE_FIELDS[1:])


def grouping(path: Path, case: Case, solve: Solve) -> Work:
    """Groups the records of a file; tells the groups and the seconds of vectorising."""
    solve(*_rows(asking(draw(WARMING, 200, form=surface).texts), SPACES[case.space]), case.cut)
    records = pl.read_parquet(path)

    def work() -> tuple[IntArray, float]:
        start = time.perf_counter()
        rows, weights = _rows(records, SPACES[case.space])
        vectorising = time.perf_counter() - start
        return solve(rows, weights, case.cut), vectorising

    return work


def _rows(records: pl.DataFrame, space: Space) -> tuple[Rows, FloatArray]:
    points = points_of(records).with_texts()
    return space(points), points.weights


def nearest_of(
    wordings: int, needs: int, corpus: str, search: Callable[[Rows, FloatArray], FloatArray]
) -> Work:
    """Searches for the nearest of each wording; gives how similar it is, shape (n,)."""
    search(*_rows(asking(draw(WARMING, 200, form=surface).texts), default))
    drawn = CORPORA[corpus](wordings, needs, form=surface)
    return partial(search, *_rows(asking(drawn.texts), default))


def by_blocks(rows: Rows, weights: FloatArray) -> FloatArray:
    """Ours, which also lists what is nearly as near."""
    count = len(weights)
    space = SparseNeighbours(rows, np.arange(count), weights, LEAST_SIMILARITY)
    none = np.zeros((count, 0), np.int32)
    return space.search(
        np.arange(count), none, np.full(count, np.inf), none.astype(np.float32)
    ).similarity


def by_products(rows: Rows, weights: FloatArray) -> FloatArray:  # noqa: ARG001 - it takes none
    """The best two of each product, of which one is the wording itself."""
    topn = import_module("sparse_dot_topn").sp_matmul_topn
    terms = sparse.csr_matrix(rows.plain_terms())
    best = topn(
        terms, sparse.csr_matrix(terms.T), top_n=2, threshold=LEAST_SIMILARITY, n_threads=2
    ).tolil()
    best.setdiag(LEAST_SIMILARITY)
    return np.asarray(best.tocsr().max(axis=1).todense()).ravel()


def searching(wordings: int, needs: int, corpus: str) -> Iterator[Row]:
    """One row: what both find is the same, but for rounding."""
    case = wordings, needs, corpus
    cost = cost_of(nearest_of, *case, by_blocks)
    peer: tuple[str, Cost | None] = ("", None)
    note = ""
    if find_spec("sparse_dot_topn"):
        peer = "sparse_dot_topn", cost_of(nearest_of, *case, by_products)
        assert peer[1] is not None
        note = f"similarities differ by {np.abs(cost.outcome - peer[1].outcome).max():.0e} at most"
    yield Row("nearest of each, default", SIZE.format(*case), cost, *peer, note)


def elsewhere(one: IntArray, other: IntArray) -> int:
    """Number of rows that two partitions put with different rows."""
    pair = one * (other.max() + 1) + other
    _, number, together = np.unique(pair, return_inverse=True, return_counts=True)
    same = (np.bincount(one)[one] == together[number]) & (
        np.bincount(other)[other] == together[number]
    )
    return int(len(one) - same.sum())


def rows(size: str) -> Iterator[Row]:
    """One row a case and peer, and one of the search alone."""
    for searched in SEARCHED[size]:
        yield from searching(*searched)
    peers = {
        name: solve for name, solve in PEERS.items() if name != "fastcluster" or find_spec(name)
    }
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES[size]:
            path = Path(folder, f"{case.wordings}-{case.needs}-{case.corpus}-{case.peers}.parquet")
            if not path.exists():
                cost_of(partial, write_records, path, case)
            cost = cost_of(grouping, path, case, ours)
            groups, vectorising = cost.outcome
            what = f"cluster, {case.space}, cut at {case.cut}"
            of = SIZE.format(case.wordings, case.needs, case.corpus)
            note = f"{groups.max() + 1:,} groups, vectorising {vectorising:.2f} s"
            if not case.peers:
                yield Row(what, of, cost, note=note)
                continue
            for name, solve in peers.items():
                beside = cost_of(grouping, path, case, solve)
                # Among clusters that are equally near each solver may take its own.
                others = f"; {elsewhere(groups, beside.outcome[0]):,} rows elsewhere"
                yield Row(what, of, cost, name, beside, note + others)
