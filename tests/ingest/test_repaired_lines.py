"""Which lines were repaired is told by name, and adds up to what a scan counts."""

from collections import Counter
from pathlib import Path

import pytest

from builders import gap, write_corpus
from vocabgap.ingest.checking import RepairedLine, repaired_lines
from vocabgap.ingest.scanning import scan
from vocabgap.model.record import Repair


def counted(found: list[RepairedLine]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in found:
        total[each.repair.value] += each.times
    return dict(total)


def test_the_lines_of_the_demo_add_up_to_its_account(demo: Path) -> None:
    found = repaired_lines(demo)

    assert counted(found) == scan(demo).summary.repairs
    where = ("market-stall-1203/vocabulary_gaps.jsonl", 10)
    (message,) = [each for each in found if (each.source_path, each.line) == where]
    assert (message.repair, message.detail) == (
        "timestamp_without_offset",
        "'2026-05-02T09:14:00', read as UTC",
    )


@pytest.mark.parametrize(
    ("field", "repair", "detail"),
    [
        ('"satisfaction": " Bad"', Repair.SATISFACTION_IN_WORDS, "' Bad', read as -1"),
        ('"satisfaction": [1]', Repair.SATISFACTION_UNKNOWN, "a list, read as not rated"),
        ('"satisfaction": 7', Repair.SATISFACTION_UNKNOWN, "7, read as not rated"),
        ('"count": "some"', Repair.COUNT_UNKNOWN, "'some', read as 1"),
        ('"notes": null', Repair.NULL_FOR_DEFAULT, "notes"),
        ('"timestamp": "2026-05-01T10:00:00"', Repair.TIMESTAMP_WITHOUT_OFFSET, "'2026-05-01T10:00:00'"),
        ('"timestamp": "some day"', Repair.TIMESTAMP_UNREADABLE, "'some day', kept without a date"),
        ('"timestamp": 3', Repair.TIMESTAMP_UNREADABLE, "3, kept without a date"),
        ('"timestamp": "0001-01-01T00:00:00+05:00"', Repair.TIMESTAMP_UNREADABLE, "'0001-01-01T"),
        ('"image_id": "two"', Repair.IMAGE_NOT_FOLDER, "'two' in folder 'one'"),
        ('"image_id": " "', Repair.IMAGE_FROM_FOLDER, "no image is named, read as 'one'"),
    ],
)  # fmt: skip
def test_a_repair_shows_the_text_and_its_reading(
    tmp_path: Path, field: str, repair: Repair, detail: str
) -> None:
    image = "" if "image_id" in field else ', "image_id": "one"'
    root = write_corpus(
        tmp_path, {"one": [gap("film grain"), "", f'{{"description": "sky mask"{image}, {field}}}']}
    )

    (found,) = repaired_lines(root)

    assert (found.line, found.repair) == (3, repair)
    assert found.detail.startswith(detail)
    assert counted([found]) == scan(root).summary.repairs


def test_a_byte_order_mark_between_lines_is_told(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"one": ['{"description": "a", "image_id": "one"}'] * 2})
    log = root / "one" / "vocabulary_gaps.jsonl"
    log.write_bytes(log.read_bytes().replace(b"\n{", b"\n\xef\xbb\xbf{"))

    (found,) = repaired_lines(root)

    assert (found.line, found.repair, found.detail) == (2, "byte_order_mark", "passed over")


def test_rejected_and_sound_lines_are_not_repairs(tmp_path: Path) -> None:
    lines: list[dict[str, object] | str] = [
        gap("sky mask"),
        "no json",
        '{"mood": 1, "satisfaction": "bad"}',
    ]

    assert repaired_lines(write_corpus(tmp_path, {"one": lines})) == []


def test_repairs_in_logs_of_other_tools_name_fields_of_a_record(tmp_path: Path) -> None:
    log = tmp_path / "affordance_gaps.jsonl"
    log.write_text(
        '{"timestamp": "monday", "goal": "", "missing_capability": "sky mask"}\n', encoding="utf-8"
    )

    (found,) = repaired_lines(log)

    assert (found.source_path, found.detail) == (
        "affordance_gaps.jsonl",
        "'monday', kept without a date",
    )
