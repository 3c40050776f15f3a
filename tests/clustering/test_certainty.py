"""How sure a group is: the size of its need however it was cut, and whether it holds several."""

import polars as pl
import pytest

from builders.ranking import records
from vocabgap.clustering.grouping import Clusters, cluster
from vocabgap.ranking.capabilities import rank
from vocabgap.schema import Apart, Together


def grouped(*needs: str, threshold: float = 0.9) -> Clusters:
    """What is grouped by words alone, at a cut of its own."""
    frame = records([{"missing_capability": need} for need in needs])
    return cluster(frame, threshold=threshold, embedder="none")


def certainty_of(found: Clusters, wording: str) -> tuple[int, int, bool]:
    (number,) = found.wordings.filter(wording=wording)["cluster"]
    low, high, mixed = (
        found.clusters.filter(cluster=number).select("mentions_low", "mentions_high", "mixed").row(0)
    )
    return low, high, mixed


LOOSE = ("fog over water", "fog on glass", "glass bead", "bead curtain", "curtain rail")


def test_what_was_always_worded_alike_is_as_sure_as_its_count() -> None:
    assert certainty_of(grouped(*["sky mask"] * 9, "film grain"), "sky mask") == (9, 9, False)


def test_what_a_tighter_cut_parts_may_be_less() -> None:
    low, high, _ = certainty_of(grouped(*LOOSE, threshold=0.95), LOOSE[0])

    assert low < len(LOOSE) <= high


def test_what_has_little_in_common_is_probably_several_needs() -> None:
    found = grouped(*LOOSE, threshold=0.99)

    assert found.clusters.height == 1
    assert found.clusters["mixed"].to_list() == [True]


def test_wordings_that_look_alike_are_one_need() -> None:
    assert (
        certainty_of(grouped("sky mask", "mask of sky", "sky masks", "the sky mask"), "sky mask")[2] is False
    )


@pytest.mark.parametrize("constraint", [Together("fog over water", "curtain rail")])
def test_what_people_decided_is_not_unsure(constraint: Together) -> None:
    found = grouped(*LOOSE, threshold=0.99)
    surfaces = dict(found.wordings.select("wording", "surface").iter_rows())
    decided = found.constrained([Together(*(surfaces[each] for each in constraint))])

    assert certainty_of(decided, LOOSE[0]) == (5, 5, False)


def test_both_sides_of_a_split_are_not_unsure() -> None:
    found = grouped(*LOOSE, threshold=0.99)
    first, *_, last = found.wordings["surface"].sort()

    parted = found.constrained([Apart(first, (last,), "a split")])

    assert parted.clusters["mentions_low"].to_list() == parted.clusters["mentions"].to_list()
    assert parted.clusters["mixed"].any() is False


def test_of_a_selection_the_interval_is_as_wide_in_proportion() -> None:
    frame = records([{"missing_capability": need, "tenant_id": tenant} for need in LOOSE for tenant in "ab"])
    found = cluster(frame, threshold=0.95, embedder="none")

    half = rank(frame.filter(tenant_id="a"), found, corpus=frame)
    whole = rank(frame, found)

    low, high = (int(whole[0, name]) for name in ("mentions_low", "mentions_high"))
    assert half.select("mentions_low", "mentions_high").row(0) == (max(low // 2, 1), -(-high // 2))
    assert half.select(pl.col("mentions").is_between("mentions_low", "mentions_high")).to_series().all()
