"""People can separate any two wordings, also if these have the same surface."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vocabgap as vg
from builders.clustering import asking
from builders.decisions import Studio, decided
from vocabgap.clustering.grouping import cluster
from vocabgap.decisions.replay import followed
from vocabgap.decisions.reviewing import Review
from vocabgap.errors import StateError
from vocabgap.text import form, own_form, surface

ALIKE = ("rein belt", "rein-belt", "Rein Belts")
NEEDS = (
    *ALIKE, "belt for reins", "film grain", "film grain look", "grain of film", "moon glow", "night glow",
)  # fmt: skip


@pytest.fixture
def belts(studio_of: Callable[..., Studio]) -> Studio:
    """One surface in three wordings, and another need."""
    assert len({*map(surface, ALIKE)}) == 1
    made = studio_of(*ALIKE, "rein belt", "lens flare")
    made.report()
    return made


def ids(rows: dict[str, dict[str, Any]], *wordings: str) -> list[str]:
    return [rows[wording]["capability_id"] for wording in wordings]


def test_one_of_two_wordings_with_the_same_surface_leaves(belts: Studio) -> None:
    belt, flare = ids(belts.rows(), "rein belt", "lens flare")

    belts.decide.split("rein belt", "rein-belt")

    rows = belts.rows()
    assert ids(rows, "rein belt", "Rein Belts", "lens flare") == [belt, belt, flare]
    assert rows["rein-belt"]["capability_id"] not in {belt, flare}
    assert [rows[each]["mentions"] for each in ("rein belt", "rein-belt")] == [3, 1]
    belts.decide.undo(last=True)
    assert ids(belts.rows(), *ALIKE) == [belt] * 3


def test_other_spellings_leave_with_a_wording_unless_they_are_named(
    studio_of: Callable[..., Studio],
) -> None:
    studio = studio_of("film grain", "film-grain", "film grain look")
    identifier = studio.report().ranked["capability_id"].item()

    studio.decide.split(identifier, "film grain")

    rows = studio.rows()
    assert ids(rows, "film-grain") == ids(rows, "film grain") != ids(rows, "film grain look")


def test_every_wording_of_a_surface_can_leave(belts: Studio) -> None:
    belts.decide.split("rein belt", "rein-belt")
    belts.report()
    belts.decide.split("rein belt", "Rein Belts")

    assert len({*ids(belts.rows(), *ALIKE)}) == len(ALIKE)


def test_later_decisions_may_name_the_separated_wording(belts: Studio) -> None:
    belts.decide.split("rein belt", "rein-belt")
    belts.report()
    belts.decide.author("rein-belt", "belt")
    belts.decide.merge("rein-belt", "lens flare")

    rows = belts.rows()

    statuses = [rows[each]["status"] for each in ("rein-belt", "lens flare", "rein belt")]
    assert statuses == ["authored", "authored", "open"]


def test_separated_wordings_are_one_again_only_after_an_undo(belts: Studio) -> None:
    belts.decide.split("rein belt", "rein-belt")
    belts.report()

    with pytest.raises(StateError, match="two decisions contradict each other"):
        belts.decide.merge("rein belt", "rein-belt")


@given(
    st.lists(st.sampled_from(NEEDS), min_size=1),
    st.lists(st.permutations(ALIKE), min_size=1, max_size=3),
    st.floats(0.0, 1.0),
)
def test_separating_wordings_changes_no_other_group(
    more: list[str], orders: list[list[str]], threshold: float
) -> None:
    found = cluster(asking(*NEEDS, *more), threshold=threshold)
    splits = [
        decided("split", [one], wordings=[other], minute=minute)
        for minute, (one, other, _) in enumerate(orders)
    ]

    _, made = followed(found, splits)

    before, after = (
        dict(each.wordings.select("wording", "cluster").iter_rows()) for each in (found, made)
    )
    assert all(after[one] != after[other] for one, other, _ in orders)
    touched = {before[wording] for wording in ALIKE}
    for wording in {*NEEDS} - {wording for wording in NEEDS if before[wording] in touched}:
        (theirs,), (mine,) = (
            each.clusters.drop("cluster").filter(each.clusters["cluster"] == where[wording]).rows()
            for each, where in ((found, before), (made, after))
        )
        assert mine == theirs
        assert {each for each in NEEDS if before[each] == before[wording]} == {
            each for each in NEEDS if after[each] == after[wording]
        }
    assert made.clusters["mentions"].sum() == found.clusters["mentions"].sum()
    assert sum(made.dendrogram(each)[0].height for each in range(made.clusters.height)) == (
        made.wordings["surface"].n_unique()
    )


def test_the_own_form_folds_only_compatibility_forms_case_and_space() -> None:
    assert own_form("Rein\u00a0BELT") == own_form("rein belt") != own_form("rein-belt")


def test_a_review_names_a_separated_wording_by_its_own_capability(belts: Studio) -> None:
    belts.decide.split("rein belt", "rein-belt")
    belts.report()
    present = belts.rows()
    capabilities = {wording: present[wording]["capability_id"] for wording in present}
    other = "wide rein-belt"  # a person has answered whether the two belts are one need
    found = cluster(asking(*ALIKE, "rein belt", other), embedder="none", threshold=0.1)
    capabilities[other] = "cap-000000000001"
    ids = {form(wording, {own_form("rein-belt")}): name for wording, name in capabilities.items()}

    under_review = Review(found, belts.decide.all(), actor="ana", capabilities=ids)

    group = under_review.clusters.group_of[own_form("rein-belt")]
    (screen,) = under_review.clusters.screens(about=[group])
    *_, made = under_review.decisions(screen, vg.Answer(same=[0]))
    assert made.capability is not None
    assert made.capability.capability_id == capabilities["rein-belt"]
