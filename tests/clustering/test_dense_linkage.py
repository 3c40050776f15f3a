from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy import sparse
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform
from sklearn.cluster import AgglomerativeClustering

from builders.clustering import expanded, partition, random_rows
from vocabgap.clustering.cutting import flat_groups
from vocabgap.clustering.linkage import cosine_distances, nearest_neighbour_chain
from vocabgap.clustering.vectorizing import FloatArray, vectorize
from vocabgap.model.tables import LINKAGE

SMALLEST_GAP = 1e-9
seeds = st.integers(0, 2**32 - 1)
weightings = st.lists(st.integers(1, 5), min_size=2, max_size=14)


def matrix(*upper: float) -> FloatArray:
    """A distance matrix from its upper triangle, row by row, infinite on the diagonal."""
    distances = np.asarray(squareform(np.array(upper)), dtype=np.float64)
    np.fill_diagonal(distances, np.inf)
    return distances


def finite(distances: FloatArray) -> FloatArray:
    """The same distances with the zero diagonal that SciPy and scikit-learn expect."""
    zeroed = distances.copy()
    np.fill_diagonal(zeroed, 0.0)
    return zeroed


def thresholds_between(heights: Sequence[float]) -> list[float]:
    """Cuts between merges that are clearly apart, so that rounding decides none of them."""
    ordered = [0.0, *sorted(heights), 1.0]
    return [(low + high) / 2 for low, high in pairwise(ordered) if high - low > 2 * SMALLEST_GAP]


@pytest.mark.parametrize("seed", range(5))
def test_heights_of_single_points_are_those_of_scipy(seed: int) -> None:
    distances = cosine_distances(random_rows(seed, 60))
    expected = hierarchy.linkage(squareform(finite(distances)), method="average")

    found = nearest_neighbour_chain(distances, np.ones(60))

    np.testing.assert_allclose(found["height"].to_numpy(), expected[:, 2], atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_merges_of_single_points_are_those_of_scipy(seed: int) -> None:
    distances = cosine_distances(random_rows(seed, 60))
    expected = hierarchy.linkage(squareform(finite(distances)), method="average")

    found = nearest_neighbour_chain(distances, np.ones(60))

    np.testing.assert_array_equal(found.select("left", "right", "size").to_numpy(), expected[:, [0, 1, 3]])


@pytest.mark.parametrize("share", [0.1, 0.4, 0.7, 0.95])
def test_partition_of_single_points_is_that_of_scipy(share: float) -> None:
    distances = cosine_distances(random_rows(11, 60))
    reference = hierarchy.linkage(squareform(finite(distances)), method="average")
    position = int(share * 59)
    threshold = float(reference[position : position + 2, 2].mean())

    found = flat_groups(nearest_neighbour_chain(distances, np.ones(60)), 60, threshold)

    expected = hierarchy.fcluster(reference, threshold, criterion="distance")
    assert partition(range(60), found.tolist()) == partition(range(60), expected.tolist())


@given(seeds, weightings)
def test_weights_stand_for_repeated_points_in_scipy(seed: int, weights: list[int]) -> None:
    count = len(weights)
    distances = cosine_distances(random_rows(seed, count))
    reference = hierarchy.linkage(squareform(expanded(distances, weights)), method="average")
    assume(np.diff(reference[-count + 1 :, 2]).min(initial=1.0) > SMALLEST_GAP)

    found = nearest_neighbour_chain(distances, np.array(weights, dtype=np.float64))

    np.testing.assert_allclose(found["height"].to_numpy(), reference[-count + 1 :, 2], atol=1e-12)
    points = np.repeat(np.arange(count), weights).tolist()
    for threshold in thresholds_between(found["height"].to_list()):
        expected = hierarchy.fcluster(reference, threshold, criterion="distance")
        ours = flat_groups(found, count, threshold)
        assert partition(range(count), ours.tolist()) == partition(points, expected.tolist())


@given(seeds, weightings)
def test_weights_stand_for_repeated_points_in_scikit_learn(seed: int, weights: list[int]) -> None:
    count = len(weights)
    distances = cosine_distances(random_rows(seed, count))
    repeated = expanded(distances, weights)

    found = nearest_neighbour_chain(distances, np.array(weights, dtype=np.float64))
    assume(np.diff(found["height"].to_numpy()).min(initial=1.0) > SMALLEST_GAP)

    points = np.repeat(np.arange(count), weights).tolist()
    for threshold in thresholds_between(found["height"].to_list()):
        reference = AgglomerativeClustering(
            metric="precomputed", linkage="average", distance_threshold=threshold, n_clusters=None
        ).fit(repeated)
        ours = flat_groups(found, count, threshold)
        assert partition(range(count), ours.tolist()) == partition(points, reference.labels_.tolist())


@given(seeds, weightings)
def test_heights_never_decrease(seed: int, weights: list[int]) -> None:
    distances = cosine_distances(random_rows(seed, len(weights)))

    found = nearest_neighbour_chain(distances, np.array(weights, dtype=np.float64))

    assert found["height"].is_sorted()


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=45, max_size=45))
def test_heights_never_decrease_where_distances_are_equal(upper: list[float]) -> None:
    found = nearest_neighbour_chain(matrix(*upper), np.ones(10))

    assert found.height == 9
    assert found["height"].is_sorted()


