"""What a scan makes of the shapes, images and times that records come with, and which repairs it counts."""

from datetime import UTC, datetime

import pytest

from builders import gap
from builders.ingest import as_line, scan_bytes


@pytest.mark.parametrize(
    ("fields", "image", "repair"),
    [
        *(({"image_id": blank}, "heron-11", "image_from_folder") for blank in (None, "", " ")),
        ({}, "heron-11", "image_from_folder"),
        ({"image_id": "fox-3"}, "fox-3", "image_not_folder"),
    ],
)
def test_an_image_that_is_not_named_is_the_folder(
    fields: dict[str, object], image: str, repair: str
) -> None:
    scanned = scan_bytes(as_line(gap("soft reeds", **fields)))

    assert scanned.records["image_id"].to_list() == [image]
    assert scanned.summary.repairs == {repair: 1}


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
