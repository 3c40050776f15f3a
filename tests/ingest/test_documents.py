"""Gaps within documents of JSON: what agentic workflows report as missing, and documents that are broken."""

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.command import vocabgap
from vocabgap.ingest import reading
from vocabgap.ingest.decoding import FieldMap
from vocabgap.ingest.formats import Form, recognised
from vocabgap.ingest.reading import elements, values_in
from vocabgap.ingest.scanning import scan
from vocabgap.model.sources import Source, pointer_of, sources_in_force

MISSING, DATA, RUN, LOGS, AUDIT = json.loads(
    Path(__file__).parents[1].joinpath("data", "gh_aw.json").read_text(encoding="utf-8")
).values()
OUTPUT = {
    "items": [{"type": "noop"}, MISSING, DATA, {**MISSING, "type": "missing-tool", "tool": "label"}]
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

    columns = ("missing_capability", "description", "workaround", "line")
    assert scanned.records.select(columns).rows() == [
        ("gitlab_merge", MISSING["reason"], "left a note", 2),
        ("coverage report", DATA["reason"], "", 3),
        ("label", MISSING["reason"], "left a note", 4),
    ]
    assert scanned.records["byte_offset"].to_list() == [None] * 3
    summary = scanned.summary
    assert (summary.lines, summary.passed_over, summary.rejects) == (3, 1, 0)


@pytest.mark.parametrize(
    ("name", "document"), [("run_summary.json", RUN), ("gh-aw-audit-71.json", AUDIT)]
)
def test_a_run_tells_its_missing_tools_with_its_identifier_and_workflow(
    tmp_path: Path, name: str, document: dict[str, object]
) -> None:
    run = {"workflowName": "nightly", "createdAt": "2026-05-02T08:00:00Z"}
    put(tmp_path, name, {"run": run, **document})
    records = scan(tmp_path).records
    assert records["timestamp"].null_count() == 0

    assert records["missing_capability"].to_list() == ["docker", "schema"]
    assert records["session_id"].to_list() == ["71", "71"]
    assert records["image_id"].to_list() == ["nightly", "nightly"]


def test_the_runs_of_a_count_share_it(tmp_path: Path) -> None:
    path = put(tmp_path, "gh-aw-logs-may.json", LOGS)
    records = scan(tmp_path).records
    assert scan(path.rename(tmp_path / "printed.json")).files["source"].to_list() == ["gh-aw-logs"]

    assert records.select("missing_capability", "session_id", "image_id").rows() == [
        ("docker", "71", "nightly"),
        ("docker", "72", "weekly"),
        ("buildah", None, "nightly"),
    ]
    assert records["count"].to_list() == [2, 1, 2]


def test_three_files_of_one_run_are_read_once(tmp_path: Path) -> None:
    put(tmp_path, "agent_output.json", OUTPUT)
    put(tmp_path, "safeoutputs.jsonl", MISSING, DATA)
    items = scan(tmp_path)
    before = items.summary
    put(tmp_path, "run_summary.json.gz").write_bytes(gzip.compress(json.dumps(RUN).encode()))
    after = scan(tmp_path).summary

    assert (before.records, before.files, before.repeating) == (3, 1, 1)
    assert set(items.records["session_id"]) == {"ci"}
    assert (after.records, after.files, after.repeating) == (2, 1, 2)
    assert vocabgap("check", tmp_path).out.endswith("; 2 logs repeat others and were left out\n")


@pytest.mark.parametrize(
    "summary",
    [b"", b'{"missing_tools": [{', b"{}", b'{"missing_tools": null}', b'{"missing_tools": [{}]}'],
)
def test_a_summary_without_a_gap_hides_no_items(tmp_path: Path, summary: bytes) -> None:
    put(tmp_path, "run_summary.json").write_bytes(summary)
    put(tmp_path, "agent_output.json", {"items": []})
    put(tmp_path, "safeoutputs.jsonl", MISSING)

    assert needs(tmp_path) == ["gitlab_merge"]


def test_the_counts_of_many_runs_add_the_runs_without_a_summary(tmp_path: Path) -> None:
    put(tmp_path, "gh-aw-logs.json", LOGS)
    summary = tmp_path / "ci" / "run-71" / "run_summary.json"
    summary.parent.mkdir(parents=True)
    summary.write_text(json.dumps(RUN), encoding="utf-8")
    added = scan(tmp_path)
    summary.write_text(
        json.dumps({"run_id": 72, "missing_tools": [{"tool": "docker"}]}), encoding="utf-8"
    )
    put(
        tmp_path,
        "gh-aw-logs.json",
        {"missing_tools": [{"tool": "docker", "count": 3, "run_ids": [72]}]},
    )

    columns = ("missing_capability", "session_id", "count")
    assert set(added.records.select(columns).rows()) == {
        ("docker", "72", 1), ("buildah", None, 2), ("docker", "71", 1), ("schema", "71", 1),
    }  # fmt: skip
    assert (scan(tmp_path).summary.records, scan(tmp_path).summary.repeating) == (1, 1)


@pytest.mark.parametrize(
    "artifact", ["agent", "agent-output", "agent_outputs", "agent_output.json"]
)
def test_the_run_of_an_artifact_is_the_folder_above_it(tmp_path: Path, artifact: str) -> None:
    for run in ("8001", "8002"):
        for name, content in ((artifact, OUTPUT), ("safe-output", MISSING)):
            folder = tmp_path / "runs" / run / name
            folder.mkdir(parents=True)
            file = "agent_output.json" if name == artifact else "safeoutputs.jsonl"
            (folder / file).write_text(json.dumps(content), encoding="utf-8")
    scanned = scan(tmp_path)

    assert scanned.records.group_by("image_id", "session_id").len().sort("image_id").rows() == [
        ("8001", "8001", 3),
        ("8002", "8002", 3),
    ]
    assert scanned.summary.repeating == 2


def test_a_denied_command_is_not_granted(tmp_path: Path) -> None:
    denied = {
        "tool": "tool/permission",
        "reason": "not allowed here",
        "denied_commands": ["gh api", "curl"],
    }
    tools = [denied, {"tool": "dig", "denied_commands": []}]
    put(tmp_path, "run_summary.json", {"missing_tools": tools})
    gaps = scan(tmp_path).gaps

    assert gaps.select("missing_capability", "operations_involved", "notes").rows() == [
        ("gh api", ["gh api", "curl"], "call of a tool that is not granted: permission"),
        ("dig", [], ""),
    ]


def test_an_element_that_is_no_gap_is_rejected_with_its_place(tmp_path: Path) -> None:
    tools = {"a/b": {"tool": 7}, "c": 5, "d": {"tool": "sed"}, "e": {}}
    put(tmp_path, "run_summary.json", {"missing_tools": tools})
    rejects = scan(tmp_path).rejects

    assert needs(tmp_path) == ["sed"]
    assert rejects["line"].to_list() == [1, 2, 4]
    assert rejects["byte_offset"].to_list() == [None] * 3
    assert [detail.split(":")[0] for detail in rejects["detail"]] == [
        f"/missing_tools/{place}" for place in ("a~1b", "c", "e")
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"items": [', "invalid_json: expecting value at character 12 of the document"),
        (
            b'{"items": "\xff"}',
            "invalid_utf8: expected UTF-8, invalid start byte at byte 12 of the document",
        ),
        (b'{"items": [NaN]}', "invalid_json: JSON has no NaN"),
        (b"[" * 100_000, "too_deep: nested too deeply to be a gap record"),
    ],
)
def test_a_document_that_cannot_be_read_is_one_reject_of_the_whole_file(
    tmp_path: Path, content: bytes, message: str
) -> None:
    put(tmp_path, "agent_output.json").write_bytes(content)

    result = vocabgap("check", tmp_path)

    assert result.code == 2
    assert f"ci/agent_output.json: {message}" in result.out


def test_a_document_of_more_than_may_be_read_whole_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "agent_output.json", OUTPUT)
    monkeypatch.setattr(reading, "MOST_WHOLE", 100)
    rejects = scan(tmp_path).rejects

    assert rejects.select("line", "reason").rows() == [(None, "too_long")]
    assert "at most 100 bytes" in rejects["detail"][0]


