"""Which wordings stand at different poles of a contrast, and what that keeps apart."""

import tomllib
from collections.abc import Sequence
from importlib import resources
from itertools import chain, combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

from builders.clustering import asking, linkage
from vocabgap.clustering.contrasts import (
    NEGATION,
    Poles,
    leaving,
    parting_poles,
    pole_rows,
    poles_of,
)
from vocabgap.clustering.grouping import cluster
from vocabgap.model.frames import need
from vocabgap.text import surface

# Wordings of several needs that share all words but one.
APART = [
    ("add a watermark to the print", "remove a watermark from the print"),
    ("upload a slide deck", "download a slide deck"),
    ("gentle curve preset", "aggressive curve preset"),
    ("colour range mask", "luminance range mask", "depth range mask"),
    ("insert a row above", "insert a row below"),
    ("mute one track", "unmute one track"),
    ("switch on the grid overlay", "switch off the grid overlay"),
    ("print with page numbers", "print without page numbers"),
    ("imprimer avec filigrane", "imprimer sans filigrane"),
    ("mit Rand drucken", "ohne Rand drucken"),
    ("stampa con bordo", "stampa senza bordo"),
    ("warmth +2", "warmth -2"),
    ("frames < 90 kB", "frames > 90 kB"),
]
# The second need is the first one, negated.
NEGATED_NEEDS = [
    ("warn at low tide", "do not warn at low tide"),
    ("warn at low tide", "don't warn at low tide"),
    ("warn at low tide", "option to never warn at low tide"),
    ("I want a tide table", "I don't want a tide table"),
    ("avisar en marea baja", "no avisar en marea baja"),
    ("bei Ebbe warnen", "bei Ebbe nicht warnen"),
]


def stems(wording: str) -> list[str]:
    return surface(wording).split()


def far(ones: Sequence[str], _: Sequence[str]) -> np.ndarray:
    """Find no two texts similar."""
    return np.zeros(len(ones))


def differ(one: str, other: str) -> bool:
    """Whether two wordings stand at different poles of one contrast."""
    (left, right), _ = parting_poles(map(stems, (one, other)), (one, other), far)
    return any(right.get(contrast, pole) != pole for contrast, pole in left.items())


@pytest.mark.parametrize("wordings", APART)
def test_opposites_and_kinds_stand_at_different_poles(wordings: tuple[str, ...]) -> None:
    for one, other in combinations(wordings, 2):
        assert differ(one, other)
        assert differ(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("add a watermark", "insert a watermark"), ("removal of watermarks", "delete the watermark"),
        ("colour range mask", "color range mask"), ("add a watermark", "watermark"),
        ("upload a slide deck", "narrower margins"), ("tide pool", "coastline"),
    ],
)  # fmt: skip
def test_what_means_the_same_or_says_nothing_of_it_does_not_differ(one: str, other: str) -> None:
    assert not differ(one, other)


# Structure tells these apart: no row of the table has their words.
APART_BY_STRUCTURE = [
    ("drain the moored boats", "drain the unmoored boats"),
    ("a symmetrical keel plan", "an asymmetrical keel plan"),
    ("corrosive varnish", "non-corrosive varnish"),
    ("chart of salted docks", "chart of docks that are not salted"),
    ("tow a raft in", "tow a raft out"),
    ("row to the jetty", "row from the jetty"),
    ("ferry goats from the isle to the shore", "ferry goats from the shore to the isle"),
    ("swap tar with pitch", "swap pitch with tar"),
    ("wax the hull before the mast", "wax the mast before the hull"),
    ("wake the cook when the mate snores", "wake the mate when the cook snores"),
    ("let pilots hail skippers on deck", "let skippers hail pilots on deck"),
    ("pilots hail skippers", "skippers hail pilots"),
    ("Segel trocknen", "niemals Segel trocknen"),
    ("accrocher la voile", "désaccrocher la voile"),
    ("caulk until the tide turns", "caulk once the tide turns"),
    ("berths owned by a club", "berths not owned by a club"),
    ("log the tide", "stop logging the tide"),
    ("rig a dinghy", "paint a dinghy"),
    ("naviguer une barque", "peindre une barque"),
    ("pintar barca", "hundir barca"),
    ("Segel flicken", "Segel trocknen"),
    ("Segel aus dem Boot werfen", "Segel aus dem Boot heben"),
    ("berths with at least 5 cleats", "berths with at most 5 cleats"),
    ("tides newer than a week", "tides older than a week"),
]


