import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from builders.command import vocabgap

needs_sdk = pytest.mark.skipif(find_spec("mcp_types") is None, reason="needs the extra `mcp`")


def test_without_the_sdk_it_is_told_what_to_install(
    photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vocabgap.doors.mcp.server", None)
    result = vocabgap("mcp", photos)
    assert (result.code, result.out) == (4, "")
    assert result.err.startswith("vocabgap: the MCP server needs the package mcp: ")
    assert result.err.endswith("\n  pip install 'vocabgap[mcp]'\n")


@needs_sdk
def test_a_root_that_does_not_exist_is_told_before_anything_is_served() -> None:
    result = vocabgap("mcp", "nowhere")
    assert (result.code, result.out) == (3, "")
    assert "root 'nowhere' does not exist" in result.err


@needs_sdk
@pytest.mark.parametrize(
    ("roots", "code", "why"),
    [
        ('["gone"]', 3, "root 'gone' does not exist"),
        ('["photos", "gone"]', 2, "has 2 folders, but a server needs one"),
    ],
)
def test_the_root_may_be_that_of_the_settings(
    tmp_path: Path, roots: str, code: int, why: str
) -> None:
    (tmp_path / "vocabgap.toml").write_text(f"[ingest]\nroots = {roots}\n")

    result = vocabgap("mcp")

    assert (result.code, why in result.err) == (code, True)
