"""Average linkage in linear memory: against its definition, against SciPy, and on any number of threads."""

from collections.abc import Iterator
from itertools import product

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from builders.clustering import asking, mixed_rows
from vocabgap.clustering import linkage, neighbours
from vocabgap.clustering.cutting import flat_groups
from vocabgap.clustering.grouping import cluster
from vocabgap.clustering.linkage import Merges, in_order_of_height, reciprocal_merges
from vocabgap.clustering.neighbours import SparseNeighbours
from vocabgap.clustering.vectorizing import Rows, vectorize
from vocabgap.errors import InvalidInputError

EXACT = 1e-9
ACTS = ("mask", "brighten", "denoise", "sharpen", "crop", "export", "stack", "align", "blur", "tint")
OBJECTS = (
    "sky",
    "reeds",
    "feather",
    "horizon",
    "window light",
    "skin",
    "star trails",
    "hull",
    "mist",
    "grain",
)
WAYS = ("", "by depth", "in dark tones", "for a series", "at the edges", "without halos", "selectively")


def surfaces(count: int, seed: int) -> tuple[list[str], np.ndarray]:
    """Distinct contents of several words, and their mentions."""
    rng = np.random.default_rng(seed)
    every = sorted(
        {
            " ".join(filter(None, order))
            for a, o, w in product(ACTS, OBJECTS, WAYS)
            for order in ((a, o, w), (o, a, w))
        }
        | {
            f"{a}ing {o} {w} {v}".strip()
            for a, o, w, v in product(ACTS, OBJECTS, WAYS, ("fast", "again", "softly"))
        }
    )
    chosen = rng.choice(every, count, replace=False).tolist()
    return sorted(chosen), rng.zipf(2.0, count).clip(max=50).astype(np.float64)


def distances_after(merges: Merges, rows: Rows, weights: np.ndarray) -> Iterator[tuple[float, float, float]]:
    """Of each merge in order: its height, the distance it was made at, and the least there was."""
    plain = rows.plain().toarray()
    sums, mass = plain * weights[:, None], weights.copy()
    held = np.ones(len(mass), dtype=bool)
    for at in np.argsort(merges.height, kind="stable"):
        mean = sums / mass[:, None]
        distances = np.where(held[:, None] & held, 1.0 - mean @ mean.T, np.inf)
        np.fill_diagonal(distances, np.inf)
        keep, drop = merges.keep[at], merges.drop[at]
        yield merges.height[at], distances[keep, drop], distances.min()
        sums[keep] += sums[drop]
        mass[keep] += mass[drop]
        held[drop] = False
    mean = sums / mass[:, None]
    distances = np.where(held[:, None] & held, 1.0 - mean @ mean.T, np.inf)
    np.fill_diagonal(distances, np.inf)
    yield np.nan, np.nan, distances.min(initial=np.inf)


@pytest.mark.slow
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 80),
    st.sampled_from([0, 9]),
    st.floats(0.05, 1.0),
)
def test_every_merge_is_of_the_nearest_pair_at_its_mean_distance(
    seed: int, count: int, spelt: int, limit: float
) -> None:
    rng = np.random.default_rng(seed)
    rows = mixed_rows(rng, count, spelt, coarse=bool(rng.integers(2)))
    weights = rng.integers(1, 51, count).astype(np.float64)

    *made, (_, _, left) = distances_after(reciprocal_merges(rows, weights, limit), rows, weights)

    for height, distance, least in made:
        assert height < limit
        assert height == pytest.approx(max(distance, 0.0), abs=EXACT)
        assert height <= least + EXACT
    assert left > limit - EXACT


@pytest.mark.slow
@pytest.mark.parametrize("count", [700, 2_000])
def test_the_partition_is_that_of_scipy_on_one_row_a_mention(count: int) -> None:
    contents, weights = surfaces(count, seed=count)
    rows = vectorize(contents, weights, np.zeros(count))
    number = np.repeat(np.arange(count), weights.astype(int))
    plain = rows.plain()
    distances = np.maximum(1.0 - (plain @ plain.T).toarray(), 0.0).round(12)
    np.fill_diagonal(distances, 0.0)
    of_mentions = distances[np.ix_(number, number)]
    reference = hierarchy.linkage(squareform(of_mentions, checks=False), "average")

    merges = reciprocal_merges(rows, weights, 0.9)

    ours = in_order_of_height(merges, weights)
    for threshold in (0.3, 0.5, 0.7, 0.9):
        found = flat_groups(ours, count, threshold)[number]
        expected = hierarchy.fcluster(reference, threshold - 1e-10, "distance")
        assert _same_partition(found, expected), threshold


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="there is one thread only")
def test_the_number_of_threads_changes_nothing() -> None:
    contents, weights = surfaces(1_500, seed=3)
    rows = vectorize(contents, weights, np.zeros(1_500))
    before = numba.get_num_threads()
    runs = []
    try:
        for threads in (1, before):
            numba.set_num_threads(threads)
            runs.append(reciprocal_merges(rows, weights, 0.9))
    finally:
        numba.set_num_threads(before)

    for name in ("keep", "drop", "height"):
        np.testing.assert_array_equal(getattr(runs[0], name), getattr(runs[-1], name))


