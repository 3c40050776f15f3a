import csv
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders.command import vocabgap
from vocabgap.ingest.scanning import scan
from vocabgap.model.loading import load_settings
from vocabgap.model.record import LOG_NAME

Json = dict[str, Any]

EXPORT: Final = "posthog-export.jsonl"
HERMES: Final = "affordance_gaps.jsonl"
AFFORDANCE: Final[Json] = {
    "missing_capability": "write access to the board",
    "goal": "post a summary",
}
OWN: Final = """
[source.wishes]
glob = "wishes-*.ndjson"
where."kind/of" = ["wish", "gap"]
fields = { description = ["text.long", "text.short"], session_id = "/run.id" }
constants.intent_category = "tools"
"""
WISH: Final[Json] = {"kind/of": "wish", "text": {"short": "rename a branch"}, "run.id": "r-1"}
CLICK: Final[Json] = {"kind/of": "click"}


def put(workspace: Path, name: str, *lines: Mapping[str, object] | bytes) -> Path:
    """Write a file of the workspace, one object per line; bytes stay as they are."""
    path = workspace / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        b"".join(line if isinstance(line, bytes) else as_bytes(line) for line in lines)
    )
    return path


def configure(tmp_path: Path, text: str) -> Path:
    """Write a settings file."""
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    return tmp_path / "mine.toml"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command runs in a folder of its own, wide enough that no cell is wrapped."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")


def as_bytes(value: Mapping[str, object]) -> bytes:
    return json.dumps(value).encode() + b"\n"


def event(intent: str | None = "merge two calendars", **fields: object) -> Json:
    said = {
        "$mcp_intent": intent,
        "$session_id": "s-7",
        "$mcp_client_name": "desk-client",
        "$lib": "mcp",
    }
    named = {"event": "$mcp_missing_capability", "uuid": "0196-a", "distinct_id": "p-1"}
    return {**named, "timestamp": "2026-04-01T10:00:00.250Z", "properties": said, **fields}


def only(frame: pl.DataFrame, *columns: str) -> tuple[Any, ...]:
    assert frame.height == 1
    return frame.select(columns).row(0)


events = st.sampled_from(
    [event(), event("turn a page"), event(event="click"), event(intent=" "), {}]
)
blanks_and_bad_lines = st.sampled_from(
    [b'{"event":1}\r\n', b"\n", b" \r\n", b"{\n", b"null\n", b"\xff\n"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(events.map(as_bytes) | blanks_and_bad_lines, max_size=8))
def test_every_line_is_blank_passed_over_or_in_the_account(
    workspace: Path, lines: list[bytes]
) -> None:
    found = scan(put(workspace, EXPORT, *lines))

    account = found.summary
    assert (
        account.lines == account.records + account.duplicates + account.superseded + account.rejects
    )
    assert account.lines + account.passed_over == sum(1 for line in lines if line.strip())
    assert only(found.files, "lines", "passed_over") == (account.lines, account.passed_over)


def test_ones_own_stands_beside_the_shipped_ones(workspace: Path, tmp_path: Path) -> None:
    put(workspace, f"a/{LOG_NAME}", {"description": "soft reeds"})
    put(
        workspace,
        "b/wishes-1.ndjson",
        WISH,
        {**WISH, "text": {"short": "no", "long": "tag a release"}},
        CLICK,
    )

    found = scan(workspace, sources=load_settings(configure(tmp_path, OWN)).sources)

    assert found.records.select("description", "session_id", "intent_category").rows() == [
        ("soft reeds", None, "uncategorized"),
        ("rename a branch", "r-1", "tools"),
        ("tag a release", "r-1", "tools"),
    ]
    assert found.summary.passed_over == 1


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (
            '[source.posthog]\nglob = "events.ndjson"',
            [(HERMES, "hermes"), ("events.ndjson", "posthog"), (EXPORT, "posthog")],
        ),
        (
            "[source.posthog]\nenabled = false\n[source.kernel]\nenabled = false",
            [(HERMES, "hermes")],
        ),
        (
            f'[source.mine]\nglob = "{HERMES}"',
            [(HERMES, "mine"), ("events.ndjson", "posthog"), (EXPORT, "posthog")],
        ),
    ],
    ids=["another name", "switched off", "one's own first"],
)
def test_a_shipped_source_may_be_changed(
    own: str, expected: list[tuple[str, str]], workspace: Path, tmp_path: Path
) -> None:
    for name in (HERMES, EXPORT, "events.ndjson"):
        put(workspace, name, AFFORDANCE if name == HERMES else event())

    found = scan(workspace, sources=load_settings(configure(tmp_path, own)).sources)

    assert found.files.select("source_path", "source").rows() == expected
    assert found.summary.lines == len(expected)


