"""What is said of groups: their label, likeness to it, cohesion and weakest link."""

from itertools import combinations
from statistics import fmean

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from builders.clustering import asking, in_full, linkage, random_rows
from vocabgap.clustering import describing
from vocabgap.clustering.cutting import average_linkage, flat_groups
from vocabgap.clustering.describing import (
    Labeller,
    cohesion,
    similarity,
    weakest_links,
)
from vocabgap.clustering.wordings import points_of
from vocabgap.linkage import FloatArray, IntArray, Rows

SHOWN = 0.5 * 10**-6 + 1e-9  # what rounding to the digits shown may change
seeds = st.integers(0, 2**32 - 1)
labellings = st.lists(st.integers(0, 4), min_size=1, max_size=14).map(
    lambda drawn: np.unique(drawn, return_inverse=True)[1].astype(np.int64)  # none is left out
)


def dense(rows: Rows) -> FloatArray:
    return np.asarray(in_full(rows).toarray(), np.float64)


def test_the_label_is_the_best_wording_of_the_surface_that_stands_for_the_group() -> None:
    points = points_of(asking("sky mask", "Sky masks", "Sky masks", "sky mask feather"))
    labeller = Labeller(points)

    label, point = labeller.label([0, 1])

    assert points.surfaces["surface"].to_list() == ["sky mask", "sky mask feather"]
    assert (label, point) == ("Sky masks", 0)


def pairwise(rows: Rows, labels: IntArray) -> list[float]:
    """The mean over pairs, one by one."""
    every = dense(rows) @ dense(rows).T
    groups = [np.flatnonzero(labels == group).tolist() for group in range(labels.max() + 1)]
    return [
        fmean(every[one, other] for one, other in combinations(group, 2)) if len(group) > 1 else 1.0
        for group in groups
    ]


@given(seeds, labellings)
def test_a_dense_part_counts_as_the_rest_of_a_row(seed: int, labels: IntArray) -> None:
    terms = Rows(random_rows(seed, len(labels)))
    further = np.abs(np.random.default_rng(seed).standard_normal((len(labels), 5)))
    further /= np.linalg.norm(further, axis=1, keepdims=True)
    rows = Rows(terms.term_weights * np.sqrt(0.5), terms.grams, further * np.sqrt(0.5))
    every = (dense(terms) @ dense(terms).T + further @ further.T) / 2.0

    np.testing.assert_allclose(dense(rows) @ dense(rows).T, every, atol=SHOWN)
    np.testing.assert_allclose(
        similarity(rows, labels), every[np.arange(len(labels)), labels], atol=SHOWN
    )
    np.testing.assert_allclose(cohesion(rows, labels), pairwise(rows, labels), atol=SHOWN)


def test_rows_that_point_apart_have_no_similarity() -> None:
    rows = Rows(
        sparse.csr_array((2, 1)), sparse.csr_array((0, 0)), np.array([[1.0, 0.0], [-0.6, 0.8]])
    )

    assert similarity(rows, np.array([1, 0])).tolist() == [0.0, 0.0]
    assert cohesion(rows, np.array([0, 0])).tolist() == [0.0]


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_rows_that_are_taken_part_by_part_give_the_same(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    labels = np.array([3, 0, 1, 3, 2, 0, 1, 0, 4, 5, 5])
    rows = Rows(random_rows(7, len(labels)))
    at_one_time = similarity(rows, labels)

    monkeypatch.setattr(describing, "_ROWS_AT_ONCE", at_once)

    np.testing.assert_array_equal(similarity(rows, labels), at_one_time)


def test_the_weakest_link_of_a_group_that_a_side_left_is_without_it() -> None:
    merges = linkage((0, 1, 0.1, 4), (2, 3, 0.2, 5), (4, 5, 0.3, 9))

    found = weakest_links(merges, np.array([True, False, False]), np.array([0, 1, 1, 1]))

    assert found.tolist() == [0.0, 0.3]


@given(seeds, st.integers(2, 14), st.floats(0.0, 1.0))
def test_the_weakest_link_of_a_cut_is_the_highest_merge_below_it(
    seed: int, count: int, threshold: float
) -> None:
    merges, _ = average_linkage(Rows(random_rows(seed, count)))
    labels = flat_groups(merges, count, threshold)

    found = weakest_links(merges, np.zeros(merges.height, dtype=bool), labels)

    assert (found <= threshold + SHOWN).all()
    below = merges.filter(pl.col("height") < threshold)["height"]
    assert found.max() == pytest.approx(below.max() or 0.0, abs=SHOWN)
    assert ((found > 0.0) == (np.bincount(labels) > 1)).all()


@pytest.mark.parametrize(
    ("members", "core"),
    [
        (({"sky", "mask"}, {"sky"}), {"sky": 2, "mask": 1}),
        (({"sky"}, {"sea"}, {"sun"}), {}),
        (({"sky", "a"}, {"sky", "b"}, {"c"}, {"d"}, {"e"}), {"sky": 2}),
        (({"sky"}, {"sea"}, {"sun"}, {"fog"}, {"fog"}, {"sky"}, {"oar"}), {"sky": 2, "fog": 2}),
    ],
)
def test_the_core_is_what_half_of_the_mentions_have_or_else_several_members(
    members: tuple[set[str], ...], core: dict[str, int]
) -> None:
    assert describing.core_terms([*map(frozenset, members)], [1] * len(members)) == core
