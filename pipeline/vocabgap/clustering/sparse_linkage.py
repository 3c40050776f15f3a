"""Average linkage on cosine distance, weighted by mentions, in memory linear in the number of rows.

Average linkage is reducible: no merge brings a cluster nearer to a third than the nearer of its parts was.
So all pairs of clusters that are each other's nearest can be merged at once, round by round, and the
dendrogram is that of merging one pair at a time (reciprocal agglomerative clustering, Sumengen et al. 2021,
arXiv 2105.11653). For the same reason a cluster without a neighbour below the limit is finished, and a list
of the nearest clusters, with a bound on all others, stays true through the merges of others; only where the
best of a list falls to its bound are the neighbours searched for again.

Among equally near clusters the one that holds the smallest row goes first. Similarities are compared in
steps of 1e-12, so that rounding seldom decides, and are worked out the same way on any number of threads.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from vocabgap.clustering.arrays import FloatArray, IntArray
from vocabgap.clustering.neighbours import BlendedNeighbours, Nearest, SparseNeighbours
from vocabgap.clustering.vectorizing import Rows


@dataclass(frozen=True)
class Merges:
    """Merges, parts before wholes: cluster `keep[i]` takes in `drop[i]` at `height[i]`.

    A cluster is named by its smallest row.
    """

    keep: IntArray
    drop: IntArray
    height: FloatArray


class Neighbours(Protocol):
    """What a feature space must be able to do: find the nearest clusters, and merge."""

    weights: FloatArray
    order: IntArray

    def search(self, queries: IntArray, known: npt.NDArray[np.int32], bounds: FloatArray) -> Nearest:
        """The nearest clusters of some."""

    def merge(self, kept: IntArray, partner: IntArray) -> None:
        """Keep some clusters, each merged with its partner unless that is negative."""


def average_linkage(rows: Rows, weights: FloatArray, limit: float) -> Merges:
    """All merges of weighted average linkage strictly below a height.

    Args:
        rows: Rows of unit length, or zero, not negative.
        weights: Weight of each row, shape (n,), positive.
        limit: Cosine distance, 0 to 1, at which merging stops.
    """
    first = first_equals(rows)
    same = np.flatnonzero(first != np.arange(len(first)))
    single = np.flatnonzero(first == np.arange(len(first)))
    together = np.asarray(np.bincount(first, weights, len(first))[single], np.float64)
    # Rows that share frequent terms stand together, so that what is read together lies together in memory.
    single_order = _by_frequent_terms(rows, single)
    of_rows = SparseNeighbours if rows.dense is None else BlendedNeighbours
    space = of_rows(rows, single[single_order], together[single_order], 1.0 - limit)
    linked = link(space)
    return Merges(
        np.concatenate([first[same], linked.keep]),
        np.concatenate([same, linked.drop]),
        np.concatenate([np.zeros(len(same)), linked.height]),
    )


def link(space: Neighbours) -> Merges:
    """All merges of the clusters of a space whose similarity is above its floor."""
    count = len(space.weights)
    heights = np.zeros(count)
    nearest = Nearest.unknown(count)
    queries, known, bounds = np.arange(count), np.zeros((count, 0), dtype=np.int32), np.full(count, np.inf)
    keeps, drops, levels = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    while count > 1:
        if len(queries):
            found = space.search(queries, known, bounds)
            nearest.listed[queries] = found.listed
            nearest.similarity[queries] = found.similarity
            nearest.bound[queries] = found.bound
        one, other = _reciprocal(nearest, space.order)
        if not len(one):
            break
        level = np.maximum(1.0 - nearest.similarity[one], np.maximum(heights[one], heights[other]))
        keeps.append(space.order[one])
        drops.append(space.order[other])
        levels.append(level)
        heights[one] = level

        partner = np.full(count, -1)
        partner[one] = other
        into = nearest.listed[:, 0].astype(np.int64)
        merged = np.zeros(count, dtype=bool)
        merged[one] = merged[other] = True
        stays = into >= 0
        stale = merged | merged[into]
        stays[one] = True  # also where only the other side saw its neighbour above the floor
        stays[other] = False
        kept = np.flatnonzero(stays)
        place = np.full(count + 1, -1, dtype=np.int32)  # and the last for "none"
        place[kept] = np.arange(len(kept), dtype=np.int32)
        place[other] = place[one]

        queries = np.flatnonzero(stale[kept])
        parts = kept[queries]
        others = partner[parts]
        known = place[nearest.listed[parts]]
        if len(others):
            more = place[nearest.listed[others]]
            more[others < 0] = -1
            known = np.concatenate([known, more], axis=1)
        bounds = nearest.bound[parts].copy()
        two = others >= 0
        share = space.weights[parts[two]] / (space.weights[parts[two]] + space.weights[others[two]])
        bounds[two] = share * bounds[two] + (1.0 - share) * nearest.bound[others[two]]

        space.merge(kept, partner[kept])
        nearest = Nearest(place[nearest.listed[kept]], nearest.similarity[kept], nearest.bound[kept])
        heights = heights[kept]
        count = len(kept)
    return Merges(np.concatenate(keeps), np.concatenate(drops), np.concatenate(levels))


def _reciprocal(nearest: Nearest, order: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs of clusters that are each other's nearest, the one with the smaller row first."""
    into = nearest.listed[:, 0].astype(np.int64)
    place = np.arange(len(into))
    mutual = (into >= 0) & (into[into] == place) & (order < order[into])
    one = np.flatnonzero(mutual)
    if not len(one) and (into >= 0).any():
        # Rounding has closed a circle of equally near ones; the nearest pair of all is always right.
        linked = np.flatnonzero(into >= 0)
        best = linked[np.lexsort((order[linked], -nearest.similarity[linked]))[0]]
        pair = np.array([best, into[best]])
        one, other = pair[np.argsort(order[pair])]
        return np.array([one]), np.array([other])
    return one, into[one]


def first_equals(rows: Rows) -> IntArray:
    """The first row that is equal to each; a row of zeros has no equal, being near to nothing."""
    start, terms, data = rows.loads.indptr, rows.loads.indices, rows.loads.data
    dense = np.zeros((rows.loads.shape[0], 0)) if rows.dense is None else rows.dense
    seen: dict[tuple[bytes, bytes, bytes], int] = {}
    first = np.arange(rows.loads.shape[0])
    for number in np.flatnonzero(np.diff(start)).tolist():
        part = slice(start[number], start[number + 1])
        row = terms[part].tobytes(), data[part].tobytes(), dense[number].tobytes()
        first[number] = seen.setdefault(row, number)
    return first


def _by_frequent_terms(rows: Rows, chosen: IntArray) -> IntArray:
    """An order of rows that sets those together that share their most frequent terms."""
    loads = rows.loads[chosen]
    frequency = np.bincount(loads.indices, minlength=loads.shape[1])
    rank = np.empty(len(frequency), dtype=np.int32)
    rank[np.argsort(-frequency, kind="stable")] = np.arange(len(frequency), dtype=np.int32)
    keys = [np.full(len(chosen), len(frequency), dtype=np.int32) for _ in range(4)]
    ranks = rank[loads.indices]
    held = np.flatnonzero(np.diff(loads.indptr))
    for key in keys:
        # The most frequent term left of each row, one after the other.
        if len(held):
            key[held] = np.minimum.reduceat(ranks, loads.indptr[held])
        ranks[ranks == np.repeat(key, np.diff(loads.indptr))] = len(frequency)
    return np.lexsort(keys[::-1])