@pytest.mark.parametrize(("one", "other"), APART_BY_STRUCTURE)
def test_structure_tells_opposites(one: str, other: str) -> None:
    assert differ(one, other)
    assert differ(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("drain the moored boats", "drain boats that are moored"),
        ("hide docks that are not moored", "hide unmoored docks"),
        ("ferry goats from the isle to the shore", "ferry to the shore the goats from the isle"),
        ("sort berths by depth and price", "sort berths by price and depth"),
        ("trim the sails automatically", "automatic sail trimming"),
        ("let pilots, skippers and cooks sign", "let cooks, skippers and pilots sign"),
        ("ring a bell when the mate snores", "when the mate snores, ring a bell"),
        ("berths do not fill", "berths fill"),
        ("at most five cleats a berth", "no more than five cleats a berth"),
        ("rig a dinghy", "rigging a dinghy"),
        ("remove a dinghy", "delete a dinghy"),
        ("rig a dinghy", "paint a wherry"),
        ("links do not open", "open links"),
    ],
)
def test_structure_leaves_one_need_together(one: str, other: str) -> None:
    assert not differ(one, other)


def test_two_actions_are_one_need_if_the_model_finds_them_near() -> None:
    def near(ones: Sequence[str], others: Sequence[str]) -> np.ndarray:
        return np.array(
            [
                {one, other} == {"rig a dinghy", "equip a dinghy"}
                for one, other in zip(ones, others, strict=True)
            ],
            float,
        )

    texts = ["rig a dinghy", "equip a dinghy", "paint a dinghy"]
    (rigged, equipped, painted), doubts = parting_poles(map(stems, texts), texts, near)

    assert rigged == equipped != painted
    assert doubts[0] == doubts[1]


THINGS = ["caulk the bilge hatch", "caulk the galley hatch"]


@pytest.mark.parametrize(
    ("in_the_frame", "alone", "are_apart"),
    [(0.95, 0.6, False), (0.95, 0.3, True), (0.5, 0.6, True)],
)
def test_another_thing_in_its_place_is_another_need_unless_a_model_finds_both_near(
    in_the_frame: float, alone: float, are_apart: bool
) -> None:
    def near(ones: Sequence[str], _: Sequence[str]) -> np.ndarray:
        return np.where([" " in text for text in ones], in_the_frame, alone)

    (one, other), _ = parting_poles(map(stems, THINGS), THINGS, near)

    assert (one != other) is are_apart


def test_without_a_model_another_thing_in_its_place_says_nothing() -> None:
    assert parting_poles(map(stems, THINGS), THINGS) == ([{}, {}], [{}, {}])


def test_an_action_in_a_long_frame_is_compared_with_what_it_is_about() -> None:
    seen: set[str] = set()

    def near(ones: Sequence[str], others: Sequence[str]) -> np.ndarray:
        seen.update(ones, others)
        return np.zeros(len(ones))

    texts = ["rig a dinghy with the pump on deck", "paint a dinghy with the pump on deck"]
    parting_poles(map(stems, texts), texts, near)

    assert {"rig a dinghy", "paint a dinghy"} <= seen


def test_actions_that_the_model_finds_only_rather_near_are_in_doubt() -> None:
    def near(ones: Sequence[str], _: Sequence[str]) -> np.ndarray:
        return np.full(len(ones), (0.77 + 0.9) / 2.0)

    texts = ["rig a dinghy", "equip a dinghy"]
    poles, doubts = parting_poles(map(stems, texts), texts, near)

    assert poles == [{}, {}]
    assert doubts[0].keys() == doubts[1].keys()
    assert doubts[0] != doubts[1]


