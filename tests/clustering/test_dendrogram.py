"""Merges in order of height, numbered as SciPy numbers them, and the tree below one group."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from builders.clustering import linkage
from vocabgap.clustering.cutting import below, flat_groups, linkage_table
from vocabgap.linkage import Merges, in_order_of_height

Merge = tuple[int, int, float]


def ordered(merges: list[Merge], weights: list[float]) -> pl.DataFrame:
    """The table of some merges: each a point that goes on, one that is taken in, and a height."""
    return linkage_table(*in_order_of_height(Merges.of(merges), np.array(weights)))


@st.composite
def forests(draw: st.DrawFn, steps: tuple[float, ...] = (0.0, 0.1)) -> tuple[list[Merge], int]:
    """Merges of some points, parts first and of no less height, perhaps not down to one; and their number."""
    count = draw(st.integers(1, 10))
    points = list(range(count))
    merges: list[Merge] = []
    reached = [0.0] * count
    for _ in range(draw(st.integers(0, count - 1))):
        keep, drop = draw(st.permutations(points))[:2]
        reached[keep] = max(reached[keep], reached[drop]) + draw(st.sampled_from(steps))
        merges.append((keep, drop, reached[keep]))
        points.remove(drop)
    return merges, count


@given(forests())
def test_every_merge_is_of_two_clusters_that_are_there(forest: tuple[list[Merge], int]) -> None:
    merges, count = forest

    found = ordered(merges, [1.0] * count)

    used: set[int] = set()
    for made, (left, right, _, _) in enumerate(found.iter_rows(), start=count):
        assert left < right < made
        assert used.isdisjoint((left, right))
        used |= {left, right}


@given(forests(steps=(0.1, 0.25)), st.data())
def test_the_order_in_which_merges_were_found_changes_nothing(
    forest: tuple[list[Merge], int], data: st.DataObject
) -> None:
    merges, count = forest
    distinct = [(keep, drop, height + at * 1e-6) for at, (keep, drop, height) in enumerate(merges)]

    found = ordered(data.draw(st.permutations(distinct)), [1.0] * count)

    assert_frame_equal(found, ordered(distinct, [1.0] * count))


def test_the_tree_below_a_group_has_its_merges_numbered_anew_without_a_side_that_left() -> None:
    whole = linkage((0, 3, 0.1, 2), (1, 4, 0.2, 2), (2, 6, 0.3, 3), (5, 7, 0.9, 5))
    assert below(whole, 5, np.array([1, 2, 4])).rows() == [(0, 2, 0.2, 2), (1, 3, 0.3, 3)]

    left = linkage((0, 1, 0.1, 2), (2, 3, 0.2, 2), (4, 5, 0.3, 4))
    merges = below(left, 4, np.array([1, 2, 3]))
    assert merges.rows() == [(1, 2, 0.2, 2), (0, 3, 0.3, 3)]


@given(forests(), st.floats(0.0, 1.0))
def test_the_tree_below_a_group_joins_all_of_it(
    forest: tuple[list[Merge], int], threshold: float
) -> None:
    merges, count = forest
    whole = ordered(merges, [1.0] * count)
    labels = flat_groups(whole, count, threshold)

    for group in range(labels.max() + 1):
        members = np.flatnonzero(labels == group)
        found = below(whole, count, members)
        assert sorted([*found["left"], *found["right"]]) == list(range(2 * len(members) - 2))
        assert found["size"].to_list()[-1:] == ([len(members)] if len(members) > 1 else [])
