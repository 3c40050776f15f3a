"""What cannot all be respected is refused when it is decided, and the error names both decisions."""

from collections.abc import Callable
from typing import Any

import pytest

from builders.decisions import Studio
from vocabgap.errors import StateError
from vocabgap.model.settings import ClusterSettings

CLOUDS, SKIES = ("cloud mask", "cloud mask tool"), ("sky mask", "sky mask haze")


@pytest.fixture
def masks(studio_of: Callable[..., Studio]) -> Studio:
    """One group of masks, of which those of the sky are split off by another wording than their label."""
    made = studio_of(*CLOUDS, *CLOUDS[1:] * 3, *SKIES, *SKIES[1:], "film grain")
    made.cluster = ClusterSettings(threshold=0.99)
    assert made.rows()["sky mask"]["mentions"] == 8
    made.decide.split("cloud mask", "sky mask")
    found = made.rows()
    assert wordings(found["sky mask"]) == {*SKIES}
    assert (found["cloud mask"]["label"], found["sky mask"]["label"]) == (CLOUDS[1], SKIES[1])
    return made


def wordings(row: dict[str, Any]) -> set[str]:
    return {variant["wording"] for variant in row["variants"]}


def test_a_conflict_is_refused_at_once_and_names_both(studio: Studio) -> None:
    merge = studio.decide.merge("lens flare", "film grain")
    name = studio.rows()["film grain"]["label"]

    with pytest.raises(StateError, match=f"{merge.decision_id}.*split 'lens flare'") as refused:
        studio.decide.split(name, "lens flare")

    assert "undoes the earlier one" in refused.value.hint
    assert studio.decide.all() == (merge,)


def test_a_merge_of_what_a_split_keeps_apart_by_other_wordings_is_refused(masks: Studio) -> None:
    (split,) = masks.decide.all()

    with pytest.raises(
        StateError, match=f"{split.decision_id} .*merged 'sky mask haze' into"
    ) as refused:
        masks.decide.merge(CLOUDS[1], SKIES[1])

    assert "one unites 'sky mask' with wordings that the other splits off" in refused.value.message
    assert masks.decide.all() == (split,)


def test_it_is_refused_by_way_of_a_third_one_that_no_report_shows_yet(masks: Studio) -> None:
    masks.decide.merge("film grain", SKIES[1])

    with pytest.raises(StateError, match="contradict each other"):
        masks.decide.merge(CLOUDS[1], "film grain")


def test_a_split_of_what_a_merge_holds_together_with_what_stays_is_refused(
    studio_of: Callable[..., Studio],
) -> None:
    studio = studio_of(*SKIES, *SKIES, SKIES[0], "film grain")
    studio.cluster = ClusterSettings(threshold=0.95)
    studio.report()
    merge = studio.decide.merge("sky mask", "film grain")
    assert wordings(studio.rows()["film grain"]) == {*SKIES, "film grain"}

    with pytest.raises(StateError, match=f"{merge.decision_id} .*split 'sky mask' off"):
        studio.decide.split("sky mask haze", "sky mask")


def test_a_split_of_what_was_merged_may_be_followed_by_other_merges(masks: Studio) -> None:
    merge = masks.decide.merge("film grain", SKIES[1])
    masks.report()
    masks.decide.split("film grain", "sky mask")
    masks.report()

    masks.decide.merge("cloud mask", SKIES[1])

    assert merge in masks.decide.in_force()
