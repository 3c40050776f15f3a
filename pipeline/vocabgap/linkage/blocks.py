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
from typing import Final

import numpy as np
from scipy import sparse

from vocabgap.linkage.kernels import Blocks, Memory, Trigrams, Vectors, blocks_of, layout_keys, search
from vocabgap.linkage.neighbours import LISTED, Limits, Nearest, Neighbours, Places
from vocabgap.linkage.rows import FloatArray, IntArray, Rows, usable_cpus
from vocabgap.progress import tell

QUERIES_AT_ONCE: Final = 2_048  # Ctrl-C and progress wait for the end of a call


class SparseNeighbours(Neighbours):
    """Clusters of sparse rows: see the module."""

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
        terms = number[chosen_rows.indices]
        kept = (terms >= 0) & (chosen_rows.data > 0.0)  # the loops treat a term with weight 0 as new
        ends = np.concatenate([[0], np.cumsum(kept)])
        sums = sparse.csr_array(
            (chosen_rows.data[kept], terms[kept], ends[chosen_rows.indptr]), shape=(len(chosen), len(rarest))
        )
        sums.sort_indices()
        sums.data *= np.repeat(weights, np.diff(sums.indptr))
        super().__init__(sums, np.zeros((len(chosen), 0)), weights, chosen, floor)
        self._trigrams = _trigrams(rows, rarest)
        self._blocks: Blocks | None = None

    def search(self, queries: IntArray, candidates: Places, bounds: FloatArray, limits: Limits) -> Nearest:
        """See `Neighbours`."""
        ends = self._sums.indptr.astype(np.int64)
        term_weights = self._sums.data / np.repeat(self.weights, np.diff(ends))
        vectors = Vectors(ends, self._sums.indices.astype(np.int32), term_weights)
        # Blocks of an earlier round are used until too few of their clusters are left.
        if self._blocks is None or len(self.order) < 0.8 * len(self._blocks.members):
            self._blocks = _blocks(vectors, self._trigrams)
        blocks, nearest = self._blocks, Nearest.unknown(len(queries))
        sizes = len(self._trigrams.start) - 1, len(self._trigrams.gram_start) - 1, len(blocks.trigram_parts)
        threads = usable_cpus()
        memories = [Memory.of(*sizes, len(self.order), LISTED) for _ in range(threads)]

        def answer(rows: IntArray, memory: Memory) -> None:
            search(
                *(rows, queries, candidates, limits, bounds, self._floor),
                *(self.order, vectors, self._trigrams, blocks, memory),
                *(nearest.listed, nearest.limits, nearest.similarity, nearest.bound),
            )

        # Queries that are close to each other read the same memory.
        held = blocks.members >= 0
        place = np.empty(len(self.order), np.int32)
        place[blocks.members[held]] = np.flatnonzero(held)
        rows = np.argsort(place[queries])
        with ThreadPoolExecutor(threads) as pool:
            for start in range(0, len(queries), QUERIES_AT_ONCE):
                tell("wordings compared", start, len(queries))
                some = rows[start : start + QUERIES_AT_ONCE]
                list(pool.map(answer, (some[number::threads] for number in range(threads)), memories))
        return nearest

    def merge(self, kept: IntArray, partner: IntArray) -> None:
        """See `Neighbours`. A merged cluster becomes a member of the blocks of its parts."""
        if self._blocks is not None:
            place = np.full(len(self.order) + 1, -1, np.int32)  # the last one is for "none"
            place[kept] = np.arange(len(kept), dtype=np.int32)
            place[partner[partner >= 0]] = place[kept[partner >= 0]]
            self._blocks = self._blocks._replace(members=place[self._blocks.members])
        super().merge(kept, partner)


def _trigrams(rows: Rows, terms: IntArray) -> Trigrams:
    none = sparse.csr_array((rows.n_unspelt, rows.grams.shape[1]))  # dimensions have no trigrams
    grams = sparse.csr_array(sparse.vstack([none, rows.grams], format="csr")[terms])
    arrays = (
        array
        for matrix in (grams, sparse.csr_array(grams.T))
        for array in (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data)
    )
    return Trigrams(*arrays)


def _blocks(vectors: Vectors, trigrams: Trigrams) -> Blocks:
    """Arrange clusters in blocks so that those of a block are similar."""
    spread = np.log1p(np.bincount(vectors.terms, minlength=len(trigrams.start) - 1))
    members = np.argsort(layout_keys(*vectors, spread), kind="stable").astype(np.int32)
    return Blocks(members, *blocks_of(*vectors, members, trigrams.start))
