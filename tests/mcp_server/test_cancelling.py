import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcp_server.calls import Connect, data_of
from vocabgap.pipeline import Analysis, analyse

if TYPE_CHECKING:
    from mcp import Client

pytestmark = pytest.mark.anyio
anyio = pytest.importorskip("anyio", reason="needs the extra `mcp`")
LONGEST = 20  # seconds that a test waits for what is to come


class Held:
    """An analysis that waits at its beginning until it is let go."""

    def __init__(self) -> None:
        self.begun, self.go_on, self.ended = threading.Event(), threading.Event(), threading.Event()
        self.finished = 0

    def __call__(self, root: Path, **named: Any) -> Analysis:  # noqa: ANN401 - handed on as it is
        self.begun.set()
        try:
            assert self.go_on.wait(LONGEST)
            analysis = analyse(root, **named)
            self.finished += 1
        finally:
            self.ended.set()
        return analysis


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    waiting = Held()
    monkeypatch.setattr("vocabgap.pipeline.analyse", waiting)
    return waiting


async def cancelled_while_held(client: "Client", held: Held) -> None:
    """Ask for a ranking, and stop waiting for it once it is being made."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "report_gaps", {})
        assert await anyio.to_thread.run_sync(held.begun.wait, LONGEST)
        tasks.cancel_scope.cancel()


async def test_work_that_nobody_waits_for_ends_at_its_next_stage(
    connect: Connect, photos: Path, held: Held
) -> None:
    async with connect(photos) as client:
        await cancelled_while_held(client, held)
        held.go_on.set()
        assert await anyio.to_thread.run_sync(held.ended.wait, LONGEST)
        assert held.finished == 0
        message = await data_of(client, "report_gaps")
    assert (message["capabilities"], held.finished) == (3, 1)


async def test_what_waits_for_its_turn_is_cancelled_at_once(
    connect: Connect, photos: Path, held: Held
) -> None:
    async with connect(photos) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "report_gaps", {})
        assert await anyio.to_thread.run_sync(held.begun.wait, LONGEST)
        with anyio.move_on_after(0.05) as waited:
            await client.call_tool("report_gaps", {"category": "tone"})
        assert waited.cancelled_caught
        held.go_on.set()
    assert held.finished == 1


async def test_rankings_that_are_asked_for_at_once_are_one(
    connect: Connect, photos: Path, held: Held
) -> None:
    totals: list[int] = []

    async def ask() -> None:
        totals.append((await data_of(client, "report_gaps", limit=1))["capabilities"])

    held.go_on.set()
    async with connect(photos) as client, anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(ask)
    assert totals == [3] * 20
    assert held.finished == 1
