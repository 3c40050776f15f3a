"""What a reader of such logs gets wrong that was written in an afternoon."""

import json
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from builders import gap
from builders.ingest import as_line, scan_bytes, write_log
from vocabgap.ingest.scanning import Scan, scan
from vocabgap.model.record import FIELDS
from vocabgap.model.tables import RECORDS

BOM = b"\xef\xbb\xbf"
LISTS = ["operations_involved", "vocabulary_used"]


def full(need: str, **fields: object) -> dict[str, object]:
    """Makes a record that says every field, as agents write them now."""
    said: dict[str, object] = dict.fromkeys(FIELDS, "")
    said |= {"satisfaction": 0, "operations_involved": [], "vocabulary_used": []}
    return {**said, **gap(need), "image_id": "heron-11", **fields}


def assert_balanced(scanned: Scan) -> None:
    account = scanned.summary
    assert account.lines == account.records + account.duplicates + account.superseded + account.rejects


# One bad line must not cost the others


@pytest.mark.parametrize(
    "value", [b"null", b"[]", b'[{"description": "x"}]', b"17", b'"text"', b"true"], ids=repr
)
def test_json_that_is_no_object_costs_its_own_line(value: bytes) -> None:
    scanned = scan_bytes(as_line(full("before")) + value + b"\n" + as_line(full("after")))

    assert scanned.records["description"].to_list() == ["before", "after"]
    assert scanned.rejects.select("line", "reason").rows() == [(2, "not_an_object")]
    assert_balanced(scanned)


def test_a_byte_that_is_not_utf8_costs_its_own_line() -> None:
    latin = as_line(full("caf\u00e9 light")).decode().encode("latin-1")

    scanned = scan_bytes(as_line(full("before")) + latin + as_line(full("after")))

    assert scanned.records["description"].to_list() == ["before", "after"]
    assert scanned.rejects.select("line", "reason").rows() == [(2, "invalid_utf8")]


def test_a_torn_line_glued_to_the_next_append_is_one_reject() -> None:
    torn, appended = as_line(full("torn")), as_line(full("glued"))
    cuts = range(1, len(torn) - 1)
    glued = b"".join(torn[:length] + appended + as_line(full(f"after {length}")) for length in cuts)

    scanned = scan_bytes(as_line(full("before")) + glued)

    assert scanned.records["description"].to_list() == ["before", *(f"after {length}" for length in cuts)]
    assert scanned.rejects["line"].to_list() == [2 * length for length in cuts]
    assert_balanced(scanned)


def test_two_records_on_one_line_are_one_reject() -> None:
    scanned = scan_bytes(as_line(full("one")).rstrip() + as_line(full("two")) + as_line(full("after")))

    assert scanned.records["description"].to_list() == ["after"]
    assert scanned.summary.reasons == {"invalid_json": 1}


def test_logs_that_were_joined_lose_nothing_to_their_byte_order_marks() -> None:
    one, two = (BOM + as_line(full(f"{log} first")) + as_line(full(f"{log} second")) for log in "ab")

    scanned = scan_bytes(one + two)

    assert scanned.records["description"].to_list() == ["a first", "a second", "b first", "b second"]
    assert scanned.rejects.is_empty()
    assert scanned.summary.repairs == {"byte_order_mark": 1}


def test_a_line_of_byte_order_marks_alone_is_a_reject() -> None:
    scanned = scan_bytes(b"\n" + BOM + BOM + b"\n")

    assert scanned.summary.reasons == {"invalid_json": 1}


# Values must stay what they are


@pytest.mark.parametrize("repaired", [{}, {"severity": 3}], ids=["strictly", "field by field"])
def test_null_never_becomes_a_word(repaired: dict[str, object]) -> None:
    optional = ["session_id", "snapshot_hash", "description", "missing_capability"]
    record = full("", **dict.fromkeys(optional), intent="calm reeds", **repaired)

    scanned = scan_bytes(as_line(record))

    assert scanned.records.select(optional).row(0) == (None,) * len(optional)
    assert "None" not in scanned.records.select(pl.col(pl.String)).row(0)


