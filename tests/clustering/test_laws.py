"""Laws of the groups of any phrases."""

import random

import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from builders.clustering import asking
from vocabgap.clustering.describing import labels_of
from vocabgap.clustering.grouping import cluster

WORDS = ["aurora", "noise", "cleanup", "Barn", "door", "tilt", "shift", "the", "???", "not"]

phrase_lists = st.lists(
    st.one_of(
        st.text(max_size=12), st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
    ),
    max_size=12,
)


def asked(phrases: list[str]) -> list[str]:
    return [phrase.strip() for phrase in phrases if phrase.strip()]


@given(phrase_lists)
def test_groups_divide_the_wordings_and_hold_each_surface_whole(phrases: list[str]) -> None:
    groups = cluster(asking(*phrases))

    assert groups.wordings["wording"].to_list() == sorted(set(asked(phrases)))
    assert set(groups.wordings["cluster"]) == set(range(groups.clusters.height))
    assert groups.clusters["mentions"].sum() == len(asked(phrases))
    summed = groups.wordings.group_by("cluster").agg(
        pl.col("mentions").sum(), surfaces=pl.col("surface").n_unique()
    )
    assert_frame_equal(
        summed.sort("cluster"),
        groups.clusters.select("cluster", "mentions", "surfaces"),
        check_dtypes=False,
    )
    assert groups.clusters["surfaces"].sum() == groups.wordings["surface"].n_unique()


@given(phrase_lists, st.floats(0.0, 1.0))
def test_label_is_in_the_words_of_its_own_cluster(phrases: list[str], threshold: float) -> None:
    found = cluster(asking(*phrases), threshold=threshold)

    named = found.clusters.select("cluster", "label", "label_surface")
    for number, label, label_surface in named.iter_rows():
        own = found.wordings.filter(cluster=number)
        assert label_surface in own["surface"]
        spoken = own.filter(surface=label_surface)["wording"].to_list()
        assert label in {*spoken, *(each for wording in spoken for each in labels_of([wording]))}
    assert found.clusters["label"].is_unique().all()


@given(phrase_lists, st.floats(0.0, 1.0))
def test_similarity_and_cohesion_are_from_zero_to_one_and_that_of_a_label_is_one(
    phrases: list[str], threshold: float
) -> None:
    found = cluster(asking(*phrases), threshold=threshold)

    assert found.wordings["similarity"].is_between(0.0, 1.0).all()
    assert found.clusters["cohesion"].is_between(0.0, 1.0).all()
    similarity = dict(found.wordings.select("surface", "similarity").iter_rows())
    assert [similarity[each] for each in found.clusters["label_surface"]] == [
        1.0
    ] * found.clusters.height


@given(phrase_lists, st.randoms(use_true_random=False))
def test_order_of_records_changes_nothing(phrases: list[str], shuffle: random.Random) -> None:
    expected = cluster(asking(*phrases))

    found = cluster(asking(*shuffle.sample(phrases, len(phrases))))

    assert_frame_equal(found.wordings, expected.wordings, check_exact=True)
    assert_frame_equal(found.clusters, expected.clusters, check_exact=True)
    assert_frame_equal(found.linkage, expected.linkage, check_exact=True)