@given(seeds, weightings)
def test_last_merge_holds_every_mention(seed: int, weights: list[int]) -> None:
    distances = cosine_distances(random_rows(seed, len(weights)))

    found = nearest_neighbour_chain(distances, np.array(weights, dtype=np.float64))

    assert found["size"][-1] == sum(weights)


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=45, max_size=45))
def test_every_point_and_merge_is_merged_once(upper: list[float]) -> None:
    found = nearest_neighbour_chain(matrix(*upper), np.ones(10))

    assert sorted([*found["left"], *found["right"]]) == list(range(18))


def test_merge_is_no_lower_than_its_parts_where_rounding_would_have_it_so() -> None:
    # The mean of two distances a hair above `near` comes out a hair below it.
    near = 0.906421751642991
    above = float(np.nextafter(near, 1.0))
    assert (24 * above + 48 * above) / 72 < near

    found = nearest_neighbour_chain(matrix(above, above, near), np.array([1.0, 24.0, 48.0]))

    assert found.rows() == [(1, 2, near, 72), (0, 3, near, 73)]


def test_merging_weighs_distances_by_mentions() -> None:
    # The first two points merge; the third is 0.5 from one of them and 0.9 from the other.
    found = nearest_neighbour_chain(matrix(0.1, 0.5, 0.9), np.array([3.0, 1.0, 1.0]))

    assert found["height"].to_list() == pytest.approx([0.1, (3 * 0.5 + 1 * 0.9) / 4])


def test_smaller_cluster_number_is_on_the_left() -> None:
    found = nearest_neighbour_chain(matrix(0.8, 0.8, 0.1), np.ones(3))

    assert found.select("left", "right").rows() == [(1, 2), (0, 3)]


def test_weights_are_left_as_they_were() -> None:
    weights = np.array([2.0, 3.0, 4.0])

    nearest_neighbour_chain(matrix(0.1, 0.5, 0.9), weights)

    assert weights.tolist() == [2.0, 3.0, 4.0]


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_points_have_no_merges(count: int) -> None:
    found = nearest_neighbour_chain(np.full((count, count), np.inf), np.full(count, 4.0))

    assert_frame_equal(found, LINKAGE.empty())


def test_two_points_have_one_merge() -> None:
    found = nearest_neighbour_chain(matrix(0.25), np.array([2.0, 5.0]))

    assert found.rows() == [(0, 1, 0.25, 7)]
    assert found.schema == LINKAGE.schema


def test_identical_points_merge_at_zero() -> None:
    distances = cosine_distances(sparse.csr_array(np.tile([[0.6, 0.8]], (6, 1))))

    found = nearest_neighbour_chain(distances, np.ones(6))

    np.testing.assert_allclose(found["height"].to_numpy(), 0.0, atol=1e-15)
    assert set(flat_groups(found, 6, 0.01).tolist()) == {0}


def test_ties_are_broken_the_same_way_each_time() -> None:
    upper = [0.5] * 15

    runs = [nearest_neighbour_chain(matrix(*upper), np.ones(6)) for _ in range(3)]

    assert_frame_equal(runs[1], runs[0])
    assert_frame_equal(runs[2], runs[0])


@pytest.mark.parametrize("threshold", [0.25, 0.5, 0.75, 0.875])
def test_cut_at_an_exact_height_is_that_of_scikit_learn(threshold: float) -> None:
    distances = matrix(0.25, 0.75, 0.75, 0.75, 0.75, 0.5)  # merges at exactly 0.25, 0.5 and 0.75
    reference = AgglomerativeClustering(
        metric="precomputed", linkage="average", distance_threshold=threshold, n_clusters=None
    ).fit(finite(distances))

    found = flat_groups(nearest_neighbour_chain(distances, np.ones(4)), 4, threshold)

    assert partition(range(4), found.tolist()) == partition(range(4), reference.labels_.tolist())


def test_distances_are_infinite_on_the_diagonal() -> None:
    found = cosine_distances(random_rows(3, 8))

    assert np.isinf(found.diagonal()).all()


def test_distances_of_surfaces_are_exactly_symmetric() -> None:
    contents = ["fog mask", "fog mask feather", "grain overlay", "film grain overlay strength", "feather fog"]

    found = cosine_distances(vectorize(contents, np.array([5.0, 1.0, 3.0, 2.0, 1.0]), np.zeros(5)).plain())

    np.testing.assert_array_equal(found, found.T)


def test_distances_are_never_negative() -> None:
    rows = np.random.default_rng(5).random((1, 40))
    unit = sparse.csr_array(np.tile(rows / np.linalg.norm(rows), (20, 1)))

    assert cosine_distances(unit).min() >= 0.0
