"""Servers in processes of their own, as clients start them."""

import json
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
from vocabgap.model.settings import Settings

anyio = pytest.importorskip("anyio", reason="needs the extra `mcp`")
pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("_schemas_as_checked")]
Command = tuple[str, ...]
PATIENCE = 30  # seconds


@pytest.fixture
def command(mcp_sdk: None) -> Command:  # noqa: ARG001 - skips the test without the extra
    return (sys.executable, "-m", "vocabgap", "mcp")


def started(command: Command, photos: Path, **environment: str) -> subprocess.Popen[str]:
    """A server over HTTP, on a free port."""
    return subprocess.Popen(
        [*command, str(photos), "--http", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=photos.parent,
        env={**os.environ, **environment},
    )


@pytest.fixture
def over_http(command: Command, photos: Path) -> Iterator[subprocess.Popen[str]]:
    with started(command, photos) as process:
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
        serve_http(build(Workspace.at(photos, Settings())), 0, "a token", connect)


def told_by(process: subprocess.Popen[str]) -> tuple[str, str]:
    """The address of a server, and its token."""
    assert process.stderr is not None
    address, token = (process.stderr.readline().split()[-1] for _ in range(2))
    assert address.startswith("http://127.0.0.1:")
    return address, token


async def test_clients_of_this_machine_are_served_over_http(over_http: subprocess.Popen[str]) -> None:
    import httpx2  # noqa: PLC0415 - what the extra installs
    from mcp import Client  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    address, token = told_by(over_http)
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        assert (await found(client, "report_gaps"))["total"] == 3
    over_http.send_signal(signal.SIGTERM)
    out, err = over_http.communicate(timeout=PATIENCE)
    assert (over_http.returncode, out, err) == (143, "", "vocabgap: interrupted\n")


async def test_over_http_a_session_is_a_digest_of_the_connections(
    over_http: subprocess.Popen[str], photos: Path
) -> None:
    import httpx2  # noqa: PLC0415 - what the extra installs
    from mcp import Client  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    address, token = told_by(over_http)
    identifiers = set[str | None]()

    async def note(answer: httpx2.Response) -> None:
        identifiers.add(answer.headers.get("mcp-session-id"))

    hooks = {"response": [note]}
    headers = {"Authorization": f"Bearer {token}"}
    for _ in range(2):
        async with (
            httpx2.AsyncClient(headers=headers, timeout=PATIENCE, event_hooks=hooks) as http,
            Client(streamable_http_client(address, http_client=http), mode="legacy") as client,
        ):
            for need in ("sky mask", "grain"):
                await found(client, "log_vocabulary_gap", image_id="heron", description=need)
    log = (photos / "heron" / "vocabulary_gaps.jsonl").read_text(encoding="utf-8")
    sessions = [json.loads(line)["session_id"] for line in log.splitlines()[-4:]]
    assert sessions[0] == sessions[1] != sessions[2] == sessions[3]
    assert len(identifiers - {None}) == 2
    assert not any(each in log for each in identifiers if each)


async def test_who_is_let_in_over_http(over_http: subprocess.Popen[str]) -> None:
    address, token = told_by(over_http)
    own = {"Authorization": f"Bearer {token}"}
    port = urllib.parse.urlsplit(address).port

    assert status_of(address) == 401
    for wrong in ("Bearer", "Bearer ", f"Bearer {token}x", f"Basic {token}", token, "Bearer \u00e9"):
        assert status_of(address, Authorization=wrong) == 401
    assert status_of(address, **own) == 400
    assert status_of(address, **own, Host=f"localhost:{port}", Origin=f"http://127.0.0.1:{port}") == 400
    for host in ("rebound.example", f"127.0.0.1:{port}0", "127.0.0.1", f"127.0.0.1:{port}@x"):
        assert status_of(address, **own, Host=host) == 421
    for origin in ("http://page.example", "null", f"https://127.0.0.1:{port}", "http://127.0.0.1:1"):
        assert status_of(address, **own, Origin=origin) == 403


@pytest.mark.parametrize(("token", "expected"), [("t" * 15, 2), ("with a space in it", 2), ("t" * 16, 143)])
async def test_a_token_can_be_chosen_and_is_not_told(
    command: Command, photos: Path, token: str, expected: int
) -> None:
    with started(command, photos, VOCABGAP_MCP_TOKEN=token) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        if expected == 143:
            assert status_of(said.split()[-1], Authorization=f"bearer {token}") == 400
            process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=PATIENCE)
    assert process.returncode == expected
    assert token not in said + rest


async def test_every_request_over_http_has_an_answer_with_its_identifier(
    over_http: subprocess.Popen[str],
) -> None:
    address, token = told_by(over_http)
    for body, code in (
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping"}', -32600),  # without a session
        (b'{"jsonrpc": "2.0", "id": 7, "method": 5}', -32600),
        (b'{"jsonrpc": "1.0", "id": 7, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": []}', -32600),
    ):
        assert answer_of(address, token, body) == (7, code)
        assert answer_of(address, token, body, **{"Mcp-Session-Id": "unknown"})[0] == 7
        assert answer_of(address, token, body, **{"MCP-Protocol-Version": "2026-07-28"})[0] == 7
    for body, code in (
        (b"{bad", -32700),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        (b"[]", -32600),
    ):
        assert answer_of(address, token, body) == (None, code)


def answer_of(address: str, token: str, body: bytes, **headers: str) -> tuple[object, int]:
    """The identifier and the code of an error that a request is answered with."""
    accepted = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    own = {"Authorization": f"Bearer {token}", **accepted, **headers}
    asked = urllib.request.Request(address, body, own)  # noqa: S310 - this machine
    with pytest.raises(urllib.error.HTTPError) as refused_:
        urllib.request.urlopen(asked, timeout=PATIENCE)  # noqa: S310 - as above
    with refused_.value as error:
        answer = json.loads(error.read())
    return answer["id"], answer["error"]["code"]
