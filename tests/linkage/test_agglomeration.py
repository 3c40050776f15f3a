"""All linkages make the merges of scikit-learn and SciPy; the law of each merge."""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from zlib import crc32

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform
from sklearn.cluster import AgglomerativeClustering

import vocabgap
from benchmarks.wordings import draw
from builders import outside
from builders.clustering import (
    asking,
    in_full,
    mixed_rows,
    partition,
    random_rows,
)
from vocabgap.clustering.blending import blended_rows
from vocabgap.clustering.cutting import flat_groups, linkage_table
from vocabgap.clustering.vectorizing import vectorize
from vocabgap.clustering.wordings import Points, points_of
from vocabgap.linkage import (
    FloatArray,
    Merges,
    Rows,
    agglomeration,
    blocks,
    dendrogram_of,
    neighbours,
    rows,
)
from vocabgap.linkage.agglomeration import (
    Dendrogram,
    nearest_neighbour_chain,
    reciprocal_merges,
)
from vocabgap.linkage.rows import cosine_distances
from vocabgap.text import surface

DEMO = Path(__file__).parents[2] / "data" / "demo"
EXACT = 1e-9
Heights = dict[frozenset[int], float]
seeds = st.integers(0, 2**32 - 1)
weightings = st.lists(st.integers(1, 5), min_size=2, max_size=14)
MEANINGS = {
    "haze": "fog",
    "remove": "clear",
    "dehaze": "clear fog",
    "reed": "plant",
    "reeds": "plant",
}


class ByMeaning:
    """Embeds a text as the sum of random vectors, one for each meaning of its words."""

    name = "by meaning"
    digest = "0" * 64

    def embed(self, texts: Sequence[str]) -> FloatArray:
        return np.array([self._vector(text) for text in texts])

    def _vector(self, text: str) -> FloatArray:
        words = " ".join(MEANINGS.get(word, word) for word in text.casefold().split()).split()
        vectors = [
            np.random.default_rng(crc32(word.encode())).standard_normal(48) for word in words
        ]
        total = np.sum(vectors, axis=0) + 0.5
        return np.asarray(total / np.linalg.norm(total))


@cache
def drawn(count: int, needs: int, seed: int) -> tuple[str, ...]:
    """Wordings of some needs; few needs are met often, most of them rarely."""
    return tuple(draw(count, needs, seed, surface).texts)


def records_of(corpus: str, config: pytest.Config) -> pl.DataFrame:
    if corpus in {"demo", "workspace"}:
        root = DEMO if corpus == "demo" else outside(config, "chemigram/workspace")
        return vocabgap.scan(root).records
    wordings = drawn(300, 60, seed=int(corpus))
    often = [text for number, text in enumerate(wordings) for _ in range(1 + number % 3)]
    return asking(
        *often, "mask sky", "sky mask", "lift shadows", "shadow lift", "lift", "shadow", "sky"
    )


def rows_of(points: Points, space: str) -> Rows:
    if space == "meaning":
        return blended_rows(points.with_texts(), ByMeaning())
    return vectorize(points.contents, points.sentence_shares)


def merges_of(
    children: Sequence[Sequence[int]], heights: Sequence[float], points: Sequence[int]
) -> Heights:
    """Return the points of each merge below 1, with its height; several leaves may be one point."""
    clusters = [frozenset([point]) for point in points]
    merges = {}
    for (left, right), height in zip(children, heights, strict=True):
        clusters.append(clusters[left] | clusters[right])
        merges[clusters[-1]] = height
    return {
        cluster: height for cluster, height in merges.items() if len(cluster) > 1 and height < 1.0
    }


def ours(merges: Dendrogram, count: int) -> Heights:
    return merges_of(merges.children.tolist(), merges.distances.tolist(), range(count))


def labels_of(merges: Dendrogram, count: int, threshold: float) -> list[int]:
    return list(map(int, flat_groups(linkage_table(*merges), count, threshold)))


def by_scikit_learn(distances: FloatArray, weights: Sequence[float] | FloatArray) -> Heights:
    points = np.repeat(np.arange(len(weights)), np.array(weights, np.int64))
    model = AgglomerativeClustering(
        n_clusters=1, metric="precomputed", linkage="average", compute_distances=True
    ).fit(distances[np.ix_(points, points)])
    return merges_of(model.children_.tolist(), model.distances_.tolist(), points.tolist())


def assert_same_merges(ours: Heights, theirs: Heights) -> None:
    assert ours.keys() == theirs.keys()
    assert ours == pytest.approx(theirs, abs=EXACT)


