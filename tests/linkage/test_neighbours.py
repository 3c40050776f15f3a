"""The nearest clusters of sparse rows, against every pair worked out."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from builders.clustering import in_full, mixed_rows
from vocabgap.clustering.vectorizing import vectorize
from vocabgap.linkage import FloatArray, IntArray, Rows
from vocabgap.linkage.blocks import SparseNeighbours
from vocabgap.linkage.kernels import MANY_POSTINGS
from vocabgap.linkage.neighbours import LISTED, Limits, Nearest, Places
from vocabgap.linkage.rows import usable_cpus

EXACT = 1e-9  # what two ways of adding up may differ by, with room to spare
seeds, floors = st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.1, 0.5, 0.9])
spellings = st.sampled_from([0, 9])


def rows_of(*rows: list[float]) -> Rows:
    """Rows scaled to unit length, without anything spelt."""
    weights = np.array(rows)
    length = np.linalg.norm(weights, axis=1, keepdims=True)
    return Rows(
        sparse.csr_array(weights / np.where(length > 0, length, 1.0)), sparse.csr_array((0, 0))
    )


def space_of(
    rows: Rows, weights: list[float] | None = None, floor: float = 0.0
) -> SparseNeighbours:
    count = rows.term_weights.shape[0]
    return SparseNeighbours(rows, np.arange(count), np.array(weights or [1.0] * count), floor)


def searched(
    space: SparseNeighbours,
    queries: IntArray | None = None,
    candidates: Places | None = None,
    bounds: FloatArray | None = None,
    limits: Limits | None = None,
) -> Nearest:
    """Search for the neighbours of some clusters, or of all; by default nothing is known beforehand."""
    queries = np.arange(len(space.weights)) if queries is None else queries
    candidates = np.zeros((len(queries), 0), np.int32) if candidates is None else candidates
    bounds = np.full(len(queries), np.inf) if bounds is None else bounds
    limits = np.full(candidates.shape, np.inf, np.float32) if limits is None else limits
    return space.search(queries, candidates, bounds, limits)


def similarities(means: FloatArray) -> FloatArray:
    """Of all pairs, with nothing on the diagonal: no cluster is its own neighbour."""
    every = np.asarray(means @ means.T, np.float64)
    np.fill_diagonal(every, -np.inf)
    return every


def assert_nearest(found: Nearest, expected: FloatArray, floor: float) -> None:
    """What was found says of each query, one a row of `expected`, what all its similarities say."""
    for query, row in enumerate(expected):
        listed = found.listed[query][found.listed[query] >= 0]
        most = row.max(initial=-np.inf)
        if len(listed):
            assert row[listed[0]] == pytest.approx(most, abs=EXACT)
            assert found.similarity[query] == pytest.approx(most, abs=EXACT)
        else:
            assert most <= floor + EXACT


def mixed(seed: int, spelt: int, count: int = 40) -> tuple[Rows, FloatArray]:
    """Rows of which some are equal, some are zeros and many tie; and weights."""
    rng = np.random.default_rng(seed)
    rows = mixed_rows(rng, count, spelt, coarse=bool(rng.integers(2)))
    return rows, rng.integers(1, 9, count).astype(np.float64)


def test_of_equally_near_ones_that_of_the_smallest_row_comes_first() -> None:
    rows = rows_of([1.0, 1.0], [1.0, 0.0], [0.0, 1.0])
    chosen = np.array([2, 0, 1])  # so that places and rows disagree

    found = searched(SparseNeighbours(rows, chosen, np.ones(3), 0.0))

    assert found.listed[1, :2].tolist() == [2, 0]
    assert found.similarity[1] == pytest.approx(np.sqrt(0.5))


def test_what_is_only_as_similar_as_the_floor_is_no_neighbour() -> None:
    rows = rows_of(
        [1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0]
    )  # 0.5 from one to two

    at, below = searched(space_of(rows, floor=0.5)), searched(space_of(rows, floor=0.49))

    assert at.listed[0].max() == -1
    assert below.listed[0, :2].tolist() == [1, -1]


def test_of_more_equally_near_ones_than_a_list_can_hold_those_of_the_smallest_rows_are_listed() -> (
    None
):
    count = LISTED + 4
    rows = rows_of([1.0] * count, *np.eye(count).tolist())
    chosen = np.arange(count + 1)[::-1].copy()  # so that the smallest rows stand in the last places

    found = searched(SparseNeighbours(rows, chosen, np.ones(count + 1), 0.0), np.array([count]))

    assert found.listed[0].tolist() == list(range(count - 1, count - 1 - LISTED, -1))


@settings(max_examples=40)
@given(seeds, spellings, floors)
def test_the_nearest_is_that_of_all_pairs_and_no_other_is_more_similar_than_the_bound(
    seed: int, spelt: int, floor: float
) -> None:
    rows, weights = mixed(seed, spelt)

    found = searched(SparseNeighbours(rows, np.arange(40), weights, floor))

    unlisted = similarities(in_full(rows).toarray())
    assert_nearest(found, unlisted, floor)
    for query, line in enumerate(found.listed):
        unlisted[query, line[line >= 0]] = -np.inf
    assert (unlisted.max(axis=1) <= np.maximum(found.bound, floor) + EXACT).all()


@settings(max_examples=40)
@given(seeds, spellings)
def test_neither_candidates_nor_limits_change_what_is_nearest(seed: int, spelt: int) -> None:
    rows, weights = mixed(seed, spelt)
    space = SparseNeighbours(rows, np.arange(40), weights, 0.0)
    rng = np.random.default_rng(seed)
    before = searched(space)
    # Any clusters, some of them twice, or the query itself.
    guesses = rng.integers(-1, 40, (40, LISTED + 5)).astype(np.int32)
    loose = before.limits + rng.random((40, 1), np.float32)

    guessed = searched(space, np.arange(40), guesses)
    again = searched(space, np.arange(40), before.listed, before.bound, loose)

    every = similarities(in_full(rows).toarray())
    assert_nearest(guessed, every, 0.0)
    assert again.listed[:, 0].tolist() == before.listed[:, 0].tolist()
    assert again.similarity.tolist() == before.similarity.tolist()
    for found in (before, again):
        near = np.where(found.listed >= 0, np.take_along_axis(every, found.listed, axis=1), -np.inf)
        assert (near <= found.limits).all()


def test_a_bound_that_what_is_known_exceeds_spares_the_search() -> None:
    space = space_of(rows_of([1.0, 0.0], [3.0, 4.0], [4.0, 3.0]))

    found = searched(space, np.array([0]), np.array([[1]], np.int32), np.array([0.5]))

    assert found.listed[0, :2].tolist() == [
        1,
        -1,
    ]  # as it was said that no other reaches more than 0.5
    assert found.bound[0] == 0.5


def test_a_bound_that_what_is_known_falls_short_of_is_searched_up_to() -> None:
    space = space_of(rows_of([1.0, 0.0], [12.0, 5.0], [24.0, 7.0]))

    found = searched(space, np.array([0]), np.array([[1]], np.int32), np.array([0.96]))

    assert found.listed[0, :2].tolist() == [2, 1]


def test_a_merged_cluster_has_the_weight_of_both_and_the_smaller_order() -> None:
    rows = rows_of([1.0, 0.0], [0.0, 1.0], [4.0, 3.0])
    space = SparseNeighbours(rows, np.array([2, 0, 1]), np.array([3.0, 1.0, 2.0]), 0.0)

    space.merge(np.array([1, 0]), np.array([-1, 2]))

    assert space.weights.tolist() == [1.0, 5.0]
    assert space.order.tolist() == [0, 1]


@settings(max_examples=40)
@given(seeds, spellings, floors)
def test_the_nearest_after_merging_is_that_of_the_means(
    seed: int, spelt: int, floor: float
) -> None:
    rows, weights = mixed(seed, spelt)
    space = SparseNeighbours(rows, np.arange(40), weights, floor)
    sums, mass = in_full(rows).toarray() * weights[:, None], weights
    rng = np.random.default_rng(seed)

    searched(space)
    for left in (0.9, 0.9, 0.7):  # the blocks of the first search serve twice
        places = rng.permutation(len(mass))
        kept, others = np.split(places, [int(left * len(places))])
        partner = np.full(len(kept), -1)
        partner[: len(others) - 1] = others[1:]  # and the first one is done
        space.merge(kept, partner)
        two = (partner >= 0)[:, None]
        sums = sums[kept] + np.where(two, sums[partner], 0.0)
        mass = mass[kept] + np.where(two[:, 0], mass[partner], 0.0)

        assert space.weights.tolist() == mass.tolist()
        assert_nearest(searched(space), similarities(sums / mass[:, None]), floor)


def test_wordings_of_one_stem_are_searched_for_without_scoring_all_of_them() -> None:
    count = (
        3 * MANY_POSTINGS // 18
    )  # "deploy1234" has nine trigrams, of which most are those of many others
    contents = [
        f"deploy{number}" if number % 3 else f"deploy{number} mask" for number in range(count)
    ]
    rows = vectorize(contents, np.zeros(count))
    asked = np.arange(0, count, 97)

    for floor in (0.1, 0.24, 0.6):
        found = searched(space_of(rows, floor=floor), asked)

        every = (rows.plain_terms(asked) @ rows.plain_terms().T).toarray()
        every[np.arange(len(asked)), asked] = -np.inf
        assert_nearest(found, every, floor)


def test_rows_without_grams_are_their_terms() -> None:
    weights = sparse.csr_array(np.eye(3))

    rows = Rows(weights)

    assert rows.n_unspelt == 3
    assert np.array_equal(rows.plain_terms().toarray(), weights.toarray())


@pytest.mark.parametrize("shared", [False, True])
def test_sums_of_rows_are_those_of_their_members(shared: bool) -> None:
    weights, dense = sparse.csr_array(np.eye(3)), np.array([[0.5, 0.1], [0.2, 0.3], [0.4, 0.6]])
    places = np.array([2, 0, 0]) if shared else None
    membership = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]])

    terms, parts = Rows(weights, dense=dense, dense_row=places).sums(sparse.csr_array(membership))
    _, none = Rows(weights).sums(sparse.csr_array(membership))

    assert np.allclose(terms.toarray(), membership)
    assert np.allclose(parts, membership @ (dense if places is None else dense[places]))
    assert none.shape == (2, 0)


def test_as_many_threads_run_as_there_are_cpus_for_this_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", {0: {0, 3}}.__getitem__, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert usable_cpus() == 2

    monkeypatch.delattr(os, "sched_getaffinity")
    assert usable_cpus() == 7

    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cpus() == 1