@pytest.mark.parametrize(
    "name", [b"posthog-\xff.jsonl", b"posthog-a\nb.jsonl", b"posthog-\x1b[31m.jsonl"]
)
def test_an_odd_name_is_shown_on_one_line(name: bytes, workspace: Path) -> None:
    put(workspace, EXPORT, event(), b"{\n").rename(
        workspace / name.decode("utf-8", "surrogateescape")
    )

    code, out, _ = vocabgap("check", workspace)

    assert (code, len(out.splitlines())) == (2, 2)
    assert all(map(str.isprintable, out.splitlines()))


REFLECTION: Final[Json] = {
    "session_id": "h-4",
    "prompt": {"preview": "plan the hedge"},
    "outcome": {"failed": True, "final_response_preview": "could not"},
    "tools": {"unique": ["search"], "failed": 1},
    "gap_signals": ["hedge_planner", "soil_probe"],
    "evidence": ["no planner"],
}
LEARNED: Final[Json] = {
    "capability": "hedge planner", "category": "missing_affordance", "evidence": "none", "count": 4,
}  # fmt: skip
NOTED: Final = {"kind": "wish", "content": "print the plan", "chat_id": "c-1", "project_id": "p-1"}
ASKED: Final = {
    "feedback_category": "missing_tool",
    "feedback_summary": "prune by voice",
    "$session_id": "s-2",
}


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        (
            HERMES,
            REFLECTION,
            [("hedge_planner", "no planner", "h-4"), ("soil_probe", "no planner", "h-4")],
        ),
        (HERMES, {**REFLECTION, "gap_signals": ["reflection"]}, []),
        (HERMES, LEARNED, [("hedge planner", "none", None)]),
        (HERMES, {**LEARNED, "category": "incorrect_usage"}, []),
        ("tool_requests.jsonl", NOTED, [(None, "print the plan", "c-1")]),
        (
            "tool_requests.jsonl",
            {**NOTED, "suggested_capability": "a printer"},
            [("a printer", "print the plan", "c-1")],
        ),
        (
            "kernel-1.jsonl",
            {"event": "mcp_feedback_submitted", "properties": ASKED},
            [("prune by voice", None, "s-2")],
        ),
        (
            EXPORT,
            {"event": "mcp feedback submitted", "properties": ASKED},
            [("prune by voice", None, "s-2")],
        ),
        (
            EXPORT,
            {
                "event": "mcp_tool_call",
                "properties": {"tool_name": "get_more_tools", "user_intent": "a rake"},
            },
            [(None, "a rake", None)],
        ),
    ],
)
def test_a_writer_is_read_as_its_code_writes(
    name: str, line: Json, expected: list[tuple[str | None, ...]], workspace: Path
) -> None:
    found = scan(put(workspace, f"desk/{name}", line)).records

    assert found.select("missing_capability", "description", "session_id").rows() == expected
    assert set(found["count"]) <= {1}


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("tool-feedback.jsonl", {"ideal_capability": 41}, {"ideal_capability": "a rake"}),
        (
            "gh-issues.json",
            {"number": 1, "title": 7, "createdAt": "2026-01-01"},
            {"number": 2, "title": "a rake", "createdAt": "2026-01-01"},
        ),
    ],
)
def test_a_number_in_place_of_a_need_is_one_reject(
    name: str, wrong: Json, right: Json, workspace: Path
) -> None:
    lines = [wrong, right] if name.endswith("l") else [json.dumps([wrong, right]).encode()]
    found = scan(put(workspace, name, *lines))

    assert found.rejects["reason"].to_list() == ["wrong_type"]
    assert found.records["missing_capability"].to_list() == ["a rake"]


