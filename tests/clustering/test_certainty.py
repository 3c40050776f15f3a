"""How sure a group is: the size of its need however it was cut, and whether it holds several."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest

from builders.clustering import grouped_wordings
from builders.ranking import records
from vocabgap.clustering.blending import TextEmbedder
from vocabgap.clustering.cutting import certainty
from vocabgap.clustering.grouping import Clusters, cluster
from vocabgap.linkage import FloatArray
from vocabgap.model.tables import Apart, Together
from vocabgap.ranking.capabilities import rank
from vocabgap.text import surface


class Angles:
    """Embeds a wording by the angle that its first word names."""

    name = "angles"

    def embed(self, texts: Sequence[str]) -> FloatArray:
        angles = np.radians([float(text.split()[0]) for text in texts])
        return np.column_stack([np.cos(angles), np.sin(angles)])


def grouped(
    *needs: str, threshold: float | None = 0.9, embedder: TextEmbedder | str = "none"
) -> Clusters:
    """What is grouped by words alone, or by a model; at a cut of its own, or where the wordings part."""
    frame = records([{"missing_capability": need} for need in needs])
    return cluster(frame, threshold=threshold, embedder=embedder)


def certainty_of(found: Clusters, wording: str) -> tuple[int, int, bool]:
    (number,) = found.wordings.filter(wording=wording)["cluster"]
    low, high, mixed = (
        found.clusters.filter(cluster=number)
        .select("mentions_low", "mentions_high", "mixed")
        .row(0)
    )
    return low, high, mixed


LOOSE = ("fog over water", "fog on glass", "glass bead", "bead curtain", "curtain rail")


def test_the_interval_is_the_count_unless_a_tighter_cut_parts_the_group() -> None:
    assert certainty_of(grouped(*["sky mask"] * 9, "film grain"), "sky mask") == (9, 9, False)

    low, high, _ = certainty_of(grouped(*LOOSE, threshold=0.95), LOOSE[0])
    assert low < len(LOOSE) <= high


def test_what_people_decided_is_not_marked_and_stays_unsure() -> None:
    found = grouped(*LOOSE, threshold=0.99)
    first, *_, last = found.wordings["surface"].sort()
    assert found.clusters["mixed"].to_list() == [True]

    united = found.constrained([Together(surface("fog over water"), surface("curtain rail"))])
    parted = found.constrained([Apart(first, (last,), "a split")])

    for decided in (united, parted):
        assert not decided.clusters["mixed"].any()
        low, high = decided.clusters["mentions_low"], decided.clusters["mentions_high"]
        assert (low < high).any()


@pytest.mark.parametrize(
    ("near", "far", "embedder"),
    [
        (("sky mask", "mask of the sky"), ("fog on glass", "glass bead"), "none"),
        (
            ("10 fog", "11 fog lens", "10 fog mask", "11 fog hue"),
            ("120 mask", "120 fog", "162 lens", "162 hue"),
            Angles(),
        ),
    ],
    ids=["by words", "by meaning"],
)
def test_where_the_wordings_part_a_group_of_far_ones_is_less_sure_than_one_of_near_ones(
    near: tuple[str, ...], far: tuple[str, ...], embedder: TextEmbedder | str
) -> None:
    found = grouped(*near, *far, threshold=None, embedder=embedder)

    assert grouped_wordings(found) == {frozenset(near), frozenset(far)}
    assert certainty_of(found, far[0])[0] < certainty_of(found, near[0])[0] <= len(near)
    assert all(certainty_of(found, each[0])[1] >= len(each) for each in (near, far))


def test_a_small_group_near_large_ones_may_be_a_part_of_them_and_one_apart_is_not() -> None:
    large = ["10 fog"] * 40 + ["11 fog lens"] * 10
    found = grouped(*large, "60 fog", "170 hue", threshold=None, embedder=Angles())

    assert grouped_wordings(found) == {
        frozenset(large),
        frozenset({"60 fog"}),
        frozenset({"170 hue"}),
    }
    assert certainty_of(found, "170 hue")[:2] == (1, 1)
    assert certainty_of(found, "60 fog")[:2] == (1, 50)  # nine of ten mentions are in groups of 50


def test_two_unlike_wordings_are_marked_like_two_that_may_be_opposite() -> None:
    unlike = grouped("10 fog", "70 lens", threshold=0.9, embedder=Angles())
    alike = grouped("10 fog", "11 fog", threshold=0.9, embedder=Angles())
    marks = partial(
        certainty, np.zeros(2, np.int64), np.ones(2), np.ones(1), alike._tree, threshold=0.9
    )

    assert [found.clusters["mixed"].to_list() for found in (unlike, alike)] == [[True], [False]]
    assert marks(opposite={0})["mixed"].to_list() == [True]
    assert marks(opposite={0}, decided={0})["mixed"].to_list() == [True]


def test_of_a_selection_the_interval_is_as_wide_in_proportion() -> None:
    frame = records(
        [{"missing_capability": need, "tenant_id": tenant} for need in LOOSE for tenant in "ab"]
    )
    found = cluster(frame, threshold=0.95, embedder="none")

    half = rank(frame.filter(tenant_id="a"), found, corpus=frame).row(0, named=True)
    whole = rank(frame, found).row(0, named=True)

    assert whole["mentions"] == 2 * half["mentions"]
    assert whole["mentions_low"] < whole["mentions"] < whole["mentions_high"]
    for end in ("mentions_low", "mentions_high"):
        assert abs(2 * half[end] - whole[end]) <= 1
