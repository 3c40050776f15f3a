"""A gap that is logged is a line of its image's log, and the record that a scan finds there."""

import json
import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import vocabgap as vg
from builders import outside
from builders.logbook import found
from vocabgap.model.record import CONTRACT_FIELDS, LOG_NAME
from vocabgap.text import can_be_seen


def lines(image: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (image / LOG_NAME).read_bytes().splitlines()]


def test_a_description_is_enough(image: Path) -> None:
    before = datetime.now(UTC)
    logged = vg.log_gap(image, "lift only the brightest water")

    (line,) = lines(image)
    assert tuple(line) == (*CONTRACT_FIELDS, "category_guessed")
    assert line == logged.record
    assert logged.path == image / LOG_NAME
    written = datetime.fromisoformat(line["timestamp"])
    assert written.utcoffset() == timedelta(0)
    assert before <= written <= datetime.now(UTC)
    assert line | {"timestamp": None, "intent_category": None} == {
        "timestamp": None, "image_id": "heron", "session_id": None, "snapshot_hash": None,
        "description": "lift only the brightest water", "workaround": "", "intent": None,
        "intent_category": None, "missing_capability": None, "operations_involved": [], "vocabulary_used": [],
        "satisfaction": None, "notes": "", "category_guessed": True,
    }  # fmt: skip
    assert found(image)["record_id"].to_list() == [logged.gap_id]


def test_a_line_is_written_in_utf_8(image: Path) -> None:
    vg.log_gap(image, "größere Maske")
    assert "größere Maske" in (image / LOG_NAME).read_text(encoding="utf-8")


def test_a_capability_alone_is_the_description_too(image: Path) -> None:
    record = vg.log_gap(image, missing_capability="sky mask").record
    assert (record["description"], record["missing_capability"]) == ("sky mask", "sky mask")


@pytest.mark.parametrize(
    ("given_rating", "written"),
    [(-1, -1), (0, 0), (1, 1), ("bad", -1), ("Acceptable", 0), (" good ", 1)],
)
def test_a_rating_is_a_number_or_a_word(image: Path, given_rating: int | str, written: int) -> None:
    assert vg.log_gap(image, "x", satisfaction=given_rating).record["satisfaction"] == written


@pytest.mark.parametrize(("word", "kept"), [("mediocre", True), ("bad", False), ("good", False)])
def test_a_record_keeps_whether_its_rating_is_mediocre(image: Path, word: str, kept: bool) -> None:
    vg.log_gap(image, "x", satisfaction=word)
    assert found(image)["mediocre"].to_list() == [kept]


@pytest.mark.parametrize(
    ("fields", "output"),
    [
        ({"description": None, "intent": "calm it"}, "description: expected text that is not"),
        ({"satisfcation": 1}, "satisfcation: not a record field"),
        ({"description": 7}, "description: expected text, found 7"),
        ({"image_id": " "}, "image_id: expected text that is not blank"),
        ({"notes": ["a"]}, "notes: expected text, found list"),
        ({"operations_involved": "crop"}, "operations_involved: expected a list of text, found"),
        ({"vocabulary_used": ["warm", 3]}, "vocabulary_used: expected only text in the list, fo"),
        ({"satisfaction": 2}, "satisfaction: expected -1, 0, 1, or one of bad"),
        ({"satisfaction": "superb"}, "found 'superb'"),
        ({"timestamp": "yesterday"}, "timestamp: expected a date and time in ISO 8601"),
        (
            {"timestamp": "9999-12-31T23:59:59-14:00"},
            "timestamp: expected a time in the years 1971",
        ),
        ({"timestamp": "0001-01-01T00:00:00Z"}, "timestamp: expected a time in the years 1971"),
        ({"timestamp": "1971-01-01T00:00:00+14:00"}, "timestamp: expected a time in the years"),
        ({"description": "\u200b\u2060"}, "description: expected text that is not blank"),
        ({"intent": "half of \ud83d"}, "intent: character 9 is half of a surrogate pair"),
        ({"description": "long " * 300_000}, "expected at most 1,048,576: no scan would read it"),
    ],
)
def test_a_field_that_cannot_be_used_is_named_and_nothing_is_written(
    image: Path, fields: dict[str, Any], output: str
) -> None:
    with pytest.raises(vg.VocabgapError) as refused:
        vg.log_gap(image, **{"description": "x", **fields})

    assert output in refused.value.message
    assert refused.value.exit_code == 2
    assert not (image / LOG_NAME).exists()


