"""What a scan makes of the shapes, images and times that records come with, and which repairs it counts."""

from datetime import UTC, datetime

import pytest

from builders import gap
from builders.ingest import as_line, scan_bytes

SNAPSHOT = "d4" * 32


def test_the_three_shapes_are_read_into_one() -> None:
    minimal: dict[str, object] = {
        "timestamp": "2026-03-14T06:05:00Z",
        "image_id": "heron-11",
        "description": "soft reeds",
        "workaround": "a brush",
    }
    draft: dict[str, object] = {
        "timestamp": "2026-03-14T06:06:00Z", "session_id": "s-1", "intent": "calm reeds",
        "missing_capability": "reed mask", "satisfaction": "bad",
    }  # fmt: skip
    full: dict[str, object] = {
        **minimal,
        "timestamp": "2026-03-14T06:07:00Z",
        "session_id": None,
        "snapshot_hash": SNAPSHOT,
        "intent": None,
        "intent_category": "local",
        "missing_capability": None,
        "operations_involved": ["blurs"],
        "vocabulary_used": [],
        "satisfaction": 1,
        "notes": "",
    }

    records = scan_bytes(b"".join(map(as_line, (minimal, draft, full)))).records

    assert records["image_id"].to_list() == ["heron-11"] * 3
    assert records["description"].to_list() == ["soft reeds", None, "soft reeds"]
    assert records["satisfaction"].to_list() == [None, -1, 1]


@pytest.mark.parametrize("image_id", [{}, {"image_id": None}, {"image_id": ""}, {"image_id": " "}], ids=repr)
def test_an_image_that_is_not_named_is_the_folder(image_id: dict[str, object]) -> None:
    scanned = scan_bytes(as_line(gap("soft reeds", **image_id)))

    assert scanned.records["image_id"].to_list() == ["heron-11"]
    assert scanned.summary.repairs == {"image_from_folder": 1}


def test_an_image_other_than_the_folder_is_kept_and_counted() -> None:
    scanned = scan_bytes(as_line(gap("soft reeds", image_id="fox-3")))

    assert scanned.records["image_id"].to_list() == ["fox-3"]
    assert scanned.summary.repairs == {"image_not_folder": 1}


@pytest.mark.parametrize(
    ("text", "repairs"),
    [
        ("2026-03-14T06:05:00Z", {}),
        ("2026-03-14T06:05:00+00:00", {}),
        ("2026-03-14T11:35:00+05:30", {}),
        ("2026-03-13T22:05:00-08:00", {}),
        ("2026-03-14T06:05:00", {"timestamp_without_offset": 1}),
        ("2026-03-14 06:05", {"timestamp_without_offset": 1}),
    ],
)
def test_timestamps_are_in_utc_whatever_their_offset(text: str, repairs: dict[str, int]) -> None:
    scanned = scan_bytes(as_line(gap("soft reeds", timestamp=text, image_id="heron-11")))

    assert scanned.records["timestamp"].to_list() == [datetime(2026, 3, 14, 6, 5, tzinfo=UTC)]
    assert scanned.summary.repairs == repairs


@pytest.mark.parametrize("timestamp", ["monday", 17734683, "0001-01-01T00:00:00+05:00"])
def test_a_record_with_an_unreadable_timestamp_is_kept_and_counted(timestamp: object) -> None:
    scanned = scan_bytes(as_line(gap("soft reeds", timestamp=timestamp, image_id="heron-11")))

    assert scanned.records["timestamp"].to_list() == [None]
    assert scanned.summary.repairs == {"timestamp_unreadable": 1}
