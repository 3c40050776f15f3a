"""One folder that holds one file of each format, and what a count by hand gives."""

import json
from importlib import resources
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

from builders.command import vocabgap
from vocabgap.ingest.scanning import scan
from vocabgap.model.record import SEEN_NOTES
from vocabgap.model.sources import shipped_sources


def event(name: str, **properties: object) -> dict[str, Any]:
    moment = "2026-09-14T08:00:00Z"
    return {"event": name, "distinct_id": "d", "timestamp": moment, "properties": properties}


def call(message: str | None, tool: str = "lasso") -> dict[str, Any]:
    status = {} if message is None else {"code": 2, "message": message}
    named = {"key": "gen_ai.tool.name", "value": {"stringValue": tool}}
    return {"startTimeUnixNano": "1789372800000000000", "attributes": [named], "status": status}


def answer(message: str) -> dict[str, Any]:
    part = {"type": "tool_result", "tool_use_id": f"t{len(message)}", "is_error": True, "content": message}
    return {
        "timestamp": "2026-09-14T08:00:00Z",
        "sessionId": "c",
        "cwd": "/desk",
        "message": {"content": [part]},
    }


def output(message: str) -> dict[str, Any]:
    payload = {"type": "function_call_output", "call_id": "call_1", "output": message}
    return {"timestamp": "2026-09-14T08:00:00Z", "type": "response_item", "payload": payload}


def asked(text: str, intent: str = "nlu_fallback") -> dict[str, Any]:
    return {"event": "user", "text": text, "parse_data": {"intent": {"name": intent}}}


TOOL: Final = {
    "type": "missing_tool", "tool": "signer", "reason": "tags are to be signed", "alternatives": "none",
}  # fmt: skip
DATA: Final = {"type": "missing_data", "data_type": "licence list", "reason": "no file has it"}
IN_RUN: Final = {
    "tool": "linter", "reason": "none is there", "timestamp": "2026-09-14T08:00:00Z", "run_id": 5,
}  # fmt: skip
FEEDBACK: Final = {"$mcp_feedback_type": "missing_capability", "$mcp_feedback_summary": "archive old boards"}
GAP: Final = {"missing_capability_gap_reason": "kernel_capability_missing", "$mcp_intent": "keep cookies"}

