from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.decisions import decided
from vocabgap.decisions.replay import EffectiveDecisions, in_force, replay, undoings
from vocabgap.errors import InvalidInputError, StateError
from vocabgap.model.tables import Apart, Confirmed, Together
from vocabgap.text import surface

HERE = frozenset(map(surface, ["sky mask", "cloud mask", "sea mask", "film grain"]))


def said(effective: EffectiveDecisions) -> list[tuple[str, str]]:
    return list(effective.verdicts.select("surface", "action").iter_rows())


def test_a_split_parts_the_wordings_from_the_capability() -> None:
    made = decided("split", ["sky mask"], wordings=["Sea-Masks", "cloud mask"])

    assert replay([made], HERE).constraints == (
        Apart("sky mask", ("sea mask", "cloud mask"), made.decision_id),
    )


def test_the_anchor_is_the_first_wording_that_is_in_the_corpus() -> None:
    effective = replay([decided("pin", ["moon mask", "film grain", "sky mask"])], HERE)

    assert said(effective) == [("film grain", "pin")]


@pytest.mark.parametrize(
    "given_",
    [
        {"action": "pin", "about": ["moon mask"]},
        {"action": "merge", "about": ["sky mask"], "other": ["moon mask"]},
        {"action": "merge", "about": ["moon mask"], "other": ["sky mask"]},
        {"action": "split", "about": ["sky mask"], "wordings": ["moon mask"]},
    ],
)
def test_a_decision_about_what_is_not_there_sleeps(given_: dict[str, Any]) -> None:
    made = decided(given_.pop("action"), given_.pop("about"), **given_)

    effective = replay([made], HERE)

    assert (effective.constraints, said(effective), effective.inactive) == ((), [], (made,))


@pytest.mark.parametrize("about", ["sky mask", "moon mask"])
def test_a_confirmation_is_evidence_and_no_verdict(about: str) -> None:
    made = decided("confirm", [about], wordings=("cloud mask",), staying=("Sea-Masks",))

    effective = replay([made], HERE)

    assert effective.constraints == (Confirmed("sky mask", ("sea mask",), ("cloud mask",)),) * (
        about == "sky mask"
    )
    assert (said(effective), effective.inactive) == ([], ())


def test_what_is_undone_never_was() -> None:
    merge = decided("merge", ["sky mask"], other=["cloud mask"])
    undo = decided("undo", undoes=merge.decision_id, minute=1)

    effective = replay([merge, undo], HERE)

    assert (effective.constraints, said(effective), effective.active) == ((), [], ())


def test_what_is_undone_is_known_with_the_first_undo_that_stands() -> None:
    pin = decided("pin", ["sky mask"])
    first, again, third = (
        decided("undo", undoes=pin.decision_id, minute=each) for each in (1, 2, 3)
    )
    taken_back = decided("undo", undoes=first.decision_id, minute=4)

    assert undoings([pin, third, again, taken_back, first]) == {
        pin.decision_id: again,
        first.decision_id: taken_back,
    }


def test_an_undo_of_what_is_not_there_is_told() -> None:
    with pytest.raises(InvalidInputError, match=r"undoes dec-0+, which is not in the file"):
        in_force([decided("undo", undoes="dec-000000000000")])


def test_a_merge_and_a_split_of_the_same_are_both_named() -> None:
    merge = decided("merge", ["sky mask"], other=["cloud mask"])
    split = decided("split", ["sky mask"], wordings=["cloud mask"], minute=1, actor="bo")

    with pytest.raises(StateError) as output:
        replay([merge, split], HERE)

    people = ("2026-07-01T09:00:00Z by ana", "09:01:00Z by bo")
    for part in (merge.decision_id, split.decision_id, *people):
        assert part in output.value.message
    assert f"vocabgap decide undo {split.decision_id}" in output.value.hint


def test_a_chain_of_merges_conflicts_with_a_split_of_its_ends() -> None:
    first = decided("merge", ["sky mask"], other=["cloud mask"])
    second = decided("merge", ["cloud mask"], other=["sea mask"], minute=1)
    split = decided("split", ["sky mask"], wordings=["sea mask"], minute=2)

    with pytest.raises(StateError, match=f"{second.decision_id}.*{split.decision_id}"):
        replay([first, second, split], HERE)


@given(st.permutations(range(6)))
def test_the_order_in_which_decisions_come_means_nothing(order: Sequence[int]) -> None:
    made = [
        decided("merge", ["sky mask"], other=["cloud mask"]),
        decided("rename", ["sky mask"], label="sky", minute=1),
        decided("rename", ["sky mask"], label="heaven", minute=2),
        decided("dismiss", ["film grain"], minute=3),
        decided("reopen", ["film grain"], minute=4),
    ]
    made.append(decided("undo", undoes=made[2].decision_id, minute=5))
    expected, found = replay(made, HERE), replay([made[place] for place in order], HERE)

    assert found.constraints == expected.constraints
    assert found.verdicts.equals(expected.verdicts)
    assert found.active == expected.active


def test_what_a_split_took_out_does_not_stand_for_the_rest() -> None:
    decisions = [
        decided("split", ["sky mask", "cloud mask"], wordings=["sea mask"]),
        decided("split", ["sky mask"], wordings=["cloud mask"], minute=1),
        decided("merge", ["sea mask"], other=["cloud mask"], minute=2),
    ]

    effective = replay(decisions, HERE - {"sky mask"})

    assert effective.constraints == (Together("sea mask", "cloud mask", "cap-1"),)
    assert len(effective.inactive) == 2


def test_a_long_chain_of_undos_is_followed_to_its_end() -> None:
    decisions = [decided("pin", ["sky mask"])]
    for minute in range(1, 3_001):
        decisions.append(decided("undo", undoes=decisions[-1].decision_id, minute=minute))

    assert in_force(decisions) == (decisions[0],)
    assert in_force(decisions[:-1]) == ()
