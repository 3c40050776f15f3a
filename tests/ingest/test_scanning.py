import hashlib
import json
import os
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from vocabgap.errors import InvalidInputError, NotFoundError
from vocabgap.ingest import Scan, scan
from vocabgap.record import LOG_NAME, RejectReason
from vocabgap.schema import FILES, GAPS, RECORDS, REJECTS

WriteLog = Callable[..., Path]
AsLine = Callable[[Mapping[str, object]], bytes]
ScanBytes = Callable[[bytes], Scan]
Gap = Callable[..., dict[str, object]]

BOM = b"\xef\xbb\xbf"
SNAPSHOT = "d4" * 32
SHARED = Path(__file__).parents[2] / ".." / "shared"

not_as_root = pytest.mark.skipif(os.geteuid() == 0, reason="root reads files whatever their permissions")

# Pieces that make up logs: good lines, copies, corrections, bad lines, blanks, and anything at all.
pieces = st.sampled_from(
    [
        b'{"description":"soft reeds"}',
        b'{"description":"soft reeds","timestamp":"2026-03-14T06:05:00Z","snapshot_hash":"%s"}'
        % SNAPSHOT.encode(),
        b'{"description":"softer reeds","timestamp":"2026-03-15","notes":"%s"}' % SNAPSHOT.encode(),
        b'{"intent":"calm","satisfaction":"good","timestamp":"monday"}',
        b'{"description":"\xc3\xa9\xe2\x80\xa8"}',
        b'{"description":7}',
        b"null",
        b"\n",
        b"\r\n",
        b" ",
        b"\xef\xbb\xbf",
        b"\xff",
        b"{",
    ]
)
logs = st.lists(pieces | st.binary(max_size=8), max_size=12).map(b"".join)


def lines_that_are_not_blank(content: bytes) -> int:
    return sum(1 for line in content.removeprefix(BOM).split(b"\n") if line.strip())


def assert_every_line_is_accounted_for(scanned: Scan, lines: int) -> None:
    summary = scanned.summary
    assert summary.lines == lines
    assert summary.lines == summary.records + summary.duplicates + summary.superseded + summary.rejects
    verdicts = Counter(scanned.gaps["why_not"].to_list())
    assert scanned.records.height == summary.records == verdicts[None]
    assert (verdicts["duplicate"], verdicts["superseded"]) == (summary.duplicates, summary.superseded)
    assert scanned.rejects["line"].count() == summary.rejects


def only_reject(scanned: Scan) -> dict[str, object]:
    assert scanned.rejects.height == 1
    row: dict[str, object] = scanned.rejects.row(0, named=True)
    return row


# The account


@settings(deadline=None)  # the first scan loads Polars
@given(logs)
@example(b"")
@example(BOM)
@example(b"\x00")
@example(b"\n\r\n \t\n")
@example(b'{"description":"x"}' + b"\x0c\n\x0b\n")
def test_every_line_of_any_log_is_accounted_for(scan_bytes: ScanBytes, content: bytes) -> None:
    scanned = scan_bytes(content)

    assert_every_line_is_accounted_for(scanned, lines_that_are_not_blank(content))


@settings(deadline=None)  # the first scan loads Polars
@given(st.binary())
def test_every_line_of_any_bytes_is_accounted_for(scan_bytes: ScanBytes, content: bytes) -> None:
    scanned = scan_bytes(content)

    assert_every_line_is_accounted_for(scanned, lines_that_are_not_blank(content))


@settings(deadline=None)  # the first scan loads Polars
@given(logs)
def test_every_offset_points_at_its_line(scan_bytes: ScanBytes, content: bytes) -> None:
    scanned = scan_bytes(content)

    rows = [
        *scanned.gaps.select("line", "byte_offset").iter_rows(),
        *scanned.rejects.select("line", "byte_offset").iter_rows(),
    ]
    for line, offset in rows:
        assert content[:offset].count(b"\n") == line - 1
        assert offset == 0 or content[:offset].endswith(b"\n") or content[:offset] == BOM


@settings(deadline=None)  # the first scan loads Polars
@given(logs)
def test_no_reject_lets_an_unprintable_character_through(scan_bytes: ScanBytes, content: bytes) -> None:
    rejects = scan_bytes(content).rejects

    shown = "".join([*rejects["raw"], *rejects["detail"]])
    assert not [character for character in shown if unicodedata.category(character) in {"Cc", "Cs", "Zl"}]


