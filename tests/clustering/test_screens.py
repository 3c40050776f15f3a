"""Screens: what a person sees about a group, in which order, and what earlier answers change."""

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest

import vocabgap as vg
from builders.clustering import asking
from vocabgap.clustering.grouping import Clusters
from vocabgap.model.tables import Apart, Confirmed, Together
from vocabgap.text import own_form, surface

SKY = ("sky mask", "mask the sky", "select the sky", "sky selection mask", "a mask of the sky area")
SKIN = ("skin mask", "mask skin", "select the skin", "skin selection mask", "a mask of skin area")
CLOUD = (
    "cloud mask",
    "mask clouds",
    "select the clouds",
    "cloud selection mask",
    "a mask of cloud area",
)
CROP = (
    "crop to square",
    "square crop",
    "crop the square",
    "square crop ratio",
    "crop as a square area",
)
GRAIN = (
    "film grain",
    "grain of a film",
    "add film grain",
    "film grain look",
    "film grain look of old film",
)


def clustered(*needs: str) -> Clusters:
    return vg.cluster(asking(*needs), embedder="none")


@pytest.fixture(scope="module")
def found() -> Clusters:
    return clustered(*[*SKY, *CLOUD, *SKIN, *GRAIN, *CROP] * 2)


def screen_of(groups: Clusters, wording: str) -> vg.Screen:
    return next(screen for screen in groups.screens(0) if wording in screen.wordings)


def likely(screen: vg.Screen, wording: str) -> float:
    return next((near.probability for near in screen.neighbours if wording in near.wordings), 0.0)


def test_a_screen_shows_a_group_its_parts_and_the_nearest_groups(found: Clusters) -> None:
    screen = screen_of(found, "sky mask")

    assert (screen.wordings[0], screen.mentions) == ("a mask of the sky area", 10)
    assert {*screen.wordings} == {*SKY}
    assert {wording for part in screen.parts for wording in part.wordings} < {*SKY}
    assert screen.doubtful == tuple(part.wordings[0] for part in screen.parts)
    nearest = max(screen.neighbours, key=lambda near: near.probability)
    assert {*nearest.wordings} == {*SKIN}
    near = [neighbour.probability for neighbour in screen.neighbours]
    parts = [part.probability for part in screen.parts]
    for shown in (near, parts, [screen.value]):
        assert shown == [round(each, 3) for each in shown] != [round(each, 2) for each in shown]


def test_a_screen_without_anything_to_tick_is_not_likely_to_be_ticked() -> None:
    assert vg.Screen("sky mask", 1, ("sky mask",), (), (), 0.0).likeliest == 0.0


def test_the_most_valuable_screen_comes_first_and_no_screen_is_too_long() -> None:
    crowd = [
        f"{verb} the {noun} mask" for verb in ("feather", "grow", "save") for noun in "abcdefghijkl"
    ]
    found = vg.cluster(asking(*SKY, *SKY, *crowd), embedder="none", threshold=0.1)

    screens = found.screens()

    assert [screen.value for screen in screens] == sorted(
        (each.value for each in screens), reverse=True
    )
    assert max(len(screen.neighbours) for screen in screens) == 10
    assert max(len(screen.parts) for screen in screens) <= 6


def test_a_contrast_that_the_tree_never_merges_is_a_neighbour() -> None:
    """The tree compares whole groups; a screen finds the nearest ones wherever these are."""
    found = clustered(
        *["add a sky mask"] * 5, *["remove a sky mask"] * 4, "add a cloud mask", *CROP
    )

    assert "remove a sky mask" in {
        wording
        for neighbour in screen_of(found, "add a sky mask").neighbours
        for wording in neighbour.wordings
    }


def test_an_opposite_is_a_less_likely_neighbour() -> None:
    found = clustered(
        *["add a sky mask"] * 5, *["remove a sky mask"] * 4, "add a cloud mask", *CROP
    )
    blind = replace(found, _tree=found._tree._replace(doubts=()))

    opposite, as_near = (
        likely(screen_of(groups, "add a sky mask"), "remove a sky mask")
        for groups in (found, blind)
    )
    assert 0.0 < opposite < as_near


def test_one_tick_separates_wordings_of_another_number() -> None:
    lenses = (
        "24mm lens profile",
        "85mm lens profile",
        "lens profile for 85mm",
        "profile of the 35mm lens",
    )
    found = clustered("24mm lens profile", *lenses, "lens profile", *CROP)
    (screen,) = (each for each in found.screens() if lenses[0] in each.wordings)

    assert {*screen.wordings} == {*lenses, "lens profile"}
    parts = [set(part.wordings) for part in screen.parts]
    assert {*lenses[1:3]} in parts
    assert lenses[0] not in set().union(*parts)


