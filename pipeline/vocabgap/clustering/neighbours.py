"""Nearest clusters of sparse rows, found exactly through bounds on blocks of clusters.

A row is a combination of terms (`Rows`): x = its term weights, and the similarity of two clusters is x' G y,
with G the cosines between terms. For a query, t = G x is what each term would add for a unit of weight, and
as neither weights nor G are negative,

* no cluster of a block is more similar than t' m, with m the most that each term weighs in the block, and
* terms of trigrams with t <= eta together add at most eta times the largest sum of their weights in it.

So clusters are laid out by their weightiest terms, sixteen similar ones to a block, and an inverted index
tells of each term which blocks have it and how much of it they have at most (block-max pruning: Ding & Suel
2011; Mallia et al. 2024, arXiv 2405.01117, read such blocks best first, too). The best block is opened at
once, for it mostly shows how similar the nearest are; then those whose bound is not below that.
"""

import time
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import get_num_threads
from scipy import sparse

from vocabgap.clustering.blending import LISTED, Nearest, merged_rows
from vocabgap.clustering.kernels import (
    Blocks,
    Memory,
    Trigrams,
    Vectors,
    blocks_of,
    laid_out,
    search,
    search_alone,
)
from vocabgap.clustering.vectorizing import FloatArray, IntArray, Rows
from vocabgap.progress import tell

_FIRST_LOT: Final = 1_024  # queries searched for at once; between two lots Python answers a person
_LOT_SECONDS: Final = 0.25  # a shorter lot is followed by a larger one, one twice as long by a smaller one


class Shard(NamedTuple):
    """Some clusters of a space, those from a place on, as they are sent to where they are searched."""

    first: int
    floor: float
    order: IntArray
    vectors: Vectors
    trigrams: Trigrams


class Asked(NamedTuple):
    """Some clusters whose neighbours are searched for, with what is known of these: see `Neighbours`.

    For each query similarities up to its floor do not matter, as it has a nearer neighbour elsewhere.
    """

    places: IntArray
    vectors: Vectors
    known: npt.NDArray[np.int32]
    bounds: FloatArray
    floors: FloatArray


