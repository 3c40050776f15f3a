"""Ties: groups of rows of which many are equally near, beside those of SciPy and scikit-learn.

Where two nearest pairs share a cluster, each choice is right, and peers may differ from there on.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import chain, combinations, pairwise
from typing import Final

import numpy as np
from scipy import sparse
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform
from sklearn.cluster import AgglomerativeClustering

from builders.clustering import partition
from vocabgap.linkage import FloatArray, Rows, dendrogram_of
from vocabgap.linkage.agglomeration import Dendrogram
from vocabgap.linkage.rows import cosine_distances

MATRICES: Final = 2_000
_NEAR: Final = 1e-9


def compared(matrices: int = MATRICES) -> Iterator[str | None]:
    """Link random rows of few different words; yield where the result is wrong, or None."""
    for seed in range(matrices):
        drawn = random.Random(seed)  # noqa: S311 - the same each time
        size, words = drawn.randint(3, 14), drawn.randint(2, 6)
        counts = [[drawn.randint(0, 1) for _ in range(words)] for _ in range(size)]
        content = np.array(counts, dtype=np.float64)
        content[~content.any(axis=1), 0] = 1
        content /= np.linalg.norm(content, axis=1, keepdims=True)
        rows = Rows(sparse.csr_array(content))
        merges, _ = dendrogram_of(rows, np.ones(size))
        yield _problem(seed, cosine_distances(rows), merges)


def _problem(seed: int, distances: FloatArray, linked: Dendrogram) -> str | None:
    heights = [*map(float, linked.distances)]
    size = len(distances)
    clusters = {number: frozenset([number]) for number in range(size)}
    merged: list[tuple[float, set[frozenset[int]]]] = [(0.0, {*clusters.values()})]
    for step, (left, right) in enumerate(linked.children):
        nearest = min(_pairs([*clusters.values()], distances).values())
        if nearest + _NEAR < heights[step] < 1:
            return f"rows {seed}: merge {step} at {heights[step]}, the nearest pair is at {nearest}"
        clusters[size + step] = clusters.pop(int(left)) | clusters.pop(int(right))
        merged.append((heights[step], {*clusters.values()}))
    tree = hierarchy.linkage(squareform(distances, checks=False), "average")
    free = _free_until(distances)
    for (low, groups), (high, _) in pairwise([*merged, (1.0, set())]):
        cut = (low + high) / 2
        if high - low < _NEAR or cut > free:
            continue
        peer = AgglomerativeClustering(
            n_clusters=None, metric="precomputed", linkage="average", distance_threshold=cut
        ).fit(distances)
        for labels in (hierarchy.fcluster(tree, cut, "distance"), peer.labels_):
            if partition(range(size), labels) != groups:
                return f"rows {seed}: other groups at {cut}: {labels}"
    return None


def _pairs(
    clusters: Sequence[frozenset[int]], distances: FloatArray
) -> dict[tuple[frozenset[int], frozenset[int]], float]:
    return {
        (one, other): float(distances[np.ix_([*one], [*other])].mean())
        for one, other in combinations(clusters, 2)
    }


def _free_until(distances: FloatArray) -> float:
    """Return the height from which on the choice between equally near pairs may change the groups."""
    clusters = [frozenset([number]) for number in range(len(distances))]
    while len(clusters) > 1:
        pairs = _pairs(clusters, distances)
        height = min(pairs.values())
        nearest = [pair for pair, each in pairs.items() if each < height + _NEAR]
        if height > _NEAR and len({*chain.from_iterable(nearest)}) < 2 * len(nearest):
            return height
        one, other = nearest[0]
        clusters = [each for each in clusters if each not in {one, other}] + [one | other]
    return 1.0