def test_a_log_cut_anywhere_in_its_last_two_records_loses_only_what_was_cut(
    as_line: AsLine, gap: Gap, scan_bytes: ScanBytes
) -> None:
    kept = as_line(gap("soft reeds")) + as_line(gap("warm beak"))
    cut = as_line(gap("caf\u00e9 \u2014 \U0001f426", notes="na\u00efve")) + as_line(gap("dark eyes"))
    ends = [kept, kept + cut[: cut.index(b"\n") + 1], kept + cut]
    for length in range(len(kept), len(kept + cut) + 1):
        content = (kept + cut)[:length]
        # A record is whole as soon as its last brace is there; the newline may still be missing.
        whole = 1 + sum(len(end) - 1 <= length for end in ends)

        scanned = scan_bytes(content)

        assert_every_line_is_accounted_for(scanned, lines_that_are_not_blank(content))
        assert scanned.summary.records == whole, length
        assert scanned.rejects["line"].to_list() == ([whole + 1] if scanned.summary.rejects else [])


def test_a_last_line_that_was_cut_off_is_torn_wherever_the_cut_falls(
    as_line: AsLine, gap: Gap, scan_bytes: ScanBytes
) -> None:
    first, second = as_line(gap("soft reeds")), as_line(gap("caf\u00e9 \u2014 \U0001f426"))
    reasons = {
        length: only_reject(scan_bytes(first + second[:length]))["reason"]
        for length in range(1, len(second) - 1)
    }

    assert {length: reason for length, reason in reasons.items() if reason != RejectReason.TORN} == {}


def test_a_broken_line_that_a_newline_ends_is_not_torn(scan_bytes: ScanBytes) -> None:
    assert only_reject(scan_bytes(b'{"description": "soft\n'))["reason"] == RejectReason.INVALID_JSON


def test_good_records_survive_bad_neighbours(as_line: AsLine, gap: Gap, scan_bytes: ScanBytes) -> None:
    bad = [b"\xff\n", b"{\n", b"null\n", b'{"description": 7}\n', b"{}\n", b"[" * 100_000 + b"\n"]
    content = b"".join(line + as_line(gap(f"need {number}")) for number, line in enumerate(bad))

    summary = scan_bytes(content).summary

    assert (summary.records, summary.rejects) == (6, 6)
    assert summary.reasons == {
        "invalid_utf8": 1,
        "invalid_json": 1,
        "not_an_object": 1,
        "missing_description": 1,
        "wrong_type": 1,
        "too_deep": 1,
    }


# Lines


def test_only_a_newline_ends_a_line(as_line: AsLine, gap: Gap, scan_bytes: ScanBytes) -> None:
    needs = ["soft\u2028reeds", "soft\u2029reeds", "soft\x85reeds", "soft\u00a0reeds"]

    scanned = scan_bytes(b"".join(as_line(gap(need)) for need in needs))

    assert scanned.records["description"].to_list() == needs
    assert scanned.summary.lines == 4


def test_a_byte_order_mark_is_no_part_of_the_first_line(
    as_line: AsLine, gap: Gap, scan_bytes: ScanBytes
) -> None:
    scanned = scan_bytes(BOM + as_line(gap("soft reeds")) + as_line(gap("warm beak")))

    assert scanned.records["description"].to_list() == ["soft reeds", "warm beak"]
    assert scanned.records["byte_offset"][0] == 3


def test_windows_line_ends_are_read(scan_bytes: ScanBytes) -> None:
    scanned = scan_bytes(b'{"description":"soft reeds"}\r\n\r\n{"description":"warm beak"}\r\n')

    assert scanned.records.select("description", "line", "byte_offset").rows() == [
        ("soft reeds", 1, 0),
        ("warm beak", 3, 32),
    ]
    assert scanned.summary.rejects == 0


def test_blank_lines_are_numbered_and_not_counted(as_line: AsLine, gap: Gap, scan_bytes: ScanBytes) -> None:
    scanned = scan_bytes(b"\n  \t\n" + as_line(gap("soft reeds")) + b"\n\n")

    assert (scanned.summary.lines, scanned.summary.records) == (1, 1)
    assert scanned.records["line"].to_list() == [3]


