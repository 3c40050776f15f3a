from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocabgap.ingest import Scan, columns
from vocabgap.ingest.columns import RecordColumns
from vocabgap.ingest.discovery import LogFile
from vocabgap.record import GapRecord, record_id
from vocabgap.schema import RECORDS

names = st.lists(st.one_of(st.sampled_from(["", "\x1f", "crop", "a\x1fb"]), st.text(max_size=4)), max_size=3)
moments = st.datetimes(timezones=st.just(UTC))


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> LogFile:
    return LogFile(tmp_path_factory.mktemp("pier") / "log.jsonl", "coast", "pier/log.jsonl")


def taken(log: LogFile, records: list[GapRecord]) -> RecordColumns:
    collected = RecordColumns("mira")
    numbers = list(range(1, len(records) + 1))
    collected.extend(log, records, numbers, [10 * number for number in numbers], {})
    return collected


@given(lists=st.lists(names, max_size=6))
def test_lists_come_back_as_they_were(log: LogFile, lists: list[list[str]]) -> None:
    records = [GapRecord(description="x", operations_involved=each, vocabulary_used=each) for each in lists]

    frame = taken(log, records).frame()

    assert frame["operations_involved"].to_list() == lists
    assert frame["vocabulary_used"].to_list() == lists


@given(instants=st.lists(st.one_of(st.none(), moments), max_size=6))
def test_instants_come_back_to_the_microsecond(log: LogFile, instants: list[datetime | None]) -> None:
    frame = taken(log, [GapRecord(description="x", timestamp=instant) for instant in instants]).frame()

    assert frame["timestamp"].to_list() == instants


def test_nothing_taken_is_the_empty_table() -> None:
    frame = RecordColumns("mira").frame()

    assert (frame.schema, frame.height) == (RECORDS.schema, 0)


def test_batches_are_one_frame_in_order(log: LogFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "BATCH_RECORDS", 3)
    collected = RecordColumns("mira")
    for start in range(0, 10, 2):
        pair = [GapRecord(description=str(number)) for number in (start, start + 1)]
        collected.extend(log, pair, [start + 1, start + 2], [0, 0], {})

    frame = collected.frame()

    assert frame["description"].to_list() == [str(number) for number in range(10)]
    assert frame["line"].to_list() == list(range(1, 11))


def test_identity_includes_a_timestamp_that_could_not_be_read(log: LogFile) -> None:
    record = GapRecord(description="x")
    collected = RecordColumns("mira")
    collected.extend(log, [GapRecord(description="w")], [1], [0], {})

    collected.extend(log, [record, record], [1, 2], [0, 9], {1: "monday"})

    assert collected.frame()["record_id"].to_list()[1:] == [record_id(record), record_id(record, "monday")]


def test_mended_and_clean_lines_stay_in_the_order_of_the_log(scan_bytes: Callable[[bytes], Scan]) -> None:
    clean = b'{"timestamp":"2026-03-14T06:05:00Z","image_id":"heron-11","description":"%d"}\n'
    mended = b'{"description":"%d","satisfaction":"bad"}\n'
    lines = [(clean if number % 3 else mended) % number for number in range(12)]

    found = scan_bytes(b"".join(lines)).records

    assert found["description"].to_list() == [str(number) for number in range(12)]
    offsets = [sum(map(len, lines[:number])) for number in range(12)]
    assert found["byte_offset"].to_list() == offsets
    assert found["timestamp"].drop_nulls().unique().to_list() == [datetime(2026, 3, 14, 6, 5, tzinfo=UTC)]
