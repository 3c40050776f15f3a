"""Average linkage of rows of unit length, on cosine distance and weighted by mentions.

A surface with w mentions counts as w equal rows. scikit-learn groups up to `DENSE_LIMIT` mentions, one row
per mention. Average linkage is reducible: a merged cluster is never nearer to a third than its nearer part
was. So the order of merges does not change the dendrogram, and our own code can merge weighted rows:

* Few surfaces with many mentions: the nearest-neighbour chain over the matrix of distances (Murtagh 1983;
  Müllner 2011, arXiv 1109.2378, figure 3).
* Many surfaces: memory linear in their number. Each round merges all pairs of clusters that are each
  other's nearest (reciprocal agglomerative clustering, Sumengen et al. 2021, arXiv 2105.11653). A cluster
  without a neighbour below the limit is finished. Each cluster keeps a list of its nearest neighbours, and a
  bound on all others. A new search starts only if the best of the list falls to that bound.

Of equally near clusters the one with the smallest row comes first. Similarities are compared in steps of
1e-12, so that rounding errors seldom decide. They do not depend on the number of threads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from vocabgap.clustering.blending import BlendedNeighbours, Nearest
from vocabgap.clustering.vectorizing import FloatArray, IntArray, Rows, on_grid
from vocabgap.errors import StateError
from vocabgap.model.tables import LINKAGE
from vocabgap.progress import tell

if TYPE_CHECKING:
    from vocabgap.clustering.neighbours import SparseNeighbours

DENSE_LIMIT: Final = 3_000
"""Mentions that scikit-learn groups, and surfaces whose matrix of distances (72 MB) is held at once."""
FARTHEST: Final = 1.0  # the largest cut
_BLOCK_ROWS: Final = 512
_ABOVE: Final = 1.0 + 2.0**-22  # factor that keeps a similarity from shrinking in float32


def average_linkage(
    rows: Rows, weights: FloatArray, max_distance: float = FARTHEST
) -> tuple[pl.DataFrame, float]:
    """Compute the average-linkage dendrogram of rows that are weighted by mentions, shape (n,).

    Returns:
        Table `linkage`, and the distance below which it is complete; 1.0 if rows are few.
    """
    n_samples = len(weights)
    if n_samples < 2:  # noqa: PLR2004
        return LINKAGE.empty(), FARTHEST
    if n_samples <= DENSE_LIMIT:
        distances = cosine_distances(rows.plain_terms(), rows.dense)
        merge = agglomerated if weights.sum() <= DENSE_LIMIT else nearest_neighbour_chain
        return merge(distances, weights), FARTHEST
    merges = reciprocal_merges(rows, weights, max_distance)
    return in_order_of_height(merges, weights), max_distance


@dataclass(frozen=True)
class Merges:
    """Merges, parts before wholes: cluster `keep[i]` takes in `drop[i]` at `height[i]`.

    The name of a cluster is one of its rows.
    """

    keep: IntArray
    drop: IntArray
    height: FloatArray  # not below the heights of its parts

    @classmethod
    def of(cls, merges: Sequence[tuple[int, int, float]]) -> "Merges":
        """Make the arrays of a list of merges."""
        keep, drop, height = np.array(merges, np.float64).reshape(-1, 3).T
        return cls(keep.astype(np.int64), drop.astype(np.int64), height)


def in_order_of_height(merges: Merges, weights: FloatArray) -> pl.DataFrame:
    """Return merges as table `linkage`, sorted and numbered as in SciPy: merge i makes cluster n + i."""
    n_samples = len(weights)
    number = list(range(n_samples))
    size = weights.astype(np.int64).tolist()
    left, right, sizes = [], [], []
    # The sort is stable and no merge is lower than its parts, so parts also come first in a tie.
    order = np.argsort(merges.height, kind="stable")
    pairs = zip(merges.keep[order].tolist(), merges.drop[order].tolist(), strict=True)
    for node, (kept, dropped) in enumerate(pairs, start=n_samples):
        one, other = number[kept], number[dropped]
        left.append(min(one, other))
        right.append(max(one, other))
        size[kept] += size[dropped]
        sizes.append(size[kept])
        number[kept] = node
    columns = {"left": left, "right": right, "height": merges.height[order], "size": sizes}
    return pl.DataFrame(columns, schema=LINKAGE.schema)


def cosine_distances(rows: sparse.csr_array, dense: FloatArray | None = None) -> FloatArray:
    """Compute all pairwise cosine distances of rows of unit length, shape (n, n)."""
    count = rows.shape[0]
    distances = np.empty((count, count))
    # By blocks: the sparse product of all rows would take more memory than the dense matrix.
    for start in range(0, count, _BLOCK_ROWS):
        part = slice(start, start + _BLOCK_ROWS)
        np.subtract(1.0, (rows[part] @ rows.T).toarray(), out=distances[part])
        if dense is not None:
            distances[part] -= dense[part] @ dense.T
        distances[part] = on_grid(distances[part])
    np.maximum(distances, 0.0, out=distances)
    np.fill_diagonal(distances, 0.0)
    return distances


def agglomerated(distances: FloatArray, weights: FloatArray) -> pl.DataFrame:
    """Compute table `linkage` with scikit-learn, from one row per mention and distances of shape (n, n)."""
    from sklearn.cluster import AgglomerativeClustering  # noqa: PLC0415 - takes a second to load

    point = np.repeat(np.arange(len(weights)), weights.astype(np.int64))
    model = AgglomerativeClustering(
        n_clusters=1, metric="precomputed", linkage="average", compute_full_tree=True, compute_distances=True
    ).fit(distances[np.ix_(point, point)])
    names = point.tolist()
    merges: list[tuple[int, int, float]] = []
    united = list(range(len(weights)))
    for left, right, height in zip(*model.children_.T.tolist(), model.distances_.tolist(), strict=True):
        keep, drop = sorted((_root(united, names[left]), _root(united, names[right])))
        names.append(keep)
        if keep != drop:  # else both sides are mentions of one surface
            united[drop] = keep
            merges.append((keep, drop, height))
    return in_order_of_height(Merges.of(merges), weights)


def _root(united: list[int], point: int) -> int:
    while united[point] != point:
        point = united[point]
    return point


def nearest_neighbour_chain(distances: FloatArray, weights: FloatArray) -> pl.DataFrame:
    """Compute table `linkage` from one weighted row per surface: see `agglomerated`."""
    near = distances.copy()
    np.fill_diagonal(near, np.inf)
    weight, heights = weights.astype(np.float64), np.zeros(len(weights))
    left = np.ones(len(weights), dtype=bool)
    merges: list[tuple[int, int, float]] = []
    chain: list[int] = []
    while len(merges) < len(weights) - 1:
        if not chain:
            chain.append(int(left.argmax()))
        row = near[chain[-1]]
        nearest = int(row.argmin())
        if len(chain) == 1 or row[chain[-2]] > row[nearest]:
            chain.append(nearest)
            continue
        drop, keep = sorted((chain.pop(), chain.pop()))  # as SciPy does, so that ties are broken alike
        # A height below the heights of its parts can only be a rounding error.
        heights[keep] = max(near[keep, drop], heights[keep], heights[drop])
        merges.append((keep, drop, float(heights[keep])))
        together = weight[keep] + weight[drop]
        merged = (weight[keep] * near[keep] + weight[drop] * near[drop]) / together
        merged[[keep, drop]] = np.inf
        near[keep] = near[:, keep] = merged
        near[drop] = near[:, drop] = np.inf
        weight[keep], left[drop] = together, False
    return in_order_of_height(Merges.of(merges), weights)


def reciprocal_merges(rows: Rows, weights: FloatArray, distance_threshold: float) -> Merges:
    """Compute all merges of weighted average linkage strictly below a cosine distance."""
    first = first_equals(rows)
    same = np.flatnonzero(first != np.arange(len(first)))
    single = np.flatnonzero(first == np.arange(len(first)))
    together = np.asarray(np.bincount(first, weights, len(first))[single], np.float64)
    # Rows with the same frequent terms are neighbours, so that a search reads memory in order.
    order = _by_frequent_terms(rows, single)
    floor = 1.0 - distance_threshold
    if rows.dense is None:
        linked = _linked_sparse(rows, single[order], together[order], floor)
    else:
        linked = link(BlendedNeighbours(rows, single[order], together[order], floor))
    return Merges(
        np.concatenate([first[same], linked.keep]),
        np.concatenate([same, linked.drop]),
        np.concatenate([np.zeros(len(same)), linked.height]),
    )


def _linked_sparse(rows: Rows, chosen: IntArray, weights: FloatArray, floor: float) -> Merges:
    from vocabgap.clustering.neighbours import SparseNeighbours  # noqa: PLC0415 - loads Numba

    try:
        return link(SparseNeighbours(rows, chosen, weights, floor))
    except (OSError, EOFError, UnpicklingError) as error:
        raise StateError(
            f"Numba cannot read or write its cache of compiled loops: {error}",
            hint="remove *.nbi and *.nbc beside the package, or name another folder in NUMBA_CACHE_DIR",
        ) from error


def link(space: "BlendedNeighbours | SparseNeighbours") -> Merges:
    """Merge the clusters of a space whose similarity is above its floor."""
    count = first = len(space.weights)
    heights = np.zeros(count)
    nearest = Nearest.unknown(count)
    queries, candidates, bounds = (
        np.arange(count),
        np.zeros((count, 0), dtype=np.int32),
        np.full(count, np.inf),
    )
    limits = np.zeros((count, 0), dtype=np.float32)
    keeps, drops, levels = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    while count > 1:
        tell("wordings grouped", first - count, first)
        if len(queries):
            result = space.search(queries, candidates, bounds, limits)
            for name in ("listed", "similarity", "bound", "limits"):
                getattr(nearest, name)[queries] = getattr(result, name)
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
        stays[one] = True  # even if only the other side saw its neighbour above the floor
        stays[other] = False
        kept = np.flatnonzero(stays)
        place = np.full(count + 1, -1, dtype=np.int32)  # the last one is for "none"
        place[kept] = np.arange(len(kept), dtype=np.int32)
        place[other] = place[one]

        queries = np.flatnonzero(stale[kept])
        parts = kept[queries]
        candidates, limits, bounds = _candidates_of(nearest, parts, partner[parts], space.weights)
        candidates = place[candidates]

        space.merge(kept, partner[kept])
        nearest = Nearest(
            place[nearest.listed[kept]], nearest.similarity[kept], nearest.bound[kept], nearest.limits[kept]
        )
        heights = heights[kept]
        count = len(kept)
    return Merges(np.concatenate(keeps), np.concatenate(drops), np.concatenate(levels))


def _candidates_of(
    nearest: Nearest, one: IntArray, other: IntArray, weights: FloatArray
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32], FloatArray]:
    """Return the lists of some clusters, joined with those of their partners, with limits and bounds.

    A cluster that is missing in one of two lists is no more similar than the next neighbour of that list.
    """
    candidates, limits, bounds = nearest.listed[one], nearest.limits[one], nearest.bound[one]
    if not len(one):
        return candidates, limits, bounds
    more, more_limits = nearest.listed[other], nearest.limits[other]
    more[other < 0] = -1
    two = np.flatnonzero(other >= 0)
    one, other = one[two], other[two]
    share = (weights[one] / (weights[one] + weights[other]))[:, None]
    next_of_one, next_of_other = (
        np.maximum(
            nearest.bound[of],
            np.where(nearest.listed[of, 0] == but, nearest.limits[of, 1], nearest.limits[of, 0]),
        )[:, None]
        for of, but in ((one, other), (other, one))
    )
    limits[two] = (share * limits[two] + (1.0 - share) * next_of_other) * _ABOVE
    more_limits[two] = (share * next_of_one + (1.0 - share) * more_limits[two]) * _ABOVE
    bounds[two] = share[:, 0] * bounds[two] + (1.0 - share[:, 0]) * nearest.bound[other]
    return np.concatenate([candidates, more], axis=1), np.concatenate([limits, more_limits], axis=1), bounds


def _reciprocal(nearest: Nearest, order: IntArray) -> tuple[IntArray, IntArray]:
    """Return the pairs of clusters that are each other's nearest, the one with the smaller row first."""
    into = nearest.listed[:, 0].astype(np.int64)
    place = np.arange(len(into))
    mutual = (into >= 0) & (into[into] == place) & (order < order[into])
    one = np.flatnonzero(mutual)
    if not len(one) and (into >= 0).any():
        # A rounding error closed a circle of equally near clusters; the nearest pair of all is always right.
        linked = np.flatnonzero(into >= 0)
        best = linked[np.lexsort((order[linked], -nearest.similarity[linked]))[0]]
        pair = np.array([best, into[best]])
        one, other = pair[np.argsort(order[pair])]
        return np.array([one]), np.array([other])
    return one, into[one]