@pytest.mark.parametrize("field", LISTS)
def test_text_in_place_of_a_list_is_no_list_of_characters(field: str) -> None:
    scanned = scan_bytes(as_line(full("soft reeds", **{field: "blurs"})))

    assert scanned.summary.reasons == {"wrong_type": 1}
    assert scanned.gaps.is_empty()


@pytest.mark.parametrize(
    "names", [[], [""], ["", ""], ["blurs"], ["blurs, masks"], ["a\x1fb"], ["blurs", "blurs"]], ids=repr
)
def test_lists_come_back_as_they_were_said(names: list[str]) -> None:
    records = [full("one", vocabulary_used=names), full("two", vocabulary_used=["masks"])]

    scanned = scan_bytes(b"".join(map(as_line, records)))

    assert scanned.records["vocabulary_used"].to_list() == [names, ["masks"]]


@pytest.mark.parametrize(
    "text", ["007", "1e5", "NA", "null", "None", "NaN", "true", "2026-03-14", "-1", "=1+1"]
)
def test_text_that_looks_like_something_else_stays_text(text: str) -> None:
    fields = ["session_id", "description", "notes", "intent_category"]

    scanned = scan_bytes(as_line(full(text, **dict.fromkeys(fields, text))))

    assert scanned.records.select(fields).row(0) == (text,) * len(fields)


def test_satisfaction_stays_a_whole_number_beside_null() -> None:
    values = [None, 1, None, -1, 0]

    scanned = scan_bytes(b"".join(as_line(full(f"need {i}", satisfaction=v)) for i, v in enumerate(values)))

    assert scanned.records["satisfaction"].to_list() == values
    assert scanned.records.schema == RECORDS.schema


def test_columns_keep_their_types_where_no_record_says_anything() -> None:
    assert scan_bytes(b'{"description": "soft reeds"}\n').records.schema == RECORDS.schema


def test_a_letter_written_as_a_surrogate_pair_is_one_letter() -> None:
    line = json.dumps(full("a bird: \U0001f426"), ensure_ascii=True).encode()

    assert scan_bytes(line).records["description"].to_list() == ["a bird: \U0001f426"]


def test_two_spellings_of_a_letter_stay_two() -> None:
    needs = ["caf\u00e9", "cafe\u0301"]

    scanned = scan_bytes(b"".join(as_line(full(need)) for need in needs))

    assert scanned.records["description"].to_list() == needs


# Moments, folders and copies


def test_moments_sort_by_time_and_not_by_text() -> None:
    texts = [
        "2026-03-14T07:00:00+02:00",
        "2026-03-14T06:00:00Z",
        "2026-03-14T06:00:00.5+00:00",
        "2026-03-14T01:00:01-05:00",
    ]
    lines = [as_line(full(text, timestamp=text)) for text in texts]

    records = scan_bytes(b"".join(reversed(lines))).records.sort("timestamp")

    assert records["description"].to_list() == texts
    assert records["timestamp"][0] == datetime(2026, 3, 14, 5, tzinfo=UTC)


def test_image_folders_are_found_at_any_depth(workspace: Path) -> None:
    images = ["heron-11", "2026/fox-3", "2026/march/birds/owl-7"]
    for image in images:
        write_log(workspace, image, full(image, image_id=None))

    records = scan(workspace).records

    assert sorted(records["description"]) == sorted(images)
    assert sorted(records["image_id"]) == ["fox-3", "heron-11", "owl-7"]


def test_a_record_that_was_appended_twice_counts_once() -> None:
    once = as_line(full("soft reeds"))
    again = json.dumps(dict(reversed(full("soft reeds").items())), separators=(",", ":")).encode()

    scanned = scan_bytes(once + again)

    assert (scanned.summary.records, scanned.summary.duplicates) == (1, 1)
