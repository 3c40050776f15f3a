import random
from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from builders.clustering import asking
from vocabgap.clustering.wordings import wordings_of
from vocabgap.files.parts import Parts
from vocabgap.model.record import PHRASE_FIELDS
from vocabgap.model.tables import WORDINGS


def one_record(missing_capability: str | None, description: str | None) -> pl.DataFrame:
    return pl.DataFrame(
        {"missing_capability": [missing_capability], "description": [description]},
        schema=dict.fromkeys(PHRASE_FIELDS, pl.String),
    )


@pytest.mark.parametrize(
    ("missing_capability", "description", "expected"),
    [
        ("lens hood", "no hood", ["lens hood"]), (None, "no hood", ["no hood"]),
        (" \t ", "no hood", ["no hood"]), ("\x1c", "no hood", ["no hood"]), ("", "\u00a0", []),
    ],
)  # fmt: skip
def test_phrase_is_the_first_field_that_is_not_blank(
    missing_capability: str | None, description: str | None, expected: list[str]
) -> None:
    found = wordings_of(Parts.of(one_record(missing_capability, description)))

    assert found["wording"].to_list() == expected


def test_spellings_of_one_phrase_share_a_surface() -> None:
    found = wordings_of(Parts.of(asking("Lens Hood", "lens_hood", "lens-hoods", "lensHood")))

    assert found["surface"].unique().to_list() == ["len hood"]


def test_wordings_have_the_columns_of_their_table() -> None:
    found = wordings_of(Parts.of(asking("lens hood")))

    assert dict(found.schema) == {
        name: WORDINGS.schema[name] for name in ("wording", "mentions", "surface")
    }


@given(
    st.lists(st.sampled_from(["lens hood", "Lens-Hood", "matte box", "???", "tilt"])), st.randoms()
)
def test_wordings_do_not_depend_on_the_order_of_records(
    phrases: list[str], shuffle: random.Random
) -> None:
    shuffled = shuffle.sample(phrases, len(phrases))

    assert_frame_equal(
        wordings_of(Parts.of(asking(*shuffled))), wordings_of(Parts.of(asking(*phrases)))
    )


@given(st.lists(st.text()))
def test_mentions_count_the_records_with_each_trimmed_phrase(phrases: list[str]) -> None:
    found = wordings_of(Parts.of(asking(*phrases)))

    expected = Counter(phrase.strip() for phrase in phrases if phrase.strip())
    assert dict(found.select("wording", "mentions").iter_rows()) == expected
    assert found["wording"].to_list() == sorted(expected)