def test_a_last_line_without_a_newline_is_read(scan_bytes: ScanBytes) -> None:
    assert scan_bytes(b'{"description":"soft reeds"}').summary.records == 1


def test_offsets_lead_back_to_the_record(as_line: AsLine, gap: Gap, scan_bytes: ScanBytes) -> None:
    lines = [as_line(gap(f"caf\u00e9 {number}")) for number in range(5)]
    content = BOM + b"\n".join(lines)

    records = scan_bytes(content).records

    for description, offset in records.select("description", "byte_offset").iter_rows():
        assert json.loads(content[offset:].split(b"\n")[0])["description"] == description


# Rejects


def test_a_reject_says_where_it_is_and_what_it_held(workspace: Path, write_log: WriteLog, gap: Gap) -> None:
    path = write_log("heron-11", gap("soft reeds"), b'["\x1b[31m"]\n')

    row = only_reject(scan(workspace))

    assert row == {
        "source_path": f"heron-11/{LOG_NAME}",
        "line": 2,
        "byte_offset": path.read_bytes().index(b'["\x1b'),
        "reason": "invalid_json",
        "detail": row["detail"],
        "raw": '["\\u001b[31m"]',
        "repo_slug": "shoots",
    }
    assert row["detail"]


def test_a_reject_shows_the_first_512_bytes_of_its_line(scan_bytes: ScanBytes) -> None:
    assert only_reject(scan_bytes(b"x" * 5_000 + b"\n"))["raw"] == "x" * 512


def test_bytes_that_are_not_utf8_are_shown_escaped(scan_bytes: ScanBytes) -> None:
    assert only_reject(scan_bytes(b"caf\xe9\n"))["raw"] == "caf\\xe9"


# Provenance and repairs


def test_a_record_carries_its_provenance(workspace: Path, write_log: WriteLog, gap: Gap) -> None:
    write_log("2026/heron-11", gap("soft reeds"))

    row = scan(workspace).records.row(0, named=True)

    assert (row["tenant_id"], row["repo_slug"], row["root_kind"]) == ("local", "shoots", "image-repo")
    assert (row["source_path"], row["line"], row["byte_offset"]) == (f"2026/heron-11/{LOG_NAME}", 1, 0)
    assert len(row["record_id"]) == 64


def test_the_tenant_can_be_named(workspace: Path, write_log: WriteLog, gap: Gap) -> None:
    write_log("heron-11", gap("soft reeds"))

    assert scan(workspace, tenant_id="ana").records["tenant_id"].to_list() == ["ana"]


def test_the_three_shapes_are_read_into_one(scan_bytes: ScanBytes, as_line: AsLine) -> None:
    minimal: dict[str, object] = {
        "timestamp": "2026-03-14T06:05:00Z",
        "image_id": "heron-11",
        "description": "soft reeds",
        "workaround": "a brush",
    }
    draft: dict[str, object] = {
        "timestamp": "2026-03-14T06:06:00Z",
        "session_id": "s-1",
        "intent": "calm reeds",
        "missing_capability": "reed mask",
        "satisfaction": "bad",
    }
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
def test_an_image_that_is_not_named_is_the_folder(
    image_id: dict[str, object], gap: Gap, as_line: AsLine, scan_bytes: ScanBytes
) -> None:
    scanned = scan_bytes(as_line(gap("soft reeds", **image_id)))

    assert scanned.records["image_id"].to_list() == ["heron-11"]
    assert scanned.summary.repairs == {"image_from_folder": 1}


def test_an_image_other_than_the_folder_is_kept_and_counted(
    gap: Gap, as_line: AsLine, scan_bytes: ScanBytes
) -> None:
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
def test_timestamps_are_in_utc_whatever_their_offset(
    text: str, repairs: dict[str, int], gap: Gap, as_line: AsLine, scan_bytes: ScanBytes
) -> None:
    scanned = scan_bytes(as_line(gap("soft reeds", timestamp=text, image_id="heron-11")))

    assert scanned.records["timestamp"].to_list() == [datetime(2026, 3, 14, 6, 5, tzinfo=UTC)]
    assert scanned.summary.repairs == repairs


