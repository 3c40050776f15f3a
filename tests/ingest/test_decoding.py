"""How one line becomes a record: the shapes that are read, and what is repaired."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from vocabgap.ingest.decoding import Decoded, decode_line
from vocabgap.model.record import UNCATEGORIZED, Repair

NEED = "soften only the reed tips"


def decoded(**fields: object) -> Decoded:
    outcome = decode_line(json.dumps({"description": NEED, **fields}).encode())
    assert isinstance(outcome, Decoded)
    return outcome


SHAPES = {
    "the full shape": {
        "image_id": "heron-11", "session_id": "s-4", "snapshot_hash": "5e" * 32, "description": NEED,
        "workaround": "a brush", "intent": "calmer reeds", "intent_category": "local",
        "missing_capability": "reed mask", "operations_involved": ["blurs"], "vocabulary_used": ["soft_edge"],
        "satisfaction": -1, "notes": "the brush spilled over",
    },
    "the first four fields": {"image_id": "heron-11", "description": NEED, "workaround": "a brush"},
    "the draft": {
        "session_id": "s-1", "snapshot_hash": "5e" * 32, "intent": "calmer reeds", "intent_category": "tonal",
        "missing_capability": "reed mask", "operations_involved": ["blurs"], "workaround": "a brush",
        "vocabulary_used": ["soft_edge"], "notes": "it spilled over",
    },
}  # fmt: skip


@pytest.mark.parametrize("fields", SHAPES.values(), ids=SHAPES)
def test_the_shape_of_every_version_is_read(fields: dict[str, object]) -> None:
    outcome = decode_line(json.dumps({"timestamp": "2026-03-14T06:05:00Z", **fields}).encode())

    assert isinstance(outcome, Decoded)
    assert {name: getattr(outcome.record, name) for name in fields} == fields
    assert outcome.record.timestamp == datetime(2026, 3, 14, 6, 5, tzinfo=UTC)
    assert outcome.repairs == ()


@pytest.mark.parametrize(
    ("word", "satisfaction"),
    [
        ("bad", -1), ("mediocre", -1), ("acceptable", 0), ("good", 1), (" Good ", 1), ("BAD", -1), ("-1", -1),
        ("0 ", 0),
    ],
)  # fmt: skip
def test_satisfaction_in_words_is_read_and_counted(word: str, satisfaction: int) -> None:
    outcome = decoded(satisfaction=word)

    assert (outcome.record.satisfaction, outcome.record.mediocre) == (
        satisfaction,
        word == "mediocre",
    )
    assert outcome.repairs == (Repair.SATISFACTION_IN_WORDS,)


@pytest.mark.parametrize(
    "value",
    [2, -2, 0.5, True, False, "", "fine", "2", "1.0", [], [1], {"value": 1}, 10**30],
    ids=repr,
)
def test_any_other_satisfaction_is_null_and_counted(value: object) -> None:
    outcome = decoded(satisfaction=value)

    assert outcome.record.satisfaction is None
    assert outcome.repairs == (Repair.SATISFACTION_UNKNOWN,)


OPTIONAL = ("timestamp", "image_id", "session_id", "snapshot_hash", "intent", "missing_capability")


@pytest.mark.parametrize(
    ("name", "default", "repairs"),
    [
        ("workaround", "", (Repair.NULL_FOR_DEFAULT,)),
        ("notes", "", (Repair.NULL_FOR_DEFAULT,)),
        ("intent_category", UNCATEGORIZED, (Repair.NULL_FOR_DEFAULT,)),
        ("operations_involved", [], (Repair.NULL_FOR_DEFAULT,)),
        ("vocabulary_used", [], (Repair.NULL_FOR_DEFAULT,)),
        ("count", 1, (Repair.NULL_FOR_DEFAULT,)),
        *((name, None, ()) for name in OPTIONAL),
    ],
)
def test_null_gives_the_default_and_is_counted_unless_it_is_one(
    name: str, default: object, repairs: tuple[Repair, ...]
) -> None:
    outcome = decoded(**{name: None})

    assert (getattr(outcome.record, name), outcome.repairs) == (default, repairs)


def test_unknown_fields_stay_beside_the_record_in_order_of_their_names() -> None:
    outcome = decoded(
        severity={"level": 3, "at": ""}, gap_id="g-1", agent=None, tags=[], notes="kept"
    )

    assert outcome.record.notes == "kept"
    assert outcome.other == '{"gap_id":"g-1","severity":{"at":"","level":3}}'
    assert outcome.repairs == ()


def test_the_number_of_what_is_left_out_is_never_a_value_of_the_record() -> None:
    outcome = decoded(**{"(left out)": "mine", "body": "b" * 5_000, "plan": "pro"})

    assert outcome.other == '{"(left out)":2,"plan":"pro"}'


def test_unknown_fields_that_do_not_fit_are_left_out_whole_and_their_number_is_told() -> None:
    outcome = decoded(body="b" * 4_000, trace="t" * 5_000, half="\ud83d", plan="pro", level=0)

    assert outcome.other == f'{{"(left out)":2,"body":"{"b" * 4_000}","level":0,"plan":"pro"}}'
    assert outcome.repairs == ()


def test_other_columns_may_fill_their_room_to_the_last_byte() -> None:
    room = 4_096 - len('{"a":"","b":1}')

    assert len(decoded(a="x" * room, b=1).other or "") == 4_096
    assert decoded(a="x" * (room + 1), b=1).other == '{"(left out)":1,"b":1}'


@pytest.mark.parametrize(
    "value",
    [
        "", "monday", "2026-13-01T00:00:00Z", "2026-03-14T06:05:00+99:00", "2026-03-14 06:05 CET", 17734683,
        1.5, True, [], {}, {"$date": None}, {"day": 3, "year": 2026}, [2026, 3], [2026, 3, 32],
    ],
    ids=repr,
)  # fmt: skip
def test_a_timestamp_that_cannot_be_read_is_null_kept_and_counted(value: object) -> None:
    outcome = decoded(timestamp=value)

    assert outcome.record.timestamp is None
    assert outcome.repairs == (Repair.TIMESTAMP_UNREADABLE,)


@pytest.mark.parametrize(
    ("value", "second"),
    [
        (1773468301, 1.0),
        (1773468300.0625, 0.0625),
        ("1773468307.125", 7.125),
        (1773468300250, 0.25),
        (1773468300250.5, 0.2505),
        (1773468300_000_001, 0.000001),
        (1773468300_000_001_999, 0.000001),
        ("2026-03-14 06:05:00.5 UTC", 0.5),
        ("2026-03-14T06:05:02 GMT", 2.0),
        ("2026-03-14 06:05:03 +0000 UTC", 3.0),
        ("2026-03-14 11:35:04.25 +0530 IST", 4.25),
        ("2026-03-14 03:05:05 -0300 -03", 5.0),
        ("2026-03-14 07:05:06.000000001 +0100 CET m=+0.031418", 6.0),
    ],
    ids=repr,
)
def test_unix_times_and_zones_after_a_space_are_moments(value: object, second: float) -> None:
    outcome = decoded(timestamp=value)

    assert outcome.record.timestamp == datetime(2026, 3, 14, 6, 5, tzinfo=UTC) + timedelta(
        seconds=second
    )
    assert outcome.repairs == ()


@pytest.mark.parametrize(("number", "satisfaction"), [(-1.0, -1), (0.0, 0), (-0.0, 0), (1.0, 1)])
def test_whole_numbers_with_a_point_are_ratings(number: float, satisfaction: int) -> None:
    outcome = decoded(satisfaction=number)

    assert (repr(outcome.record.satisfaction), outcome.repairs) == (repr(satisfaction), ())


@pytest.mark.parametrize("name", ["image_id", "session_id"])
@pytest.mark.parametrize("number", [0, 86, 10**400, 8.5])
def test_the_number_of_an_image_or_a_session_is_its_name(name: str, number: float) -> None:
    outcome = decoded(**{name: number})

    assert (getattr(outcome.record, name), outcome.repairs) == (str(number), ())


def test_null_among_names_is_left_out_and_counted_once_per_list() -> None:
    outcome = decoded(operations_involved=[None, "blurs", None], vocabulary_used=[None])

    assert (outcome.record.operations_involved, outcome.record.vocabulary_used) == (["blurs"], [])
    assert outcome.repairs == (Repair.NULL_FOR_DEFAULT, Repair.NULL_FOR_DEFAULT)


@pytest.mark.parametrize("description", [None, "", "  "], ids=repr)
def test_the_capability_stands_in_for_a_blank_description(description: str | None) -> None:
    outcome = decoded(description=description, missing_capability="reed mask")

    assert outcome.record.missing_capability == "reed mask"
