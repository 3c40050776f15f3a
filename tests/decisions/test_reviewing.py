"""A review asks whether two sides are one need. Each answer is a decision, which no later data undoes."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

import vocabgap as vg
from builders.clustering import asking, grouped_wordings
from vocabgap.clustering.grouping import Clusters
from vocabgap.decisions.record import Action, Decision, read_decisions
from vocabgap.decisions.reviewing import Review
from vocabgap.errors import InvalidInputError, StateError
from vocabgap.text import surface

NEEDS: Final = {
    "sky": ("sky mask", "mask the sky", "select the sky", "sky selection mask", "a mask of the sky area"),
    "cloud": (
        "cloud mask",
        "mask clouds",
        "select the clouds",
        "cloud selection mask",
        "a mask of cloud area",
    ),
    "skin": ("skin mask", "mask skin", "select the skin", "skin selection mask", "a mask of skin area"),
    "grain": ("film grain", "grain of a film", "add film grain"),
    "look": ("film grain look", "film grain look of old film"),
    "crop": (
        "crop to square",
        "square crop",
        "crop the square",
        "square crop ratio",
        "crop as a square area",
    ),
}
TRUTH: Final = {wording: name for name, wordings in NEEDS.items() for wording in wordings}


def corpus(*wordings: str) -> Clusters:
    return vg.cluster(asking(*wordings), embedder="none")


def oracle(question: vg.Question) -> str:
    first, second = ({*map(TRUTH.__getitem__, side)} for side in (question.left, question.right))
    return "same" if first == second else "different"


@pytest.fixture(scope="module")
def found() -> Clusters:
    return corpus(*[wording for wording in TRUTH for _ in range(2)])


def test_answers_take_effect_and_are_decisions(found: Clusters) -> None:
    done = vg.review(found, oracle, actor="ana")

    assert len(done.decisions) == len(done.asked) > 0
    assert {each.action for each in done.decisions} == {Action.MERGE, Action.SPLIT}
    assert {each.actor for each in done.decisions} == {"ana"}
    for question in done.asked:
        groups = dict(done.clusters.wordings.select("wording", "cluster").iter_rows())
        are_one = groups[question.left[0]] == groups[question.right[0]]
        assert are_one == (oracle(question) == "same")


def test_the_groups_come_nearer_to_the_needs(found: Clusters) -> None:
    def wrong(groups: Clusters) -> int:
        return len({*grouped_wordings(groups)} ^ {frozenset(each) for each in NEEDS.values()})

    assert wrong(vg.review(found, oracle, actor="ana").clusters) < wrong(found)


def test_nothing_is_asked_twice_nor_in_a_later_review(found: Clusters) -> None:
    first = vg.review(found, oracle, questions=4, actor="ana")
    later = vg.review(found, oracle, decisions=first.decisions, actor="ana")

    asked = [each.question_id for each in (*first.asked, *later.asked)]
    assert len(asked) == len(set(asked))
    whole = vg.review(found, oracle, actor="ana")
    assert asked[:20] == [each.question_id for each in whole.asked]


def test_two_needs_are_the_two_sides_that_were_shown() -> None:
    """Whatever else the wordings of a side resemble: some are nearer to the other side's."""
    found = corpus(
        *vg.scan(Path(__file__).parents[2] / "data" / "demo").records["missing_capability"].drop_nulls()
    )
    for question in found.questions(top=0):
        if question.are_one:
            under_review = Review(found, actor="ana")
            under_review.follow([under_review.decision(question, is_one=False)])
            groups = dict(under_review.clusters.wordings.select("wording", "cluster").iter_rows())
            sides = [{groups[wording] for wording in side} for side in (question.left, question.right)]
            assert [len(side) for side in sides] == [1, 1], question.question_id
            assert sides[0] != sides[1]


def test_what_is_no_answer_is_refused(found: Clusters) -> None:
    with pytest.raises(InvalidInputError, match="expected one of same, different, skip, got 'perhaps'"):
        vg.review(found, lambda _: "perhaps", actor="ana")


def test_an_answer_that_contradicts_what_came_meanwhile_is_refused(found: Clusters, tmp_path: Path) -> None:
    file = tmp_path / "decisions.jsonl"
    one, other = Review(found, actor="ana"), Review(found, actor="ben")
    question = next(one.questions(1))
    assert question is not None
    one.answer(question, file, is_one=True)

    with pytest.raises(StateError, match="contradict each other"):
        other.answer(question, file, is_one=False)
    assert len(read_decisions(file)) == 1


def violated(groups: Clusters, decisions: list[Decision]) -> list[Decision]:
    """The decisions about wordings that are there and are not as was decided."""
    group = dict(groups.wordings.select("surface", "cluster").iter_rows())
    wrong = []
    for each in decisions:
        assert each.capability is not None
        others = each.wordings if each.other is None else each.other.wordings[:1]
        first = group[surface(each.capability.wordings[0])]
        are_one = {group[surface(wording)] == first for wording in others}
        wrong += [each] * (are_one != {each.action is Action.MERGE})
    return wrong


def decided_in_slices(wordings: list[str], slices: int, most: int, said: Callable[[], bool]) -> int:
    """Answers random questions at random while a corpus grows; no answer is ever undone by what comes."""
    decisions: list[Decision] = []
    for number in range(1, slices + 1):
        found = corpus(*wordings[: len(wordings) * number // slices])
        under_review = Review(found, decisions, top=0, actor="ana")
        assert not violated(under_review.clusters, decisions)
        while len(decisions) < most * number // slices and (
            question := next(under_review.questions(1), None)
        ):
            decisions.append(under_review.decision(question, is_one=said()))
            under_review.follow(decisions)
        assert not violated(under_review.clusters, decisions)
    return len(decisions)


@pytest.mark.parametrize("seed", range(2))
def test_no_later_data_undoes_what_was_decided(seed: int) -> None:
    """Neither do further decisions, which move the cut: each answer is drawn, whatever is true."""
    draw = random.Random(seed)  # noqa: S311
    wordings = [wording for wording in TRUTH for _ in range(4)]
    draw.shuffle(wordings)

    assert decided_in_slices(wordings, 10, 20, lambda: draw.random() < 0.5) > 5
