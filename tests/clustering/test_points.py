"""From records to the weighted points that are clustered."""

import random
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.clustering import asking
from vocabgap.clustering.wordings import Points, folding, points_of, wordings_of
from vocabgap.files.parts import Parts
from vocabgap.model.record import PHRASE_FIELDS
from vocabgap.text import ignored_stems


def test_a_point_weighs_as_much_as_all_wordings_of_its_surface() -> None:
    found = points_of(asking("sky mask", "Sky Mask", "sky masks", "sky mask", "tilt shift"))

    assert found.surfaces.rows() == [("sky mask", 4), ("tilt shift", 1)]
    assert found.weights.tolist() == [4.0, 1.0]
    assert found.weights.dtype == np.float64


@pytest.mark.parametrize(
    ("phrase", "settings", "content", "surface"),
    [
        (
            "please mask the sky without halos",
            {},
            "mask sky without halo",
            "pleas mask the sky without halo",
        ),
        ("sky masks", {"stop_words": ["mask"]}, "sky", "sky mask"),
        ("heaven masks", {"synonyms": {"sky": ["heaven"]}}, "sky mask", "heaven mask"),
        # Stop words are taken out before synonyms are looked for.
        (
            "tone heaven down",
            {"stop_words": ["down"], "synonyms": {"sky": ["tone heaven"]}},
            "sky",
            "tone heaven down",
        ),
    ],
)
def test_contents_leave_words_out_and_fold_synonyms_and_surfaces_do_not(
    phrase: str, settings: dict[str, Any], content: str, surface: str
) -> None:
    points = points_of(asking(phrase), **settings)

    assert (points.contents, points.surfaces["surface"].to_list()) == ([content], [surface])


@pytest.mark.parametrize("phrases", [(), (None, "  ")])
def test_no_phrase_gives_no_point(phrases: tuple[str | None, ...]) -> None:
    found = points_of(asking(*phrases))

    assert (found.wordings.height, found.surfaces.height, found.contents) == (0, 0, [])
    assert (len(found.clause_shares), len(found.weights)) == (0, 0)


def told(*records: dict[str, str]) -> Points:
    columns = (*PHRASE_FIELDS, "intent", "workaround")
    return points_of(
        pl.DataFrame(list(records), schema=dict.fromkeys(columns, pl.String))
    ).with_texts()


def test_a_text_is_the_need_and_what_the_record_says_of_it() -> None:
    needed, described = "no way to trace a coastline", "Drawn from a scan."
    said = {"intent": "harbour map", "workaround": "by hand"}

    found = told({"missing_capability": needed, "description": described, **said})

    assert found.texts == ("trace a coastline. harbour map. Drawn from a scan.. by hand",)
    assert found.text_contents == ("trace coastlin harbour map drawn scan hand",)


def test_what_was_used_instead_is_read_but_adds_no_words() -> None:
    records = asking("sky mask", "tilt shift").with_columns(
        pl.Series("intent", ["harbour map", None]),
        pl.Series("operations_involved", [["draw_line", "fill"], None], pl.List(pl.String)),
    )

    found = points_of(records).with_texts()

    assert found.texts == ("sky mask. harbour map. draw line, fill", "tilt shift")
    assert found.text_contents == ("sky mask harbour map", "tilt shift")


def test_the_record_that_says_most_speaks_for_its_surface() -> None:
    found = told(
        {"missing_capability": "sky mask", "intent": "short"},
        {"missing_capability": "sky masks", "intent": "the longest of the three"},
        {"missing_capability": "Sky mask", "intent": "not so short"},
    )

    assert len(found.texts) == 1
    assert found.texts[0].endswith(". the longest of the three")


said = st.sampled_from(["", "by hand", "on a scan", "by foot", "harbour map of the north"])


@given(
    st.lists(
        st.tuples(st.sampled_from(["sky mask", "Sky masks", "tilt shift"]), said, said), max_size=8
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_of_records_and_how_often_one_says_the_same_change_no_text(
    rows: list[tuple[str, str, str]], shuffle: random.Random
) -> None:
    records = [
        dict(zip(("missing_capability", "intent", "workaround"), row, strict=True)) for row in rows
    ]

    one, other = (told(*each) for each in (records, shuffle.sample(records * 2, 2 * len(records))))

    assert (one.texts, one.text_contents) == (other.texts, other.text_contents)


@given(st.lists(st.text()))
def test_mentions_count_the_records_with_each_trimmed_phrase(phrases: list[str]) -> None:
    found = wordings_of(Parts.of(asking(*phrases)))

    expected = Counter(phrase.strip() for phrase in phrases if phrase.strip())
    assert dict(found.select("wording", "mentions").iter_rows()) == expected
    assert found["wording"].to_list() == sorted(expected)


@pytest.mark.parametrize(
    ("words", "folded"),
    [
        ("fog", "haze"), ("remov fog", "haze"), ("remov fog fast", "haze fast"), ("fog remov", "haze remov"),
        ("remov", "remov"), ("haze", "haze"), ("", ""), ("purpl fring", "purpl chromat aberr"),
    ],
)  # fmt: skip
def test_the_longest_wording_is_replaced(words: str, folded: str) -> None:
    synonyms = {"haze": ["fog", "removal of the fog"], "chromatic aberration": ["fringing"]}

    assert folding(synonyms, ignored_stems())(words.split()) == folded.split()
