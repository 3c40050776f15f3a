"""How one line becomes a record: the shapes that are read, and what is repaired."""

import json
from datetime import UTC, datetime

import pytest

from vocabgap.ingest.decoding import Decoded, decode_line
from vocabgap.model.record import UNCATEGORIZED, Repair

NEED = "soften only the reed tips"


def decoded(**fields: object) -> Decoded:
    outcome = decode_line(json.dumps({"description": NEED, **fields}).encode())
    assert isinstance(outcome, Decoded)
    return outcome


def test_the_full_shape_is_read_as_it_is() -> None:
    fields = {
        "timestamp": "2026-03-14T06:05:00Z",
        "image_id": "heron-11",
        "session_id": "s-4",
        "snapshot_hash": "5e" * 32,
        "description": NEED,
        "workaround": "a feathered brush",
        "intent": "calmer reeds",
        "intent_category": "local",
        "missing_capability": "reed mask",
        "operations_involved": ["blurs"],
        "vocabulary_used": ["soft_edge"],
        "satisfaction": -1,
        "notes": "the brush spilled over",
    }

    outcome = decoded(**fields)

    expected = {**fields, "timestamp": datetime(2026, 3, 14, 6, 5, tzinfo=UTC)}
    assert {name: getattr(outcome.record, name) for name in fields} == expected
    assert outcome.repairs == ()


@pytest.mark.parametrize(
    ("word", "satisfaction"),
    [("bad", -1), ("mediocre", -1), ("acceptable", 0), ("good", 1), (" Good ", 1), ("BAD", -1)],
)
def test_satisfaction_in_words_is_read_and_counted(word: str, satisfaction: int) -> None:
    outcome = decoded(satisfaction=word)

    assert outcome.record.satisfaction == satisfaction
    assert outcome.repairs == (Repair.SATISFACTION_IN_WORDS,)


@pytest.mark.parametrize(
    "value",
    [2, -2, 0.5, 1.0, True, False, "", "fine", "1", [], [1], {"value": 1}, 10**30],
    ids=repr,
)
def test_any_other_satisfaction_is_null_and_counted(value: object) -> None:
    outcome = decoded(satisfaction=value)

    assert outcome.record.satisfaction is None
    assert outcome.repairs == (Repair.SATISFACTION_UNKNOWN,)


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("workaround", ""),
        ("notes", ""),
        ("intent_category", UNCATEGORIZED),
        ("operations_involved", []),
        ("vocabulary_used", []),
    ],
)
def test_null_gives_the_default_and_is_counted(name: str, default: object) -> None:
    outcome = decoded(**{name: None})

    assert getattr(outcome.record, name) == default
    assert outcome.repairs == (Repair.NULL_FOR_DEFAULT,)


@pytest.mark.parametrize(
    "name", ["timestamp", "image_id", "session_id", "snapshot_hash", "intent", "missing_capability"]
)
def test_null_is_a_value_of_the_optional_fields(name: str) -> None:
    outcome = decoded(**{name: None})

    assert getattr(outcome.record, name) is None
    assert outcome.repairs == ()


def test_unknown_fields_are_left_out_and_counted_one_by_one() -> None:
    outcome = decoded(gap_id="g-1", severity={"level": 3}, notes="kept")

    assert outcome.record.notes == "kept"
    assert outcome.repairs == (Repair.UNKNOWN_FIELD, Repair.UNKNOWN_FIELD)


@pytest.mark.parametrize(
    "value",
    ["", "monday", "2026-13-01T00:00:00Z", "2026-03-14T06:05:00+99:00", 1773468300, 1.5, True, [], {}],
    ids=repr,
)
def test_a_timestamp_that_cannot_be_read_is_null_kept_and_counted(value: object) -> None:
    outcome = decoded(timestamp=value)

    assert outcome.record.timestamp is None
    assert outcome.repairs == (Repair.TIMESTAMP_UNREADABLE,)


@pytest.mark.parametrize("name", ["missing_capability", "intent"])
@pytest.mark.parametrize("description", [None, "", "  "], ids=repr)
def test_another_phrase_stands_in_for_a_blank_description(name: str, description: str | None) -> None:
    outcome = decoded(description=description, **{name: "reed mask"})

    assert getattr(outcome.record, name) == "reed mask"
