"""The zero times of languages and databases are no dates: the record stays, without one."""

import json
from datetime import UTC, datetime

import pytest

from builders import gap
from builders.ingest import as_line, scan_bytes
from vocabgap.model.record import Repair


@pytest.mark.parametrize(
    "zero",
    [
        "0001-01-01T00:00:00Z", "0001-01-01T00:00:00", "0001-01-01 00:00:00 +0000 UTC",
        "9999-12-31T23:59:59.9999999Z", "9999-12-31", "1970-01-01T00:00:00Z", "1970-01-01T01:00:00+01:00",
        "1969-12-31T16:00:00-08:00", "1899-12-30", 0, "0", 1785578, {"$date": "0001-01-01T00:00:00Z"},
        {"seconds": 0, "nanos": 0}, {"$date": -62135596800000},
    ],
    ids=repr,
)  # fmt: skip
def test_a_zero_time_is_no_date_and_is_told(zero: object) -> None:
    whole = as_line(gap("soft reeds", timestamp="2026-03-14T06:05:00Z", image_id="heron-11"))
    empty = as_line(gap("tall reeds", timestamp=zero, image_id="heron-11"))

    scanned = scan_bytes(empty + whole)

    assert scanned.records["timestamp"].to_list() == [None, datetime(2026, 3, 14, 6, 5, tzinfo=UTC)]
    assert scanned.summary.repairs == {Repair.TIMESTAMP_UNREADABLE: 1}
    assert json.loads(empty)["description"] in scanned.records["description"].to_list()
