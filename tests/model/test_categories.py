"""The category of one record: from its words, or from its operations."""

import math

import pytest

from vocabgap.model.categories import by_operations
from vocabgap.ranking.classifying import CategoryBy, Classifier, terms, verdict

# Knows one word, which speaks for colour by 4 to 0.
HUE = Classifier(("color", "tone"), (0.0, 0.0), {"hue": (1.0, (4.0, 0.0))})
UNSURE = HUE._replace(terms={"hue": (1.0, (1.0, 0.0))})


def test_words_that_are_sure_outvote_operations() -> None:
    assert verdict(["hue"], ["temperature"], classifier=HUE)[:2] == ("color", CategoryBy.CLASSIFIER)


@pytest.mark.parametrize("classifier", [None, UNSURE], ids=["none", "one that is not sure"])
def test_operations_decide_where_words_are_not_sure(classifier: Classifier | None) -> None:
    assert verdict(["hue"], ["temperature"], classifier=classifier) == (
        "wb",
        CategoryBy.OPERATIONS,
        None,
    )


def test_words_that_no_categorised_record_has_outvote_operations() -> None:
    classifier = HUE._replace(uncategorized=frozenset(["batch"]))
    assert verdict(["batch"], ["temperature"], classifier=classifier) == (None, None, 0.0)
    assert verdict(["batch of hues"], [], classifier=classifier)[0] == "color"


@pytest.mark.parametrize(
    ("operations", "category"),
    [
        ([" Tone Equalizer "], "tone"),
        (["sigmoid", "colorzones", "toneequal", "unheard-of", "sigmoid"], "tone"),
        (["sigmoid", "colorzones"], None),
    ],
    ids=["a spelling", "the majority of the known ones", "level"],
)
def test_operations_give_their_category(operations: list[str], category: str | None) -> None:
    assert by_operations(operations) == category


@pytest.mark.parametrize(("probability", "believed"), [(0.79, False), (0.81, True)])
def test_a_classifier_is_believed_from_four_in_five_on(probability: float, believed: bool) -> None:
    odds = math.log(probability / (1 - probability))
    category, by, given = verdict(
        ["hue"], [], classifier=HUE._replace(terms={"hue": (1.0, (odds, 0.0))})
    )
    assert given == pytest.approx(probability)
    assert (category, by) == (("color", CategoryBy.CLASSIFIER) if believed else (None, None))


def test_a_classifier_that_knows_no_word_of_it_is_never_believed() -> None:
    assert verdict(["soft glow"], [], classifier=HUE._replace(intercepts=(9.0, 0.0))) == (
        None,
        None,
        0.0,
    )


def test_terms_are_the_content_words_each_once() -> None:
    assert terms(["I want softer_glow", None, "soft glows"]) == ("glow", "soft", "softer")
