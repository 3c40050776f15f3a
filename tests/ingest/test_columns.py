"""Columns of records keep the values of their lines, in the order of the log."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.ingest import as_line, scan_bytes
from vocabgap.model.record import GapRecord, record_id

names = st.lists(
    st.one_of(st.sampled_from(["", "\x1f", "crop", "a\x1fb"]), st.text(max_size=4)), max_size=3
)
moments = st.datetimes(datetime(1971, 1, 1), datetime(9998, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001


@given(st.lists(st.tuples(names, st.none() | moments), min_size=1, max_size=6))
def test_lists_and_instants_come_back_as_they_were(
    values: list[tuple[list[str], datetime | None]],
) -> None:
    lines = [
        as_line(
            {
                "description": f"{number}",
                "operations_involved": operations,
                "timestamp": moment and moment.isoformat(),
            }
        )
        for number, (operations, moment) in enumerate(values)
    ]

    gaps = scan_bytes(b"".join(lines)).gaps

    assert gaps.select("operations_involved", "timestamp").rows() == values


def test_identity_of_a_second_batch_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vocabgap.ingest.lines.BATCH", 1)
    lines = [as_line({"description": need, "timestamp": "monday"}) for need in ("x", "y")]

    gaps = scan_bytes(b"\n".join(lines)).gaps

    records = [GapRecord(description=need, image_id="heron-11") for need in ("x", "y")]
    assert gaps["record_id"].to_list() == [record_id(record, "monday") for record in records]


def test_repaired_and_clean_lines_stay_in_the_order_of_the_log() -> None:
    clean = b'{"timestamp":"2026-03-14T06:05:00Z","image_id":"heron-11","description":"%d"}\n'
    repaired = b'{"description":"%d","satisfaction":"bad"}\n'
    lines = [(clean if number % 3 else repaired) % number for number in range(12)]

    found = scan_bytes(b"".join(lines)).records

    assert found["description"].to_list() == [str(number) for number in range(12)]
    offsets = [sum(map(len, lines[:number])) for number in range(12)]
    assert found["byte_offset"].to_list() == offsets
    assert found["timestamp"].drop_nulls().unique().to_list() == [
        datetime(2026, 3, 14, 6, 5, tzinfo=UTC)
    ]
