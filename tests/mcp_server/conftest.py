"""Servers in memory, each with a client of the official SDK."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from builders import gap, three_needs
from mcp_server.calls import Connect
from vocabgap.model.settings import DecisionSettings, ReportSettings, Settings, VocabularySettings


@pytest.fixture
def anyio_backend() -> str:
    """The event loop that the server runs on."""
    return "asyncio"


@pytest.fixture
def connect(tmp_path: Path, mcp_sdk: None) -> Connect:  # noqa: ARG001
    """A client of a server whose root is given; its report and decisions are in the folder of the test."""
    from anyio.from_thread import check_cancelled  # noqa: PLC0415 - what the extra installs
    from mcp import Client  # noqa: PLC0415

    from vocabgap.doors.mcp.server import build  # noqa: PLC0415
    from vocabgap.doors.mcp.workspace import Workspace  # noqa: PLC0415

    def to(
        root: Path, *, mode: str = "legacy", read_only: bool = False, vocabulary: Path | None = None
    ) -> AbstractAsyncContextManager[Client]:
        settings = Settings(
            report=ReportSettings(out=str(tmp_path / "out")),
            decisions=DecisionSettings(file=str(tmp_path / "decisions.jsonl")),
            vocabulary=VocabularySettings(paths=() if vocabulary is None else (str(vocabulary),)),
        )
        return Client(
            build(Workspace(root, settings, check_cancelled), read_only=read_only), mode=mode
        )

    return to


@pytest.fixture(scope="session")
def mcp_sdk() -> None:
    """Skips the test where the official SDK is not installed."""
    pytest.importorskip("mcp_types", reason="needs the extra `mcp`: pip install 'vocabgap[mcp]'")


@pytest.fixture
def protocol_error(mcp_sdk: None) -> type[Any]:  # noqa: ARG001 - as above
    """What the client raises where the server answers with an error of the protocol."""
    from mcp.shared.exceptions import MCPError  # noqa: PLC0415

    return MCPError


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Four needs, in two sessions; one line is no record."""
    return three_needs(
        tmp_path, gap("dust removal", timestamp="2026-05-03T00:00:00Z", session_id="s-2")
    )


@pytest.fixture
def vocabulary(tmp_path: Path) -> Path:
    """A vocabulary of two entries."""
    path = tmp_path / "entries.jsonl"
    path.write_text(
        '{"name": "sky_mask", "description": "Select the sky"}\n'
        '{"name": "film_look", "description": "Colours of film"}\n',
        encoding="utf-8",
    )
    return path