def test_an_action_that_is_near_in_one_frame_is_near_in_each() -> None:
    def near(ones: Sequence[str], _: Sequence[str]) -> np.ndarray:
        return np.array(["dinghy" in text for text in ones], float)

    texts = ["rig a dinghy", "equip a dinghy", "rig a wherry", "equip a wherry"]

    assert parting_poles(map(stems, texts), texts, near)[0] == [{}] * 4


def test_who_says_both_poles_stands_at_neither() -> None:
    both, one, other = (
        poles_of(stems(wording))
        for wording in ("merge and split cells", "merge cells", "split cells")
    )
    contrast = next(each for each, pole in one.items() if other.get(each, pole) != pole)

    assert contrast not in both


def test_two_words_count_where_they_stand_side_by_side() -> None:
    assert differ("low pass on the bell", "high pass on the bell")
    assert differ("log in again", "log out again")


def test_what_is_too_much_does_not_say_what_is_wanted() -> None:
    assert not differ("soft tide glow", "tide glow too hard")
    assert differ("soft tide glow", "tide glow that is hard")


def test_with_and_without_are_opposites_of_one_thing_only() -> None:
    assert differ("print with no page numbers", "print with page numbers")
    assert not differ("print with no page numbers", "print without page numbers")
    assert not differ("print with wide margins", "print without cutting the margins")


@pytest.mark.parametrize(
    "wordings",
    [
        ("no tide table", "missing tide table", "tide table", "without a tide table available"),
        ("cannot export the tide table", "tide table export not possible", "export the tide table"),
        ("edits do not persist", "persist edits"),
        ("I don't have a way to print the tide table", "print the tide table"),
    ],
)
def test_a_frame_or_a_complaint_negates_no_need(wordings: tuple[str, ...]) -> None:
    poles, _ = parting_poles(stems(need(wording)) for wording in wordings)
    assert [NEGATION in own for own in poles] == [False] * len(wordings)


def test_in_sentences_and_long_wordings_the_other_words_must_be_the_same() -> None:
    asked, long = "why did it {} my own watermark", "{} the watermark " + "tide " * 12

    for text in (asked, long):
        assert differ(text.format("add"), text.format("remove"))
        assert not differ(text.format("add"), "remove a blur")


def test_rows_of_poles_point_away_from_each_other() -> None:
    rows = pole_rows([poles_of(stems(wording)) for wording in ("mute", "unmute", "tide pool")])

    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1.0, 1.0, 0.0])
    assert rows[0] @ rows[1] == pytest.approx(-1.0)


def table() -> dict[str, Any]:
    source = resources.files("vocabgap.clustering").joinpath("contrasts.toml")
    return tomllib.loads(source.read_text(encoding="utf-8"))


def rows_of(name: str) -> list[list[set[str]]]:
    return [
        [{word.strip() for word in pole.split(",")} for pole in row.split("/")]
        for row in table()[name].strip().splitlines()
    ]


@pytest.mark.parametrize("name", ["actions", "opposites", "kinds", "particles"])
def test_every_row_of_the_table_has_distinct_poles_of_one_or_two_words(name: str) -> None:
    for row in rows_of(name):
        assert len(row) > 1 if name == "kinds" else len(row) == 2, row
        assert all(1 <= len(word.split()) <= 2 for pole in row for word in pole), row
        for one, other in combinations(row, 2):
            assert not {surface(word) for word in one} & {surface(word) for word in other}, row


# Of four points 0 and 1 merge, then 2 and 3, then all; or 2 joins 0 and 1; or there are two groups of three.
PAIRS = linkage((0, 1, 0.1, 2), (2, 3, 0.2, 2), (4, 5, 0.3, 4))
CHAIN = linkage((0, 1, 0.1, 2), (2, 4, 0.2, 3), (3, 5, 0.3, 4))
TRIPLES = linkage((0, 1, 0.1, 2), (2, 6, 0.2, 3), (3, 4, 0.3, 2), (5, 8, 0.4, 3), (7, 9, 0.5, 6))


LEFT, RIGHT = 1, 2