def test_a_time_is_written_in_utc(image: Path) -> None:
    local = datetime(2026, 4, 1, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
    records = [
        vg.log_gap(image, "x", timestamp=moment).record for moment in (local, "2026-04-01T10:00")
    ]
    written = ["2026-04-02T04:30:00+00:00", "2026-04-01T10:00:00+00:00"]
    assert [record["timestamp"] for record in records] == written


@pytest.mark.parametrize(
    "left", [b'{"description": "torn', b'{"description": "whole"}', b"no\n\xff\nrecord"]
)
def test_a_last_line_without_an_end_is_closed_first(image: Path, left: bytes) -> None:
    (image / LOG_NAME).write_bytes(left)

    logged = vg.log_gap(image, "after it")

    *first, second = (image / LOG_NAME).read_bytes().splitlines()
    assert b"\n".join(first) == left
    assert json.loads(second) == logged.record
    assert logged.gap_id in vg.scan(image.parent).gaps["record_id"].to_list()


def test_what_only_has_the_name_of_a_spooled_gap_is_left_alone(image: Path) -> None:
    secret = image.parent / "id_rsa"
    secret.write_text('{"description": "secret"}\n')
    names = [image / f".{LOG_NAME}.{number:032x}.spool" for number in range(4)]
    names[0].symlink_to(secret)
    os.mkfifo(names[1])
    names[2].write_text("no record\n")
    names[3].mkdir()

    vg.log_gap(image, "sky mask")

    assert [each["description"] for each in lines(image)] == ["sky mask"]
    assert all(map(os.path.lexists, names))


def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(vg.VocabgapError, match="there is no folder") as missing:
        vg.log_gap(tmp_path / "gone", "x")
    with pytest.raises(vg.VocabgapError, match="is a file, expected a folder") as wrong:
        vg.log_gap(file, "x")
    assert (missing.value.exit_code, wrong.value.exit_code) == (3, 2)


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
YEARS = ("1971-01-01", "9998-12-31")  # others have only zero times
SOME_FIELDS = st.fixed_dictionaries(
    {"description": ANY_TEXT.filter(can_be_seen)},
    optional={
        "workaround": ANY_TEXT.map(
            "drew {}".format
        ),  # `none` and its like are read as no workaround
        "intent": ANY_TEXT,
        "missing_capability": ANY_TEXT,
        "intent_category": ANY_TEXT.filter(bool),
        "operations_involved": st.lists(ANY_TEXT, max_size=3),
        "vocabulary_used": st.lists(ANY_TEXT, max_size=3),
        "satisfaction": st.sampled_from([-1, 0, 1]),
        "notes": ANY_TEXT,
        "session_id": ANY_TEXT,
        "snapshot_hash": ANY_TEXT,
        "image_id": st.text("abcäöü -_", min_size=1, max_size=9).filter(str.strip),
        "timestamp": st.datetimes(*map(datetime.fromisoformat, YEARS), timezones=st.just(UTC)),
    },
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SOME_FIELDS)
def test_whatever_is_logged_is_what_a_scan_reads(image: Path, fields: dict[str, Any]) -> None:
    (image / LOG_NAME).unlink(missing_ok=True)

    logged = vg.log_gap(image, **fields)

    scanned = vg.scan(image)
    assert scanned.rejects.is_empty()
    row = scanned.records.row(0, named=True)
    assert row["record_id"] == logged.gap_id
    given_time = fields.get("timestamp", row["timestamp"])
    assert row["timestamp"] == given_time
    for name in fields.keys() - {"timestamp"}:
        assert row[name] == fields[name], name


def test_published_records_are_written_again_as_they_were(
    pytestconfig: pytest.Config, image: Path
) -> None:
    logs = sorted(outside(pytestconfig, "chemigram/workspace").glob(f"*/{LOG_NAME}"))
    complete = [
        record
        for log in logs
        for line in log.read_text(encoding="utf-8").splitlines()
        if (record := json.loads(line)).keys() == set(CONTRACT_FIELDS)
    ]
    assert len(complete) > 500

    for record in complete[::10]:
        vg.log_gap(image, **record)

    written = lines(image)
    assert written == complete[::10]