ANY = FieldMap.of(Source(each="/*"))

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab/~"), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(values=st.lists(json_values, max_size=3))
def test_every_element_is_read_once_with_its_place(values: list[Any]) -> None:
    content = " ".join(map(json.dumps, values)).encode()

    found = [
        (place, json.loads(line))
        for block in elements(values_in([content]), ANY)
        if block.places
        for place, line in zip(block.places, block.lines, strict=True)
    ]

    members = [
        (key, member)
        for value in values
        if isinstance(value, dict | list)
        for key, member in (value.items() if isinstance(value, dict) else enumerate(value))
    ]
    assert [(pointer_of(place), element) for place, element in found] == [
        ((str(key),), member) for key, member in members
    ]


def test_a_pointer_looks_around_an_element_from_the_inside_out(tmp_path: Path) -> None:
    turns = [{"ask": "pause", "at": {"day": "2026-05-01"}}, {"ask": "undo"}]
    talks = [{"who": "b", "turns": turns}]
    put(
        tmp_path,
        "talks.json",
        {"who": "a", "at": {"day": "2026-05-09"}, "kind": "x", "talks": talks},
    )
    fields: dict[str, str | tuple[str, ...]] = {
        "description": "ask", "session_id": "/who", "timestamp": "/at/day", "notes": "kind",
    }  # fmt: skip
    own = {"mine": Source(glob="talks.json", each="/talks/*/turns/*", fields=fields)}
    records = scan(tmp_path, sources=own).records

    assert records.select(
        "description", "session_id", "notes", pl.col("timestamp").dt.day()
    ).rows() == [
        ("pause", "b", "", 1),
        ("undo", "b", "", 9),
    ]


def test_a_source_may_be_like_another_one(tmp_path: Path) -> None:
    put(tmp_path, "wanted.json", {"items": [MISSING, {"type": "noop"}]})
    own = sources_in_force(
        {"mine": Source(like="gh-aw", glob="wanted.json", fields={"description": ""})}
    )

    assert scan(tmp_path, sources=own).records.select(
        "missing_capability", "description"
    ).rows() == [("gitlab_merge", None)]


def test_a_long_line_may_be_read_in_small_pieces() -> None:
    fields = FieldMap.of(Source(glob="x.json", each="/a"))

    content = [b'{"a": {"description": "', *[b"xxxxx"] * 200_000, b'"}}\n']
    (block,) = elements(values_in(content), fields)

    assert block.lines == [b'{"description":"' + b"x" * 1_000_000 + b'"}']


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (b'{"a": 1}\n{"a": 2}\n', Form.LINES),
        (b'{"a": 1}', Form.LINES),
        (b'{\n "a": 1\n}\n', Form.DOCUMENT),
        (b'{"a":\n1}', Form.DOCUMENT),
        (b'{"a": 1,\n{"a": 2}\n', Form.LINES),
        (b'{"a": \n', Form.LINES),
        (b"[1]", Form.DOCUMENT),
        (b"a,b\n1,2\n", Form.TABLE),
        (b"a,b\n", Form.LINES),
        (b"", Form.LINES),
    ],
)
def test_the_beginning_of_a_file_tells_its_form(content: bytes, form: Form, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)

    assert recognised(str(path), 1_000).form is form
