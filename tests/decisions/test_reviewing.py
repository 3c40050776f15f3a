"""A review shows screens about groups. Each answer is some decisions, which no later data undoes."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

import vocabgap as vg
from builders.clustering import asking, grouped_wordings
from vocabgap.clustering.grouping import Clusters
from vocabgap.decisions.record import Action, Decision
from vocabgap.decisions.replay import in_force
from vocabgap.decisions.reviewing import Review
from vocabgap.errors import InvalidInputError, StateError
from vocabgap.text import surface

NEEDS: Final = {
    "sky": ("sky mask", "mask the sky", "select the sky", "sky selection mask", "a mask of the sky area"),
    "cloud": (
        "cloud mask", "mask clouds", "select the clouds", "cloud selection mask", "a mask of cloud area",
    ),
    "skin": ("skin mask", "mask skin", "select the skin", "skin selection mask", "a mask of skin area"),
    "grain": ("film grain", "grain of a film", "add film grain"),
    "look": ("film grain look", "film grain look of old film"),
    "crop": (
        "crop to square", "square crop", "crop the square", "square crop ratio", "crop as a square area",
    ),
}  # fmt: skip
TRUTH: Final = {wording: name for name, wordings in NEEDS.items() for wording in wordings}


def corpus(*wordings: str) -> Clusters:
    return vg.cluster(asking(*wordings), embedder="none")


def oracle(screen: vg.Screen) -> vg.Answer:
    need = Counter(TRUTH[wording] for wording in screen.wordings).most_common(1)[0][0]
    return vg.Answer(
        same=[
            place for place, near in enumerate(screen.neighbours) if TRUTH[near.wordings[0]] == need
        ],
        apart=[place for place, wording in enumerate(screen.doubtful) if TRUTH[wording] != need],
    )


@pytest.fixture(scope="module")
def found() -> Clusters:
    return corpus(*[wording for wording in TRUTH for _ in range(2)])


def screens(under_review: Review) -> Iterator[vg.Screen]:
    shown: list[vg.Screen] = []
    while screen := under_review.next_screen(shown):
        shown.append(screen)
        yield screen


def asked_anew(groups: Clusters) -> list[vg.Screen]:
    """The screens of somebody who does not know the answers so far."""
    return replace(groups, constraints=()).screens(0)


def group_of(groups: Clusters) -> dict[str, int]:
    return dict(groups.wordings.select("wording", "cluster").iter_rows())


def test_answers_take_effect_and_are_decisions(found: Clusters) -> None:
    done = vg.review(found, oracle, screens=10, actor="ana")

    answers = [oracle(screen) for screen in done.screens]
    made = Counter(each.action for each in done.decisions)
    assert made[Action.SPLIT] == sum(len(answer.apart) for answer in answers) > 0
    assert made[Action.MERGE] == sum(len(answer.same) for answer in answers)
    assert {each.actor for each in done.decisions} == {"ana"}
    assert not violated(done.clusters, done.decisions)


def test_the_groups_come_nearer_to_the_needs(found: Clusters) -> None:
    def wrong(groups: Clusters) -> int:
        return len({*grouped_wordings(groups)} ^ {frozenset(each) for each in NEEDS.values()})

    assert wrong(vg.review(found, oracle, actor="ana").clusters) < wrong(found)


def test_a_later_review_goes_on_where_the_first_one_ended(found: Clusters) -> None:
    first = vg.review(found, oracle, screens=4, actor="ana")
    later = vg.review(found, oracle, screens=4, decisions=first.decisions, actor="ana")

    whole = vg.review(found, oracle, screens=8, actor="ana")
    assert [each.content for each in (*first.screens, *later.screens)] == [
        each.content for each in whole.screens
    ]


def test_a_skipped_screen_changes_nothing_and_is_not_shown_again(found: Clusters) -> None:
    done = vg.review(found, lambda _: None, screens=50, actor="ana")

    assert not done.decisions
    assert grouped_wordings(done.clusters) == grouped_wordings(found)
    assert len({each.content for each in done.screens}) == len(done.screens) > 1


@pytest.mark.parametrize("seed", range(4))
def test_a_review_ends_and_never_asks_again_what_was_answered(found: Clusters, seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    questions: list[frozenset[str]] = []

    def ask(screen: vg.Screen) -> vg.Answer:
        answer = ticked_at_random(screen, draw, 0.3)
        own = screen.staying(answer.apart)[0]
        others = (*screen.doubtful, *(each.wordings[0] for each in screen.neighbours))
        questions.extend(frozenset((own, other)) for other in others if other != own)
        return answer

    done = vg.review(found, ask, 99, 0, actor="ana")

    assert len(done.screens) < 99
    assert len(questions) == len({*questions})
    assert not done.clusters.screens(0)


def test_each_ticked_part_becomes_a_group_of_its_own(found: Clusters) -> None:
    screen = max(found.screens(), key=lambda each: len(each.parts))
    both = Review(found, actor="ana")

    both.follow(both.decisions(screen, vg.Answer(apart=range(len(screen.parts)))))

    parts = {frozenset(part.wordings) for part in screen.parts}
    assert len(parts) > 1
    assert parts <= {*grouped_wordings(both.clusters)}


def test_a_mistake_can_be_taken_back_on_a_later_screen(found: Clusters) -> None:
    """A wrong tick unites two needs. Whoever separates them later undoes that answer."""
    under_review = Review(found, actor="ana")
    screen = next(screens(under_review))
    wrong = next(
        place
        for place, near in enumerate(screen.neighbours)
        if TRUTH[near.wordings[0]] != TRUTH[screen.wordings[0]]
    )
    stranger = screen.neighbours[wrong].wordings[0]
    under_review.follow(under_review.decisions(screen, vg.Answer(same=[wrong])))
    assert (
        group_of(under_review.clusters)[stranger]
        == group_of(under_review.clusters)[screen.wordings[0]]
    )

    later = next(
        (each, place)
        for each in asked_anew(under_review.clusters)
        for place, part in enumerate(each.parts)
        if stranger in part.wordings
    )
    made = under_review.follow(under_review.decisions(later[0], vg.Answer(apart=[later[1]])))

    assert Action.UNDO in {each.action for each in made}
    group = group_of(under_review.clusters)
    assert group[stranger] != group[screen.wordings[0]]


def test_a_mistake_that_is_taken_back_releases_only_what_was_ticked(found: Clusters) -> None:
    """The undo of a merge would release a whole group; wordings that nobody ticked stay."""
    under_review = Review(found, actor="ana")
    screen = next(each for each in found.screens() if len(each.neighbours) > 1)
    near = screen.neighbours[0]
    under_review.follow(under_review.decisions(screen, vg.Answer(same=[0])))
    united = next(
        each for each in asked_anew(under_review.clusters) if near.wordings[0] in each.wordings
    )
    places = [place for place, part in enumerate(united.parts) if near.wordings[0] in part.wordings]
    gone = {wording for place in places for wording in united.parts[place].wordings}

    under_review.follow(under_review.decisions(united, vg.Answer(apart=places)))

    group = group_of(under_review.clusters)
    kept = {*united.wordings} - gone
    assert gone
    assert kept & {*near.wordings}
    assert len({group[wording] for wording in kept}) == 1
    assert {group[wording] for wording in gone}.isdisjoint(group[wording] for wording in kept)


def test_all_wordings_of_a_ticked_group_come_whatever_was_split_before(found: Clusters) -> None:
    under_review = Review(found, actor="ana")
    screen = max(found.screens(), key=lambda each: len(each.parts))
    under_review.follow(under_review.decisions(screen, vg.Answer(apart=[0, 1])))
    back = next(
        each
        for each in asked_anew(under_review.clusters)
        if screen.staying([0, 1])[0] in each.wordings
    )
    places = [
        place
        for place, near in enumerate(back.neighbours)
        if {*near.wordings} <= {*screen.wordings}
    ]
    assert places

    under_review.follow(under_review.decisions(back, vg.Answer(same=places)))

    group = group_of(under_review.clusters)
    ticked = {wording for place in places for wording in back.neighbours[place].wordings}
    assert {group[wording] for wording in ticked} == {group[back.wordings[0]]}


def ticked_at_random(screen: vg.Screen, draw: random.Random, chance: float) -> vg.Answer:
    same, apart = (
        [place for place in range(len(offered)) if draw.random() < chance]
        for offered in (screen.neighbours, screen.parts)
    )
    return vg.Answer(same, apart)


@pytest.mark.parametrize("seed", [9, 10, 13])  # draws that undo a split of other groups
def test_answers_that_contradict_earlier_ones_change_only_what_is_ticked(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    found = corpus(*[wording for wording in TRUTH for _ in range(2)])
    under_review = Review(found, top=0, actor="ana")
    for _ in range(12):
        before = {*grouped_wordings(under_review.clusters)}
        screen = draw.choice(asked_anew(under_review.clusters))
        answer = ticked_at_random(screen, draw, 0.4)
        under_review.follow(under_review.decisions(screen, answer))

        ticked = {wording for place in answer.same for wording in screen.neighbours[place].wordings}
        others = {group for group in before if group.isdisjoint({*screen.wordings, *ticked})}
        after = {*grouped_wordings(under_review.clusters)}
        assert others <= after
        assert (
            len([group for group in after if group & {*screen.staying(answer.apart), *ticked}]) == 1
        )


def test_going_back_undoes_a_whole_answer(found: Clusters) -> None:
    under_review = Review(found, actor="ana")
    screen = next(screens(under_review))
    made = under_review.follow(under_review.decisions(screen, oracle(screen)))

    under_review.follow(under_review.undo(made))

    assert grouped_wordings(under_review.clusters) == grouped_wordings(found)
    assert next(screens(under_review)).content == screen.content


@pytest.mark.parametrize("answer", [vg.Answer(same=[99]), vg.Answer(apart=[-1])])
def test_a_position_that_the_screen_does_not_have_is_refused(
    found: Clusters, answer: vg.Answer
) -> None:
    with pytest.raises(InvalidInputError, match=r"no position 99|expected a whole"):
        vg.review(found, lambda _: answer, actor="ana")


def test_an_answer_that_contradicts_another_persons_is_refused(
    found: Clusters, tmp_path: Path
) -> None:
    file = tmp_path / "decisions.jsonl"
    one, other = Review(found, actor="ana"), Review(found, actor="ben")
    screen = next(screens(one))
    one.saved(lambda: one.decisions(screen, vg.Answer(same=[0])), file)
    written = file.read_bytes()
    united = next(
        each
        for each in asked_anew(one.clusters)
        if screen.neighbours[0].wordings[0] in each.wordings
    )
    places = [
        place
        for place, part in enumerate(united.parts)
        if {*part.wordings} & {*screen.neighbours[0].wordings}
    ]

    with pytest.raises(StateError, match=r"contradict each other.*by ana"):
        other.saved(lambda: other.decisions(united, vg.Answer(apart=places)), file)
    assert file.read_bytes() == written


def violated(groups: Clusters, decisions: Iterable[Decision]) -> list[Decision]:
    """The decisions about wordings that are there and are not as was decided."""
    group = dict(groups.wordings.select("surface", "cluster").iter_rows())
    wrong = []
    for each in decisions:
        assert each.capability is not None
        if each.action is Action.CONFIRM:
            continue
        others = each.wordings if each.other is None else each.other.wordings[:1]
        first = group[surface(each.capability.wordings[0])]
        are_one = {group[surface(wording)] == first for wording in others}
        wrong += [each] * (are_one != {each.action is Action.MERGE})
    return wrong


def test_no_later_data_undoes_what_was_decided() -> None:
    """Draw each tick at random: later answers do not undo earlier decisions, either."""
    draw = random.Random(0)  # noqa: S311
    wordings = [wording for wording in TRUTH for _ in range(4)]
    draw.shuffle(wordings)
    decisions: list[Decision] = []
    for number in range(1, 11):
        found = corpus(*wordings[: len(wordings) * number // 10])
        under_review = Review(found, decisions, top=0, actor="ana")
        assert not violated(under_review.clusters, in_force(decisions))
        for screen in draw.sample(asked_anew(under_review.clusters), 2):
            answer = ticked_at_random(screen, draw, 0.3)
            decisions += under_review.follow(under_review.decisions(screen, answer))
        assert not violated(under_review.clusters, in_force(decisions))
    assert len(decisions) > 30
