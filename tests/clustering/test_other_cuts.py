"""Other cuts of the same merges, and the tree below one group."""

import pytest
from polars.testing import assert_frame_equal

from builders.clustering import asking
from vocabgap.clustering.grouping import Clusters, cluster
from vocabgap.errors import InvalidInputError, NotFoundError
from vocabgap.linkage import agglomeration
from vocabgap.model.tables import LINKAGE

NEEDS = (
    "reed mask", "reed masks", "mask for reeds", "soft reed mask", "tilt shift", "tilt shift blur", "???",
)  # fmt: skip


@pytest.fixture(scope="module")
def found() -> Clusters:
    return cluster(asking(*NEEDS, "reed mask"))


@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_another_cut_is_what_clustering_again_would_give(found: Clusters, threshold: float) -> None:
    again = cluster(asking(*NEEDS, "reed mask"), threshold=threshold)

    other = found.at(threshold)

    assert_frame_equal(other.wordings, again.wordings)
    assert_frame_equal(other.clusters, again.clusters)
    assert other.threshold == threshold


def test_the_tree_below_a_group_has_its_surfaces_and_its_merges(found: Clusters) -> None:
    number = found.wordings.filter(wording="reed mask")["cluster"].item()

    leaves, linkage = found.dendrogram(number)

    assert (leaves["mentions"].sum(), linkage["size"][-1]) == (5, 3)
    assert leaves.filter(wording="reed mask").select("mentions", "similarity").row(0) == (3, 1.0)
    assert linkage.schema == LINKAGE.schema
    assert linkage.height == leaves.height - 1
    nodes = sorted([*linkage["left"], *linkage["right"]])
    assert nodes == list(range(2 * leaves.height - 2))


def test_a_group_that_is_not_there_is_said(found: Clusters) -> None:
    with pytest.raises(NotFoundError, match="no cluster 99"):
        found.dendrogram(99)


def test_beyond_the_merges_of_many_surfaces_a_cut_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agglomeration, "DENSE_LIMIT", 3)
    found = cluster(asking(*NEEDS), threshold=0.5)

    assert found.max_distance == 0.5
    with pytest.raises(InvalidInputError, match=r"the dendrogram ends at 0\.5") as caught:
        found.at(0.6)
    assert caught.value.hint == "cluster again with max_distance=0.6"