def blended(seed: int, count: int, dimensions: int = 16) -> Rows:
    """Rows about some centres: four sparse words each, and a direction near that of the centre."""
    rng = np.random.default_rng(seed)
    centre = rng.integers(0, max(2, count // 8), count)
    words = np.zeros((count, 40))
    for row, at in enumerate(centre.tolist()):
        words[row, (at * 7 + rng.integers(0, 6, 4)) % 40] = rng.random(4) + 0.2
    dense = rng.standard_normal((count // 8 + 2, dimensions))[centre]
    dense += 0.7 * rng.standard_normal((count, dimensions))
    halves = [
        half / np.linalg.norm(half, axis=1, keepdims=True) * np.sqrt(0.5) for half in (words, dense)
    ]
    return Rows(sparse.csr_array(halves[0]), sparse.csr_array((0, 0)), halves[1])


@pytest.mark.parametrize("space", ["words", "meaning"])
@pytest.mark.parametrize("corpus", ["demo", "workspace", "1"])
def test_chain_and_rounds_make_the_merges_of_scikit_learn(
    corpus: str, space: str, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = points_of(records_of(corpus, pytestconfig))
    rows, weights = rows_of(points, space), points.weights
    expected = by_scikit_learn(cosine_distances(rows), weights)
    thresholds = (0.3, 0.5, 0.7, 1.0)
    chain = [dendrogram_of(rows, weights, each)[0] for each in thresholds]

    monkeypatch.setattr(agglomeration, "DENSE_LIMIT", 0)
    rounds = [dendrogram_of(rows, weights, each)[0] for each in thresholds]

    count = len(weights)
    assert_same_merges(ours(chain[-1], count), expected)
    assert_same_merges(ours(rounds[-1], count), expected)
    for one, other, at in zip(chain, rounds, thresholds, strict=True):
        assert labels_of(one, count, at) == labels_of(other, count, at)


@settings(max_examples=40)
@given(seeds, weightings)
def test_weights_stand_for_repeated_points(seed: int, weights: list[int]) -> None:
    count = len(weights)
    rows, weighted = Rows(random_rows(seed, count)), np.array(weights, np.float64)
    distances = cosine_distances(rows)

    chain, _ = dendrogram_of(rows, weighted)

    repeated = np.repeat(np.arange(count), weights)
    expected = hierarchy.linkage(squareform(distances[np.ix_(repeated, repeated)]), "average")
    np.testing.assert_allclose(chain.distances, expected[1 - count :, 2], atol=1e-12)
    assert_same_merges(ours(chain, count), by_scikit_learn(distances, weights))


@settings(max_examples=40)
@given(st.lists(st.sampled_from([0.25, 0.5, 1.0]), min_size=45, max_size=45))
def test_the_chain_equals_scipy_bit_for_bit_even_in_ties(upper: list[float]) -> None:
    expected = hierarchy.linkage(upper, "average")

    merges = nearest_neighbour_chain(squareform(np.array(upper)), np.ones(10))

    children, distances, counts = agglomeration.in_order_of_height(merges, np.ones(10))
    np.testing.assert_array_equal(np.column_stack([children, distances, counts]), expected)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_few_rows_are_merged_to_one(count: int) -> None:
    contents = ["sky mask", "mask sky", "grain"][:count]

    merges, complete_below = dendrogram_of(vectorize(contents, np.zeros(count)), None, 0.2)

    assert merges.children.shape == (max(0, count - 1), 2)
    assert labels_of(merges, count, 0.2) == [0, 0, 1][:count]
    assert complete_below == 1.0


def test_a_merge_is_no_lower_than_its_parts_where_rounding_would_have_it_so() -> None:
    # The mean of two distances a hair above `near` comes out a hair below it.
    near = 0.906421751642991
    above = float(np.nextafter(near, 1.0))
    assert (24 * above + 48 * above) / 72 < near

    merges = nearest_neighbour_chain(squareform([above, above, near]), np.array([1.0, 24.0, 48.0]))

    assert merges.height.tolist() == [near, near]


def distances_after(
    merges: Merges, rows: Rows, weights: FloatArray
) -> Iterator[tuple[float, float, float]]:
    """Yield, for each merge in order, its height, the distance it was made at, and the least there was."""
    plain = in_full(rows).toarray()
    sums, mass = plain * weights[:, None], weights.copy()
    held = np.ones(len(mass), dtype=bool)
    for at in [*np.argsort(merges.height, kind="stable"), None]:
        mean = sums / mass[:, None]
        distances = np.where(held[:, None] & held, 1.0 - mean @ mean.T, np.inf)
        np.fill_diagonal(distances, np.inf)
        if at is None:
            yield np.nan, np.nan, distances.min(initial=np.inf)
            return
        keep, drop = merges.keep[at], merges.drop[at]
        yield merges.height[at], distances[keep, drop], distances.min()
        sums[keep] += sums[drop]
        mass[keep] += mass[drop]
        held[drop] = False


@settings(max_examples=40)
@given(
    seeds, st.integers(1, 60), st.sampled_from(["terms", "spelt", "dense"]), st.floats(0.05, 1.0)
)
def test_every_merge_is_of_the_nearest_pair_at_its_mean_distance(
    seed: int, count: int, kind: str, limit: float
) -> None:
    rng = np.random.default_rng(seed)
    spelt = 9 if kind == "spelt" else 0
    rows = (
        blended(seed, count)
        if kind == "dense"
        else mixed_rows(rng, count, spelt, coarse=seed % 2 == 0)
    )
    weights = rng.integers(1, 51, count).astype(np.float64)

    *merges, (_, _, left) = distances_after(reciprocal_merges(rows, weights, limit), rows, weights)

    for height, distance, least in merges:
        assert height < limit
        assert height == pytest.approx(max(distance, 0.0), abs=EXACT)
        assert height <= least + EXACT
    assert left > limit - EXACT


@pytest.mark.parametrize(("count", "space"), [(1_800, "words"), (700, "dense")])
def test_thousands_of_rows_are_merged_as_scipy_merges_them(
    count: int, space: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where two pairs are equally near, SciPy may take the other. The seed is of a corpus without such a pair.
    contents = sorted({surface(text) for text in drawn(count, count // 7, seed=2)})
    rows = vectorize(contents, np.zeros(count)) if space == "words" else blended(count, count)
    expected = hierarchy.linkage(squareform(cosine_distances(rows), checks=False), "average")
    monkeypatch.setattr(agglomeration, "DENSE_LIMIT", 0)

    merges, complete_below = dendrogram_of(rows, None, 0.7)

    assert complete_below == 0.7
    heights = expected[:, 2]
    np.testing.assert_allclose(merges.distances, heights[heights < 0.7], atol=EXACT)
    theirs = hierarchy.fcluster(expected, np.nextafter(0.7, 0.0), "distance")
    assert partition(range(count), labels_of(merges, count, 0.7)) == partition(
        range(count), theirs.tolist()
    )


def test_neither_threads_nor_the_size_of_lots_and_blocks_change_a_bit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    contents = sorted({surface(text) for text in drawn(600, 90, seed=5)})
    cases = [vectorize(contents, np.zeros(600)), blended(9, 500)]

    def merged() -> list[list[list[float]]]:
        merges = [
            reciprocal_merges(case, np.ones(case.term_weights.shape[0]), 0.8) for case in cases
        ]
        return [[part.tolist() for part in case] for case in merges]

    expected = merged()
    monkeypatch.setattr(neighbours, "BLOCK_CELLS", 1_500)
    monkeypatch.setattr(rows, "PAIRS_AT_ONCE", 7)
    monkeypatch.setattr(blocks, "QUERIES_AT_ONCE", 7)
    for threads in (1, 3):
        monkeypatch.setattr(blocks, "usable_cpus", lambda threads=threads: threads)
        assert merged() == expected


def test_a_pair_that_shares_thousands_of_terms_is_merged_at_the_very_floor() -> None:
    terms = 6_000
    term_weights = np.zeros((4, 2 * terms))
    term_weights[:2, :terms] = 1.0
    term_weights[1, terms:] = 1.0
    term_weights[2, 0] = term_weights[3, -1] = 1.0
    rows = sparse.csr_array(term_weights / np.linalg.norm(term_weights, axis=1, keepdims=True))
    similarity = 1.0 / np.sqrt(2.0)

    merges = reciprocal_merges(Rows(rows), np.ones(4), 1.0 - similarity + 1e-7)

    assert merges.height.tolist() == pytest.approx([1.0 - similarity], abs=1e-9)


def test_equal_rows_are_merged_at_zero_and_a_row_of_zeros_is_near_to_nothing() -> None:
    rows = Rows(
        sparse.csr_array([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]), sparse.csr_array((0, 0))
    )

    merges = reciprocal_merges(rows, np.ones(4), 1.0)

    assert (merges.keep.tolist(), merges.drop.tolist(), merges.height.tolist()) == ([0], [2], [0.0])
