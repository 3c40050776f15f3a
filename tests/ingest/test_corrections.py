"""Which record a correction supersedes."""

import json
import re
from pathlib import Path
from typing import Final

import pytest

from builders import gap
from builders.ingest import write_log
from vocabgap.ingest.checking import unclear_lines
from vocabgap.ingest.scanning import Scan, scan

FIRST, SECOND, THIRD = "a1" * 32, "b2" * 32, "c3" * 32
Line = tuple[str, object, str | None, str]  # need, minute or timestamp, snapshot, notes

# Lines of one log, and the needs of the records that are superseded.
TEXT: Final = (
    Path(__file__).parents[1].joinpath("data", "corrections.json").read_text(encoding="utf-8")
)
HASHES: Final = {"FIRST": FIRST, "SECOND": SECOND, "THIRD": THIRD, "FIRST-UPPER": FIRST.upper()}
CASES: Final[dict[str, tuple[list[Line], list[str]]]] = json.loads(
    re.sub(r"\{([A-Z-]+)\}", lambda name: HASHES[name[1]], TEXT)
)


def at(minute: object) -> object:
    return f"2026-03-14T06:{minute:02}:00Z" if isinstance(minute, int) else minute


def record(line: Line) -> dict[str, object]:
    need, moment, snapshot, notes = line
    return gap(need, timestamp=at(moment), snapshot_hash=snapshot, notes=notes)


def superseded(scanned: Scan) -> list[str]:
    return scanned.gaps.filter(why_not="superseded")["description"].to_list()


@pytest.mark.parametrize(("lines", "expected"), CASES.values(), ids=CASES)
def test_a_correction_supersedes(lines: list[Line], expected: list[str], workspace: Path) -> None:
    write_log(workspace, "heron-11", *map(record, lines))

    scanned = scan(workspace)

    assert superseded(scanned) == expected
    assert scanned.gaps["line"].to_list() == list(range(1, len(lines) + 1))
    assert scanned.summary.superseded == len(expected)


def test_the_same_need_is_the_same_phrase_if_the_capability_is_blank(workspace: Path) -> None:
    write_log(
        workspace,
        "heron-11",
        gap("warm beak", timestamp=at(1), snapshot_hash=FIRST, missing_capability=" "),
        gap("dark eyes", timestamp=at(2), snapshot_hash=FIRST, missing_capability=" "),
        gap("warm beaks", timestamp=at(3), missing_capability=" ", notes=FIRST),
    )

    assert superseded(scan(workspace)) == ["warm beak"]


def test_a_record_of_another_image_or_repository_is_untouched(tmp_path: Path) -> None:
    write_log(tmp_path / "ana", "heron-11", record(("reeds", 1, FIRST, "")))
    write_log(tmp_path / "ana", "heron-12", record(("softer", 2, None, FIRST)))
    write_log(tmp_path / "ben", "heron-11", record(("softest", 2, None, FIRST)))

    assert superseded(scan([tmp_path / "ana", tmp_path / "ben"])) == []


def test_a_correction_may_stand_in_another_log_of_the_image(workspace: Path) -> None:
    write_log(workspace, "heron-11", {**record(("reeds", 1, FIRST, "")), "image_id": "heron-11"})
    write_log(workspace, "archive", {**record(("softer", 2, None, FIRST)), "image_id": "heron-11"})

    assert superseded(scan(workspace)) == ["reeds"]


def test_copies_of_a_record_and_of_its_correction_count_once(workspace: Path) -> None:
    original, correction = record(("reeds", 1, FIRST, "")), record(("softer", 2, None, FIRST))
    write_log(workspace, "heron-11", original, original, correction, correction)

    why_not = scan(workspace).gaps["why_not"].to_list()

    assert why_not == ["superseded", "duplicate", None, "duplicate"]


def test_a_record_without_a_time_follows_the_line_before_it_of_any_image(workspace: Path) -> None:
    early = gap("reeds", image_id="a", snapshot_hash=FIRST, timestamp="2026-01-05T10:00:00Z")
    other = gap("mist", image_id="b", timestamp="2026-01-10T10:00:00Z")
    soon = gap("reeds, softer", image_id="a", notes=f"corrects {FIRST}", timestamp="soon")
    write_log(workspace, "one", other, soon)
    write_log(workspace, "two", early)

    assert scan(workspace).summary.superseded == 1