def first_equals(rows: Rows) -> IntArray:
    """Return, for each row, the first row that equals it; a row of zeros equals only itself."""
    start, terms, data = rows.term_weights.indptr, rows.term_weights.indices, rows.term_weights.data
    dense = np.zeros((rows.term_weights.shape[0], 0)) if rows.dense is None else rows.dense
    seen: dict[tuple[bytes, bytes, bytes], int] = {}
    first = np.arange(rows.term_weights.shape[0])
    for number in np.flatnonzero(np.diff(start)).tolist():
        part = slice(start[number], start[number + 1])
        row = terms[part].tobytes(), data[part].tobytes(), dense[number].tobytes()
        first[number] = seen.setdefault(row, number)
    return first


def _by_frequent_terms(rows: Rows, chosen: IntArray) -> IntArray:
    """Order rows so that rows with the same most frequent terms are neighbours."""
    term_weights = rows.term_weights[chosen]
    frequency = np.bincount(term_weights.indices, minlength=term_weights.shape[1])
    rank = np.empty(len(frequency), dtype=np.int32)
    rank[np.argsort(-frequency, kind="stable")] = np.arange(len(frequency), dtype=np.int32)
    keys = [np.full(len(chosen), len(frequency), dtype=np.int32) for _ in range(4)]
    ranks = rank[term_weights.indices]
    held = np.flatnonzero(np.diff(term_weights.indptr))
    for key in keys:
        # The most frequent remaining term of each row.
        if len(held):
            key[held] = np.minimum.reduceat(ranks, term_weights.indptr[held])
        ranks[ranks == np.repeat(key, np.diff(term_weights.indptr))] = len(frequency)
    return np.lexsort(keys[::-1])
