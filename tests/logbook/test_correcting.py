"""A correction takes the place of one earlier record, of the one that is meant."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from filelock import lock_descriptor

import vocabgap as vg
from builders.logbook import found

STATE = "ab" * 32
LATER = "cd" * 32


def logged(image: Path, need: str, **fields: object) -> vg.LoggedGap:
    said: dict[str, Any] = {"snapshot_hash": STATE, **fields}
    return vg.log_gap(image, f"wanted {need}", missing_capability=need, **said)


def counted(gaps: pl.DataFrame) -> list[str]:
    return gaps.filter("counted")["record_id"].to_list()


def test_a_corrected_record_counts_no_more(image: Path) -> None:
    first = logged(image, "blur along a path", satisfaction=1, notes="seen")

    second = vg.log_gap(image, corrects=first.gap_id[:8], satisfaction=-1)

    assert counted(found(image)) == [second.gap_id]
    changed = {"timestamp", "satisfaction", "notes"}
    assert {name for name in first.record if first.record[name] != second.record[name]} == changed
    assert second.record["notes"] == f"seen (corrects {STATE})"


def test_a_correction_can_be_corrected(image: Path) -> None:
    other = logged(image, "calm water")
    first = logged(image, "blur along a path")
    second = vg.log_gap(image, corrects=first.gap_id, satisfaction=-1)

    third = vg.log_gap(image, corrects=second.gap_id, workaround="none", snapshot_hash=LATER)
    fourth = vg.log_gap(image, corrects=third.gap_id, satisfaction=0)

    assert counted(found(image)) == [other.gap_id, fourth.gap_id]
    assert fourth.record["notes"] == f"corrects {LATER}"


def test_of_two_needs_of_one_state_the_one_that_is_meant_is_corrected(image: Path) -> None:
    first = logged(image, "blur along a path")
    second = logged(image, "calm water")

    third = vg.log_gap(image, corrects=first.gap_id, satisfaction=-1)

    assert counted(found(image)) == [second.gap_id, third.gap_id]


@pytest.mark.parametrize(
    ("given", "message", "code"),
    [
        ({"corrects": "0000"}, "no record of this log begins with '0000'", 3),
        ({"corrects": "00"}, "expected at least 4 digits", 2),
        ({"corrects": 5}, "corrects: expected a record_id, or its beginning, found 5", 2),
        ({"image_id": "fjord"}, "a correction must name the image", 2),
        ({"timestamp": "2020-01-01T00:00:00Z"}, "a correction must be later than the correct", 2),
        ({"satisfaction": 7}, "satisfaction: expected", 2),
    ],
)
def test_a_correction_that_would_not_be_one_is_refused(
    image: Path, given: dict[str, Any], message: str, code: int
) -> None:
    first = logged(image, "blur along a path")
    second = logged(image, "calm water")

    with pytest.raises(vg.VocabgapError, match=message) as refused:
        vg.log_gap(image, **{"corrects": first.gap_id, **given})

    assert refused.value.exit_code == code
    assert counted(found(image)) == [first.gap_id, second.gap_id]


def test_a_correction_corrects_one_record(image: Path) -> None:
    first, second = logged(image, "blur along a path"), logged(image, "calm water")
    with pytest.raises(vg.VocabgapError, match="its notes must not correct another record"):
        vg.log_gap(image, corrects=first.gap_id, notes=f"corrects {second.gap_id}")
    assert counted(found(image)) == [first.gap_id, second.gap_id]


@pytest.mark.parametrize("snapshot", [None, STATE[1:]])
def test_a_record_without_a_digest_of_its_snapshot_is_named_by_its_identifier(
    image: Path, snapshot: str | None
) -> None:
    first = vg.log_gap(image, missing_capability="x", snapshot_hash=snapshot)
    second = vg.log_gap(image, corrects=first.gap_id, missing_capability="y")
    assert second.record["description"] == "y"
    assert second.record["notes"] == f"corrects {first.gap_id}"
    assert counted(found(image)) == [second.gap_id]


def test_what_another_writer_adds_meanwhile_is_looked_at(image: Path) -> None:
    first = logged(image, "blur along a path")
    a_moment_later = datetime.fromisoformat(first.record["timestamp"]) + timedelta(microseconds=1)
    other = {**first.record, "timestamp": a_moment_later.isoformat(), "workaround": "another"}

    def add() -> None:
        held.write(f"{json.dumps(other)}\n".encode())
        held.close()

    with first.path.open("ab", buffering=0) as held:
        assert lock_descriptor(held.fileno(), blocking=False)
        second = vg.log_gap(image, corrects=first.gap_id, satisfaction=-1, on_wait=add)

    assert counted(found(image)) == [vg.scan(image).gaps["record_id"][1], second.gap_id]


def test_a_record_of_another_log_is_not_corrected(image: Path) -> None:
    first = logged(image, "calm water")
    with pytest.raises(vg.VocabgapError, match="the folder has no log") as refused:
        vg.log_gap(image.parent, corrects=first.gap_id, satisfaction=-1)
    assert refused.value.exit_code == 3
    assert [path.name for path in image.parent.iterdir()] == ["heron"]


def test_a_record_is_corrected_once(image: Path) -> None:
    first = logged(image, "blur along a path")
    vg.log_gap(image, corrects=first.gap_id, satisfaction=-1)
    with pytest.raises(vg.VocabgapError, match="was already corrected"):
        vg.log_gap(image, corrects=first.gap_id, satisfaction=1)
