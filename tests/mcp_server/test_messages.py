"""What becomes of lines that are no message, and of requests that are at work when the input ends."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 60  # seconds
VERSION = "2025-06-18"
OPENING = [
    {
        "jsonrpc": "2.0",
        "id": "first",
        "method": "initialize",
        "params": {
            "protocolVersion": VERSION,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]
PARSE_ERROR, INVALID_REQUEST = -32700, -32600
# Each line with the identifier and the code of its answer; none where there is to be no answer.
LINES = [
    (b"{bad", (None, PARSE_ERROR)),
    (b"\xff\xfe", (None, PARSE_ERROR)),
    (b"[" * 100_000, (None, PARSE_ERROR)),
    (b"[]", (None, INVALID_REQUEST)),
    (b"null", (None, INVALID_REQUEST)),
    (b'{"jsonrpc": "2.0", "id": 99}', (99, INVALID_REQUEST)),
    (b'{"id": true}', (None, INVALID_REQUEST)),
    (b'{"jsonrpc": "2.0", "id": "cut", "method": "ping", "params": {"x": "\\ud83d"}}', ("cut", PARSE_ERROR)),
    (b'{"jsonrpc": "2.0", "id": "\\ud83d", "method": "ping"}', (None, PARSE_ERROR)),
    (b'"ping"', (None, INVALID_REQUEST)),
    (b'{"jsonrpc": "2.0", "id": 20, "method": "ping", "params": []}', (20, INVALID_REQUEST)),
    (b'{"jsonrpc": "2.0", "id": 21, "method": "ping", "params": "x"}', (21, INVALID_REQUEST)),
    (b'{"jsonrpc": "2.0", "id": 22, "method": 5}', (22, INVALID_REQUEST)),
    (b'{"jsonrpc": "1.0", "id": 23, "method": "ping"}', (23, INVALID_REQUEST)),
    (b'{"jsonrpc": "1.0", "id": 24, "method": "x", "result": {}, "error": {}}', (24, INVALID_REQUEST)),
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', (None, INVALID_REQUEST)),
    (b'{"jsonrpc": "2.0", "id": 2.5, "method": "ping"}', (None, INVALID_REQUEST)),
    (b'{"jsonrpc": "2.0", "id": [], "method": "ping"}', (None, INVALID_REQUEST)),
    (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', (None, INVALID_REQUEST)),
    (b'[{"jsonrpc": "2.0", "id": 25, "method": "ping"}, 1, {"id": "26"}]', (25, INVALID_REQUEST)),
    (b"[1]", (None, INVALID_REQUEST)),
    (b'{"method": "no request"}', None),
    (b'{"jsonrpc": "2.0", "id": 27, "result": {}}', None),
    (b"", None),
]


def told(root: Path, lines: list[bytes]) -> list[dict[str, Any]]:
    """What a server says to some lines that are piped into it, once it has ended by itself."""
    opening = [json.dumps(each).encode() for each in OPENING]
    done = subprocess.run(
        [sys.executable, "-m", "vocabgap", "mcp", root],
        input=b"".join(line + b"\n" for line in [*opening, *lines]),
        capture_output=True,
        timeout=PATIENCE,
        check=True,
        cwd=root.parent,
    )
    assert done.stderr == b""
    return [json.loads(line) for line in done.stdout.splitlines()]


def call(identifier: int, tool: str, **arguments: str) -> bytes:
    asked = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": asked}).encode()


@pytest.mark.slow
@pytest.mark.usefixtures("mcp_sdk")
def test_a_line_that_is_no_message_is_answered(photos: Path) -> None:
    answers = told(photos, [line for line, _ in LINES] + [b'{"jsonrpc": "2.0", "id": 7, "method": "ping"}'])

    assert {"jsonrpc": "2.0", "id": 7, "result": {}} in answers
    refused = [(each["id"], each["error"]["code"]) for each in answers if "error" in each]
    assert refused.pop(refused.index(("26", INVALID_REQUEST))) != refused[-1]  # the other one of its batch
    assert refused == [expected for _, expected in LINES if expected is not None]


@pytest.mark.slow
@pytest.mark.usefixtures("mcp_sdk")
def test_what_was_asked_before_the_input_ends_is_answered(photos: Path) -> None:
    logged = call(1, "log_vocabulary_gap", image_id="heron", description="the last words")
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "3"}}
    lines = [logged, call(2, "report_gaps"), call(3, "report_gaps"), json.dumps(cancelled).encode()]

    answers = {each["id"]: each for each in told(photos, lines)}

    assert answers[1]["result"]["structuredContent"]["success"] is True
    assert answers[2]["result"]["structuredContent"]["success"] is True
    assert 3 not in answers
    assert b"the last words" in (photos / "heron" / "vocabulary_gaps.jsonl").read_bytes()


@pytest.mark.slow
@pytest.mark.usefixtures("mcp_sdk")
def test_an_identifier_that_is_used_twice_has_two_answers(photos: Path) -> None:
    answers = told(photos, [call(1, "report_gaps"), call(1, "list_gaps")])

    assert [each["id"] for each in answers] == ["first", 1, 1]