# The files with their objects, one a line, and by hand: records, rejects and what is passed over.
FILES: Final[dict[str, tuple[str, list[object], tuple[int, int, int]]]] = {
    "tool-feedback.jsonl": (
        "tool-feedback",
        [{"goal": "tidy", "why": "one by one", "ideal_capability": "move many notes"}, {"goal": "x"}],
        (1, 0, 1),
    ),
    "subagents/agent-a1.jsonl": (
        "claude-code",
        [
            {"type": "user", "message": {"content": "Error: No such tool available: typed"}},
            answer("Error: No such tool available: pin"),
            answer("Error: No such tool available: Edit. Edit exists but is not enabled in this context."),
            answer("Exit code 1\nUnknown tool: quoted"),
        ],
        (2, 0, 2),
    ),
    "rollout-2026-09-14T08-00-00-0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000.jsonl": (
        "codex",
        [
            {"type": "session_meta", "payload": {"cwd": "/desk"}},
            output("unsupported call: pin_map"),
            output("log: Unknown tool: quoted"),
        ],
        (1, 0, 2),
    ),
    "langfuse.jsonl": (
        "langfuse",
        [{"level": "ERROR", "status_message": "no such tool: dim_map", "trace_id": "t"}, {"level": "DEBUG"}],
        (1, 0, 1),
    ),
    "langfuse-week.json": (
        "langfuse-json",
        [
            [
                {"id": "o1", "level": "ERROR", "statusMessage": "Tool fold_map not found in agent Desk"},
                {
                    "id": "o2", "level": "ERROR", "type": "TOOL", "name": "dim",
                    "statusMessage": "Tool not found",
                },
                {"id": "o3", "level": "ERROR", "statusMessage": "Tool fold_map timed out"},
                {"id": "o4", "level": "DEFAULT", "statusMessage": "Unknown tool: x"},
            ]
        ],
        (2, 0, 2),
    ),
    "tracker-7.json": (
        "rasa",
        [{"sender_id": "t-7", "events": [asked("fold my map"), asked("hello", "greet"), {"event": "bot"}]}],
        (1, 0, 2),
    ),
    "gh-issues-open.json": (
        "github-issues",
        [
            [
                {"number": 5, "title": "Fold a map", "body": "by hand", "createdAt": "2026-09-14T08:00:00Z"},
                {"title": "Dim a map", "labels": [], "url": "https://github.com/desk/maps/issues/6"},
                {"title": "Dim a map", "labels": [], "url": "https://github.com/desk/maps/pull/7"},
            ]
        ],
        (2, 0, 1),
    ),
    "vocabulary_gaps.jsonl": (
        "chemigram",
        [{"description": "feathered mask"}, {"workaround": "none"}],
        (1, 1, 0),
    ),
    "affordance_gaps.jsonl": (
        "hermes",
        [
            {"goal": "post", "missing_capability": "write to the board"},
            {"goal": "", "missing_capability": ""},
        ],
        (1, 1, 0),
    ),
    "posthog-week.jsonl": (
        "posthog",
        [
            event("$mcp_missing_capability", **{"$mcp_intent": "merge calendars", "$session_id": "p"}),
            event("$mcp_missing_capability"),
            event("$mcp_feedback", **FEEDBACK),
            event("$mcp_feedback", **{**FEEDBACK, "$mcp_feedback_type": "bug"}),
            event("$mcp_feedback", **{**FEEDBACK, "$mcp_feedback_summary": None}),
            event("$mcp_unknown_tool", **{"$mcp_tool_name": "board_archive"}),
            event("$mcp_tool_call", **{"$mcp_tool_name": "search", "$mcp_is_error": True}),
            event("$mcp_tool_call", **{"$mcp_tool_name": "dim", "$mcp_error_message": "Tool dim not found"}),
            event("mcp_tool_call", tool_name="get_more_tools", user_intent="fold a map"),
            event("$mcp_tools_list", **{"$mcp_listed_tool_names": ["search"]}),
        ],
        (5, 2, 3),
    ),
    "kernel-week.jsonl": (
        "kernel",
        [
            event("mcp_capability_requested", **GAP),
            event("mcp_capability_requested", **{**GAP, "missing_capability_gap_reason": "client_policy"}),
            event("mcp_feedback_submitted", feedback_category="missing_tool", feedback_summary="pin a tab"),
            event("mcp feedback submitted", feedback_category="missing_tool", feedback_summary="dim a tab"),
            event("mcp_feedback_submitted", feedback_category="praise", feedback_summary="well done"),
            event("$mcp_missing_capability", **{"$mcp_intent": "mute a tab"}),
        ],
        (4, 0, 2),
    ),
    "apify-week.jsonl": (
        "apify",
        [event("MCP Reported Problem", message="cannot pause a run"), event("MCP Tool Call")],
        (1, 0, 1),
    ),
    "tool_requests.jsonl": (
        "echo",
        [
            {"source": "request_tool", "name": "read the thermostat", "reason": "it is cold"},
            {"source": "unknown_tool", "requested_name": "set_thermostat"},
            {"source": "granted", "name": "clock"},
            {"kind": "capability_gap", "content": "a chart", "suggested_capability": "plot replies"},
            {"kind": "wish", "content": "slides", "source": "assistant", "suggested_capability": None},
            {"kind": "praise", "content": "fine", "source": "request_tool"},
        ],
        (4, 0, 2),
    ),
    "safe_outputs.ndjson": (
        "ado-aw",
        [{"name": "missing_tool", "tool": "board_move"}, {"name": "noop", "context": "done"}],
        (1, 0, 1),
    ),
    "safe-outputs-executed.ndjson": (
        "ado-aw-executed",
        [
            {"name": "missing-tool", "tool_name": "wiki_move", "context": "pages lie in the wrong place"},
            {"name": "missing-data", "data_type": "owners", "reason": "no list of them"},
            {"name": "noop", "status": "succeeded"},
        ],
        (2, 0, 1),
    ),
    "safeoutputs.jsonl": (
        "gh-aw-items",
        [TOOL, DATA, {"type": "noop"}, {"type": "report_incomplete"}],
        (2, 0, 2),
    ),
    "agent_output.json": ("gh-aw", [{"items": [{**TOOL, "tool": "mirror"}, {"type": "noop"}]}], (1, 0, 1)),
    "run_summary.json": ("gh-aw-run", [{"missing_tools": [{**IN_RUN, "tool": "tracer"}, {}]}], (1, 1, 0)),
    "gh-aw-logs.json": (
        "gh-aw-logs",
        [
            {
                "runs": [{"run_id": 5, "missing_tool_count": 1}],
                "missing_tools": [{"tool": "linter", "count": 1, "run_ids": [5]}],
                "missing_data": [{"data_type": "schema", "count": 1}],
            }
        ],
        (2, 0, 0),
    ),
    "otlp.jsonl": (
        "otlp",
        [
            {
                "resourceSpans": [
                    {"scopeSpans": [{"spans": [call(None), call("Unknown tool: lasso"), call(None)]}]}
                ]
            },
            {
                "resourceSpans": [
                    {"scopeSpans": [{"spans": [call("knots are not supported"), call("no such file")]}]}
                ]
            },
            {"resourceSpans": []},
        ],
        (2, 0, 4),
    ),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "desk"
    for name, (source, lines, _) in FILES.items():
        (root / source / name).parent.mkdir(parents=True, exist_ok=True)
        (root / source / name).write_text(
            "".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8"
        )
    return root


def test_every_shipped_source_is_among_them() -> None:
    assert {source for source, _, _ in FILES.values()} == set(shipped_sources())


def test_each_file_gives_what_a_count_by_hand_gives(folder: Path) -> None:
    scanned = scan(folder)
    records = dict(scanned.gaps.filter("counted").group_by("source_path").len().iter_rows())
    rejects = dict(scanned.rejects.group_by("source_path").len().iter_rows())

    found = {
        path.partition("/")[2]: (source, (records.get(path, 0), rejects.get(path, 0), passed_over), lines)
        for path, source, passed_over, lines in scanned.files.select(
            "source_path", "source", "passed_over", "lines"
        ).iter_rows()
    }

    assert found == {
        name: (source, counts, counts[0] + counts[1]) for name, (source, _, counts) in FILES.items()
    }
    assert scanned.summary.reasons == {"missing_description": 5}


def test_a_report_over_all_of_them_has_the_sum(folder: Path, tmp_path: Path) -> None:
    told = vocabgap("report", folder, "--out", tmp_path / "out", "--now", "last")

    assert told.code == 0, told.err
    gaps = pl.read_parquet(tmp_path / "out" / "gaps.parquet")
    assert gaps.height == sum(records for _, _, (records, _, _) in FILES.values())
    ranked = pl.read_parquet(tmp_path / "out" / "capabilities.parquet")
    assert ranked["mentions"].sum() == gaps["counted"].sum()
    assert (
        ranked["seen"].sum()
        == gaps.filter(pl.col("counted"), pl.col("notes").str.contains(SEEN_NOTES)).height
    )
    account = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert account.count("missing description – ") == 5


def test_the_reject_of_an_event_names_the_field_that_it_lacks(folder: Path) -> None:
    rejects = scan(folder).rejects.filter(source_path="posthog/posthog-week.jsonl")

    assert rejects["line"].to_list() == [2, 5]
    feedback = (f"properties.$mcp_feedback_{name}" for name in ("summary", "details", "friction_points"))
    assert rejects["detail"].to_list() == [
        f"expected text in {' or '.join(paths)}, found none"
        for paths in (["properties.$mcp_intent"], feedback)
    ]


def test_the_manual_lists_every_source() -> None:
    page = resources.files("vocabgap").joinpath("manual", "gap-logs.md").read_text(encoding="utf-8")

    assert [name for name in shipped_sources() if f"`{name}`" not in page] == []
