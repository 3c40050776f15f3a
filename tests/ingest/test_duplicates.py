"""Which records are the same, and which of them counts."""

from pathlib import Path

import pytest

from builders import gap
from builders.ingest import as_line, scan_bytes, write_log
from vocabgap.ingest.scanning import scan
from vocabgap.model.record import LOG_NAME


def test_copies_that_spell_the_record_differently_are_the_same(workspace: Path) -> None:
    write_log(
        workspace,
        "heron-11",
        b'{"description": "soft reeds", "timestamp": "2026-03-14T06:05:00Z"}\n',
        b'{"timestamp":"2026-03-14T08:05:00+02:00","description":"soft reeds","notes":null,"x":1}\n',
    )

    assert scan(workspace).summary.duplicates == 1


def test_rows_that_differ_only_in_columns_of_the_user_are_several(tmp_path: Path) -> None:
    path = tmp_path / "wishes.csv"
    rows = [f"dark mode,2026-03-14T10:00,{plan}" for plan in ("pro", "free", "pro")]
    path.write_text("\n".join(["wish,day,plan", *rows]))

    scanned = scan(path, map={"description": "wish", "timestamp": "day"})

    assert scanned.gaps["why_not"].to_list() == [None, None, "duplicate"]


def test_wishes_of_one_day_are_several_but_those_of_one_moment_one(tmp_path: Path) -> None:
    for number, day in enumerate(("2026-03-14", "2026-03-14T10:00")):
        (tmp_path / f"{number}.csv").write_text(f"wish,day\ndark mode,{day}\ndark mode,{day}\n")

    fields = {"description": "wish", "timestamp": "day"}
    counted = [scan(tmp_path / f"{number}.csv", map=fields).summary.records for number in range(2)]

    assert counted == [2, 1]


def test_exports_that_overlap_are_counted_once_although_their_row_numbers_differ(
    tmp_path: Path,
) -> None:
    for name, numbers in (("spring", (0, 1)), ("summer", (7, 8, 9))):
        rows = [f"{number},dark mode,2026-03-14T10:00" for number in numbers]
        (tmp_path / f"{name}.csv").write_text("\n".join(["row,wish,day", *rows]))

    scanned = scan(tmp_path, map={"description": "wish", "timestamp": "day"})

    assert (scanned.summary.records, scanned.summary.duplicates) == (3, 2)


def test_the_same_words_on_two_images_are_two_records(workspace: Path) -> None:
    write_log(workspace, "heron-11", gap("soft reeds", image_id="heron-11"))
    write_log(workspace, "heron-12", gap("soft reeds", image_id="heron-12"))

    assert scan(workspace).summary.records == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [("heron-11", "heron-11-copy"), ("heron-11", "a copy of heron-11"), ("autumn", "spring")],
)
def test_the_original_stays_and_else_the_first_copy(one: str, other: str, workspace: Path) -> None:
    write_log(workspace, other, gap("soft reeds", image_id="heron-11"))
    write_log(workspace, one, gap("soft reeds", image_id="heron-11"))

    scanned = scan(workspace)

    assert scanned.records["source_path"].to_list() == [f"{one}/{LOG_NAME}"]
    assert scanned.summary.duplicates == 1


def test_the_same_record_in_two_repositories_counts_once(tmp_path: Path) -> None:
    for name in ("ana", "ben"):
        write_log(tmp_path / name, "heron-11", gap("soft reeds"))

    summary = scan([tmp_path / "ana", tmp_path / "ben"]).summary

    assert (summary.lines, summary.records, summary.duplicates) == (2, 1, 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("monday", "tuesday"),
        ("monday", None),
        (17734683, 17734684),
        ("0001-01-01T00:00:00+05:00", "0001-01-01T00:00:00+06:00"),
        ("x" * 300 + "1", "x" * 300 + "2"),
    ],
    ids=["words", "null", "numbers", "out of range", "long"],
)
def test_records_that_differ_only_in_an_unreadable_timestamp_are_two(
    one: object, other: object
) -> None:
    scanned = scan_bytes(
        as_line(gap("soft reeds", timestamp=one)) + as_line(gap("soft reeds", timestamp=other))
    )

    assert (scanned.summary.records, scanned.summary.duplicates) == (2, 0)


def test_equal_lines_without_a_time_and_a_session_are_separate_mentions_of_one_log(
    tmp_path: Path,
) -> None:
    for name in ("wishes.csv", "copy.csv"):
        (tmp_path / name).write_text("need\ndark mode\nexport\ndark mode\n", encoding="utf-8")

    scanned = scan([tmp_path / "wishes.csv", tmp_path / "copy.csv"], map={"description": "need"})

    assert sorted(scanned.records["description"]) == ["dark mode", "dark mode", "export"]
    assert scanned.summary.duplicates == 3


A, B, C = (
    as_line({"timestamp": f"2026-03-14T06:0{minute}:00Z", "description": need})
    for minute, need in enumerate(("soft reeds", "calm water", "dark eyes"))
)


@pytest.mark.parametrize(
    ("logs", "duplicates"),
    [
        ([[A, B], [A, B], [A, B]], 4),
        ([[A, B], [A, B, C]], 2),
        ([[A, B, C], [A, B]], 2),
        ([[A], [B], [A], [B, C]], 2),
        ([[A, B], [A, C]], 0),  # two images that logged the same line at the same moment
        ([[A, B], [B]], 0),
        ([[as_line({"description": "soft reeds"})]] * 2, 0),
    ],
)
def test_lines_of_a_copied_folder_that_name_no_image_are_duplicates(
    logs: list[list[bytes]], duplicates: int, workspace: Path
) -> None:
    for number, log in enumerate(logs):
        write_log(workspace, f"heron-{number}", *log)
    scanned = scan(workspace)

    assert scanned.summary.duplicates == duplicates
    first = scanned.gaps.filter("counted").unique("description", keep="first", maintain_order=True)
    assert first["image_id"].to_list() == sorted(first["image_id"])


def test_lines_that_name_their_image_or_are_in_another_root_are_no_copies(tmp_path: Path) -> None:
    for number, root in enumerate(("one", "other")):
        named = gap("soft reeds", image_id=f"heron-{number}", timestamp="2026-03-14T06:05:00Z")
        write_log(tmp_path / root, f"heron-{number}", named)
        write_log(tmp_path / root, f"tern-{number}", A)
    write_log(tmp_path / "one", "heron-2", named | {"image_id": "heron-2"})

    assert scan([tmp_path / "one", tmp_path / "other"]).summary.duplicates == 0
