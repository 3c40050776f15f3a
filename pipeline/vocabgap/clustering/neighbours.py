"""Exact search for the nearest clusters of sparse rows, with bounds on blocks of clusters.

A row is a combination of terms (`Rows`). Let x and y be the term weights of two clusters, and G the cosines
between terms. Their similarity is x' G y. For a query x, t = G x is the score of each term. Neither weights
nor G are negative. So

* no cluster of a block is more similar than t' m, if m is the largest weight of each term in the block;
* spelt terms with t <= limit add at most `limit` times the largest sum of their weights in the block. That
  sum includes the weights of all other spelt terms. So these terms add only what t exceeds the limit by.

Clusters are ordered by their heaviest terms, and consecutive clusters make a block. An inverted index
lists the blocks of each term with its largest weight there (block-max pruning: Ding & Suel 2011; Mallia et
al. 2024, arXiv 2405.01117, also read such blocks best first). The best block is opened first: it shows how
similar the nearest clusters are. Then all blocks are opened whose bound is not below that.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from vocabgap.clustering import usable_cpus
from vocabgap.clustering.blending import LISTED, Nearest, merged_rows
from vocabgap.clustering.kernels import Blocks, Memory, Trigrams, Vectors, blocks_of, layout_keys, search
from vocabgap.clustering.vectorizing import FloatArray, IntArray, Rows
from vocabgap.progress import tell

_REUSED_FROM: Final = 0.8  # while this share of its clusters is left, an earlier round's blocks are used
_LOT: Final = 2_048  # queries of one call; Ctrl-C and progress wait for the end of a call


class SparseNeighbours:
    """The clusters of a round as sums of `chosen` rows, and the search for the nearest.

    Similarities up to `floor` do not matter. Of equally near clusters the one with the smallest `order` comes
    first.
    """

    def __init__(self, rows: Rows, chosen: IntArray, weights: FloatArray, floor: float) -> None:
        chosen_rows = rows.term_weights[chosen]
        frequency = np.bincount(chosen_rows.indices, minlength=chosen_rows.shape[1])
        # A dimension of a single row adds to no similarity.
        frequency[: rows.n_unspelt][frequency[: rows.n_unspelt] == 1] = 0
        # Terms are numbered from rare to frequent, so that scores of frequent terms are together in memory.
        # Terms that no row has are left out.
        rarest = np.argsort(frequency, kind="stable")
        rarest = rarest[(frequency[rarest] > 0) | (rarest >= rows.n_unspelt)]
        number = np.full(len(frequency), -1, np.int32)
        number[rarest] = np.arange(len(rarest), dtype=np.int32)
        self._floor = floor
        self._trigrams = _trigrams(rows, rarest)
        terms = number[chosen_rows.indices]
        kept = (terms >= 0) & (chosen_rows.data > 0.0)  # the loops treat a term with weight 0 as new
        ends = np.concatenate([[0], np.cumsum(kept)])
        chosen_rows = sparse.csr_array(
            (chosen_rows.data[kept], terms[kept], ends[chosen_rows.indptr]), shape=(len(chosen), len(rarest))
        )
        chosen_rows.sort_indices()
        chosen_rows.data *= np.repeat(weights, np.diff(chosen_rows.indptr))
        self._sums = chosen_rows
        self._blocks: Blocks | None = None
        self.weights = weights
        self.order = chosen

    def search(
        self,
        queries: IntArray,
        candidates: npt.NDArray[np.int32],
        bounds: FloatArray,
        limits: npt.NDArray[np.float32] | None = None,
    ) -> Nearest:
        """Find the nearest clusters, exactly; search the blocks only if the candidates are not enough.

        Args:
            queries: Distinct places of the clusters to search for, shape (q,).
            candidates: Places of likely neighbours, shape (q, any number); negative for none.
            bounds: Bounds on the similarity of all clusters that are no candidates, shape (q,).
            limits: Bounds on the similarity of each candidate, shape (q, any number); overwritten.
        """
        vectors = self._vectors()
        blocks = self._current_blocks(vectors)
        limits = _unlimited(candidates) if limits is None else limits
        floors = np.full(len(queries), self._floor)
        searching = _Searching(vectors, blocks, self.order, self._trigrams, usable_cpus())
        nearest = Nearest.unknown(len(queries))
        # Queries that are close to each other read the same memory.
        held = blocks.members >= 0
        place = np.empty(len(self.order), np.int32)
        place[blocks.members[held]] = np.flatnonzero(held)
        rows = np.argsort(place[queries])
        for done in range(0, len(queries), _LOT):
            tell("wordings compared", done, len(queries))
            searching.run(rows[done : done + _LOT], (queries, candidates, limits, bounds, floors), nearest)
        return nearest

    def merge(self, kept: IntArray, partner: IntArray) -> None:
        """Keep some clusters in the given order, each merged with its partner unless that is negative."""
        self._sums = merged_rows(self._sums, kept, partner)
        if self._blocks is not None:
            place = np.full(len(self.order) + 1, -1, np.int32)  # the last one is for "none"
            place[kept] = np.arange(len(kept), dtype=np.int32)
            place[partner[partner >= 0]] = place[kept[partner >= 0]]
            self._blocks = self._blocks._replace(members=place[self._blocks.members])
        self.weights = self.weights[kept] + np.where(partner >= 0, self.weights[partner], 0.0)
        self.order = np.where(
            partner >= 0, np.minimum(self.order[kept], self.order[partner]), self.order[kept]
        )

    def _current_blocks(self, vectors: Vectors) -> Blocks:
        """Return the blocks of an earlier round unless too few clusters are left."""
        if self._blocks is None or len(self.order) < _REUSED_FROM * len(self._blocks.members):
            self._blocks = _blocks(vectors, self._trigrams)
        return self._blocks

    def _vectors(self) -> Vectors:
        start = self._sums.indptr.astype(np.int64)
        term_weights = self._sums.data / np.repeat(self.weights, np.diff(start))
        return Vectors(start, self._sums.indices.astype(np.int32), term_weights)


def _trigrams(rows: Rows, terms: IntArray) -> Trigrams:
    none = sparse.csr_array((rows.n_unspelt, rows.grams.shape[1]))  # dimensions have no trigrams
    grams = sparse.csr_array(sparse.vstack([none, rows.grams], format="csr")[terms])
    arrays = (
        array
        for matrix in (grams, sparse.csr_array(grams.T))
        for array in (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data)
    )
    return Trigrams(*arrays)


class _Searching:
    """A search for members of blocks, in threads that share the queries."""

    def __init__(
        self, vectors: Vectors, blocks: Blocks, order: IntArray, trigrams: Trigrams, threads: int
    ) -> None:
        sizes = (
            len(trigrams.start) - 1,
            len(trigrams.gram_start) - 1,
            len(blocks.trigram_parts),
            len(vectors.start) - 1,
        )
        self._space = (order, vectors, trigrams, blocks)
        self._memories = [Memory.of(*sizes, LISTED) for _ in range(threads)]

    def run(self, rows: IntArray, asked: tuple[npt.NDArray[Any], ...], nearest: Nearest) -> None:
        """Search for the queries in some rows, given with their candidates, limits, bounds and floors."""
        filled = (nearest.listed, nearest.limits, nearest.similarity, nearest.bound)
        threads = len(self._memories)

        def answer(number: int) -> None:
            search(rows[number::threads], *asked, *self._space, self._memories[number], *filled)

        if threads == 1:
            answer(0)
            return
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(answer, range(threads)))


def _unlimited(candidates: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
    return np.full(candidates.shape, np.inf, np.float32)


def _blocks(vectors: Vectors, trigrams: Trigrams) -> Blocks:
    """Arrange clusters in blocks so that those of a block are similar."""
    spread = np.log1p(np.bincount(vectors.terms, minlength=len(trigrams.start) - 1))
    members = np.argsort(layout_keys(*vectors, spread), kind="stable").astype(np.int32)
    return Blocks(members, *blocks_of(*vectors, members, trigrams.start))
