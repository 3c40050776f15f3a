"""Servers in processes of their own, as clients start them."""

import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_server.calls import found, refused
from vocabgap.settings.model import Settings

anyio = pytest.importorskip("anyio", reason="needs the extra `mcp`")
pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("_schemas_as_checked")]
Command = tuple[str, ...]
PATIENCE = 30  # seconds


@pytest.fixture
def command(mcp_sdk: None) -> Command:  # noqa: ARG001 - skips the test without the extra
    return (sys.executable, "-m", "vocabgap", "mcp")


@pytest.fixture
def over_http(command: Command, photos: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [*command, str(photos), "--http", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=photos.parent,
    ) as process:
        yield process
        process.kill()


def status_of(address: str, **headers: str) -> int:
    accepted = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    asked = urllib.request.Request(address, b"{}", {**accepted, **headers})  # noqa: S310 - this machine
    try:
        with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:  # noqa: S310 - as above
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


async def test_a_client_starts_a_server_and_works_with_it(
    command: Command, photos: Path, glossary: Path, vocabulary: Path, tmp_path: Path
) -> None:
    from mcp import Client, StdioServerParameters  # noqa: PLC0415 - what the extra installs
    from mcp.client.stdio import stdio_client  # noqa: PLC0415

    program, *arguments = command
    options = ["--glossary", str(glossary), "--vocabulary", str(vocabulary)]
    started = StdioServerParameters(
        command=program, args=[*arguments, str(photos), *options], env=dict(os.environ), cwd=photos.parent
    )
    words = tmp_path / "words"
    with words.open("w", encoding="utf-8") as errors:
        async with Client(stdio_client(started, errlog=errors)) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            async with anyio.create_task_group() as tasks:
                for number in range(100):
                    said = {"image_id": "fjord", "description": f"need number {number}\u202e"}
                    tasks.start_soon(client.call_tool, "log_vocabulary_gap", said)
            newest = await found(client, "list_gaps", match="need number", limit=1)
            logged = await found(client, "log_vocabulary_gap", image_id="heron", description="moon glow")
            listed = await found(client, "list_gaps", limit=1)
            similar = await found(client, "similar_gaps", text="mask of the sky")
            report = await found(client, "report_gaps")
            shown = await found(client, "show_capability", capability="sky mask")
            terms = await found(client, "check_terms", text="a lift")
            error = await refused(client, "report_gaps", limit="all")
            outside = await refused(client, "log_vocabulary_gap", image_id="../photos", description="x")
            with anyio.move_on_after(0.01):
                await client.call_tool("report_gaps", {"since": "2026-05-01"})
            prompt = await client.get_prompt("review_session_gaps", {})
            resources = (await client.list_resources()).resources
    assert len(names) == 8
    assert listed["gaps"][0]["gap_id"] == logged["gap_id"]
    assert "sky_mask" in {each["name"] for each in similar["similar"]}
    assert (report["total"], shown["capability"]["mentions"], terms["open"]) == (104, 2, 1)
    assert (error["code"], outside["code"]) == ("invalid_input", "invalid_input")
    assert newest["left_out"] == 99
    assert newest["gaps"][0]["description"].endswith("\\u202e")
    assert (len(prompt.messages), len(resources)) == (1, 3)
    assert words.read_text(encoding="utf-8") == ""


async def test_an_address_is_told_only_once_it_can_be_connected_to(mcp_sdk: None, photos: Path) -> None:  # noqa: ARG001 - skips
    from vocabgap.mcp.server import build  # noqa: PLC0415 - needs what the extra installs
    from vocabgap.mcp.serving import serve_http  # noqa: PLC0415
    from vocabgap.mcp.workspace import Workspace  # noqa: PLC0415

    def connect(address: str) -> None:
        told = urllib.parse.urlsplit(address)
        with socket.create_connection((told.hostname, told.port), timeout=PATIENCE):
            raise InterruptedError

    with pytest.raises(InterruptedError):
        serve_http(build(Workspace.at(photos, Settings())), 0, connect)


async def test_clients_of_this_machine_are_served_over_http(over_http: subprocess.Popen[str]) -> None:
    from mcp import Client  # noqa: PLC0415 - what the extra installs

    assert over_http.stderr is not None
    address = over_http.stderr.readline().split()[-1]
    assert address.startswith("http://127.0.0.1:")
    async with Client(address) as client:
        assert (await found(client, "report_gaps"))["total"] == 3
    assert status_of(address, Host="rebound.example") == 421
    assert status_of(address, Origin="http://page.example") == 403
    over_http.send_signal(signal.SIGTERM)
    out, err = over_http.communicate(timeout=PATIENCE)
    assert (over_http.returncode, out, err) == (143, "", "vocabgap: interrupted\n")