def test_timestamps_of_the_same_moment_make_the_same_record(
    gap: Gap, as_line: AsLine, scan_bytes: ScanBytes
) -> None:
    spellings = ["2026-03-14T06:05:00Z", "2026-03-14T06:05:00+00:00", "2026-03-14T07:05:00+01:00"]

    scanned = scan_bytes(b"".join(as_line(gap("soft reeds", timestamp=text)) for text in spellings))

    assert (scanned.summary.records, scanned.summary.duplicates) == (1, 2)


@pytest.mark.parametrize("timestamp", ["monday", 1773468300, "0001-01-01T00:00:00+05:00"])
def test_a_record_with_an_unreadable_timestamp_is_kept_and_counted(
    timestamp: object, gap: Gap, as_line: AsLine, scan_bytes: ScanBytes
) -> None:
    scanned = scan_bytes(as_line(gap("soft reeds", timestamp=timestamp, image_id="heron-11")))

    assert scanned.records["timestamp"].to_list() == [None]
    assert scanned.summary.repairs == {"timestamp_unreadable": 1}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("monday", "tuesday"),
        ("monday", None),
        (1773468300, 1773468301),
        ("0001-01-01T00:00:00+05:00", "0001-01-01T00:00:00+06:00"),
        ("x" * 300 + "1", "x" * 300 + "2"),
    ],
    ids=["words", "null", "numbers", "out of range", "long"],
)
def test_records_that_differ_only_in_an_unreadable_timestamp_are_two(
    one: object, other: object, gap: Gap, as_line: AsLine, scan_bytes: ScanBytes
) -> None:
    scanned = scan_bytes(
        as_line(gap("soft reeds", timestamp=one)) + as_line(gap("soft reeds", timestamp=other))
    )

    assert (scanned.summary.records, scanned.summary.duplicates) == (2, 0)


def test_copies_with_the_same_unreadable_timestamp_are_one(
    gap: Gap, as_line: AsLine, scan_bytes: ScanBytes
) -> None:
    scanned = scan_bytes(as_line(gap("soft reeds", timestamp="monday")) * 2)

    assert (scanned.summary.records, scanned.summary.duplicates) == (1, 1)


def test_repairs_are_counted_by_kind(gap: Gap, as_line: AsLine, scan_bytes: ScanBytes) -> None:
    records = [
        gap("a", image_id="heron-11", satisfaction="good"),
        gap("b", image_id="heron-11", satisfaction="bad", severity=3, level=4),
        gap("c", image_id="heron-11", satisfaction="so so", notes=None),
    ]

    scanned = scan_bytes(b"".join(map(as_line, records)))

    assert scanned.summary.repairs == {
        "satisfaction_in_words": 2,
        "satisfaction_unknown": 1,
        "null_for_default": 1,
        "unknown_field": 2,
    }


def test_control_characters_in_a_value_are_kept_as_data(
    gap: Gap, as_line: AsLine, scan_bytes: ScanBytes
) -> None:
    need = "a\x00b\x1b[2J\u202ec"

    assert scan_bytes(as_line(gap(need))).records["description"].to_list() == [need]


def test_a_lone_surrogate_ends_nothing(scan_bytes: ScanBytes) -> None:
    scanned = scan_bytes(b'{"description":"soft \\ud83d reeds"}\n{"description":"warm beak"}\n')

    assert_every_line_is_accounted_for(scanned, 2)
    assert "warm beak" in scanned.records["description"].to_list()


# Frames


def test_frames_have_their_published_columns(workspace: Path, write_log: WriteLog, gap: Gap) -> None:
    write_log("heron-11", gap("soft reeds"), b"{\n")

    scanned = scan(workspace)

    assert scanned.records.schema == RECORDS.schema
    assert scanned.gaps.schema == GAPS.schema
    assert scanned.rejects.schema == REJECTS.schema
    assert scanned.files.schema == FILES.schema


def test_an_empty_folder_gives_empty_frames(workspace: Path) -> None:
    scanned = scan(workspace)

    assert scanned.records.schema == RECORDS.schema
    assert_every_line_is_accounted_for(scanned, 0)
    assert scanned.summary.files == 0


def test_an_empty_log_is_a_file_that_was_read(scan_bytes: ScanBytes) -> None:
    scanned = scan_bytes(b"")

    assert (scanned.summary.files, scanned.summary.lines) == (1, 0)


