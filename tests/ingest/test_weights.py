"""A record may stand for many mentions: its field `count`, in native logs and in those of other tools."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import astuple

from vocabgap.ingest.scanning import Scan, scan
from vocabgap.model.record import LOG_NAME, GapRecord, record_id, record_ids
from vocabgap.model.sources import Shape, Source

NEED = {"description": "stack the frames"}


def read(folder: Path, row: dict[str, Any], **source: Any) -> Scan:  # noqa: ANN401 - as settings have it
    name = "votes.jsonl" if source else LOG_NAME
    (folder / name).write_text(json.dumps(row) + "\n", encoding="utf-8")
    return scan(folder, sources={"votes": Source(glob=name, **source)} if source else None)


def counts(found: Scan) -> list[int]:
    return found.records["count"].to_list()


FIELDS = {"description": "wish"}


@pytest.mark.parametrize(
    ("value", "count"),
    [(1, 1), (41, 41), (10**9, 10**9), (41.0, 41), ("41", 41), ("1,041", 1041), (" 2.0 ", 2)],
)
def test_an_export_that_is_counted_needs_no_setting(
    tmp_path: Path, value: object, count: int
) -> None:
    mapped = read(tmp_path, {"wish": "stack the frames", "count": value}, fields=FIELDS)

    assert counts(read(tmp_path, {**NEED, "count": value})) == counts(mapped) == [count]


@pytest.mark.parametrize(
    "value",
    [
        0,
        -3,
        2.5,
        10**9 + 1,
        10**30,
        True,
        [7],
        "0",
        "1,20",
        "1.000",
        " 12.000.000 ",
        "2 or 3",
        "often",
        "\ud83d",
    ],
)
def test_any_other_value_is_one_mention_and_a_repair(tmp_path: Path, value: object) -> None:
    native = read(tmp_path, {**NEED, "count": value})
    mapped = read(tmp_path, {"wish": "stack", "count": value}, fields=FIELDS)

    assert counts(native) == counts(mapped) == [1]
    assert native.summary.repairs["count_unknown"] == mapped.summary.repairs["count_unknown"] == 1


def test_another_key_may_hold_the_count_or_none(tmp_path: Path) -> None:
    row = {"wish": "stack", "count": 5, "stats": {"votes": "12"}, "votes": "many"}
    also = (Shape(where={"kind": "vote"}, fields={"workaround": "instead"}),)

    assert counts(read(tmp_path, row, fields={**FIELDS, "count": "stats.votes"})) == [12]
    assert counts(read(tmp_path, row, fields={**FIELDS, "count": ""})) == [1]
    off = {"fields": {**FIELDS, "count": ""}, "where": {"kind": "wish"}, "also": also}
    assert counts(read(tmp_path, {**row, "kind": "vote"}, **off)) == [1]
    assert counts(read(tmp_path, row, fields={**FIELDS, "count": "votes"})) == [1]


def test_the_weight_is_part_of_the_identity_only_if_it_is_not_one() -> None:
    once, often, more = (GapRecord(description='a ,"count":1} b', count=n) for n in (1, 12, 1_000))

    assert record_id(once) == "d7e15d640b960f306ca94527fe4216fd2716f8f6ffc2b6f90a2a1c828bbd08d8"
    assert record_ids(
        list(zip(*map(astuple, (often, once, more)), strict=True)), {1: "monday"}
    ) == [
        record_id(often),
        record_id(once, "monday"),
        record_id(more),
    ]
    assert len({record_id(once), record_id(often), record_id(more)}) == 3


def test_a_table_may_write_a_count_in_several_ways(tmp_path: Path) -> None:
    cells = {"+5": 5, "007": 7, "2.00": 2, "41.0000": 41, '"1,041"': 1041, "1.000": 1, "": 1}
    rows = "".join(f"need {place},{cell}\n" for place, cell in enumerate(cells))
    (tmp_path / "any.csv").write_text(f"description,count\n{rows}")

    found = scan(tmp_path / "any.csv")

    assert found.gaps["count"].to_list() == [*cells.values()]
    assert found.summary.repairs["count_unknown"] == 1


def test_a_rating_with_three_zeros_is_that_rating(tmp_path: Path) -> None:
    (tmp_path / "any.csv").write_text("description,satisfaction\nlasso,-1.000\nbrush,1.000\n")

    assert scan(tmp_path / "any.csv").gaps["satisfaction"].to_list() == [-1, 1]
