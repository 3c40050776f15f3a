from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.clustering import asking
from vocabgap.clustering.wordings import wordings_of
from vocabgap.files.parts import Parts
from vocabgap.model.record import PHRASE_FIELDS


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


@given(st.lists(st.text()))
def test_mentions_count_the_records_with_each_trimmed_phrase(phrases: list[str]) -> None:
    found = wordings_of(Parts.of(asking(*phrases)))

    expected = Counter(phrase.strip() for phrase in phrases if phrase.strip())
    assert dict(found.select("wording", "mentions").iter_rows()) == expected
    assert found["wording"].to_list() == sorted(expected)