def test_a_file_is_listed_with_its_size_lines_and_digest(
    workspace: Path, write_log: WriteLog, gap: Gap
) -> None:
    content = write_log("heron-11", gap("soft reeds"), b"\n{\n").read_bytes()

    assert scan(workspace).files.rows(named=True) == [
        {
            "repo_slug": "shoots",
            "source_path": f"heron-11/{LOG_NAME}",
            "bytes": len(content),
            "lines": 2,
            "sha256": hashlib.sha256(content).hexdigest(),
            "source": "chemigram",
            "passed_over": 0,
        }
    ]


def test_a_scan_shows_its_account_and_not_the_records(workspace: Path, write_log: WriteLog, gap: Gap) -> None:
    write_log("heron-11", gap("soft reeds"))

    assert "records=1" in repr(scan(workspace))
    assert "soft reeds" not in repr(scan(workspace))


# Files and roots


def test_a_pipe_in_place_of_a_log_is_unreadable(workspace: Path, write_log: WriteLog, gap: Gap) -> None:
    write_log("heron-11", gap("soft reeds"))
    (workspace / "fox-3").mkdir()
    os.mkfifo(workspace / "fox-3" / LOG_NAME)

    scanned = scan(workspace)

    assert (scanned.summary.records, scanned.summary.unreadable) == (1, 1)
    assert only_reject(scanned)["reason"] == RejectReason.UNREADABLE_FILE


def test_a_pipe_as_root_is_unreadable(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert scan(tmp_path / "pipe").summary.unreadable == 1


def test_a_folder_in_place_of_a_log_is_unreadable(workspace: Path, write_log: WriteLog, gap: Gap) -> None:
    write_log("heron-11", gap("soft reeds"))
    (workspace / "fox-3" / LOG_NAME).mkdir(parents=True)

    scanned = scan(workspace)

    assert (scanned.summary.records, scanned.summary.unreadable) == (1, 1)
    assert only_reject(scanned)["source_path"] == f"fox-3/{LOG_NAME}"


def test_a_link_to_nowhere_in_place_of_a_log_is_unreadable(workspace: Path) -> None:
    (workspace / LOG_NAME).symlink_to("absent")

    assert scan(workspace).summary.unreadable == 1


def test_an_unreadable_file_is_no_line(workspace: Path) -> None:
    (workspace / LOG_NAME).mkdir()

    scanned = scan(workspace)

    assert_every_line_is_accounted_for(scanned, 0)
    row = only_reject(scanned)
    assert (row["line"], row["byte_offset"], row["raw"]) == (None, None, "")
    assert scanned.summary.reasons == {"unreadable_file": 1}


@not_as_root
def test_a_log_that_may_not_be_read_is_unreadable(workspace: Path, write_log: WriteLog, gap: Gap) -> None:
    write_log("heron-11", gap("soft reeds"))
    write_log("fox-3", gap("warm fur")).chmod(0)

    scanned = scan(workspace)

    assert (scanned.summary.records, scanned.summary.unreadable) == (1, 1)


@not_as_root
def test_a_folder_that_may_not_be_listed_is_unreadable(
    workspace: Path, write_log: WriteLog, gap: Gap
) -> None:
    write_log("heron-11", gap("soft reeds"))
    folder = write_log("fox-3", gap("warm fur")).parent
    folder.chmod(0)
    try:
        scanned = scan(workspace)
    finally:
        folder.chmod(0o700)

    assert (scanned.summary.records, scanned.summary.unreadable) == (1, 1)
    assert "cannot be listed" in str(only_reject(scanned)["detail"])


def test_a_single_log_of_any_name_is_scanned(tmp_path: Path, gap: Gap, as_line: AsLine) -> None:
    path = tmp_path / "fox-3" / "export.txt"
    path.parent.mkdir()
    path.write_bytes(as_line(gap("warm fur")))

    row = scan(str(path)).records.row(0, named=True)

    assert (row["source_path"], row["repo_slug"], row["image_id"]) == ("export.txt", "fox-3", "fox-3")


def test_a_missing_root_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="absent"):
        scan(tmp_path / "absent")


def test_no_root_is_an_error() -> None:
    with pytest.raises(InvalidInputError):
        scan([])


@pytest.mark.parametrize("name", [b"caf\xe9", b"new\nline", b"\xe2\x80\xae"])
def test_an_image_folder_of_any_name_is_scanned(
    name: bytes, workspace: Path, write_log: WriteLog, gap: Gap
) -> None:
    write_log(os.fsdecode(name), gap("warm fur"))

    assert scan(workspace).summary.records == 1


