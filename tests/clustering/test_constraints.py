"""What people decided about surfaces is followed by the groups, and nothing else changes."""

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.clustering import asking, grouped_wordings
from vocabgap.clustering.grouping import Clusters, cluster
from vocabgap.errors import InvalidInputError
from vocabgap.model.tables import Apart, Constraint, Together

MASKS = (
    "sky mask",
    "sky mask tool",
    "cloud mask",
    "cloud mask tool",
    "film grain",
    "film grain look",
)
PAIRS = {frozenset(MASKS[:2]), frozenset(MASKS[2:4]), frozenset(MASKS[4:])}


@pytest.fixture
def found() -> Clusters:
    """Three groups of two."""
    made = cluster(asking(*MASKS, "film grain"), threshold=0.5)
    assert made.clusters.height == 3
    return made


def test_no_constraint_changes_nothing(found: Clusters) -> None:
    assert found.constrained([]) is found
    assert [origin.cluster for origin in found.origins] == [0, 1, 2]


def test_nothing_is_said_of_groups_that_is_not_read(found: Clusters) -> None:
    united = found.constrained([Together("sky mask", "cloud mask tool")])

    assert united.screens()
    assert not {"clusters", "wordings"} & vars(united).keys()


def test_linked_groups_are_one_with_the_label_of_the_larger(found: Clusters) -> None:
    united = found.constrained([Together("sky mask", "film grain look")])

    assert grouped_wordings(united) == {frozenset({*MASKS[:2], *MASKS[4:]}), frozenset(MASKS[2:4])}
    assert united.clusters.select("label", "mentions").rows() == [
        ("cloud mask tool", 2),
        ("film grain", 5),
    ]


def test_the_undecided_go_to_the_side_that_they_resemble_unless_a_decision_keeps_them() -> None:
    whole = cluster(asking(*MASKS[:4]), threshold=1.0)
    assert whole.clusters.height == 1

    parted = whole.constrained([Apart("sky mask", ("cloud mask",), "mine")])
    kept = whole.constrained([Apart("sky mask", ("cloud mask",), "mine", ("cloud mask tool",))])

    assert grouped_wordings(parted) == {frozenset(MASKS[:2]), frozenset(MASKS[2:4])}
    assert grouped_wordings(kept) == {
        frozenset({*MASKS[:2], "cloud mask tool"}),
        frozenset({"cloud mask"}),
    }


def test_what_leaves_is_parted_from_what_stays_wherever_that_is(found: Clusters) -> None:
    parted = found.constrained([Apart("film grain", ("sky mask",), "mine", ("sky mask tool",))])

    assert grouped_wordings(parted) == {
        frozenset({"sky mask"}),
        frozenset({"sky mask tool"}),
        *map(frozenset, (MASKS[2:4], MASKS[4:])),
    }


def test_the_undecided_stay_where_they_resemble_both_alike() -> None:
    found = cluster(asking("sky bado", "sky fige", "sky"), threshold=1.0)
    assert found.clusters.height == 1

    for anchor, leaving in (("sky bado", "sky fige"), ("sky fige", "sky bado")):
        parted = found.constrained([Apart(anchor, (leaving,), "mine")])
        assert grouped_wordings(parted) == {frozenset({"sky", anchor}), frozenset({leaving})}


def test_what_was_split_off_and_merged_elsewhere_takes_all_of_that_along() -> None:
    phrases = ("sky mask", "sky cloud", "sky cloud look", "film grain", "film grain look")
    found = cluster(asking(*phrases), threshold=0.9)
    assert grouped_wordings(found) == {frozenset(phrases[:3]), frozenset(phrases[3:])}

    made = found.constrained(
        [Apart("sky mask", ("sky cloud",), "mine"), Together("sky cloud look", "film grain look")]
    )

    assert grouped_wordings(made) == {frozenset(phrases[:1]), frozenset(phrases[1:])}


def test_a_split_stays_in_force_when_a_later_merge_would_undo_it() -> None:
    made = cluster(asking(*MASKS), threshold=0.5).constrained(
        [Apart("sky mask", ("cloud mask",), "mine"), Together("sky mask tool", "cloud mask tool")]
    )

    (sky,) = [group for group in grouped_wordings(made) if "sky mask" in group]
    assert "cloud mask" not in sky
    assert any({"sky mask tool", "cloud mask tool"} <= group for group in grouped_wordings(made))


def test_a_split_of_what_a_merge_ties_is_not_among_what_the_groups_follow(found: Clusters) -> None:
    merge = Together("sky mask", "cloud mask")

    made = found.constrained([merge, Apart("sky mask", ("cloud mask",), "mine")])

    assert made.constraints == (merge,)
    assert grouped_wordings(made) == grouped_wordings(found.constrained([merge]))


def test_a_surface_that_is_not_there_is_an_error(found: Clusters) -> None:
    with pytest.raises(InvalidInputError, match="no record has the surface 'moon mask'"):
        found.constrained([Together("sky mask", "moon mask")])


def _constraints(draw: st.DrawFn, surfaces: Sequence[str]) -> list[Constraint]:
    """Constraints that do not contradict each other: links within a colour, splits between two."""
    colours = draw(st.lists(st.integers(0, 1), min_size=len(surfaces), max_size=len(surfaces)))
    pairs = draw(st.lists(st.sampled_from(list(combinations(range(len(surfaces)), 2))), max_size=5))
    made: list[Constraint] = []
    for number, (one, other) in enumerate(pairs):
        first, second = surfaces[one], surfaces[other]
        alike = colours[one] == colours[other]
        made.append(Together(first, second) if alike else Apart(first, (second,), str(number)))
    return made


SURFACES = (
    "sky mask",
    "mask tool",
    "cloud mask",
    "film grain",
    "grain look",
    "night glow",
    "glow mask",
)


@given(st.data(), st.floats(0.0, 1.0), st.lists(st.sampled_from(SURFACES), max_size=6))
def test_constraints_hold_whatever_was_grouped_and_whatever_comes_in(
    data: st.DataObject, threshold: float, more: list[str]
) -> None:
    constraints = data.draw(st.composite(_constraints)(SURFACES))
    found = cluster(asking(*SURFACES, *more, "sky glow look"), threshold=threshold)

    made = found.constrained(constraints)

    where = dict(made.wordings.select("surface", "cluster").iter_rows())
    for constraint in constraints:
        if isinstance(constraint, Together):
            assert where[constraint.first] == where[constraint.second]
        elif isinstance(constraint, Apart):
            assert all(where[constraint.anchor] != where[each] for each in constraint.leaving)
    total = made.wordings["mentions"].sum()
    assert made.clusters["mentions"].sum() == total == found.wordings["mentions"].sum()
    assert made.clusters["surfaces"].sum() == made.wordings["surface"].n_unique()
    assert len(set(made.origins)) == len(made.origins) == made.clusters.height


@given(st.data())
def test_groups_that_nobody_decided_about_stay_as_they_are(data: st.DataObject) -> None:
    constraints = data.draw(st.composite(_constraints)(SURFACES[:3]))
    found = cluster(asking(*SURFACES), threshold=0.4)
    touched = {group for group in grouped_wordings(found) if group & set(SURFACES[:3])}

    made = grouped_wordings(found.constrained(constraints))

    assert grouped_wordings(found) - touched <= made
