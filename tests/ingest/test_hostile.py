"""Published hostile inputs, where they lie beside the project; what they show is also tested without them."""

import json
import re
from pathlib import Path

import pytest

from builders import outside
from builders.ingest import scan_bytes
from vocabgap.ingest.scanning import Scan, scan
from vocabgap.model.record import LOG_NAME, RejectReason

GOOD = b'{"image_id":"heron-11","description":"sound line"}'
TEXT_FIELDS = ["description", "session_id"]
LIST_FIELDS = ["operations_involved"]


def json_cases(pytestconfig: pytest.Config, kind: str) -> list[Path]:
    """Return the files of one kind: `y` is valid, `n` invalid, `i` disputed."""
    cases = sorted(outside(pytestconfig, "hostile/json/test_parsing").glob(f"{kind}_*.json"))
    assert cases
    return cases


def utf8_cases(pytestconfig: pytest.Config, kind: str) -> list[bytes]:
    text = outside(pytestconfig, "hostile/utf8tests.txt").read_text(encoding="ascii")
    found = re.findall(rf"^[0-9.]+:{kind}(?: (hex))?:([^:\n]*)", text, flags=re.MULTILINE)
    return [bytes.fromhex(value) if coded else value.encode() for coded, value in found]


def between(case: bytes) -> bytes:
    """Put a case between two sound lines."""
    return GOOD + b"\n" + case + b"\n" + GOOD.replace(b"sound", b"other") + b"\n"


def sound(found: Scan) -> int:
    return int(found.gaps["description"].is_in(["sound line", "other line"]).sum())


def balanced(found: Scan) -> bool:
    account = found.summary
    return (
        account.lines == account.records + account.duplicates + account.superseded + account.rejects
    )


def test_valid_json_is_a_record_or_rejected_for_its_content(pytestconfig: pytest.Config) -> None:
    for case in json_cases(pytestconfig, "y"):
        # JSON may be spread over lines; a log has one object per line, so the line breaks go.
        scanned = scan_bytes(between(case.read_bytes().replace(b"\n", b" ")))

        assert sound(scanned) == 2, case
        assert balanced(scanned), case
        assert RejectReason.INVALID_JSON not in scanned.rejects["reason"].to_list(), case


@pytest.mark.parametrize("kind", ["n", "i"])
def test_invalid_and_disputed_json_harms_no_neighbour(
    pytestconfig: pytest.Config, kind: str
) -> None:
    for case in json_cases(pytestconfig, kind):
        scanned = scan_bytes(between(case.read_bytes()))

        assert sound(scanned) == 2, case
        assert balanced(scanned), case
        assert kind == "i" or scanned.summary.records == 2, case


def lines_with(values: list[bytes], field: str) -> bytes:
    quoted = [b'["%s"]' % value if field in LIST_FIELDS else b'"%s"' % value for value in values]
    described = [
        b"" if field == "description" else b'"description":"case %d",' % i
        for i in range(len(values))
    ]
    return b"\n".join(
        between(b'{"image_id":"heron-11",%s"%s":%s}' % (says, field.encode(), value))
        for says, value in zip(described, quoted, strict=True)
    )


@pytest.mark.parametrize("field", [*TEXT_FIELDS, *LIST_FIELDS])
def test_invalid_utf_8_is_rejected_in_every_field(pytestconfig: pytest.Config, field: str) -> None:
    cases = [case for case in utf8_cases(pytestconfig, "invalid") if b"\n" not in case]

    found = scan_bytes(lines_with(cases, field))

    assert found.rejects["reason"].to_list() == [RejectReason.INVALID_UTF8] * len(cases)
    assert balanced(found)


@pytest.mark.parametrize("field", [*TEXT_FIELDS, *LIST_FIELDS])
def test_valid_utf_8_is_kept_in_every_field(pytestconfig: pytest.Config, field: str) -> None:
    # What JSON itself wants escaped is a matter of the JSON cases.
    escaped = re.compile(rb'[\x00-\x1f"\\]')
    cases = [
        case
        for case in utf8_cases(pytestconfig, "valid")
        if not escaped.search(case) and case.strip()
    ]

    found = scan_bytes(lines_with(cases, field))

    values = found.gaps[field].explode() if field in LIST_FIELDS else found.gaps[field]
    assert found.rejects.is_empty()
    assert {case.decode() for case in cases} <= set(values)


def wrapped(text: str, field: str) -> object:
    return [text] if field in LIST_FIELDS else text


@pytest.mark.parametrize("field", [*TEXT_FIELDS, *LIST_FIELDS])
def test_naughty_strings_come_back_unchanged(
    tmp_path: Path, pytestconfig: pytest.Config, field: str
) -> None:
    strings: list[str] = json.loads(
        outside(pytestconfig, "hostile/blns.json").read_text(encoding="utf-8")
    )
    log = tmp_path / "heron-11" / LOG_NAME
    log.parent.mkdir()
    rows: list[dict[str, object]] = [
        {
            "image_id": "heron-11",
            "missing_capability": f"case {number}",
            "description": f"case {number}",
            field: wrapped(text, field),
        }
        for number, text in enumerate(strings)
    ]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    found = scan(log)

    assert found.rejects.is_empty()
    assert found.gaps[field].to_list() == [row[field] for row in rows]
