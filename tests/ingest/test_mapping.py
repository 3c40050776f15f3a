import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from vocabgap.errors import InvalidInputError
from vocabgap.ingest.decoding import FieldMap
from vocabgap.ingest.scanning import scan
from vocabgap.model.record import FIELDS, LOG_NAME
from vocabgap.model.sources import Source, checked_sources

Record = dict[str, Any]

text = st.text(max_size=8)
names = st.lists(st.text(max_size=4), max_size=2)
native_records = st.fixed_dictionaries(
    {"description": st.text(min_size=1).filter(lambda need: not need.isspace())},
    optional={
        "timestamp": st.sampled_from(
            ["2026-04-01T10:00:00Z", "2026-04-01T12:30:00+02:00", "monday", None]
        ),
        "image_id": st.none() | text,
        "session_id": st.none() | text,
        "workaround": text,
        "intent": st.none() | text,
        "operations_involved": names,
        "satisfaction": st.sampled_from([-1, 0, 1, None, "good"]),
        "notes": text,
    },
)
# Where each field lies: under a first key of its own, and any keys below that.
layouts = st.tuples(
    st.lists(st.text(max_size=5), min_size=len(FIELDS), max_size=len(FIELDS), unique=True),
    st.lists(st.lists(text, max_size=2), min_size=len(FIELDS), max_size=len(FIELDS)),
)
scalars = (
    st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 1.5]) | st.sampled_from("01ab")
)