@pytest.mark.parametrize(
    "answer",
    [
        Confirmed("sky mask", (), ("skin mask",)),
        Apart(surface("sky mask"), (surface("select the sky"),), "dec-1"),
    ],
)
def test_what_is_apart_by_an_answer_is_not_asked_again(
    found: Clusters, answer: Confirmed | Apart
) -> None:
    after = found.constrained([answer])
    other = answer.apart[0] if isinstance(answer, Confirmed) else answer.leaving[0]

    assert likely(screen_of(after, "sky mask"), "cloud mask") > 0.0
    assert likely(screen_of(after, "sky mask"), other) == 0.0


def test_a_refused_neighbour_makes_others_less_likely(found: Clusters) -> None:
    before = likely(screen_of(found, "sky mask"), "cloud mask")

    refused = found.constrained([Confirmed("sky mask", (), ("skin mask",))])

    assert refused.wordings.equals(found.wordings)
    assert 0.0 < likely(screen_of(refused, "sky mask"), "cloud mask") < before


def test_a_merge_by_hand_is_not_doubted(found: Clusters) -> None:
    one, other = map(surface, ("sky mask", "square crop"))
    undecided = found.constrained([Together(one, other)])
    anew = replace(undecided, constraints=())

    def separating(groups: Clusters) -> list[vg.Part]:
        parts = (part for screen in groups.screens(0) for part in screen.parts)
        return [part for part in parts if "square crop" in part.wordings]

    assert len(separating(anew)) > len(separating(undecided))


def test_wordings_that_may_be_opposites_are_the_first_tick_until_answered(
    found: Clusters, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [*found.group_of]
    pair = (names.index(surface("sky mask")), names.index(surface("mask the sky")))
    monkeypatch.setattr(Clusters, "doubtful_pairs", [pair])

    doubted = replace(found)  # without cached properties

    screen = screen_of(doubted, "sky mask")

    assert screen.parts[0].wordings in {("sky mask",), ("mask the sky",)}
    assert screen.parts[0].probability == 0.646
    others = [wording for part in screen.parts[1:] for wording in part.wordings]
    assert screen.parts[0].wordings[0] not in others
    answer = Confirmed("sky mask", (surface("mask the sky"),), ())
    assert screen.parts[0] not in screen_of(doubted.constrained([answer]), "sky mask").parts


def test_whatever_is_ticked_a_wording_stays() -> None:
    """A part by distance may hold what the opposites leave behind."""
    times = {
        "tow a raft in the lock": 1,
        "tow out a raft": 3,
        "tow a raft out the lock": 3,
        "raft in the lock": 3,
    }
    texts = chain.from_iterable([text] * count for text, count in times.items())
    clusters = vg.cluster(asking(*texts, "raft towing in a lock"), embedder="none", threshold=0.95)

    (screen,) = clusters.screens()

    assert len(screen.parts) > 1
    assert screen.staying(range(len(screen.parts)))


def test_the_order_of_records_does_not_matter() -> None:
    needs = [*SKY, *SKIN, *CROP]
    shuffled = np.random.default_rng(1).permutation(needs).tolist()

    assert clustered(*needs).screens() == clustered(*shuffled).screens()


def test_nothing_to_ask_gives_no_screen() -> None:
    assert clustered("sky mask").screens() == []
    assert vg.cluster(asking(), embedder="none").screens() == []


def test_a_screen_has_the_labels_of_the_groups() -> None:
    """Labels that would be equal without their frames stay whole, also after a merge of another group."""
    skies = ("cannot mask the sky", "no way to mask the sky")
    found = vg.cluster(asking(*skies, *GRAIN[:2]), embedder="none", threshold=0)
    merged = found.constrained([Together(*map(surface, GRAIN[:2]))])

    labels = {near.label for screen in merged.screens() for near in screen.neighbours}

    assert labels == {*skies} < {*merged.clusters["label"]}


def test_a_separated_wording_has_its_own_place_in_the_tree_and_in_screens() -> None:
    found = clustered(*SKY, "sky masks", *CROP)
    own = own_form("sky masks")

    after = found.constrained([Apart(surface("sky mask"), (own,), "dec-1")], [own])

    assert after.linkage.height == found.linkage.height + 1
    assert after.linkage["height"][0] == 0.0
    assert after.linkage["height"].is_sorted()
    assert {*screen_of(after, "sky mask").wordings} == {*SKY}
