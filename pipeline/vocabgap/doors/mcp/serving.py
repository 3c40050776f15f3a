"""Serving one client over standard input and output."""

import signal
import sys
from collections import Counter
from typing import Any, Final, Self

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage
from mcp_types import (
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from vocabgap.errors import StateError, system_error
from vocabgap.files.signals import STOPPING

_CANCELLED: Final = "notifications/cancelled"
_NO_MESSAGE: Final = "expected a message of JSON-RPC 2.0 on one line; batches are not supported"


def serve_stdio(server: Server[Any]) -> None:
    """Serve one client over standard input and output, until it closes the input or reads no more."""
    if sys.stdin is None:
        raise StateError(
            "there is no standard input to serve", hint="MCP clients start this command themselves"
        )
    # A thread waits for standard input; only the end of the input wakes it. Logs are written in whole lines,
    # so a signal may end the process at any moment.
    for number in STOPPING:
        signal.signal(number, signal.SIG_DFL)
    try:
        anyio.run(_over_stdio, server)
    except ExceptionGroup as failed:
        error = _first(failed)
        if not isinstance(error, OSError):
            raise error from failed
        if not isinstance(error, BrokenPipeError):  # the client has gone
            raise system_error(error) from failed


async def _over_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing):
        unanswered = _Unanswered()
        answers = _Outgoing(outgoing, unanswered)
        requests = _Incoming(incoming, answers, unanswered)
        await server.run(requests, answers, server.create_initialization_options())


def _first(failed: ExceptionGroup[Exception]) -> Exception:
    """Return the first error of a group, however deep it lies."""
    error = failed.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error


class _Unanswered:
    """The requests that still need an answer.

    The SDK drops running requests when the input ends. With piped requests it ends at once: a gap would be
    logged, and the client would not learn of it.
    """

    def __init__(self) -> None:
        self._identifiers = Counter[str | int]()  # a client may use one twice and waits for two answers
        self._changed = anyio.Event()

    def add(self, identifier: str | int) -> None:
        """Note a request."""
        self._identifiers[coerce_request_id(identifier)] += 1

    def drop(self, identifier: str | int | None) -> None:
        """Forget a request that was answered or cancelled."""
        if identifier is not None:
            self._identifiers -= Counter([coerce_request_id(identifier)])
        self._changed.set()
        self._changed = anyio.Event()

    async def wait(self) -> None:
        """Wait until every request has its answer."""
        while self._identifiers:
            await self._changed.wait()


class _Stream:
    """A stream of the transport that closes with its context."""

    def __init__(self, stream: Any, unanswered: _Unanswered) -> None:  # noqa: ANN401 - the SDK's own
        self._stream = stream
        self._unanswered = unanswered

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class _Outgoing(_Stream):
    """The messages to the client."""

    async def send(self, item: SessionMessage, /) -> None:
        await self._stream.send(item)
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._unanswered.drop(item.message.id)


class _Incoming(_Stream):
    """The messages from the client. A line that is no message is answered with an error."""

    def __init__(self, stream: Any, outgoing: _Outgoing, unanswered: _Unanswered) -> None:  # noqa: ANN401
        super().__init__(stream, unanswered)
        self._outgoing = outgoing

    @property
    def last_context(self) -> Any:  # noqa: ANN401 - the SDK's own
        """The context of the last message."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage:
        """Return the next message; raise EndOfStream once every request has its answer."""
        while True:
            try:
                item = await self._stream.receive()
            except anyio.EndOfStream:
                await self._unanswered.wait()
                raise
            if isinstance(item, SessionMessage):
                self._note(item.message)
                return item
            error = ErrorData(code=PARSE_ERROR, message=_NO_MESSAGE)
            await self._outgoing.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=error)))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    def _note(self, message: object) -> None:
        if isinstance(message, JSONRPCRequest):
            self._unanswered.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == _CANCELLED:
            identifier = (message.params or {}).get("requestId")
            self._unanswered.drop(identifier if isinstance(identifier, str | int) else None)
