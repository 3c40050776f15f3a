import json
import socket
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from builders.command import vocabgap

needs_sdk = pytest.mark.skipif(find_spec("mcp_types") is None, reason="needs the extra `mcp`")


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_without_the_sdk_it_is_told_what_to_install(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    told = vocabgap("mcp", photos)
    assert (told.code, told.out) == (4, "")
    assert told.err.splitlines() == [
        "vocabgap: the MCP server needs mcp, which is not installed",
        "  pip install 'vocabgap[mcp]'",
    ]


@needs_sdk
def test_a_root_that_does_not_exist_is_told_before_anything_is_served() -> None:
    told = vocabgap("mcp", "nowhere")
    assert (told.code, told.out) == (3, "")
    assert "root 'nowhere' does not exist" in told.err


@needs_sdk
def test_a_port_that_is_taken_is_told(photos: Path, taken_port: int) -> None:
    told = vocabgap("--json", "mcp", photos, "--http", str(taken_port))
    assert told.code == 4
    assert f"port {taken_port} cannot be listened on" in json.loads(told.out)["message"]


@pytest.mark.parametrize("port", ["-1", "65536", "0.0.0.0:80", "http"])
def test_a_port_is_a_number(photos: Path, port: str) -> None:
    told = vocabgap("mcp", photos, "--http", port)
    assert told.code == 2
    assert "--http" in told.err


def test_settings_are_checked(photos: Path) -> None:
    told = vocabgap("mcp", photos, "--out", "")
    assert told.code == 2
    assert "--out" in told.err


@needs_sdk
@pytest.mark.parametrize(
    ("roots", "code", "why"),
    [
        ('["gone"]', 3, "root 'gone' does not exist"),
        ('["photos", "gone"]', 2, "names 2 folders, and a server has one"),
    ],
)
def test_the_root_may_be_that_of_the_settings(tmp_path: Path, roots: str, code: int, why: str) -> None:
    (tmp_path / "vocabgap.toml").write_text(f"[ingest]\nroots = {roots}\n")

    told = vocabgap("mcp")

    assert (told.code, why in told.err) == (code, True)
