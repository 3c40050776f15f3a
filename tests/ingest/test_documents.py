"""Gaps within documents of JSON: what agentic workflows report as missing, and documents that are broken."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.command import vocabgap
from vocabgap.ingest import reading
from vocabgap.ingest.decoding import FieldMap
from vocabgap.ingest.reading import elements
from vocabgap.ingest.scanning import scan
from vocabgap.model.sources import Source, pointer_of

MISSING = {
    "type": "missing_tool",
    "tool": "gitlab_merge",
    "reason": "a branch could not be merged",
    "alternatives": "left a note",
}
DATA = {"type": "missing_data", "data_type": "coverage report", "reason": "no artifact holds it"}
OUTPUT = {"items": [{"type": "noop"}, MISSING, DATA, {**MISSING, "type": "missing-tool", "tool": "label"}]}
RUN = {
    "run_id": 71,
    "missing_tools": [
        {
            "tool": "docker",
            "reason": "no daemon",
            "timestamp": "2026-05-02T10:00:00Z",
            "workflow_name": "nightly",
            "run_id": 71,
        }
    ],
    "missing_data": [{"data_type": "schema", "reason": "the wiki is private", "workflow_name": "nightly"}],
    "mcp_failures": [{"server_name": "wiki", "status": "failed"}],
}
LOGS = {
    "runs": [RUN, {"run_id": 72}],
    "missing_tools": [{"tool": "docker", "count": 9, "first_reason": "no daemon"}],
}


def put(folder: Path, name: str, *values: object) -> Path:
    path = folder / "ci" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(map(json.dumps, values)), encoding="utf-8")
    return path


def needs(folder: Path) -> list[str]:
    return scan(folder).records["missing_capability"].to_list()


def test_items_of_an_agents_output_that_report_a_gap_are_records(tmp_path: Path) -> None:
    put(tmp_path, "agent_output.json", OUTPUT)
    scanned = scan(tmp_path)

    assert scanned.records.select("missing_capability", "description", "workaround", "line").rows() == [
        ("gitlab_merge", MISSING["reason"], "left a note", 2),
        ("coverage report", DATA["reason"], "", 3),
        ("label", MISSING["reason"], "left a note", 4),
    ]
    assert scanned.records["byte_offset"].to_list() == [None] * 3
    assert (scanned.summary.lines, scanned.summary.passed_over, scanned.summary.rejects) == (3, 1, 0)


@pytest.mark.parametrize(("name", "document"), [("run_summary.json", RUN), ("gh-aw-logs-may.json", LOGS)])
def test_missing_tools_of_runs_are_gaps_and_their_counts_are_not(
    tmp_path: Path, name: str, document: object
) -> None:
    put(tmp_path, name, document)
    records = scan(tmp_path).records

    assert records["missing_capability"].to_list() == ["docker", "schema"]
    assert records["session_id"].to_list() == ["71", None]
    assert records["image_id"].to_list() == ["nightly", "nightly"]


def test_an_element_that_is_no_gap_is_rejected_with_its_place(tmp_path: Path) -> None:
    put(
        tmp_path,
        "gh-aw-logs.json",
        {"runs": {"a/b": {"missing_tools": [{"tool": 7}, 5, {"tool": "sed"}, {}]}}},
    )
    rejects = scan(tmp_path).rejects

    assert needs(tmp_path) == ["sed"]
    assert rejects["line"].to_list() == [1, 2, 4]
    assert rejects["byte_offset"].to_list() == [None] * 3
    assert [detail.split(":")[0] for detail in rejects["detail"]] == [
        f"/runs/a~1b/missing_tools/{place}" for place in (0, 1, 3)
    ]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"items": [', "invalid_json: expecting value at character 12 of the document"),
        (b'{"items": "\xff"}', "invalid_utf8: expected UTF-8, invalid start byte at byte 12 of the document"),
        (b'{"items": [NaN]}', "invalid_json: expected JSON, which has no NaN"),
        (b"[" * 100_000, "too_deep: nested too deeply to be a gap record"),
    ],
)
def test_a_document_that_cannot_be_read_is_one_reject_of_the_whole_file(
    tmp_path: Path, content: bytes, told: str
) -> None:
    put(tmp_path, "agent_output.json").write_bytes(content)

    result = vocabgap("check", tmp_path)

    assert result.code == 2
    assert f"ci/agent_output.json: {told}" in result.out


def test_elements_before_the_damage_are_kept(tmp_path: Path) -> None:
    path = put(tmp_path, "agent_output.json", OUTPUT)
    path.write_text(path.read_text(encoding="utf-8") + '\n{"items": [{', encoding="utf-8")

    assert (len(needs(tmp_path)), scan(tmp_path).rejects.height) == (3, 1)


def test_a_document_of_more_than_may_be_read_whole_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "agent_output.json", OUTPUT)
    monkeypatch.setattr(reading, "MOST_BYTES", 100)
    rejects = scan(tmp_path).rejects

    assert rejects.select("line", "reason").rows() == [(None, "too_long")]
    assert "at most 100 bytes" in rejects["detail"][0]


ANY = FieldMap.of(Source(each="/*"))

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab/~"), inner, max_size=3),
    max_leaves=12,
)


@given(values=st.lists(json_values, max_size=3))
def test_every_element_is_read_once_with_its_place(values: list[Any]) -> None:
    content = " ".join(map(json.dumps, values)).encode()

    found = [(block.place, json.loads(block.lines[0])) for block in elements([content], ANY)]

    members = [
        (key, member)
        for value in values
        if isinstance(value, dict | list)
        for key, member in (value.items() if isinstance(value, dict) else enumerate(value))
    ]
    assert [(pointer_of(place), element) for place, element in found] == [
        ((str(key),), member) for key, member in members
    ]


def test_a_source_of_ones_own_reads_documents(tmp_path: Path) -> None:
    put(tmp_path, "wishes.json", [{"wish": "dark mode"}, {"wish": "bulk rename"}])
    own = {"mine": Source(glob="wishes.json", each="/*", fields={"missing_capability": "wish"})}

    assert scan(tmp_path, sources=own).records["missing_capability"].to_list() == ["dark mode", "bulk rename"]


def test_a_long_line_may_be_read_in_small_pieces() -> None:
    fields = FieldMap.of(Source(glob="x.json", each="/a"))

    (block,) = elements([b'{"a": {"description": "', *[b"xxxxx"] * 200_000, b'"}}\n'], fields)

    assert block.lines == [b'{"description":"' + b"x" * 1_000_000 + b'"}']
