"""How serving over standard input and output ends, where it does not end with the input."""

import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from vocabgap.doors.mcp.workspace import Workspace
from vocabgap.errors import StateError
from vocabgap.files.signals import STOPPING
from vocabgap.model.settings import Settings

Serve = Callable[[], None]


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in STOPPING}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def serve(photos: Path, mcp_sdk: None, monkeypatch: pytest.MonkeyPatch) -> Serve:  # noqa: ARG001 - skips without
    from vocabgap.doors.mcp.server import build, serve_stdio  # noqa: PLC0415 - needs the extra

    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO()))  # that of pytest cannot be closed
    server = build(Workspace(photos, Settings()))
    return lambda: serve_stdio(server)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch, mcp_sdk: None) -> Callable[[Exception], None]:  # noqa: ARG001
    """Lets the transport end with an error."""

    class Transport:
        def __init__(self, error: Exception) -> None:
            self.error = error

        async def __aenter__(self) -> None:
            raise ExceptionGroup("tasks", [ExceptionGroup("writers", [self.error])])

        async def __aexit__(self, *_: object) -> None:
            return None

    def end_with(error: Exception) -> None:
        monkeypatch.setattr("vocabgap.doors.mcp.server.stdio_server", lambda _: Transport(error))

    return end_with


def test_a_client_that_has_gone_ends_it_quietly(
    serve: Serve, failing: Callable[[Exception], None]
) -> None:
    failing(BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)))
    assert serve() is None  # type: ignore[func-returns-value]
    assert {signal.getsignal(number) for number in STOPPING} == {signal.SIG_DFL}


def test_output_that_the_system_does_not_take_is_told(
    serve: Serve, failing: Callable[[Exception], None]
) -> None:
    failing(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    with pytest.raises(StateError, match="output: No space left on device"):
        serve()


def test_a_bug_is_raised_by_its_name(serve: Serve, failing: Callable[[Exception], None]) -> None:
    failing(KeyError("wordings"))
    with pytest.raises(KeyError):
        serve()


def test_without_standard_input_there_is_nothing_to_serve(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(StateError, match="standard input is closed"):
        serve()