@pytest.mark.parametrize("name", [b"caf\xe9", b"new\nline", b"\xe2\x80\xae"])
def test_a_root_of_any_name_is_scanned(name: bytes, tmp_path: Path, write_log: WriteLog, gap: Gap) -> None:
    root = tmp_path / os.fsdecode(name)
    write_log("heron-11", gap("warm fur"), root=root)

    assert scan(root).summary.records == 1


@pytest.mark.parametrize("name", [b"caf\xe9.jsonl", b"new\nline.jsonl"])
def test_a_single_log_whose_name_is_not_text_is_scanned(
    name: bytes, tmp_path: Path, gap: Gap, as_line: AsLine
) -> None:
    path = tmp_path / os.fsdecode(name)
    path.write_bytes(as_line(gap("warm fur")))

    assert scan(path).summary.records == 1


def test_overlapping_roots_count_a_record_once(workspace: Path, write_log: WriteLog, gap: Gap) -> None:
    path = write_log("heron-11", gap("soft reeds"))
    write_log("fox-3", gap("warm fur"))

    scanned = scan([workspace, workspace / "heron-11", path])

    assert scanned.records["description"].to_list().count("soft reeds") == 1
    assert scanned.summary.records == 2
    assert_every_line_is_accounted_for(scanned, int(scanned.files["lines"].sum()))


def test_overlapping_roots_count_a_bad_line_once(workspace: Path, write_log: WriteLog) -> None:
    write_log("heron-11", b"{\n")

    assert scan([workspace, workspace / "heron-11"]).summary.rejects == 1


def test_a_repeated_root_is_read_once(workspace: Path, write_log: WriteLog, gap: Gap) -> None:
    write_log("heron-11", gap("soft reeds"), b"{\n")

    assert_frame_equal(scan([workspace, str(workspace)]).gaps, scan(workspace).gaps)


def test_roots_of_the_same_name_are_told_apart(tmp_path: Path, write_log: WriteLog, gap: Gap) -> None:
    for owner in ("ana", "ben"):
        write_log("heron-11", gap(f"soft reeds of {owner}"), root=tmp_path / owner / "shoots")

    scanned = scan([tmp_path / "ben" / "shoots", tmp_path / "ana" / "shoots"])

    assert scanned.records["repo_slug"].to_list() == ["ana/shoots", "ben/shoots"]


# Determinism


def test_the_order_in_which_files_were_made_does_not_matter(
    tmp_path: Path, write_log: WriteLog, gap: Gap
) -> None:
    images = ["heron-11", "heron-11-copy", "fox-3", "a/owl-7", "a-b", "Zebra-1"]
    for place, order in (("one", images), ("other", images[::-1])):
        for image in order:
            write_log(
                image,
                gap("soft reeds", image_id="heron-11", snapshot_hash=SNAPSHOT),
                gap(f"need of {image.removesuffix('-copy')}", image_id="heron-11", notes=SNAPSHOT),
                b"{\n",
                root=tmp_path / place / "shoots",
            )

    one, other = (scan(tmp_path / place / "shoots") for place in ("one", "other"))

    assert_frame_equal(one.gaps, other.gaps)
    assert_frame_equal(one.rejects, other.rejects)
    assert_frame_equal(one.files, other.files)
    assert one.summary == other.summary


def test_rows_are_ordered_by_repository_file_and_line(tmp_path: Path, write_log: WriteLog, gap: Gap) -> None:
    for root in ("zoo", "alps"):
        for image in ("b", "a"):
            write_log(image, gap(f"{root} {image} 1"), gap(f"{root} {image} 2"), root=tmp_path / root)

    gaps = scan([tmp_path / "zoo", tmp_path / "alps"]).gaps

    assert_frame_equal(gaps, gaps.sort("repo_slug", "source_path", "line"))


# The shared workspace


def test_the_shared_workspace_is_read_to_the_last_line() -> None:
    root = SHARED / "data" / "chemigram" / "workspace"
    if not root.is_dir():
        pytest.skip(f"the shared workspace is not at {root}")

    scanned = scan(root)

    assert_every_line_is_accounted_for(scanned, 631)
    assert (scanned.summary.records, scanned.summary.rejects) == (631, 0)
