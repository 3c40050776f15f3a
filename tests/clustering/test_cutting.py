"""Where the dendrogram is cut: sentences are held together by less than noun phrases."""

from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.clustering import linkage
from vocabgap.clustering.contrasts import LEFT, RIGHT
from vocabgap.clustering.cutting import MEANING_CUT, WORDS_CUT, Cut, cuts, flat_groups
from vocabgap.clustering.wordings import clause_share, sentence_share
from vocabgap.model.tables import LINKAGE
from vocabgap.text import surface


@pytest.mark.parametrize(
    "phrase",
    [
        "sky selection mask", "mask that selects only the sky", "no way to mask the sky", "export as PDF",
        "can crop tool", "doe eyes", "will-o'-the-wisp glow", "grape must, May light", "???",
    ],
)  # fmt: skip
def test_noun_phrases_are_no_sentences(phrase: str) -> None:
    assert clause_share(surface(phrase)) == 0.0


@pytest.mark.parametrize(
    "sentence",
    [
        "How do I mask the sky?",
        "I can't select it",
        "The user wanted what they had before",
        "It can crop",
    ],
)
def test_sentences_are_sentences(sentence: str) -> None:
    assert sentence_share(np.array([clause_share(surface(sentence))])).tolist() == [1.0]


CUT: Final = Cut(pair=0.3, group=0.2, sentence=0.1)


def test_the_cut_of_a_merge_goes_by_the_surfaces_below_it() -> None:
    merges = linkage((0, 1, 0.2, 2), (2, 3, 0.6, 3))

    found = cuts(merges, np.array([0.1, 0.0, 0.0]), Cut(0.3, 0.0, 0.1))

    share = np.array([0.1 / 2, 0.1 / 3])
    np.testing.assert_allclose(found, 0.3 + 0.1 * share / 0.1)


def test_wordings_that_the_model_cannot_read_have_the_cut_for_words() -> None:
    merges = linkage((0, 1, 0.1, 2), (2, 3, 0.2, 2), (4, 5, 0.9, 4))
    unread = np.array([True, True, False, False])

    found = cuts(merges, np.zeros(4), CUT, unread=unread)

    assert found[:2].tolist() == [WORDS_CUT.pair, CUT.pair]
    assert found[2] > CUT.pair


def test_larger_groups_may_be_further_apart() -> None:
    merges = linkage((0, 1, 0.2, 2), (2, 3, 0.3, 2), (4, 5, 0.4, 4))

    found = cuts(merges, np.zeros(4), CUT)

    np.testing.assert_allclose(found, [0.3, 0.3, 0.3 + 0.2 * (1.0 - 2.0**-0.5)])


CROWDED: Final = Cut(pair=0.3, group=0.0, sentence=0.0, crowded=0.5)


@pytest.mark.parametrize(
    ("heights", "pair"),
    [
        ((0.5, 0.6, 0.7, 0.8, 0.9), 0.3),  # nothing is near
        ((0.1, 0.3, 0.5, 0.6, 0.7), 0.3 - 0.5 * (0.4 - 0.3)),  # the second of five
        ((0.1, 0.2, 0.2, 0.2, 0.3), 0.3 - 0.5 * (0.4 - 0.2)),
        ((0.0, 0.0, 0.0, 0.0, 0.0), 0.3 - 0.5 * 0.4),
        ((0.1,), 0.3),  # the others are beyond what is known
    ],
)
def test_where_wordings_are_near_anyway_they_part_sooner(
    heights: tuple[float, ...], pair: float
) -> None:
    merges = linkage(
        *((0 if at == 0 else 5 + at, at + 1, height, at + 2) for at, height in enumerate(heights))
    )

    found = cuts(merges, np.zeros(6), CROWDED)

    np.testing.assert_allclose(found, pair)


def test_merges_of_what_is_not_compared_do_not_say_how_near_wordings_are() -> None:
    merges = linkage((0, 1, 0.1, 2), (2, 3, 0.1, 2), (4, 5, 0.5, 4))

    found = cuts(merges, np.zeros(4), CROWDED, counted=np.array([1, 0, 1, 0]))

    np.testing.assert_allclose(found, 0.3)


def test_what_left_is_a_tree_of_its_own() -> None:
    first_leaves = linkage((0, 1, 0.1, 4), (2, 3, 0.15, 2), (4, 5, 0.3, 6))
    assert flat_groups(first_leaves, 4, 0.4, np.array([LEFT, 0, 0], np.int8)).tolist() == [
        *(0, 1, 1, 1)
    ]

    merges = linkage((0, 1, 0.1, 2), (2, 3, 0.15, 2), (5, 6, 0.2, 4), (4, 7, 0.3, 5))

    sides = np.array([0, 0, RIGHT, 0], np.int8)

    assert flat_groups(merges, 5, 0.4, sides).tolist() == [0, 0, 1, 1, 0]
    assert flat_groups(merges, 5, np.array([0.4, 0.0, 0.4, 0.0]), sides).tolist() == [0, 0, 1, 2, 3]


def test_merges_strictly_below_the_threshold_are_made() -> None:
    merges = linkage((0, 1, 0.2, 2), (2, 3, 0.5, 3))

    assert flat_groups(merges, 3, 0.5).tolist() == [0, 0, 1]
    assert flat_groups(merges, 3, np.nextafter(0.5, 1.0)).tolist() == [0, 0, 0]
    assert flat_groups(merges, 3, 0.0).tolist() == [0, 1, 2]


@pytest.mark.parametrize(("count", "expected"), [(0, []), (1, [0])])
def test_fewer_than_two_points_are_their_own_groups(count: int, expected: list[int]) -> None:
    assert flat_groups(LINKAGE.empty(), count, 0.5).tolist() == expected


@given(st.integers(1, 30), st.randoms(use_true_random=False))
def test_any_thresholds_give_a_partition_into_whole_subtrees(
    count: int, random: "np.random.Generator"
) -> None:
    open_nodes, below = list(range(count)), [{number} for number in range(count)]
    merges: list[tuple[int, int, float, int]] = []
    while len(open_nodes) > 1:
        one, other = sorted(random.sample(open_nodes, 2))  # type: ignore[attr-defined]
        open_nodes = [node for node in open_nodes if node not in {one, other}] + [len(below)]
        merges.append((one, other, len(merges) / 40, 1))
        below.append(below[one] | below[other])
    thresholds = np.array([random.random() for _ in merges])

    labels = flat_groups(linkage(*merges), count, thresholds)

    subtrees = {frozenset(points) for points in below}
    for label in set(labels.tolist()):
        assert frozenset(np.flatnonzero(labels == label).tolist()) in subtrees


@pytest.mark.parametrize("cut", [WORDS_CUT, MEANING_CUT])
def test_the_fitted_cuts_hold_sentences_together_by_less_than_noun_phrases(cut: Cut) -> None:
    merges = linkage((0, 1, 0.5, 2))

    (phrases,), (sentences,) = (cuts(merges, np.full(2, share), cut) for share in (0.0, 1.0))

    assert 0.0 < phrases < sentences <= cut.farthest < 1.0
