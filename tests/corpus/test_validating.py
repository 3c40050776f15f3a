from math import inf, nan
from typing import Any

import jsonschema
import pytest

from vocabgap.corpus.contracts import BACKUP_RECORD, PARSED_CHUNK, contract_schema, faults, keeps


def places(name: str, record: object) -> list[tuple[str, str | None, str]]:
    return [(fault.pointer, fault.key, fault.rule) for fault in faults(name, record)]


def test_every_place_of_a_bad_record_is_reported_at_once(chunk: dict[str, Any]) -> None:
    del chunk["kind"]
    bad = {
        **chunk,
        "tenantId": "Ada",
        "hashInputs": ["name", 5, None],
        "line_start": 0,
        "a/b~c": 1,
        "embedding": [],
    }
    assert places(PARSED_CHUNK, bad) == [
        ("", "a/b~c", "additionalProperties"), ("", "embedding", "additionalProperties"),
        ("", "kind", "required"), ("/hashInputs/1", None, "type"), ("/hashInputs/2", None, "type"),
        ("/line_start", None, "minimum"), ("/tenantId", None, "pattern"),
    ]  # fmt: skip


def test_a_message_names_the_place_the_expectation_and_the_value(chunk: dict[str, Any]) -> None:
    chunk["rootKind"] = "image-repo"
    (fault,) = faults(PARSED_CHUNK, chunk)
    expected = "expected neo-workspace, bare-repo or external-source"
    assert fault.message == f'/rootKind: {expected}, found "image-repo"'
    assert fault.as_object() == {"pointer": "/rootKind", "rule": "enum", "message": fault.message}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tenantId", "ada\n"), ("parserVersion", "1.0.0\n"), ("parserVersion", "1.0.0+x\r"),
        ("parserVersion", "1.0.0-\u2028"), ("parserVersion", "1.0.0-a\u2029b"),
    ],
)  # fmt: skip
def test_line_end_is_part_of_the_value(chunk: dict[str, Any], field: str, value: str) -> None:
    chunk[field] = value
    python = jsonschema.Draft202012Validator(contract_schema(PARSED_CHUNK))
    assert not keeps(PARSED_CHUNK, chunk)
    assert not python.is_valid(chunk)
    assert [place[0] for place in places(PARSED_CHUNK, chunk)] == [f"/{field}"]


def test_open_objects_may_hold_anything_at_any_depth(chunk: dict[str, Any]) -> None:
    deep: dict[str, Any] = {"embedding": "\ud800"}
    for _ in range(5000):
        deep = {"a": deep}
    assert keeps(PARSED_CHUNK, {**chunk, "customMeta": deep})
    assert keeps(BACKUP_RECORD, {"id": "x", "embedding": [1], "metadata": deep, "document": ""})


def test_a_record_is_valid_if_and_only_if_it_has_no_faults(chunk: dict[str, Any]) -> None:
    values: list[Any] = [None, "", "x", 0, 1, 1.0, 1.5, True, [], ["a"], {}, nan, inf]
    for value in values:
        for field in chunk:
            record = {**chunk, field: value}
            assert keeps(PARSED_CHUNK, record) is not bool(faults(PARSED_CHUNK, record))
