"""A server in a process of its own, as clients start it."""

import os
import sys
from functools import partial
from pathlib import Path

import pytest

from mcp_server.calls import data_of, error_of

anyio = pytest.importorskip("anyio", reason="needs the extra `mcp`")
pytestmark = pytest.mark.anyio
Command = tuple[str, ...]


@pytest.fixture
def command(mcp_sdk: None) -> Command:  # noqa: ARG001 - skips the test without the extra
    return (sys.executable, "-m", "vocabgap", "mcp")


async def test_a_client_starts_a_server_and_works_with_it(
    command: Command, photos: Path, vocabulary: Path, tmp_path: Path
) -> None:
    from mcp import Client, StdioServerParameters  # noqa: PLC0415 - what the extra installs
    from mcp.client.stdio import stdio_client  # noqa: PLC0415

    program, *arguments = command
    options = ["--vocabulary", str(vocabulary)]
    started = StdioServerParameters(
        command=program,
        args=[*arguments, str(photos), *options],
        env=dict(os.environ),
        cwd=photos.parent,
    )
    words = tmp_path / "words"
    with words.open("w", encoding="utf-8") as errors:
        async with Client(stdio_client(started, errlog=errors)) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            async with anyio.create_task_group() as tasks:
                for number in range(100):
                    gap = {"image_id": "fjord", "description": f"need number {number}\u202e"}
                    tasks.start_soon(partial(data_of, client, "log_vocabulary_gap", **gap))
            newest = await data_of(client, "list_gaps", match="need number", limit=1)
            logged = await data_of(
                client, "log_vocabulary_gap", image_id="heron", description="moon glow"
            )
            listed = await data_of(client, "list_gaps", limit=1)
            report = await data_of(client, "report_gaps")
            shown = await data_of(client, "show_capability", capability="sky mask")
            error = await error_of(client, "report_gaps", limit="all")
            outside = await error_of(
                client, "log_vocabulary_gap", image_id="../photos", description="x"
            )
            with anyio.move_on_after(0.01):
                await client.call_tool("report_gaps", {"since": "2026-05-01"})
    assert {"log_vocabulary_gap", "report_gaps"} < names
    assert listed["gap"][0]["record_id"] == logged["gap_id"]
    assert (report["capabilities"], shown["capability"]["mentions"]) == (104, 2)
    assert (error["code"], outside["code"]) == ("invalid_input", "invalid_input")
    assert newest["left_out"] == 99
    assert newest["gap"][0]["description"].endswith("\\u202e")
    assert words.read_text(encoding="utf-8") == ""