def test_a_correction_may_name_the_identifier_of_a_record(workspace: Path) -> None:
    write_log(
        workspace, "heron-11", record(("reeds", 1, FIRST, "")), record(("mist", 2, FIRST, ""))
    )
    reeds, _ = scan(workspace).gaps["record_id"]
    write_log(
        workspace,
        "archive",
        {**record(("calm", 3, None, f"corrects {reeds}")), "image_id": "heron-11"},
    )

    assert superseded(scan(workspace)) == ["reeds"]


def test_two_corrections_of_one_record_by_different_names_leave_one_mention(
    workspace: Path,
) -> None:
    write_log(workspace, "heron-11", record(("reeds", 1, FIRST, "")))
    (reeds,) = scan(workspace).gaps["record_id"]
    for name, minute, corrected in ("archive", 2, reeds), ("branch", 3, FIRST):
        line = record((f"reeds, {name}", minute, None, f"corrects {corrected}"))
        write_log(workspace, name, {**line, "image_id": "heron-11"})

    assert superseded(scan(workspace)) == ["reeds, archive", "reeds"]


@pytest.mark.parametrize(
    "notes",
    [
        "corrects the record {eyes}, snapshot {FIRST}",
        "corrects {eyes} (snapshot {FIRST})",
        "corrects record {eyes} at snapshot {FIRST}",
        "corrects {FIRST}, {eyes}",
    ],
)
def test_two_names_of_one_record_correct_no_other(notes: str, workspace: Path) -> None:
    write_log(workspace, "heron-11", *(record((need, 1, FIRST, "")) for need in ("eyes", "mist")))
    eyes, _ = scan(workspace).gaps["record_id"]
    line = record(("calm", 3, None, notes.format(eyes=eyes, FIRST=FIRST)))
    write_log(workspace, "archive", {**line, "image_id": "heron-11"})

    scanned = scan(workspace)

    assert superseded(scanned) == ["eyes"]
    assert "unclear_correction" not in scanned.summary.repairs


def test_a_correction_takes_the_place_of_a_record_with_its_need(workspace: Path) -> None:
    write_log(workspace, "heron-11", *(record((need, 1, FIRST, "")) for need in ("eyes", "mist")))
    eyes, _ = scan(workspace).gaps["record_id"]
    for name, line in {
        "archive": ("dark eyes", 2, None, f"corrects {eyes}"),
        "branch": ("eyes", 3, None, f"corrects {FIRST}"),
    }.items():
        write_log(workspace, name, {**record(line), "image_id": "heron-11"})

    assert superseded(scan(workspace)) == ["dark eyes", "eyes"]


def test_an_unclear_correction_is_listed_with_its_line(workspace: Path) -> None:
    needs = ("beak", 1, FIRST, ""), ("eyes", 2, FIRST, ""), ("calm", 3, SECOND, f"corrects {FIRST}")
    write_log(workspace, "heron-11", *map(record, (*needs, ("mist", 4, None, f"as at {SECOND}"))))

    scanned = scan([workspace, workspace])

    assert scanned.summary.repairs["unclear_correction"] == 2
    several, only_named = unclear_lines(scanned)
    assert (several.line, several.repair, several.times) == (3, "unclear_correction", 1)
    assert several.detail.startswith(f"2 records of the image have {FIRST[:12]}")
    assert only_named.detail.startswith(f"the notes name {SECOND[:12]}…, and correct nothing")


@pytest.mark.parametrize(("lines", "expected"), CASES.values(), ids=CASES)
def test_a_correction_supersedes_the_same_records_in_batches(
    lines: list[Line], expected: list[str], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vocabgap.ingest.reading.CHUNK_BYTES", 300)
    monkeypatch.setattr("vocabgap.ingest.lines.BATCH", 2)
    write_log(workspace, "heron-11", *map(record, lines))

    assert superseded(scan(workspace)) == expected


@pytest.mark.parametrize(("moment", "expected"), [(10, []), (21, [3]), (None, [3])])
def test_only_a_record_without_a_time_takes_the_time_before_it_in_any_batch(
    moment: int | None, expected: list[int], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vocabgap.ingest.reading.CHUNK_BYTES", 300)
    monkeypatch.setattr("vocabgap.ingest.lines.BATCH", 2)
    lines: list[Line] = [
        ("calm sea", 1, None, ""),
        ("warm beak", 9, None, ""),
        ("dark eyes", 20, SECOND, ""),
        ("pale feet", None, None, ""),
        ("grey wing", moment, None, f"corrects {SECOND}"),
    ]
    write_log(workspace, "heron-11", *map(record, lines))

    assert scan(workspace).gaps.filter(why_not="superseded")["line"].to_list() == expected
