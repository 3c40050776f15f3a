"""The category of one record: who is asked, and who is believed."""

import math

import pytest

from vocabgap.model.categories import (
    CategoryBy,
    Classifier,
    Judgement,
    judge,
    terms,
)

# Knows one word, which speaks for colour by 4 to 0.
HUE = Classifier(("color", "tone"), (0.0, 0.0), {"hue": (1.0, (4.0, 0.0))})


def test_what_the_agent_said_stands() -> None:
    judged = judge("Tonal", ["hue"], ["temperature"], classifier=HUE)
    assert judged == Judgement("tone", CategoryBy.AGENT)


def test_words_that_are_sure_outvote_operations() -> None:
    judged = judge("", ["hue"], ["temperature"], classifier=HUE)
    assert (judged.category, judged.by) == ("color", CategoryBy.CLASSIFIER)


@pytest.mark.parametrize("classifier", [None, HUE], ids=["none", "one that is not sure"])
def test_operations_decide_where_words_are_not_sure(classifier: Classifier | None) -> None:
    judged = judge("", ["hue"], ["temperature"], classifier=classifier, sure=0.99)
    assert judged == Judgement("wb", CategoryBy.OPERATIONS)


def test_words_that_no_categorised_record_has_outvote_operations() -> None:
    classifier = Classifier(HUE.categories, HUE.intercepts, HUE.terms, frozenset(["batch"]))
    assert judge("", ["batch"], ["temperature"], classifier=classifier) == Judgement(probability=0.0)
    assert judge("", ["batch of hues"], [], classifier=classifier).category == "color"


def test_spellings_of_operations_fold() -> None:
    assert judge("uncategorized", [], [" Tone Equalizer "]).category == "tone"


def test_the_majority_of_the_known_operations_decides() -> None:
    named = ["sigmoid", "colorzones", "toneequal", "unheard-of", "sigmoid"]
    assert judge("", (), named).category == "tone"


def test_operations_that_are_level_decide_nothing() -> None:
    assert judge("", (), ["sigmoid", "colorzones"]) == Judgement()


def test_an_unsure_classifier_is_not_and_says_how_sure_it_was() -> None:
    judged = judge("uncategorized", ["hue"], [], classifier=HUE, sure=0.99)
    assert (judged.category, judged.by) == ("uncategorized", None)
    assert judged.probability == pytest.approx(0.982, abs=0.001)


@pytest.mark.parametrize(("probability", "believed"), [(0.79, False), (0.81, True)])
def test_a_classifier_is_believed_from_four_in_five_on(probability: float, believed: bool) -> None:
    odds = math.log(probability / (1 - probability))
    judged = judge(
        "", ["hue"], [], classifier=Classifier(HUE.categories, (0.0, 0.0), {"hue": (1.0, (odds, 0.0))})
    )
    assert judged.probability == pytest.approx(probability)
    assert (judged.by is CategoryBy.CLASSIFIER) is believed


def test_a_classifier_that_knows_no_word_of_it_is_never_believed() -> None:
    biased = Classifier(("color", "tone"), (9.0, 0.0), {"hue": (1.0, (4.0, 0.0))})
    assert judge("uncategorized", ["soft glow"], [], classifier=biased) == Judgement(probability=0.0)


def test_terms_are_the_content_words_each_once() -> None:
    assert terms(["I want softer_glow", None, "soft glows"]) == ("glow", "soft", "softer")
