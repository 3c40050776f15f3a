"""Gaps that are seen in spans of calls of tools (OTLP as JSON), and what is passed over."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from builders.command import vocabgap
from vocabgap.ingest.scanning import scan
from vocabgap.model.record import MAX_LINE_BYTES
from vocabgap.ranking.screening import screen

Json = dict[str, Any]
CANARY = "canary-91c4"


def attribute(key: str, text: object) -> Json:
    return {"key": key, "value": {"stringValue": text}}


def span(
    message: str | None = None, tool: object = "mask_sky", *further: Json, **other: object
) -> Json:
    """Return a call of a tool; without a message it went well."""
    named = {"mcp.method.name": "tools/call", "gen_ai.tool.name": tool, "mcp.session.id": "s-1"}
    return {
        "name": f"tools/call {tool}",
        "startTimeUnixNano": "1780000000123456789",
        "attributes": [*(attribute(key, text) for key, text in named.items()), *further],
        "status": {} if message is None else {"code": 2, "message": message},
        **other,
    }


def export(*spans: object) -> str:
    scopes = [{"scope": {"name": "mcp"}, "spans": list(spans)}]
    return json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": scopes}]})


def put(folder: Path, *lines: str, name: str = "otlp.jsonl") -> Path:
    path = folder / "desk" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_call_of_an_unknown_tool_is_a_gap_of_its_name(tmp_path: Path) -> None:
    put(tmp_path, export(span(), span("Unknown tool: mask_sky"), span()))
    scanned = scan(tmp_path)

    names = ("missing_capability", "description", "session_id", "notes")
    assert scanned.records.select(names).rows() == [
        ("mask_sky", None, "s-1", "call of an unknown tool")
    ]
    assert scanned.records["timestamp"][0].isoformat() == "2026-05-28T20:26:40.123456+00:00"
    assert (scanned.summary.lines, scanned.summary.passed_over) == (1, 2)


def exception(message: str) -> Json:
    return {"name": "exception", "attributes": [attribute("exception.message", message)]}


@pytest.mark.parametrize(
    "other",
    [
        {
            "status": {"code": 2},
            "events": [{"name": "retry"}, exception("Tool mask_sky not found")],
        },
        {
            "attributes": [attribute("tool.name", "mask_sky")],
            "status": {"code": 2, "message": "no such tool"},
        },
        {
            "name": "execute_tool mask_sky",
            "attributes": [],
            "status": {"code": 2, "message": "Tool not found"},
        },
        {
            "name": "chat",
            "attributes": [],
            "status": {"code": 2, "message": "unsupported call: mask_sky"},
        },
    ],
)
def test_the_message_and_the_tool_have_several_places(tmp_path: Path, other: Json) -> None:
    put(tmp_path, export({**span(), **other, "spanId": "a"}, {**span(), **other, "spanId": "b"}))
    records = scan(tmp_path).records

    assert records["missing_capability"].to_list() == ["mask_sky", "mask_sky"]
    assert records["notes"].to_list() == ["call a of an unknown tool", "call b of an unknown tool"]


def test_an_empty_time_is_none_and_a_span_of_tempo_has_its_usual_identifier(tmp_path: Path) -> None:
    other = {
        "name": "execute_tool mask_sky",
        "attributes": [],
        "startTimeUnixNano": 0,
        "endTimeUnixNano": "1780000000000000000",
        "spanId": "EjRWeJCrze8=",
    }
    put(tmp_path, export({**span("Tool not found"), **other}))
    (record,) = scan(tmp_path).records.to_dicts()

    assert record["missing_capability"] == "mask_sky"
    assert record["timestamp"] == datetime(2026, 5, 28, 20, 26, 40, tzinfo=UTC)
    assert record["notes"] == "call 1234567890abcdef of an unknown tool"


def test_an_agent_asks_for_more_tools(tmp_path: Path) -> None:
    message = {
        "mcp.resource_name": "get_more_tools",
        "mcp.user_intent": "fold a map",
        "mcp.session_id": "m-1",
    }
    put(
        tmp_path,
        export(
            {"name": "mcp:tools/call", "attributes": [*map(attribute, message, message.values())]}
        ),
    )

    names = ("missing_capability", "description", "session_id")
    assert scan(tmp_path).records.select(names).rows() == [(None, "fold a map", "m-1")]


def test_an_error_of_a_tool_that_lacks_a_feature_is_a_gap(tmp_path: Path) -> None:
    put(tmp_path, export(span("webp is not supported", "convert")), name="otlp-june.json")
    records = scan(tmp_path).records

    names = ("missing_capability", "description", "operations_involved")
    assert records.select(names).rows() == [(None, "webp is not supported", ["convert"])]


@pytest.mark.parametrize(
    "other",
    [
        span("Invalid params: missing field 'path'"),
        span("Tool mask_sky failed: file not found"),
        span("Unknown tool argument: radius"),
        span("AttributeError: 'NoneType' object has no attribute 'get'"),
        span("Tool not found", ""),
        span("Invalid tool arguments: x"),
        span("Unknown tool: x", status={"code": 1, "message": "Unknown tool: x"}),
        span("Unknown tool", "x", attributes=[5, {"key": "gen_ai.tool.name"}], name="execute_tool"),
        {},
    ],
)
def test_a_span_that_is_no_gap_is_passed_over(tmp_path: Path, other: Json) -> None:
    put(tmp_path, export(other, span("Unknown tool: mask_sky")))
    summary = scan(tmp_path).summary

    assert (summary.records, summary.passed_over, summary.rejects) == (1, 1, 0)


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ("Cannot merge into main: permission denied", "permission"),
        ("Call refused by the user", "permission"),
        ("Cannot sync calendars: 503 service unavailable", "transient"),
        ("unable to merge, connection reset by peer", "transient"),
        ("Cannot merge these files: out of memory", "architecture"),
        ("Pages of two columns are not supported", None),
    ],
)
def test_rules_tell_failures_outages_and_policies_from_gaps(
    tmp_path: Path, message: str, rule: str | None
) -> None:
    put(tmp_path, export(span(message)))

    assert screen(scan(tmp_path).gaps)["rule"].to_list() == [rule]


def test_a_span_is_no_longer_than_a_line_may_be(tmp_path: Path) -> None:
    put(
        tmp_path,
        export(span("not supported: " + "x" * MAX_LINE_BYTES), span("Unknown tool: mask_sky")),
    )
    scanned = scan(tmp_path)

    assert scanned.summary.records == 1
    assert scanned.rejects.select("line", "reason").row(0) == (1, "too_long")
    assert scanned.rejects["detail"][0].startswith("call 1: expected at most")


@pytest.mark.parametrize("words", ["tool-", "tool ", "not ", "cannot ", "only ", "no tool "])
def test_a_long_message_is_read_whole(tmp_path: Path, words: str) -> None:
    put(tmp_path, export(span(words * 40_000), span("Unknown tool: mask_sky", "mask_sky")))
    found = scan(tmp_path)

    # An expression that backtracks over all of it would take minutes with `tool-`.
    assert found.records["missing_capability"].drop_nulls().to_list() == ["mask_sky"]
    assert found.summary.records + found.summary.passed_over == 2


def test_a_broken_export_costs_no_other_line(tmp_path: Path) -> None:
    good = export(span("Unknown tool: mask_sky"), span())
    put(tmp_path, good, "", '{"resourceSpans": [', export(span("no such tool", "grain")), '{"resou')
    scanned = scan(tmp_path)

    assert scanned.records["missing_capability"].to_list() == ["mask_sky", "grain"]
    assert scanned.records["line"].to_list() == [1, 3]
    assert scanned.summary.passed_over == 1
    assert [detail.rpartition("the ")[2] for detail in scanned.rejects["detail"]] == [
        "document of line 3",
        "document of line 5",
    ]


def test_a_span_that_is_no_object_is_left_out(tmp_path: Path) -> None:
    put(tmp_path, export(7, span("Unknown tool: mask_sky")), export(7))

    assert scan(tmp_path).records["missing_capability"].to_list() == ["mask_sky"]


def test_a_report_tells_what_was_seen_from_what_was_asked_for(tmp_path: Path) -> None:
    calls = [
        span("Unknown tool: mask_sky", startTimeUnixNano=str(178 * 10**16 + n)) for n in (0, 10**9)
    ]
    asked = put(tmp_path, '{"description": "mask sky"}', name="vocabulary_gaps.jsonl").parent
    put(tmp_path, export(*calls))

    result = vocabgap("report", asked, "--out", tmp_path / "out", "--now", "last", "--evidence")

    assert result.code == 0, result.err
    ranked = pl.read_parquet(tmp_path / "out" / "capabilities.parquet")
    assert ranked.select("mentions", "seen").rows() == [(3, 2)]
    said = "Seen in traces or by hooks, not asked for: 2\n"
    assert said in (tmp_path / "out" / "evidence.md").read_text(encoding="utf-8")
    assert "Seen in traces or by hooks" in (tmp_path / "out" / "report.html").read_text(
        encoding="utf-8"
    )


def test_nothing_of_a_prompt_an_argument_or_a_result_comes_out_of_spans(tmp_path: Path) -> None:
    for number in range(3):
        secret = f"{CANARY}-{number}"
        private = [
            attribute("gen_ai.tool.call.arguments", secret),
            attribute("gen_ai.tool.call.result", secret),
            attribute("gen_ai.input.messages", secret),
        ]
        beside = {"events": [{"name": "exception", "attributes": private}], "links": [secret]}
        put(
            tmp_path,
            export(
                span(f"Unknown tool: mask_sky ({secret})", "mask_sky", *private, **beside),
                span("webp is not supported", "convert", *private, **beside),
                span("grain is not supported", "grain", *private, startTimeUnixNano=[], **beside),
                span("grain is \ud800 not supported", "grain", *private, **beside),
                span(secret, "convert", *private, **beside),
                span(None, "convert", *private, **beside),
            ),
            export(span()) + secret,
            name=f"otlp-{number}.jsonl",
        )

    message = [
        vocabgap("report", tmp_path / "desk", "--out", tmp_path / "out"),
        vocabgap("check", tmp_path / "desk"),
        vocabgap("list", tmp_path / "desk", "--limit", "0"),
    ]

    assert scan(tmp_path / "desk").summary.lines == 3 * 4
    written = [path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(written) > 5
    assert sum(CANARY.encode() in content for content in written) == 0
    assert sum(CANARY in each.out + each.err for each in message) == 0
