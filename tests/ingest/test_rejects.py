"""What is no record: why a line is rejected, and what is shown of it; no line raises."""

import json
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import gap
from builders.ingest import only_reject, scan_bytes, write_log
from vocabgap.ingest.decoding import Decoded, Rejected, decode_line
from vocabgap.ingest.scanning import scan
from vocabgap.model.record import LOG_NAME, RejectReason

NEED = "soften only the reed tips"


def rejected(line: bytes | str) -> Rejected:
    outcome = decode_line(line.encode() if isinstance(line, str) else line)
    assert isinstance(outcome, Rejected)
    return outcome


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("null", "null"), ("17", "a number"), ("1.5", "a number"), ('"a sentence"', "text"), ("[]", "a list"),
        ('[{"description": "inside a list"}]', "a list"), ("true", "a boolean"),
    ],
)  # fmt: skip
def test_a_value_that_is_no_object_is_named(line: str, found: str) -> None:
    outcome = rejected(line)

    assert outcome.reason is RejectReason.NOT_AN_OBJECT
    assert outcome.detail.endswith(f"found {found}")


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("description", 5, "a number"),
        ("description", ["x"], "a list"),
        ("image_id", ["x"], "a list"),
        ("session_id", {}, "an object"),
        ("snapshot_hash", True, "a boolean"),
        ("intent", 0.5, "a number"),
        ("missing_capability", [], "a list"),
        ("workaround", {"brush": 1}, "an object"),
        ("intent_category", 3, "a number"),
        ("notes", False, "a boolean"),
        ("operations_involved", "blurs", "text"),
        ("operations_involved", ["blurs", 3], "only text in the list, found a number"),
        ("vocabulary_used", [None, {}], "only text in the list, found an object"),
        ("vocabulary_used", {}, "an object"),
    ],
)
def test_a_wrong_type_names_the_field_and_what_was_found(
    name: str, value: object, found: str
) -> None:
    outcome = rejected(json.dumps({"description": NEED, name: value}))

    assert outcome.reason is RejectReason.WRONG_TYPE
    assert f"'{name}'" in outcome.detail
    assert outcome.detail.endswith(found)


@pytest.mark.parametrize("blank", [None, "", "  ", "\t\n", "\u00a0\u3000"], ids=repr)
def test_a_record_that_says_nothing_is_rejected(blank: str | None) -> None:
    outcome = rejected(
        json.dumps({"description": blank, "missing_capability": blank, "intent": "calm reeds"})
    )

    assert outcome.reason is RejectReason.MISSING_DESCRIPTION
    assert "'description'" in outcome.detail


@pytest.mark.parametrize(
    "line",
    [
        b'{"description": "caf\xe9"}', b"\xff\xfe\x00\x00", b'{"description": "\xed\xa0\x80"}',
        b'{"description": "ok", "notes": "\xc0\xaf"}', b'{"description": "ok", "gap_id": "\x80"}',
        b'{"description": "ok", "\x80": 1}',
    ],
)  # fmt: skip
def test_bytes_that_are_not_utf8_are_rejected_with_their_place(line: bytes) -> None:
    outcome = rejected(line)

    assert outcome.reason is RejectReason.INVALID_UTF8
    assert re.search(r"at byte \d+ of the line$", outcome.detail)


@pytest.mark.parametrize(
    "line",
    [
        "not json", "{", '{"description": "x"', '{"description": "x",}', "{'description': 'x'}",
        '{"description": "x"} {"description": "y"}', '{"description": "x", "satisfaction": NaN}',
        '{"description": "x", "satisfaction": Infinity}', '{"description": "x", "satisfaction": -Infinity}',
        '{"description": "tab\there"}', "\ufeff",
    ],
)  # fmt: skip
def test_text_that_is_not_json_is_rejected(line: str) -> None:
    outcome = rejected(line)

    assert outcome.reason is RejectReason.INVALID_JSON
    assert outcome.detail


@pytest.mark.parametrize("name", ["timestamp", "gap_id"])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_no_depth_of_nesting_raises(opening: str, closing: str, name: str) -> None:
    limit = sys.getrecursionlimit()
    for depth in (*range(0, limit - 100, 50), *range(limit - 100, limit + 10), 100_000):
        nested = f"{opening * depth}1{closing * depth}"

        outcome = decode_line(f'{{"description": "{NEED}", "{name}": {nested}}}'.encode())

        assert isinstance(outcome, Decoded | Rejected)


@pytest.mark.parametrize("digits", [20, 4_300, 4_301, 100_000])
@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("name", ["timestamp", "satisfaction", "gap_id"])
def test_no_size_of_an_integer_raises(name: str, sign: str, digits: int) -> None:
    line = f'{{"description": "{NEED}", "{name}": {sign}{"9" * digits}}}'

    assert isinstance(decode_line(line.encode()), Decoded | Rejected)


@given(st.binary())
def test_no_bytes_raise(line: bytes) -> None:
    assert isinstance(decode_line(line), Decoded | Rejected)


def test_a_broken_line_that_a_newline_ends_is_not_torn() -> None:
    assert (
        only_reject(scan_bytes(b'{"description": "soft\n'))["reason"] == RejectReason.INVALID_JSON
    )


def test_a_reject_says_where_it_is_and_what_it_held(workspace: Path) -> None:
    path = write_log(workspace, "heron-11", gap("soft reeds"), b'["\x1b[31m"]\n')

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
