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
PARSE_ERROR = -32700
NO_MESSAGES = (
    b"{bad",
    b"\xff\xfe",
    b"[" * 100_000,
    b"[]",
    b'{"jsonrpc": "2.0", "id": 22, "method": 5}',
    *(
        b'{"jsonrpc": "2.0", "id": %b, "method": "ping"}' % each
        for each in (b"1.5", b"null", b"{}")
    ),
    b'{"jsonrpc": "2.0", "id": 23, "method": "ping", "params": {"a": "%b"}}' % (b"x" * (20 << 20)),
)


def answers_to(root: Path, lines: list[bytes]) -> list[dict[str, Any]]:
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
    return json.dumps(
        {"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": asked}
    ).encode()


@pytest.mark.slow
@pytest.mark.usefixtures("mcp_sdk")
def test_each_line_is_answered_before_the_server_ends_with_its_input(photos: Path) -> None:
    logged = call(1, "log_vocabulary_gap", image_id="heron", description="the last words")
    cancelled = {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": "3"},
    }
    asked = [logged, call(2, "report_gaps"), call(3, "report_gaps"), json.dumps(cancelled).encode()]

    answers = {}
    codes = []
    for answer in answers_to(photos, [*NO_MESSAGES, *asked]):
        if answer["id"] is None:
            codes.append(answer["error"]["code"])
        answers[answer["id"]] = answer

    assert answers[1]["result"]["structuredContent"]["success"] is True
    assert answers[2]["result"]["structuredContent"]["success"] is True
    assert 3 not in answers
    assert codes == [PARSE_ERROR] * len(NO_MESSAGES)
    assert b"the last words" in (photos / "heron" / "vocabulary_gaps.jsonl").read_bytes()