def test_many_surfaces_are_grouped_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    contents, _ = surfaces(400, seed=8)
    few = cluster(asking(*contents), threshold=0.6)

    monkeypatch.setattr(linkage, "DENSE_LIMIT", 10)
    many = cluster(asking(*contents), threshold=0.6)

    assert _same_partition(many.wordings["cluster"].to_numpy(), few.wordings["cluster"].to_numpy())


def test_a_pair_that_shares_thousands_of_terms_is_found_at_the_very_floor() -> None:
    terms = 6_000
    term_weights = np.zeros((4, 2 * terms))
    term_weights[:2, :terms] = 1.0
    term_weights[1, terms:] = 1.0
    term_weights[2, 0] = term_weights[3, -1] = 1.0
    rows = sparse.csr_array(term_weights / np.linalg.norm(term_weights, axis=1, keepdims=True))
    similarity = 1.0 / np.sqrt(2.0)

    merges = reciprocal_merges(Rows(rows, sparse.csr_array((0, 0))), np.ones(4), 1.0 - similarity + 1e-7)

    assert merges.height.tolist() == pytest.approx([1.0 - similarity], abs=1e-9)


@pytest.mark.parametrize("threads", ["0", "-1", "many", ""])
def test_a_number_of_threads_that_cannot_be_is_told_as_such(
    threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linkage, "DENSE_LIMIT", 1)
    monkeypatch.setenv("NUMBA_NUM_THREADS", threads)

    with pytest.raises(InvalidInputError, match="NUMBA_NUM_THREADS"):
        cluster(asking("reed mask", "tilt shift"))


def test_what_is_found_does_not_depend_on_how_many_are_searched_for_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    contents, weights = surfaces(600, seed=5)
    rows = vectorize(contents, weights, np.zeros(600))
    together = reciprocal_merges(rows, weights, 0.9)

    monkeypatch.setattr(neighbours, "_FIRST_LOT", 7)
    monkeypatch.setattr(neighbours, "_LOT_SECONDS", 0.0)
    apart = reciprocal_merges(rows, weights, 0.9)

    for name in ("keep", "drop", "height"):
        np.testing.assert_array_equal(getattr(apart, name), getattr(together, name))


@pytest.mark.parametrize("spelt", [0, 9])
@pytest.mark.parametrize("floor", [0.0, 0.3, 0.8])
def test_the_nearest_of_each_is_that_of_all_pairs(spelt: int, floor: float) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        count = int(rng.integers(2, 90))
        rows = mixed_rows(rng, count, spelt, coarse=False)
        cosines = (rows.plain() @ rows.plain().T).toarray()
        np.fill_diagonal(cosines, 0.0)
        best = cosines.max(axis=1)
        space = SparseNeighbours(rows, np.arange(count), np.ones(count), floor)

        found = space.search(np.arange(count), np.zeros((count, 0), np.int32), np.full(count, np.inf))

        above = best > floor + EXACT
        np.testing.assert_allclose(found.similarity[above], best[above], atol=EXACT)
        assert (found.listed[best < floor - EXACT, 0] == -1).all()
        listed = np.zeros((count, count + 1), bool)
        np.put_along_axis(listed, found.listed, values=True, axis=1)
        unlisted = np.where(listed[:, :count], 0.0, cosines).max(axis=1)
        assert (unlisted <= found.bound + EXACT).all()


def test_equal_rows_are_merged_at_zero() -> None:
    rows = Rows(sparse.csr_array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]), sparse.csr_array((0, 0)))

    merges = reciprocal_merges(rows, np.ones(4), 1.0)

    assert (merges.keep.tolist(), merges.drop.tolist(), merges.height.tolist()) == ([0], [2], [0.0])


def test_a_row_of_zeros_is_near_to_nothing() -> None:
    rows = Rows(sparse.csr_array((3, 2)), sparse.csr_array((0, 0)))

    assert len(reciprocal_merges(rows, np.ones(3), 1.0).keep) == 0


def _same_partition(one: np.ndarray, other: np.ndarray) -> bool:
    pairs = len(set(zip(one.tolist(), other.tolist(), strict=True)))
    return pairs == len(set(one.tolist())) == len(set(other.tolist()))
