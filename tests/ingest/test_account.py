"""Every line of a log is found where it is, and accounted for, whatever it holds."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from builders import gap, outside
from builders.ingest import as_line, assert_every_line_is_accounted_for, scan_bytes
from vocabgap.ingest.scanning import scan

BOM = b"\xef\xbb\xbf"
SNAPSHOT = "d4" * 32

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
        *(b"null", b"\n", b"\r\n", b" ", b"\xef\xbb\xbf", b"\xff", b"{"),
    ]
)
logs = st.lists(pieces | st.binary(max_size=8), max_size=12).map(b"".join)


def lines_that_are_not_blank(content: bytes) -> int:
    return sum(1 for line in content.removeprefix(BOM).split(b"\n") if line.strip())


@given(logs)
@example(b"")
@example(BOM)
@example(b"\x00")
@example(b"\n\r\n \t\n")
@example(b'{"description":"x"}' + b"\x0c\n\x0b\n")
def test_every_line_of_any_log_is_accounted_for_at_its_offset_and_printable(content: bytes) -> None:
    scanned = scan_bytes(content)

    assert_every_line_is_accounted_for(scanned, lines_that_are_not_blank(content))
    for table in (scanned.gaps, scanned.rejects):
        for line, offset in table.select("line", "byte_offset").iter_rows():
            assert content[:offset].count(b"\n") == line - 1
            assert offset == 0 or content[:offset].endswith(b"\n") or content[:offset] == BOM
    shown = "".join([*scanned.rejects["raw"], *scanned.rejects["detail"]])
    assert {"Cc", "Cs", "Zl"}.isdisjoint(map(unicodedata.category, shown))


def test_a_log_that_is_cut_off_loses_only_its_end() -> None:
    kept = as_line(gap("soft reeds")) + as_line(gap("warm beak"))
    cut = as_line(gap("caf\u00e9 \u2014 \U0001f426", notes="na\u00efve")) + as_line(
        gap("dark eyes")
    )
    ends = [kept, kept + cut[: cut.index(b"\n") + 1], kept + cut]
    cuts = {
        *range(len(kept), len(kept + cut), 7),
        *(end + by for end in map(len, ends) for by in (-2, -1, 0)),
    }
    for length in sorted(cuts):
        content = (kept + cut)[:length]
        # A record is whole as soon as its last brace is there; the newline may still be missing.
        whole = 1 + sum(len(end) - 1 <= length for end in ends)

        scanned = scan_bytes(content)

        assert_every_line_is_accounted_for(scanned, lines_that_are_not_blank(content))
        assert scanned.summary.records == whole, length
        assert scanned.rejects.select("line", "reason").rows() in ([], [(whole + 1, "torn")])


def test_good_records_survive_bad_neighbours() -> None:
    bad = [b"\xff\n", b"{\n", b"null\n", b'{"description": 7}\n', b"{}\n", b"[" * 100_000 + b"\n"]
    content = b"".join(line + as_line(gap(f"need {number}")) for number, line in enumerate(bad))

    summary = scan_bytes(content).summary

    assert (summary.records, summary.rejects) == (6, 6)
    assert summary.reasons == {
        "invalid_utf8": 1, "invalid_json": 1, "not_an_object": 1, "missing_description": 1, "wrong_type": 1,
        "too_deep": 1,
    }  # fmt: skip


def test_only_a_newline_ends_a_line() -> None:
    needs = ["soft\u2028reeds", "soft\u2029reeds", "soft\x85reeds", "soft\u00a0reeds"]

    scanned = scan_bytes(b"".join(as_line(gap(need)) for need in needs))

    assert scanned.records["description"].to_list() == needs
    assert scanned.summary.lines == 4


def test_windows_line_ends_are_read() -> None:
    scanned = scan_bytes(b'{"description":"soft reeds"}\r\n\r\n{"description":"warm beak"}\r\n')

    assert scanned.records.select("description", "line", "byte_offset").rows() == [
        ("soft reeds", 1, 0),
        ("warm beak", 3, 32),
    ]
    assert scanned.summary.rejects == 0


def test_a_real_workspace_is_read_to_the_last_line(pytestconfig: pytest.Config) -> None:
    scanned = scan(outside(pytestconfig, "chemigram/workspace"))

    assert_every_line_is_accounted_for(scanned, 631)
    assert (scanned.summary.records, scanned.summary.rejects) == (631, 0)
