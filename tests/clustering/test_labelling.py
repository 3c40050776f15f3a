import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocabgap.clustering.describing import best_wording, core_terms, representative

TERMS = ["fog", "mask", "feather", "grain"]

groups_of_surfaces = st.lists(
    st.tuples(st.frozensets(st.sampled_from(TERMS), min_size=1), st.integers(1, 9)),
    min_size=1,
    max_size=8,
)


def chosen(*members: tuple[str, int]) -> str:
    """The surface that stands for a group given as (surface, mentions)."""
    surfaces = [surface for surface, _ in members]
    contents = [frozenset(surface.split()) for surface in surfaces]
    return surfaces[representative(contents, [mentions for _, mentions in members], surfaces)]


@pytest.mark.parametrize(
    ("members", "mentions", "core"),
    [
        # The terms in half of the mentions; if there are none, those of several members.
        ("fog mask, fog grain, fog feather", [2, 1, 1], {"fog": 4, "mask": 2}),
        ("fog grain, fog mask, xa, yb, zc", [1] * 5, {"fog": 2}),
        ("fog, mask, grain", [1] * 3, {}),
    ],
)
def test_core_terms_are_common(members: str, mentions: list[int], core: dict[str, int]) -> None:
    assert core_terms([frozenset(each.split()) for each in members.split(",")], mentions) == core


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ([("fog mask", 1)], "fog mask"),
        ([("fog", 1), ("mask", 2), ("grain", 1)], "mask"),
        ([("fog veil", 2), ("fog mask", 2), ("soft mask fog", 1), ("mask", 1)], "fog mask"),
        ([("fog mask feather grain halo", 1), ("fog mask", 1), ("fog halo", 1), ("fog", 2)], "fog"),
        ([("fog", 3), ("fog mask", 2), ("mask fog", 2)], "fog mask"),
        ([("fog mask grain", 2), ("grain of fog mask halo", 5)], "grain of fog mask halo"),
        ([("fog mask", 1), ("fog fog mask", 2)], "fog fog mask"),
        ([("fog fog mask", 2), ("mask fog", 2)], "mask fog"),
        ([("mask fog", 2), ("fog mask", 2)], "fog mask"),
    ],
)
def test_the_common_terms_then_mentions_length_and_alphabet_choose(
    members: list[tuple[str, int]], expected: str
) -> None:
    assert chosen(*members) == expected


@given(groups_of_surfaces)
def test_what_stands_for_a_group_says_something_that_it_has_in_common(
    group: list[tuple[frozenset[str], int]],
) -> None:
    contents, mentions = [terms for terms, _ in group], [count for _, count in group]

    choice = representative(contents, mentions, [" ".join(sorted(terms)) for terms in contents])

    core = core_terms(contents, mentions)
    assert not core or contents[choice] & core.keys()


@pytest.mark.parametrize(
    ("wordings", "expected"),
    [
        ([("Fog Mask", 1), ("fog mask", 3)], "fog mask"),
        ([("Fog Mask", 1), ("fog_mask", 3), ("fogMask", 3)], "Fog Mask"),
        ([("fog mask", 1), ("wanted fog mask", 3)], "fog mask"),
        ([("wanted fog mask", 3)], "wanted fog mask"),
        ([("a fog mask", 2), ("fog-mask", 2)], "fog-mask"),
        ([("fog mask", 2), ("Fog Mask", 2)], "Fog Mask"),
        ([("???", 1)], "???"),
    ],
)
def test_best_wording_is_in_words_no_request_the_most_used_then_the_shorter_then_the_first(
    wordings: list[tuple[str, int]], expected: str
) -> None:
    assert best_wording(wordings) == expected
    assert best_wording(wordings[::-1]) == expected
