"""Short spellings that a corpus spells out elsewhere, and rows of words that have the initials by chance."""

import pytest

from builders.steps import steps
from vocabgap.clustering.spelling import spellings, spelt_out


@pytest.mark.parametrize(
    ("texts", "meant"),
    [
        (["dredge the NSC", "dredge the north sea canal"], {"nsc": "north sea canal"}),
        (["NSC depth chart", "chart of the north sea canal"], {"nsc": "north sea canal"}),
        (["dredge the NSC", "paint the north sea canal"], {}),
        (["dredge the NSC", "dredge new sand cargo", "dredge the north sea canal"], {}),
        (["dredge the NSC by night", "dredge the north sea canal"], {"nsc": "north sea canal"}),
        (["dredge the NSC by night", "dredge the north sea canal daily"], {}),
        (["NSC", "north sea canal"], {}),
        (["dredge the NSC"], {}),
        (["dredge the nsc", "dredge the north sea canal"], {}),
        (["n8n of buoys", "navigation of buoys"], {"n8n": "navigation"}),
        (["b2b trade", "bulb trade"], {}),
        (["c4r map", "coaler map"], {}),
        (["c5r map", "counter map"], {"c5r": "counter"}),
        (["c5r map", "counter map", "crabber map"], {}),
    ],
)
def test_a_short_spelling_means_the_one_thing_that_the_corpus_spells_out(
    texts: list[str], meant: dict[str, str]
) -> None:
    assert spellings(texts) == meant
    assert spellings(texts[::-1]) == meant


@pytest.mark.parametrize(("uses", "meant"), [(99, {"nsc": "north sea canal"}), (100, {})])
def test_the_first_hundred_uses_of_an_acronym_are_compared(
    uses: int, meant: dict[str, str]
) -> None:
    texts = ["dredge the NSC"] * uses + ["paint the NSC", "paint the north sea canal"]
    assert spellings(texts) == meant


def test_short_spellings_are_spelt_out_as_words_only() -> None:
    meant = {"nsc": "north sea canal", "n8n": "navigation"}

    assert spelt_out("NSC, N8N and NSCX", meant) == "north sea canal, navigation and NSCX"
    assert spelt_out("NSC", {}) == "NSC"


def test_many_uses_of_an_acronym_are_linear_work() -> None:
    def work(number: int) -> int:
        short = [f"dredge NSC {each} near {each}" for each in range(number)]
        return steps(
            lambda: spellings(
                [*short, *(f"fill north sea canal x{each}" for each in range(number))]
            )
        )

    assert work(400) < 2.5 * work(200)