class SparseNeighbours:
    """The clusters of a round, as sums of rows, and the search for the nearest."""

    def __init__(self, rows: Rows, chosen: IntArray, weights: FloatArray, floor: float) -> None:
        """Clusters of one chosen row each, with its weight; similarities up to `floor` do not matter."""
        chosen_rows = rows.term_weights[chosen]
        frequency = np.bincount(chosen_rows.indices, minlength=chosen_rows.shape[1])
        # A dimension that only one row has takes no part in any similarity.
        frequency[: rows.own][frequency[: rows.own] == 1] = 0
        # Terms are numbered from the rarest on, so that scores of frequent ones lie together in memory; those
        # that no row has are left out.
        rarest = np.argsort(frequency, kind="stable")
        rarest = rarest[(frequency[rarest] > 0) | (rarest >= rows.own)]
        number = np.full(len(frequency), -1, np.int32)
        number[rarest] = np.arange(len(rarest), dtype=np.int32)
        self._floor = floor
        self._trigrams = _trigrams(rows, rarest)
        terms = number[chosen_rows.indices]
        kept = (terms >= 0) & (chosen_rows.data > 0.0)  # the loops take what is not zero for seen
        ends = np.concatenate([[0], np.cumsum(kept)])
        chosen_rows = sparse.csr_array(
            (chosen_rows.data[kept], terms[kept], ends[chosen_rows.indptr]), shape=(len(chosen), len(rarest))
        )
        chosen_rows.sort_indices()
        chosen_rows.data *= np.repeat(weights, np.diff(chosen_rows.indptr))
        self._sums = chosen_rows
        self.weights = weights
        self.order = chosen

    def search(
        self,
        queries: IntArray,
        known: npt.NDArray[np.int32],
        bounds: FloatArray,
        limits: npt.NDArray[np.float32] | None = None,
    ) -> Nearest:
        """See `Neighbours`; blocks are only read where what is known does not do."""
        nearest = Nearest.unknown(len(queries))
        vectors = self._vectors()
        laid, place = _layout(vectors, self._trigrams)
        vectors = _rows_of(vectors, laid)
        blocks = Blocks(*blocks_of(*vectors, len(laid), self._trigrams.start))
        memory = _memory(get_num_threads(), vectors, self._trigrams, blocks)
        queries, known, order = place[queries].astype(np.int64), place[known], self.order[laid]
        floors = np.full(len(queries), self._floor)
        limits = _unlimited(known) if limits is None else limits
        done, lot = 0, _FIRST_LOT
        while done < len(queries):
            part = slice(done, done + lot)
            tell("wordings compared", done, len(queries))
            began = time.perf_counter()
            search(
                queries[part],
                known[part],
                limits[part],
                bounds[part],
                floors[part],
                order,
                vectors,
                self._trigrams,
                blocks,
                memory,
                nearest.listed[part],
                nearest.limits[part],
                nearest.similarity[part],
                nearest.bound[part],
            )
            done += lot
            seconds = time.perf_counter() - began
            if seconds < _LOT_SECONDS:
                lot *= 2
            elif seconds > 2.0 * _LOT_SECONDS:
                lot = max(1, lot // 2)
        nearest.listed = np.where(nearest.listed >= 0, laid[nearest.listed], -1)
        return nearest

    def merge(self, kept: IntArray, partner: IntArray) -> None:
        """See `Neighbours`."""
        self._sums = merged_rows(self._sums, kept, partner)
        self.weights = self.weights[kept] + np.where(partner >= 0, self.weights[partner], 0.0)
        self.order = np.where(
            partner >= 0, np.minimum(self.order[kept], self.order[partner]), self.order[kept]
        )

    def shards(self, size: int) -> Iterator["Shard"]:
        """The clusters by so many, to be searched elsewhere."""
        vectors = self._vectors()
        for first in range(0, len(self.weights), size):
            part = np.arange(first, min(first + size, len(self.weights)))
            yield Shard(first, self._floor, self.order[part], _rows_of(vectors, part), self._trigrams)

    def asked(self, queries: IntArray, known: npt.NDArray[np.int32], bounds: FloatArray) -> "Asked":
        """What a search asks, for shards."""
        return Asked(queries, _rows_of(self._vectors(), queries), known, bounds, np.zeros(len(queries)))

    def _vectors(self) -> Vectors:
        start = self._sums.indptr.astype(np.int64)
        term_weights = self._sums.data / np.repeat(self.weights, np.diff(start))
        return Vectors(start, self._sums.indices.astype(np.int32), term_weights)


def _trigrams(rows: Rows, terms: IntArray) -> Trigrams:
    """The trigrams of some terms; those that are dimensions themselves have none."""
    none = sparse.csr_array((rows.own, rows.grams.shape[1]))
    grams = sparse.csr_array(sparse.vstack([none, rows.grams], format="csr")[terms])
    by_gram = sparse.csr_array(grams.T)
    return Trigrams(
        grams.indptr.astype(np.int64),
        grams.indices.astype(np.int32),
        grams.data,
        by_gram.indptr.astype(np.int64),
        by_gram.indices.astype(np.int32),
        by_gram.data,
    )


def search_shard(shard: Shard, asked: Asked) -> Nearest:
    """What some clusters are near to within a shard; on one thread, and others may run beside it."""
    count, last = len(shard.order), shard.first + len(shard.order)
    laid, place = _layout(shard.vectors, shard.trigrams)
    # A query from elsewhere stands behind the clusters of the shard, and in no block.
    inside = (asked.places >= shard.first) & (asked.places < last)
    elsewhere = count + np.arange(len(asked.places))
    queries = np.where(inside, place[np.where(inside, asked.places - shard.first, 0)], elsewhere)
    known = np.where((asked.known >= shard.first) & (asked.known < last), asked.known - shard.first, -1)
    vectors = _rows_of(shard.vectors, laid)
    both = Vectors(
        np.concatenate([vectors.start, vectors.start[-1] + asked.vectors.start[1:]]),
        np.concatenate([vectors.terms, asked.vectors.terms]),
        np.concatenate([vectors.weights, asked.vectors.weights]),
    )
    blocks = Blocks(*blocks_of(*both, count, shard.trigrams.start))
    nearest = Nearest.unknown(len(queries))
    search_alone(
        queries,
        place[known],
        _unlimited(known),
        asked.bounds,
        np.maximum(asked.floors, shard.floor),
        shard.order[laid],
        both,
        shard.trigrams,
        blocks,
        _memory(1, both, shard.trigrams, blocks),
        nearest.listed,
        nearest.limits,
        nearest.similarity,
        nearest.bound,
    )
    nearest.listed = np.where(nearest.listed >= 0, laid[nearest.listed] + shard.first, -1)
    return nearest


def _unlimited(known: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
    return np.full(known.shape, np.inf, np.float32)


def _layout(vectors: Vectors, trigrams: Trigrams) -> tuple[IntArray, npt.NDArray[np.int32]]:
    """An order of clusters that sets similar ones together, and the place of each in it; at last, of none."""
    spread = np.log1p(np.bincount(vectors.terms, minlength=len(trigrams.start) - 1))
    laid = np.argsort(laid_out(*vectors, spread), kind="stable")
    place = np.full(len(laid) + 1, -1, np.int32)
    place[laid] = np.arange(len(laid), dtype=np.int32)
    return laid, place


def _memory(threads: int, vectors: Vectors, trigrams: Trigrams, blocks: Blocks) -> Memory:
    terms, grams = len(trigrams.start) - 1, len(trigrams.gram_start) - 1
    return Memory.of(threads, terms, grams, len(blocks.trigram_parts), len(vectors.start) - 1, LISTED)


def _rows_of(vectors: Vectors, rows: IntArray) -> Vectors:
    """Some of the rows, in the given order."""
    lengths = vectors.start[rows + 1] - vectors.start[rows]
    start = np.concatenate([[0], np.cumsum(lengths)])
    entries = np.repeat(vectors.start[rows] - start[:-1], lengths) + np.arange(start[-1])
    return Vectors(start, vectors.terms[entries], vectors.weights[entries])
