from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from builders.ingest import scan_bytes
from vocabgap.ingest import lines
from vocabgap.ingest.discovery import LogFile
from vocabgap.ingest.formats import LogKind
from vocabgap.ingest.lines import BlockRecords, RecordColumns
from vocabgap.model.record import GapRecord, record_id
from vocabgap.model.tables import RECORDS

names = st.lists(
    st.one_of(st.sampled_from(["", "\x1f", "crop", "a\x1fb"]), st.text(max_size=4)), max_size=3
)
moments = st.datetimes(timezones=st.just(UTC))


LOG = LogFile("/pier/log.jsonl", "coast", "pier/log.jsonl", "pier", LogKind())


def framed(*batches: list[GapRecord], unreadable: dict[int, str] | None = None) -> pl.DataFrame:
    """Hand the batches over in turn; the lines are numbered on."""
    collected, first = RecordColumns("mira"), 1
    for batch in batches:
        columns = list[Any](zip(*map(astuple, batch), strict=True))
        numbers = range(first, first + len(batch))
        nameless = [False] * len(batch)
        collected.add(BlockRecords(LOG, columns, numbers, numbers, nameless, unreadable or {}), 0)
        first = numbers.stop
    return collected.parts().collect().select(RECORDS.names)


@given(lists=st.lists(names, min_size=1, max_size=6))
def test_lists_come_back_as_they_were(lists: list[list[str]]) -> None:
    records = [
        GapRecord(description="x", operations_involved=each, vocabulary_used=each) for each in lists
    ]

    frame = framed(records)

    assert frame["operations_involved"].to_list() == lists
    assert frame["vocabulary_used"].to_list() == lists


@given(instants=st.lists(st.one_of(st.none(), moments), min_size=1, max_size=6))
def test_instants_come_back_to_the_microsecond(instants: list[datetime | None]) -> None:
    frame = framed([GapRecord(description="x", timestamp=instant) for instant in instants])

    assert frame["timestamp"].to_list() == instants


def test_batches_are_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BATCH", 3)

    frame = framed(
        *(
            [GapRecord(description=str(n)), GapRecord(description=str(n + 1))]
            for n in range(0, 10, 2)
        )
    )

    assert frame["description"].to_list() == [str(number) for number in range(10)]
    assert frame["line"].to_list() == list(range(1, 11))
    assert set(frame["source_path"]) == {"pier/log.jsonl"}


def test_identity_of_a_second_batch_is_its_own() -> None:
    first, second = GapRecord(description="x"), GapRecord(description="y")

    frame = framed([first], [second], unreadable={0: "monday"})

    assert frame["record_id"].to_list() == [record_id(first, "monday"), record_id(second, "monday")]


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