@pytest.mark.parametrize(("key", "rejects"), [("why", 0), ("mood", 1)])
def test_half_an_emoji_does_harm_only_in_a_field(key: str, rejects: int, workspace: Path) -> None:
    path = put(workspace, "notes.json", rb'[{"why": "a hoe", "mood": "\ud83d"}]')

    assert "the keys of its 1 object are why" in vocabgap("check", path).err
    assert f" + {rejects} reject" in vocabgap("check", path, "--map", f"description={key}").out


def test_the_proposals_of_a_pipeline_name_the_tool_that_the_executed_items_lack(
    workspace: Path,
) -> None:
    proposed = {"name": "missing-tool", "tool_name": "hoe", "context": "weeds"}
    put(workspace, "agent_outputs_81/staging/safe_outputs.ndjson", proposed, {"name": "noop"})
    put(
        workspace,
        "done_81/safe-outputs-executed.ndjson",
        {"name": "missing-tool", "context": "weeds"},
    )
    put(
        workspace,
        "done_82/agent/safe-outputs-executed.ndjson",
        {"name": "missing-tool", "context": "moss"},
    )
    found = scan(workspace)

    columns = ("missing_capability", "description", "session_id", "image_id")
    assert found.records.select(columns).rows() == [
        ("hoe", "weeds", "81", "81"),
        (None, "moss", "agent", "agent"),
    ]
    assert found.files.filter(pl.col("repeats").is_not_null())["source_path"].to_list() == [
        "done_81/safe-outputs-executed.ndjson"
    ]


def test_the_name_of_a_rollout_holds_its_session(workspace: Path) -> None:
    session = "0199c0de-0000-7000-8000-00000000beef"
    payload = {
        "type": "function_call_output",
        "call_id": "call_7",
        "output": "unsupported call: dig",
    }
    line = {"timestamp": "2026-04-02T09:00:00Z", "type": "response_item", "payload": payload}
    records = scan(put(workspace, f"02/rollout-2026-04-02T09-00-00-{session}.jsonl", line)).records

    message = only(records, "missing_capability", "session_id", "notes")
    assert message == ("dig", session, "call call_7 of an unknown tool")


AT: Final = "2026-06-01T10:00:00Z"
EVENTS: Final[list[Json]] = [
    {"event": "$mcp_unknown_tool", "timestamp": AT, "properties": {"$mcp_tool_name": "rake"}},
    {"event": "$pageview", "timestamp": AT, "properties": {}},
]
FLAT: Final = [
    [one["event"], one["timestamp"], one["properties"].get("$mcp_tool_name")] for one in EVENTS
]
TEXTS: Final = [[one["event"], one["timestamp"], json.dumps(one["properties"])] for one in EVENTS]
COLUMNS: Final = ["event", "timestamp", "properties"]


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        (COLUMNS, TEXTS),
        (["*.event", "*.timestamp", "*.properties.$mcp_tool_name"], FLAT),
        (["event", "timestamp", "properties.$mcp_tool_name"], FLAT),
        (["*"], [[json.dumps(one)] for one in EVENTS]),
    ],
)
def test_every_export_of_posthog_is_read_without_options(
    columns: list[str], rows: list[list[str]], workspace: Path
) -> None:
    objects = put(workspace, "events.jsonl", *EVENTS)
    texts = put(workspace, "texts.jsonl", *(dict(zip(COLUMNS, row, strict=True)) for row in TEXTS))
    table, answer = workspace / "events.csv", workspace / "query.json"
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *rows])
    answer.write_text(json.dumps({"columns": columns, "hasMore": False, "results": rows}, indent=1))

    for path in (objects, texts, table, answer):
        scanned = scan(path)
        (found,) = scanned.records.select("missing_capability", "timestamp").rows()
        assert found == ("rake", datetime(2026, 6, 1, 10, tzinfo=UTC))
        assert (scanned.summary.passed_over, scanned.files["source"].to_list()) == (1, ["posthog"])
