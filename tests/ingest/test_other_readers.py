"""What a reader of such logs gets wrong that was written in an afternoon."""

import json

import pytest

from builders import gap
from builders.ingest import as_line, assert_every_line_is_accounted_for, scan_bytes
from vocabgap.model.record import CONTRACT_FIELDS

BOM = b"\xef\xbb\xbf"
LISTS = ["operations_involved", "vocabulary_used"]


def full(need: str, **fields: object) -> dict[str, object]:
    """Return a record with every field, as agents write them now."""
    said: dict[str, object] = dict.fromkeys(CONTRACT_FIELDS, "")
    said |= {"satisfaction": 0, "operations_involved": [], "vocabulary_used": []}
    return {**said, **gap(need), "image_id": "heron-11", **fields}


# One bad line must not cost the others


def test_a_torn_line_glued_to_the_next_append_is_one_reject() -> None:
    torn, appended = as_line(full("torn")), as_line(full("glued"))
    cuts = range(1, len(torn) - 1)
    glued = b"".join(torn[:length] + appended + as_line(full(f"after {length}")) for length in cuts)

    scanned = scan_bytes(as_line(full("before")) + glued)

    assert scanned.records["description"].to_list() == [
        "before",
        *(f"after {length}" for length in cuts),
    ]
    assert scanned.rejects["line"].to_list() == [2 * length for length in cuts]
    assert_every_line_is_accounted_for(scanned, 2 * len(cuts) + 1)


def test_logs_that_were_joined_lose_nothing_to_their_byte_order_marks() -> None:
    one, two = (
        BOM + as_line(full(f"{log} first")) + as_line(full(f"{log} second")) for log in "ab"
    )

    scanned = scan_bytes(one + two)

    assert scanned.records["description"].to_list() == [
        "a first",
        "a second",
        "b first",
        "b second",
    ]
    assert scanned.rejects.is_empty()
    assert scanned.summary.repairs == {"byte_order_mark": 1}


# Values must stay what they are


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
