"""What adapters make of the files of agents, and that no content of such a file stops them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.steps import steps
from vocabgap.ingest.adapters import ADAPTERS

Json = dict[str, Any]


def asked(tool: str, identifier: str) -> Json:
    call = {"type": "tool_use", "id": identifier, "name": tool}
    return {"type": "assistant", "message": {"role": "assistant", "content": [call]}}


def answered(identifier: str, error: str | None = None) -> Json:
    answer = {"type": "tool_result", "tool_use_id": identifier, "content": error or "done"}
    block = answer | {"is_error": error is not None}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


def errors(adapter: str, *values: Json) -> list[tuple[str | None, str]]:
    calls = ADAPTERS[adapter](iter(values))
    return [(call["tool"], call["error"]) for call in calls if call["error"] is not None]


def test_a_tool_that_answers_later_was_only_not_loaded() -> None:
    missing = "Error: No such tool available: fold_map"
    turns = [
        asked("fold_map", "a"),
        answered("a", missing),
        asked("dim_map", "b"),
        answered("b", "no"),
    ]

    assert errors("messages", *turns) == [("fold_map", missing), ("dim_map", "no")]
    assert errors("messages", *turns, asked("fold_map", "c"), answered("c")) == [("dim_map", "no")]


def test_a_call_that_a_resumed_session_repeats_counts_once() -> None:
    turns = [asked("fold_map", "a"), answered("a", "Unknown tool: fold_map")]

    assert errors("messages", *turns, *turns) == [("fold_map", "Unknown tool: fold_map")]


@pytest.mark.parametrize(
    "begin", ["", "<tool_use_error>", "Error: ", "<tool_use_error>Error: ", "MCP error -32602: "]
)
def test_without_its_call_an_answer_counts_if_it_begins_with_the_refusal(begin: str) -> None:
    refusal = f"{begin}Unknown tool: fold_map"

    assert errors("messages", answered("a", f"{refusal}\nSee above.")) == [(None, refusal)]


@pytest.mark.parametrize(
    "quoting", ["Exit code 1\n", "log says: ", "The map is torn. ", "12:04 | "]
)
def test_without_its_call_a_refusal_that_an_answer_quotes_does_not_count(quoting: str) -> None:
    assert errors("messages", answered("a", f"{quoting}Unknown tool: quoted")) == [(None, "")]


def test_a_session_is_read_as_it_was_left() -> None:
    def said(identifier: str, tool: str) -> Json:
        call = {"id": tool, "name": tool, "status": "error", "resultDisplay": "not found"}
        return {"id": identifier, "toolCalls": [call]}

    lines = [
        said("m1", "fold_map"),
        said("m2", "dim_map"),
        {"$rewindTo": "m2"},
        said("m3", "cut_map"),
    ]

    assert [tool for tool, _ in errors("gemini", *lines)] == ["fold_map", "cut_map"]
    replaced = {"$set": {"messages": [said("m9", "pin_map")]}}
    assert [tool for tool, _ in errors("gemini", *lines, replaced)] == ["pin_map"]
    assert errors("gemini", *lines, {"$rewindTo": "unknown"}) == []


def test_going_back_many_times_is_linear_work() -> None:
    def work(number: int) -> int:
        said = [{"id": f"m{each}"} for each in range(number)]
        back = [{"$rewindTo": f"m{each}"} for each in reversed(range(number))]
        return steps(lambda: errors("gemini", *said, *back))

    assert work(400) < 2.5 * work(200)


@pytest.mark.parametrize(
    ("adapter", "values", "tools"),
    [
        (
            "openhands",
            [
                {"id": 1, "source": "agent", "action": "run", "tool_call_metadata": {"function_name": "cut"}},
                {"id": 2, "source": "user", "observation": "user_rejected", "cause": 1},
            ],
            ["cut"],
        ),
        (
            "copilot",
            [
                {"data": {"toolRequests": [{"toolCallId": "a", "name": "cut"}]}},
                {
                    "type": "tool.execution_complete",
                    "data": {"toolCallId": "a", "success": False, "error": {"code": "denied"}},
                },
            ],
            ["cut"],
        ),
    ],
)  # fmt: skip
def test_a_denied_call_has_the_name_of_its_tool(
    adapter: str, values: list[Json], tools: list[str]
) -> None:
    denied = [call for call in ADAPTERS[adapter](values) if call["verdict"] == "denied"]

    assert [call["tool"] for call in denied] == tools


@pytest.mark.parametrize(
    ("severity", "is_read"),
    [
        ({"severityText": "ERROR"}, True),
        ({"severityNumber": 13}, True),
        ({"severity_text": "Warn"}, True),
        ({"severityText": "INFO"}, False),
        ({"severityNumber": 24}, True),
        ({"severityNumber": 12}, False),
        ({"severityNumber": 25}, False),
        ({}, False),
    ],
)
def test_the_body_of_a_log_record_tells_the_error_if_its_severity_does(
    severity: Json, is_read: bool
) -> None:
    record = {"body": {"stringValue": "Unknown tool: fold_map"}, **severity}
    batch = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}

    assert errors("otlp", batch) == [(None, "Unknown tool: fold_map")] * is_read


@pytest.mark.parametrize(
    ("event", "attributes", "tool", "verdict"),
    [
        ("tool_decision", {"tool_name": "cut", "decision": "reject"}, "cut", "denied"),
        ("tool_decision", {"tool_name": "cut", "decision": "accept"}, "cut", None),
        (
            "tool_decision",
            {"tool_name": "cut", "decision": "reject", "source": "user_abort"},
            "cut",
            None,
        ),
        ("tool_call", {"function_name": "cut", "error_type": "policy_violation"}, "cut", "denied"),
        (
            "tool_call",
            {"function_name": "cut", "error_type": "tool_not_registered"},
            "cut",
            "unknown",
        ),
        ("api_error", {"tool_name": "cut", "decision": "reject"}, "cut", None),
        (
            "tool_result",
            {"tool_name": "mcp_tool", "tool_parameters": '{"mcp_tool_name": "dim"}'},
            "dim",
            None,
        ),
    ],
)
def test_the_event_of_a_call_tells_its_tool_and_who_refused_it(
    event: str, attributes: dict[str, str], tool: str, verdict: str | None
) -> None:
    pairs = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    record = {"eventName": f"agent.{event}", "attributes": pairs}
    batch = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}

    (call,) = ADAPTERS["otlp"](iter([batch]))
    assert (call["tool"], call["verdict"]) == (tool, verdict)


@pytest.mark.parametrize(("success", "error"), [("false", "no such file"), ("true", None)])
def test_the_event_of_a_call_tells_its_error_if_it_failed(success: str, error: str | None) -> None:
    attributes = {"tool_name": "cut", "success": success, "error": "no such file"}
    pairs = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    record = {"body": {"stringValue": "agent.tool_result"}, "attributes": pairs}
    batch = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}

    (call,) = ADAPTERS["otlp"](iter([batch]))
    assert call["error"] == error


KEYS = (
    "type", "role", "message", "messages", "content", "id", "name", "tool_use_id", "tool_calls",
    "function", "permission_denials", "tool_name", "subtype", "payload", "call_id", "output",
    "cwd", "sessionId", "$set", "$rewindTo", "toolCalls", "result", "resultDisplay", "status",
    "part", "parts", "state", "input", "error", "tool", "callID", "info", "trajectory", "history",
    "kind", "observation", "action", "cause", "data", "toolRequests", "toolCallId", "success",
    "code", "runs", "run_type", "outputs", "kwargs", "inputs", "trace", "resourceSpans",
    "scopeSpans", "spans", "batches", "attributes", "key", "value", "events", "resource",
    "startTimeUnixNano", "spanId", "eventName", "body", "logRecords", "resourceLogs", "scopeLogs",
)  # fmt: skip
leaves = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(
    ["", "a", "tool_result", "tool", "tool.execution_complete", "session_meta", "function_call_output"]
)  # fmt: skip
junk = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=20,
)


@pytest.mark.parametrize("adapter", ADAPTERS)
@given(values=st.lists(junk, max_size=3))
def test_no_value_stops_an_adapter(adapter: str, values: list[Any]) -> None:
    calls = ADAPTERS[adapter](iter(values))

    assert all({"tool", "error", "verdict", "notes"} <= call.keys() for call in calls)
