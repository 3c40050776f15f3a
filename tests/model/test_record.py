import hashlib
from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocabgap.model.record import (
    CONTRACT_FIELDS,
    UNCATEGORIZED,
    GapRecord,
    fold_category,
    fold_operation,
    in_utc,
    rating,
    record_id,
)

offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MORNING = datetime(2026, 3, 14, 6, 5, tzinfo=UTC)


def heron() -> GapRecord:
    return GapRecord(
        timestamp=MORNING, image_id="heron-11", description="soften only the reed tips"
    )


def test_fields_are_those_of_the_accepted_schema_in_its_order() -> None:
    fields = (
        "timestamp image_id session_id snapshot_hash description workaround intent intent_category"
        " missing_capability operations_involved vocabulary_used satisfaction notes"
    )
    assert " ".join(CONTRACT_FIELDS) == fields


def test_record_id_is_the_digest_of_the_canonical_form() -> None:
    canonical = (
        '{"timestamp":"2026-03-14T06:05:00Z","image_id":"heron-11","session_id":null,"snapshot_hash":null,'
        '"description":"soften only the reed tips","workaround":"","intent":null,'
        '"intent_category":"uncategorized","missing_capability":null,"operations_involved":[],'
        '"vocabulary_used":[],"satisfaction":null,"notes":""}'
    )

    assert record_id(heron()) == hashlib.sha256(canonical.encode()).hexdigest()


OTHERS = {
    "timestamp": MORNING + timedelta(microseconds=1),
    "operations_involved": ["blurs"],
    "vocabulary_used": ["blurs"],
    "satisfaction": 0,
}


@pytest.mark.parametrize("name", CONTRACT_FIELDS)
def test_every_field_is_part_of_the_identity(name: str) -> None:
    changed = msgspec.structs.replace(heron(), **{name: OTHERS.get(name, "another")})

    assert record_id(changed) != record_id(heron())


def test_unreadable_timestamps_are_part_of_the_identity() -> None:
    identities = {record_id(heron()), record_id(heron(), "monday"), record_id(heron(), "tuesday")}

    assert len(identities) == 3


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=offsets))  # noqa: DTZ001
def test_in_utc_is_the_same_moment_in_utc(moment: datetime) -> None:
    shifted = in_utc(moment)

    assert shifted == moment
    assert shifted.utcoffset() == timedelta(0)
    assert in_utc(shifted.replace(tzinfo=None)) == shifted


def test_a_moment_before_the_first_year_in_utc_overflows() -> None:
    with pytest.raises(OverflowError):
        in_utc(datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5))))


@pytest.mark.parametrize(
    ("spelling", "category"),
    [
        ("tonal", "tone"), ("colour", "color"), ("structure", "detail"), ("mask", "local"), ("Tone", "tone"),
        ("composite", "composition"), ("white balance", "wb"), ("White_Balance", "wb"), (" TONAL ", "tone"),
        ("", UNCATEGORIZED), ("  ", UNCATEGORIZED), ("underwater", "underwater"), ("Film Look", "Film Look"),
    ],
)  # fmt: skip
def test_known_spellings_of_a_category_fold_and_others_are_kept(
    spelling: str, category: str
) -> None:
    assert fold_category(spelling) == category
    assert fold_category(category) == category


@pytest.mark.parametrize("spelling", ["film look", "film_look", "Film Look"])
@pytest.mark.parametrize("alias", ["film look", "film_look"])
def test_a_further_category_alias_folds_with_a_space_or_an_underscore(
    alias: str, spelling: str
) -> None:
    assert fold_category(spelling, {alias: "color"}) == "color"


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("toneequalizer", "toneequal"), ("ToneEqualizer", "toneequal"), (" tone equalizer ", "toneequal"),
        ("toneequal", "toneequal"), (" blurs ", "blurs"), ("HazeRemoval", "HazeRemoval"),
    ],
)  # fmt: skip
def test_known_names_of_an_operation_fold_and_others_are_kept(name: str, operation: str) -> None:
    assert fold_operation(name) == operation


@pytest.mark.parametrize(
    ("count", "words"), [(None, "neutral"), (1, "neutral"), (2, "neutral, ×2"), (1_041, "neutral, ×1,041")]
)  # fmt: skip
def test_a_rating_is_told_with_the_mentions_if_they_are_several(
    count: int | None, words: str
) -> None:
    assert rating(0, count) == words
    assert rating(-1, count, mediocre=True) == words.replace("neutral", "mediocre")