def compare(
    records: list[Record], keys: Mapping[str, list[str]]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Scan records as they are, and rearranged under a source that says where each field lies."""
    with TemporaryDirectory() as workspace:
        folder = Path(workspace, "heron-11")
        folder.mkdir()
        native, theirs = folder / LOG_NAME, folder / "theirs.jsonl"
        native.write_bytes(lines(records))
        theirs.write_bytes(lines([rearranged(record, keys) for record in records]))
        source = Source(
            glob=theirs.name, fields={field: pointer(path) for field, path in keys.items()}
        )
        found = (scan(native), scan(theirs, sources={"theirs": source}))
        as_is, mapped = (each.gaps.drop("source_path", "byte_offset") for each in found)
        return as_is, mapped


def lines(objects: list[Record]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in objects)


def pointer(keys: list[str]) -> str:
    return "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys)


def rearranged(record: Record, keys: Mapping[str, list[str]]) -> Record:
    whole: Record = {}
    for field, value in record.items():
        within = whole
        for key in keys[field][:-1]:
            within = within.setdefault(key, {})
        within[keys[field][-1]] = value
    return whole


def fields(value: Record, **paths: str | tuple[str, ...]) -> Record:
    return FieldMap.of(Source(fields=paths)).applied(value)


def wanted(value: Record, **where: Any) -> bool:  # noqa: ANN401 - whatever TOML may hold
    return FieldMap.of(Source(where=where)).of_shape(value) is not None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"goal": "a", "aim": "b"}, "a"), ({"goal": None, "aim": "b"}, "b"), ({"aim": "b"}, "b"),
        ({"goal": "", "aim": "b"}, ""), ({"goal": 0, "aim": "b"}, 0), ({"goal": False, "aim": "b"}, False),
        ({"goal": [], "aim": "b"}, []),
    ],
)  # fmt: skip
def test_the_first_path_that_leads_to_a_value_counts(value: Record, expected: object) -> None:
    assert fields(value, intent=("goal", "aim")) == {"intent": expected}


@pytest.mark.parametrize(("said", "intent"), [(None, "unsaid"), ("calm", "calm")])
def test_a_constant_stands_where_the_object_has_nothing(said: str | None, intent: str) -> None:
    source = Source(fields={"intent": "goal"}, constants={"intent": "unsaid"})

    assert FieldMap.of(source).applied({"goal": said}) == {"intent": intent}


@pytest.mark.parametrize(
    "value",
    [{}, {"event": None}, {"event": ["gap"]}, {"event": {"gap": 1}}, {"event": "gap", "level": 1}],
)
def test_every_filter_must_be_met(value: Record) -> None:
    assert not wanted({"level": 2, **value}, event="gap", level=2)


@given(scalars, scalars)
def test_a_filter_compares_as_json_does(found: object, allowed: object) -> None:
    kinds = {bool: "boolean", int: "number", float: "number", str: "text"}
    same = kinds[type(found)] == kinds[type(allowed)] and found == allowed

    assert wanted({"ok": found}, ok=allowed) is same


@given(st.lists(native_records, min_size=1, max_size=3), layouts)
def test_a_log_of_any_layout_gives_the_records_of_the_native_one(
    records: list[Record], layout: tuple[list[str], list[list[str]]]
) -> None:
    keys = {field: [first, *rest] for field, first, rest in zip(FIELDS, *layout, strict=True)}

    as_is, mapped = compare(records, keys)

    assert_frame_equal(mapped, as_is)


ATTRIBUTES = [
    5,
    {"key": "a"},
    {"key": "x.y", "value": {"stringValue": "calm"}},
    {"key": "x.y", "value": 1},
]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/of/x.y/stringValue", {"intent": "calm"}),
        ("/of/a", {}),
        ("/of/b/stringValue", {}),
        ("/of/0", {"intent": 5}),
    ],
)
def test_a_key_leads_to_the_value_in_a_list_of_keys_and_values(path: str, expected: Record) -> None:
    assert fields({"of": ATTRIBUTES}, intent=path) == expected


def test_one_name_is_a_list_of_one() -> None:
    assert fields({"tool": "crop"}, operations_involved="tool") == {"operations_involved": ["crop"]}


@pytest.mark.parametrize(
    ("value", "expected"), [("I CANNOT", True), ("I can", False), (7, False), (None, False)]
)
def test_a_regular_expression_is_searched_in_a_text(value: object, expected: bool) -> None:
    assert wanted({"said": value}, said="re:(?i)cannot|lack") == expected


def test_the_first_shape_that_fits_says_where_fields_lie() -> None:
    source = {
        "glob": "x.jsonl",
        "fields": {"description": "text", "session_id": "run"},
        "where": {"kind": "wish"},
        "also": [
            {
                "where": {"kind": "call"},
                "fields": {"missing_capability": "tool", "description": ""},
            },
            {"constants": {"notes": "of another kind"}},
        ],
    }
    found = FieldMap.of(checked_sources({"x": source})["x"])
    objects = (
        {"kind": kind, "text": "t", "tool": "crop", "run": "r"} for kind in ("wish", "call", "else")
    )

    assert [shape.applied(value) for value in objects if (shape := found.of_shape(value))] == [
        {"description": "t", "session_id": "r"},
        {"missing_capability": "crop", "session_id": "r"},
        {"description": "t", "session_id": "r", "notes": "of another kind"},
    ]


@pytest.mark.parametrize(
    ("also", "message"),
    [
        ({"where": {"a": "re:("}}, r"\[source.x.also.where\] a: not a regular expression"),
        (
            {"where": {"a": "re:x{99999999999}"}},
            r"\[source.x.also.where\] a: not a regular expression",
        ),
        (
            {"where": {"a": f"re:{'(' * 5000}{')' * 5000}"}},
            r"\[source.x.also.where\] a: not a regular expression",
        ),
        (
            {"fields": {"colour": "a"}},
            r"\[source.x.also.fields\] colour: a record has no such field",
        ),
        ({"where": {"a": []}}, r"\[source.x.also.where\] a: expected a value"),
        ({"each": "/a"}, r"\[source.x.also\] there is no setting .each."),
    ],
)
def test_a_shape_that_cannot_be_meant_is_refused(also: Record, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        checked_sources({"x": {"glob": "x.jsonl", "also": [also]}})
