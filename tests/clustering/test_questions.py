"""What is asked about the groups, in which order, and what the answers teach."""

import pytest

from builders.clustering import asking, grouped_wordings
from vocabgap.clustering.grouping import Clusters, cluster
from vocabgap.clustering.questions import SHIFTS, Lesson, taught_shift
from vocabgap.errors import InvalidInputError
from vocabgap.model.tables import Apart, Together
from vocabgap.text import surface

MASKS = ("sky mask", "mask of the sky", "mask of a cloud", "cloud mask", "masks on a cloud")
GRAINS = ("film grain", "grain of a film", "film grain look")


def said(*needs: str, times: int = 3) -> Clusters:
    return cluster(asking(*needs * times), embedder="none")


def sides(found: Clusters) -> list[set[frozenset[str]]]:
    return [{frozenset(each.left), frozenset(each.right)} for each in found.questions()]


@pytest.fixture(scope="module")
def found() -> Clusters:
    return said(*MASKS, *GRAINS)


def test_a_question_shows_the_most_used_wordings_first() -> None:
    found = cluster(
        asking(*["cloud mask"] * 3, *["mask for the cloud"] * 2, "clouds mask here"), threshold=1.0
    )

    (question, *_) = found.questions()

    assert (question.left[0], question.left_mentions + question.right_mentions) == ("cloud mask", 6)
    assert question.are_one


def test_what_is_one_group_may_be_two_and_what_is_two_may_be_one(found: Clusters) -> None:
    together = {each.are_one for each in found.questions()}

    assert together == {True, False}
    for question in found.questions():
        groups = {group for group in grouped_wordings(found) if group & {*question.left, *question.right}}
        assert len(groups) == (1 if question.are_one else 2)


def test_a_question_is_known_by_its_sides_in_whatever_corpus(found: Clusters) -> None:
    again = said(*reversed([*MASKS, *GRAINS]), times=4)

    assert {each.question_id for each in found.questions()} == {
        each.question_id for each in again.questions()
    }


@pytest.mark.parametrize("is_one", [True, False])
def test_what_was_decided_is_not_asked_again(found: Clusters, is_one: bool) -> None:
    for question in found.questions():
        left, right = (tuple(map(surface, side)) for side in (question.left, question.right))
        decided = Together(left[0], right[0]) if is_one else Apart(left[0], right, "mine")
        assert {frozenset(question.left), frozenset(question.right)} not in sides(
            found.taught([decided]).constrained([decided])
        )


def test_no_question_tears_apart_what_a_decision_holds_together(found: Clusters) -> None:
    """What leaves if they are two is tied to nothing that would stay."""
    tied = {"sky mask", "masks on a cloud", "film grain look"}
    constraints = [Together("sky mask", surface(each)) for each in sorted(tied - {"sky mask"})]
    asked = list(found.constrained(constraints).questions())

    assert any(each.are_one for each in asked)
    assert all(tied.isdisjoint(each.right) for each in asked if each.are_one)


def test_what_one_mention_alone_says_is_asked_about_later_and_what_is_sure_last() -> None:
    asked = list(said(*MASKS, *GRAINS, times=1).questions(about_cut=False))

    changing = [1 - each.likely if each.are_one else each.likely for each in asked]
    later = [
        (change < 0.03, min(each.left_mentions, each.right_mentions) == 1)
        for each, change in zip(asked, changing, strict=True)
    ]
    assert later == sorted(later)
    assert len(set(later)) > 1


def test_a_larger_top_asks_about_smaller_groups() -> None:
    needs = [f"{name} {kind}" for name in ("mask", "grain", "flare", "crop") for kind in ("tool", "brush")]
    found = said(*needs)

    assert len(list(found.questions(top=1))) < len(list(found.questions(top=0)))


SURE, DOUBTFUL = ("cloud mask", "mask for clouds"), ("film grain", "film grain look of old film")


def test_what_says_most_about_the_cut_comes_first_then_what_moves_most_mentions() -> None:
    """The pair of which it is surer that it is one need has the more mentions."""
    found = cluster(asking(*SURE * 12, *DOUBTFUL * 2), embedder="none")

    about_cut, about_groups = (next(found.questions(about_cut=each)) for each in (True, False))

    assert {about_cut.left, about_cut.right} == {(each,) for each in DOUBTFUL}
    assert {about_groups.left, about_groups.right} == {(each,) for each in SURE}
    assert about_groups.likely > about_cut.likely


def test_after_a_few_answers_the_cut_is_asked_about_no_more(found: Clusters) -> None:
    one = Together("cloud mask", "sky mask")
    after = [found.constrained([one] * count).questions() for count in (4, 5)]

    assert ["helps to place the cut" in next(asked).why for asked in after] == [True, False]


def test_what_contrasts_is_hardly_one_need_and_asked_about_where_it_is_near() -> None:
    near, far = ("upload release asset", "download release asset"), ("export old film", "import grain")
    found = cluster(asking(*near * 4, *far * 4), embedder="none")

    asked = {frozenset((*each.left, *each.right)): each for each in found.questions(about_cut=False)}

    assert 0.0 < asked[frozenset(near)].likely < 0.1
    assert frozenset(far) not in asked


def test_what_moves_more_below_the_top_comes_before_what_moves_little_in_it() -> None:
    found = cluster(asking(*SURE[:1] * 30, *SURE[1:] * 2, *DOUBTFUL * 12), embedder="none")

    first = next(found.questions(top=1, about_cut=False))

    assert {*first.left, *first.right} == {*DOUBTFUL}


def test_one_answer_moves_the_cut_hardly_and_many_do() -> None:
    lesson = Lesson(0.05, is_one=True)

    assert 0.0 < taught_shift([lesson]) <= 0.04
    assert taught_shift([lesson]) < taught_shift([lesson] * 20) <= SHIFTS.max()


def test_what_was_decided_moves_the_cut_for_what_is_like_it(found: Clusters) -> None:
    one = [Together(surface(each.left[0]), surface(each.right[0])) for each in found.questions()]

    assert found.taught(one).shift > 0.0 == found.taught([]).shift


def test_a_cut_that_somebody_named_stays(found: Clusters) -> None:
    """What moves the cut that goes by the wordings moves no other, and none is asked about."""
    one = [Together("cloud mask", "sky mask")] * 9
    assert found.taught(one).clusters.height < found.clusters.height
    named = found.at(0.6)

    taught = named.taught(one)

    assert (taught.threshold, taught.shift) == (0.6, 0.0)
    assert grouped_wordings(taught) == grouped_wordings(named)
    assert not any("helps to place the cut" in each.why for each in named.questions())
    assert any("helps to place the cut" in each.why for each in found.questions())


def test_a_shift_is_no_threshold(found: Clusters) -> None:
    with pytest.raises(InvalidInputError, match="got both a threshold and shift"):
        found.at(0.5, shift=0.1)
