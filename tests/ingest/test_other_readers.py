"""What a reader of such logs gets wrong that was written in an afternoon."""

import json
from datetime import UTC, datetime

import polars as pl
import pytest

from builders import gap
from builders.ingest import as_line, scan_bytes
from vocabgap.ingest.scanning import Scan
from vocabgap.model.record import CONTRACT_FIELDS

BOM = b"\xef\xbb\xbf"
LISTS = ["operations_involved", "vocabulary_used"]


def full(need: str, **fields: object) -> dict[str, object]:
    """Return a record with every field, as agents write them now."""
    said: dict[str, object] = dict.fromkeys(CONTRACT_FIELDS, "")
    said |= {"satisfaction": 0, "operations_involved": [], "vocabulary_used": []}
    return {**said, **gap(need), "image_id": "heron-11", **fields}


def assert_balanced(scanned: Scan) -> None:
    account = scanned.summary
    assert account.lines == account.records + account.duplicates + account.superseded + account.rejects


# One bad line must not cost the others


def test_a_torn_line_glued_to_the_next_append_is_one_reject() -> None:
    torn, appended = as_line(full("torn")), as_line(full("glued"))
    cuts = range(1, len(torn) - 1)
    glued = b"".join(torn[:length] + appended + as_line(full(f"after {length}")) for length in cuts)

    scanned = scan_bytes(as_line(full("before")) + glued)

    assert scanned.records["description"].to_list() == ["before", *(f"after {length}" for length in cuts)]
    assert scanned.rejects["line"].to_list() == [2 * length for length in cuts]
    assert_balanced(scanned)


def test_logs_that_were_joined_lose_nothing_to_their_byte_order_marks() -> None:
    one, two = (BOM + as_line(full(f"{log} first")) + as_line(full(f"{log} second")) for log in "ab")

    scanned = scan_bytes(one + two)

    assert scanned.records["description"].to_list() == ["a first", "a second", "b first", "b second"]
    assert scanned.rejects.is_empty()
    assert scanned.summary.repairs == {"byte_order_mark": 1}


# Values must stay what they are


@pytest.mark.parametrize("repaired", [{}, {"severity": 3}], ids=["strictly", "field by field"])
def test_null_never_becomes_a_word(repaired: dict[str, object]) -> None:
    optional = ["session_id", "snapshot_hash", "intent", "missing_capability"]
    record = full("", **dict.fromkeys(optional), description="calm reeds", **repaired)

    scanned = scan_bytes(as_line(record))

    assert scanned.records.select(optional).row(0) == (None,) * len(optional)
    assert "None" not in scanned.records.select(pl.col(pl.String)).row(0)


@pytest.mark.parametrize(
    "text", ["007", "1e5", "NA", "null", "None", "NaN", "true", "2026-03-14", "-1", "=1+1"]
)
def test_text_that_looks_like_something_else_stays_text(text: str) -> None:
    fields = ["session_id", "description", "notes", "intent_category"]

    scanned = scan_bytes(as_line(full(text, **dict.fromkeys(fields, text))))

    assert scanned.records.select(fields).row(0) == (text,) * len(fields)


def test_a_letter_written_as_a_surrogate_pair_is_one_letter() -> None:
    line = json.dumps(full("a bird: \U0001f426"), ensure_ascii=True).encode()

    assert scan_bytes(line).records["description"].to_list() == ["a bird: \U0001f426"]


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
