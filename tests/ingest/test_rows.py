"""Many lines at once give the rows that a close look at each line gives, whatever its keys and values."""

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from vocabgap.ingest.decoding import NATIVE_FIELDS, Decoded, FieldMap, Rejected, decode_line
from vocabgap.ingest.rows import RowDecoder
from vocabgap.model.sources import Shape, Source, shipped_sources

FULL: dict[str, Any] = {
    "timestamp": "2026-03-14T06:05:00Z", "image_id": "heron-11", "session_id": "s-4", "snapshot_hash": None,
    "description": "soften the reeds", "workaround": "a brush", "intent": None, "intent_category": "local",
    "missing_capability": "reed mask", "operations_involved": ["blurs"], "vocabulary_used": [],
    "satisfaction": -1, "notes": "",
}  # fmt: skip
EVENT: dict[str, Any] = {
    "event": "$mcp_missing_capability", "timestamp": 1773468300.25, "uuid": "0197", "count": 3,
    "properties": {"$session_id": 86, "$mcp_client_name": "pier", "$mcp_intent": "a brush", "$lib": {}},
}  # fmt: skip
FEEDBACK = {
    **EVENT, "event": "$mcp_feedback",
    "properties": {"$mcp_feedback_type": "missing_capability", "$mcp_feedback_summary": "reed mask"},
}  # fmt: skip
WISH: dict[str, Any] = {
    "at": "1773468300", "open": True, "votes": {"level": 1}, "words": {"what": "reed mask", "with": "blurs"},
    "mood": "calm", "rated": 0, "run": 7,
}  # fmt: skip
WISHES = Source(
    fields={
        "timestamp": "at", "missing_capability": ("words.what", "words.said"), "session_id": "run",
        "operations_involved": "words.with", "satisfaction": "rated", "notes": "at", "intent": "mood",
    },
    constants={"description": "a wish", "vocabulary_used": ["wishes"]},
    where={"open": True, "votes.level": (1, 2.5, "high", "re:^[0-9]+$")},
    also=(Shape(where={"open": "yes"}, constants={"notes": "asked"}),),
)  # fmt: skip
MAPS = {
    "native": (NATIVE_FIELDS, FULL),
    "constants": (
        FieldMap.of(Source(constants={"intent_category": "tools", "notes": "of a bot"})),
        FULL,
    ),
    "posthog": (FieldMap.of(shipped_sources()["posthog"]), EVENT),
    "feedback": (FieldMap.of(shipped_sources()["posthog"]), FEEDBACK),
    "wishes": (FieldMap.of(WISHES), WISH),
}
KEYS = [
    "agent", "severity", "a.b", "_0", 'in "quotes"', "\\", "späte", "\ud83d", "count", "", "words", "said",
]  # fmt: skip
ODD = [
    None, True, False, "", "  ", " x ", "yes", "high", "reed mask", "späte Lichter", "\ud83d", "\x00", [], {},
    0, 1, -1, 2, 1.0, 2.5, 10**19, 10**400, 1e300, 1773468300, "1773468300250", "2026-03-14T08:05:00+02:00",
    "2026-03-14 06:05", "2026-03-14 07:05:00 +0100 CET", "0001-01-01T00:00:00+05:00", "bad", "good", "1",
    ["crop"], ["crop", None], ["", "\x1f"], [1], {"a": 1}, [{"key": "what", "value": "sky"}],
    "$mcp_unknown_tool",
]  # fmt: skip


@st.composite
def lines(draw: st.DrawFn, whole: dict[str, Any]) -> bytes:
    """A line with some values replaced, keys added, left out and repeated, and sometimes bytes changed."""
    change = st.tuples(st.sampled_from([*whole, *KEYS]), st.sampled_from(ODD))
    fields = dict(whole)
    for key, value in draw(st.lists(change, max_size=3)):
        inner = fields.get(key)
        if isinstance(inner, dict) and inner and draw(st.booleans()):
            fields[key] = {**inner, draw(st.sampled_from([*inner, *KEYS])): value}
        else:
            fields[key] = value
    members = (
        draw(st.permutations(list(fields.items()))) if draw(st.booleans()) else list(fields.items())
    )
    for _ in range(draw(st.integers(0, 2))):
        members.pop(draw(st.integers(0, len(members) - 1)))
    members += draw(st.lists(change, max_size=1))
    texts = (
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=draw(st.booleans()))}"
        for key, value in members
    )
    line = ("{" + ", ".join(texts) + "}").encode("utf-8", "surrogatepass")
    if draw(st.integers(0, 3)) == 0:
        at = draw(st.integers(0, len(line)))
        line = (
            line[:at]
            + draw(st.sampled_from([b"", b"\xff", b"\\", b"}", b",", b"\xef\xbb\xbf", b" "]))
            + line[at:]
        )
    return line


@pytest.mark.parametrize("name", MAPS)
@given(data=st.data())
def test_rows_are_those_of_a_close_look(name: str, data: st.DataObject) -> None:
    fields, whole = MAPS[name]
    decoder = RowDecoder(fields)

    for _ in range(2):  # the second time, foreign keys are known
        block = data.draw(st.lists(lines(whole), max_size=5))
        read = decoder.read(block)

        alone = {
            at: decode_line(line, fields)
            for at, line in enumerate(block)
            if line and not line.isspace()
        }
        records = {at: one for at, one in alone.items() if isinstance(one, Decoded)}
        assert list(read.positions) == list(records)
        rows = [astuple(one.record) for one in records.values()]
        assert repr(list(zip(*read.columns, strict=True))) == repr(rows)
        assert read.rejected == {at: one for at, one in alone.items() if isinstance(one, Rejected)}
        assert read.passed_over == list(alone.values()).count(None)
        assert read.repairs == Counter(repair for one in records.values() for repair in one.repairs)
        others = [one.other for one in records.values()]
        assert list(read.other) == others or not any((*read.other, *others))
        texts = enumerate(one.unreadable_timestamp for one in records.values())
        assert read.unreadable == {place: text for place, text in texts if text is not None}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize(
    "extra", [{}, {"agent": {"name": "späte"}, "severity": 3}], ids=["known", "foreign"]
)
def test_usual_lines_of_every_shape_need_no_close_look(
    name: str, extra: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("vocabgap.ingest.rows.decode_line")
    fields, whole = MAPS[name]
    few = dict(list({**whole, **extra}.items())[::-1])
    few.pop("workaround", None)

    found = RowDecoder(fields).read([json.dumps(one).encode() for one in ({**whole, **extra}, few)])

    assert len(found.positions) == 2
