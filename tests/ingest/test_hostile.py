"""Published hostile inputs, where they lie beside the project; what they show is also tested without them."""

import json
import re

import pytest

from builders import outside
from builders.ingest import scan_bytes
from vocabgap.ingest.scanning import Scan
from vocabgap.model.record import RejectReason

GOOD = b'{"image_id":"heron-11","description":"sound line"}'
every_field = pytest.mark.parametrize("field", ["description", "session_id", "operations_involved"])


def between(*cases: bytes) -> Scan:
    """Scan cases that each stand between two sound lines; check the account."""
    other = GOOD.replace(b"sound", b"other")
    scanned = scan_bytes(b"".join(b"\n".join((GOOD, case, other, b"")) for case in cases))
    account = scanned.summary
    kept = account.records + account.duplicates + account.superseded
    assert account.lines == kept + account.rejects
    sound = scanned.gaps["description"].is_in(["sound line", "other line"])
    assert sound.sum() == 2 * len(cases)
    return scanned


def line_of(field: str, text: bytes) -> bytes:
    """Write a record with a text in a field, given as JSON writes it."""
    value = b'["%s"]' % text if field == "operations_involved" else b'"%s"' % text
    need = b"" if field == "description" else b'"description":"a case",'
    return b'{"image_id":"heron-11",%s"%s":%s}' % (need, field.encode(), value)


@pytest.mark.parametrize("kind", ["y", "n", "i"], ids=["valid", "invalid", "disputed"])
def test_json_of_any_kind_harms_no_neighbour(pytestconfig: pytest.Config, kind: str) -> None:
    folder = outside(pytestconfig, "hostile/json/test_parsing")
    cases = sorted(folder.glob(f"{kind}_*.json"))
    assert cases
    for case in cases:
        content = case.read_bytes()
        # JSON may be spread over lines, but a log has one object per line.
        scanned = between(content.replace(b"\n", b" ") if kind == "y" else content)

        if kind == "y":
            assert RejectReason.INVALID_JSON not in scanned.rejects["reason"].to_list(), case
        if kind == "n":
            assert scanned.summary.records == 2, case


@every_field
def test_invalid_utf_8_is_rejected_and_valid_utf_8_is_kept(
    pytestconfig: pytest.Config, field: str
) -> None:
    text = outside(pytestconfig, "hostile/utf8tests.txt").read_text(encoding="ascii")
    cases = re.findall(r"^[0-9.]+:(invalid|valid)(?: (hex))?:([^:\n]*)", text, flags=re.MULTILINE)
    texts: dict[str, list[bytes]] = {"valid": [], "invalid": []}
    for kind, coded, value in cases:
        texts[kind].append(bytes.fromhex(value) if coded else value.encode())
    invalid = [case for case in texts["invalid"] if b"\n" not in case]
    # JSON itself wants some characters escaped.
    escaped = re.compile(rb'[\x00-\x1f"\\]')
    valid = [case for case in texts["valid"] if case.strip() and not escaped.search(case)]

    rejects = between(*(line_of(field, case) for case in invalid)).rejects
    scanned = between(*(line_of(field, case) for case in valid))

    assert rejects["reason"].to_list() == [RejectReason.INVALID_UTF8] * len(invalid)
    assert scanned.rejects.is_empty()
    assert {case.decode() for case in valid} <= {*scanned.gaps[field].explode()}


@every_field
def test_naughty_strings_come_back_unchanged(pytestconfig: pytest.Config, field: str) -> None:
    path = outside(pytestconfig, "hostile/blns.json")
    strings: list[str] = json.loads(path.read_text(encoding="utf-8"))
    texts = [text for text in strings if field != "description" or text.strip()]

    scanned = between(*(line_of(field, json.dumps(text)[1:-1].encode()) for text in texts))

    assert scanned.rejects.is_empty()
    assert {*texts} <= {*scanned.gaps[field].explode()}