@pytest.mark.parametrize(
    ("tree", "poles", "sides"),
    [
        # The side with fewer surfaces leaves; of equal sides, the right one.
        (CHAIN, [{5: 0}, {5: 0}, {5: 1}, {}], [0, LEFT, 0]),
        (PAIRS, [{5: 0}, {5: 1}, {}, {}], [RIGHT, 0, 0]),
        # The other side continues without the pole of the one that left.
        (PAIRS, [{5: 1}, {5: 0}, {5: 1}, {}], [RIGHT, 0, 0]),
        # A few wordings do not decide where their group stands.
        (TRIPLES, [{5: 0}, {}, {}, {5: 1}, {}, {}], [0, 0, 0, 0, 0]),
    ],
)
def test_the_lesser_of_two_sides_that_contrast_leaves(
    tree: pl.DataFrame, poles: list[Poles], sides: list[int]
) -> None:
    assert leaving(tree, poles).tolist() == sides


def test_who_leaves_takes_nobody_along() -> None:
    """One contrasting wording among many does not break up the group that it is near to."""
    phrases = ["soft tide glow"] * 6 + [
        "tide glow", "the tide's glow", "soft glow of tides", "hard tide glow",
    ]  # fmt: skip

    found = cluster(asking(*phrases))

    number = dict(found.wordings.select("wording", "cluster").iter_rows())
    assert len({number[phrase] for phrase in phrases[:-1]}) == 1
    assert number["hard tide glow"] not in {number[phrase] for phrase in phrases[:-1]}


@pytest.mark.parametrize("embedder", ["none", "minilm"])
def test_what_contrasts_or_is_negated_is_grouped_apart(
    embedder: str, request: pytest.FixtureRequest
) -> None:
    if embedder != "none":
        request.getfixturevalue(embedder)
    groups = cluster(asking(*chain.from_iterable(APART)), embedder=embedder)

    number = dict(groups.wordings.select("wording", "cluster").iter_rows())
    for wordings in APART:
        assert len({number[wording] for wording in wordings}) == len(wordings), wordings
    for needs in NEGATED_NEEDS:
        assert cluster(asking(*needs, "page margins"), embedder=embedder).clusters.height == 3


def test_a_group_that_holds_opposites_has_a_doubtful_pair() -> None:
    wordings = ["rig a dinghy in the harbour", "rig a dinghy out the harbour", "paint a wherry"]
    clusters = cluster(asking(*wordings), embedder="none", threshold=0.9)
    pairs = [
        {clusters._points.surfaces["surface"][point] for point in pair}
        for pair in clusters.doubtful_pairs
    ]

    assert pairs == [{surface(wording) for wording in wordings[:2]}]
    assert cluster(asking(*wordings), embedder="none").doubtful_pairs == []


@pytest.mark.parametrize(
    (
        "word",
        "shorter",
    ),  # the shortest words that a prefix negates; after fewer letters, it is another word
    [
        (("tie", "untie"), ("do", "undo")),
        (("fat", "nonfat"), ("go", "nongo")),
        (("able", "disable"), ("mal", "dismal")),
        (("code", "decode"), ("lay", "delay")),
        (("exact", "inexact"), ("form", "inform")),
        (("moral", "immoral"), ("port", "import")),
        (("legal", "illegal"), ("lude", "illude")),
        (("rigid", "irrigid"), ("rate", "irate")),
        (("social", "asocial"), ("board", "aboard")),
        (("hero", "antihero"), ("gen", "antigen")),
        (("sign", "countersign"), ("act", "counteract")),
        (("axial", "abaxial"), ("lend", "ablend")),
        (("atar", "desatar"), ("pot", "despot")),
        (("unir", "désunir"), ("ert", "désert")),
        (("lier", "délier"), ("lai", "délai")),
        (("hedral", "anhedral"), ("chovy", "anchovy")),
    ],
)
def test_a_prefix_negates_only_a_word_of_enough_letters(
    word: tuple[str, str], shorter: tuple[str, str]
) -> None:
    assert [differ(*(f"chart {each} berths" for each in pair)) for pair in (word, shorter)] == [
        True,
        False,
    ]
