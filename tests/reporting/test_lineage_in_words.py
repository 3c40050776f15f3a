"""What became of a capability, in words."""

from typing import Any

import polars as pl
import pytest

from vocabgap.model.tables import LINEAGE
from vocabgap.reporting.capability import lineage_in_words


def told(**changed: Any) -> dict[str, tuple[str, ...]]:  # noqa: ANN401 - whatever columns there are
    row = {
        "relation": "continued",
        "capability_id": "cap-1",
        "previous_id": "cap-1",
        "shared_mentions": 5,
        "label": "sky mask",
        "previous_label": "sky mask",
        "rank": 1,
        "previous_rank": 3,
        "mentions": 9,
        "previous_mentions": 12,
        **changed,
    }
    return lineage_in_words(pl.DataFrame([row], schema=LINEAGE.schema))


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({}, "In the run before: 12 mentions, rank 3"),
        ({"previous_rank": None}, "In the run before: 12 mentions, not ranked"),
        ({"previous_label": "masks"}, "In the run before, as masks: 12 mentions, rank 3"),
        (
            {"relation": "merged", "previous_label": "cloud mask"},
            "Took in cloud mask, which had 12 mentions, rank 3: 5 mentions of it",
        ),
        (
            {"relation": "split", "previous_label": "masks", "shared_mentions": 1},
            "Split off masks, which had 12 mentions, rank 3: 1 mention of it",
        ),
        (
            {"relation": "new", "previous_id": None, "previous_label": None},
            "New: no wording of it was there in the run before",
        ),
    ],
)
def test_each_relation_is_a_sentence(changed: dict[str, Any], sentence: str) -> None:
    assert told(**changed) == {"cap-1": (sentence,)}


def test_what_has_gone_is_not_told() -> None:
    assert told(relation="gone", capability_id=None) == {}


def test_one_that_took_in_several_is_told_of_each() -> None:
    frame = pl.concat(
        [
            pl.DataFrame(
                [
                    dict.fromkeys(LINEAGE.names)
                    | {"relation": "merged", "capability_id": "cap-1", "previous_label": label}
                    | {"shared_mentions": 1, "previous_mentions": 1}
                ],
                schema=LINEAGE.schema,
            )
            for label in ("a", "b")
        ]
    )
    assert [sentence.split(",")[0] for sentence in lineage_in_words(frame)["cap-1"]] == [
        "Took in a",
        "Took in b",
    ]
