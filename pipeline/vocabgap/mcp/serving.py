"""Serving: over standard input and output, or over HTTP on this machine alone."""

import json
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any, Final, Self

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)
from pydantic import ValidationError

from vocabgap.errors import StateError, system_error
from vocabgap.files.refusals import refusal
from vocabgap.files.signals import STOPPING

LOOPBACK: Final = "127.0.0.1"
PATH: Final = "/mcp"
_LONGEST_GOODBYE: Final = 2  # seconds that connections have to end, once the server is to stop
_NO_JSON: Final = "a message is one line of JSON"
_NO_MESSAGE: Final = "this is JSON, but no message of JSON-RPC 2.0"
_HALVED: Final = "a text holds half of a surrogate pair, as one has that was cut in the middle of a character"
_CANCELLED: Final = "notifications/cancelled"


def serve_stdio(server: Server[Any]) -> None:
    """Serve one client over standard input and output, until it closes the input or reads no more."""
    if sys.stdin is None:
        raise StateError(
            "there is no standard input to serve", hint="MCP clients start this command themselves"
        )
    # Standard input is waited for in a thread, which nothing but its end can wake. Every line of a log is
    # written whole, so that the system may end the process at any moment.
    for number in STOPPING:
        signal.signal(number, signal.SIG_DFL)
    try:
        anyio.run(_over_stdio, server)
    except ExceptionGroup as failed:
        refused = _first(failed)
        if not isinstance(refused, OSError):
            raise refused from failed
        if not isinstance(refused, BrokenPipeError):  # which says that the client has gone
            raise system_error(refused) from failed


def serve_http(server: Server[Any], port: int, on_listening: Callable[[str], None]) -> None:
    """Serve clients of this machine over HTTP, until a signal comes; port 0 is one that is free."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
            listener.listen()  # whoever reads the address may connect at once
        except OSError as error:
            hint = "name another one, from 1024 on, with --http"
            raise refusal(f"port {port} cannot be listened on", error, hint=hint) from error
        on_listening(f"http://{LOOPBACK}:{listener.getsockname()[1]}{PATH}")
        # The app refuses requests whose Host or Origin is not of this machine: a page in a browser is one.
        app = server.streamable_http_app(streamable_http_path=PATH, host=LOOPBACK)
        configuration = uvicorn.Config(
            app, log_config=None, access_log=False, timeout_graceful_shutdown=_LONGEST_GOODBYE
        )
        anyio.run(uvicorn.Server(configuration).serve, [listener])


async def _over_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing):
        unanswered = _Unanswered()
        answers = _Outgoing(outgoing, unanswered)
        requests = _Incoming(incoming, answers, unanswered)
        await server.run(requests, answers, server.create_initialization_options())


def _first(failed: ExceptionGroup[Exception]) -> Exception:
    """The first error of a group, however deep it lies."""
    error = failed.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error


class _Unanswered:
    """The requests that were read, and have no answer yet.

    The SDK drops what is still at work when the input ends, as it does at once where requests are piped in:
    what was to be logged then would be, and nobody would learn it.
    """

    def __init__(self) -> None:
        self._identifiers: set[str | int] = set()
        self._changed = anyio.Event()

    def add(self, identifier: str | int) -> None:
        self._identifiers.add(identifier)

    def drop(self, identifier: str | int | None) -> None:
        """Forget one that was answered, or that nobody waits for any more."""
        self._identifiers.discard(identifier)
        self._changed.set()
        self._changed = anyio.Event()

    async def wait(self) -> None:
        """Wait until there is none."""
        while self._identifiers:
            await self._changed.wait()


class _Stream:
    """A stream of the transport, closed with its context."""

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
    """What goes to a client."""

    async def send(self, item: SessionMessage, /) -> None:
        await self._stream.send(item)
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._unanswered.drop(item.message.id)


class _Incoming(_Stream):
    """What a client sends, as far as it can be read; the rest is answered with an error.

    The stream gives messages, and an exception for each line that is none.
    """

    def __init__(self, stream: Any, outgoing: _Outgoing, unanswered: _Unanswered) -> None:  # noqa: ANN401 - the SDK's own
        super().__init__(stream, unanswered)
        self._outgoing = outgoing

    @property
    def last_context(self) -> Any:  # noqa: ANN401 - the SDK's own
        """The context that the last message was sent in."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage:
        """The next message; the stream ends once everything that was read has an answer."""
        while True:
            try:
                item = await self._stream.receive()
            except anyio.EndOfStream:
                await self._unanswered.wait()
                raise
            if isinstance(item, SessionMessage):
                self._note(item.message)
                return item
            error = _error_for(item)
            if error is not None:
                await self._outgoing.send(SessionMessage(error))

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


def _error_for(failed: Exception) -> JSONRPCError | None:
    """The answer to a line that is no message; none to a blank line, and to one that asks for no answer.

    The SDK drops such a line, and its client would wait for ever.
    """
    line = failed.errors()[0]["input"] if isinstance(failed, ValidationError) else ""
    if isinstance(line, str) and not line.strip():
        return None
    try:
        content = json.loads(line) if isinstance(line, str) else line
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, _NO_JSON)
    if not isinstance(content, dict):
        return _error(None, INVALID_REQUEST, _NO_MESSAGE)
    if "id" not in content and "method" in content:
        return None  # a notification
    identifier = content.get("id")
    is_one = isinstance(identifier, str | int) and not isinstance(identifier, bool)
    known = identifier if is_one and _is_unicode(identifier) else None
    if _is_unicode(content):
        return _error(known, INVALID_REQUEST, _NO_MESSAGE)
    return _error(known, PARSE_ERROR, _HALVED)


def _is_unicode(content: object) -> bool:
    """Whether every text in it is whole."""
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _error(identifier: str | int | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=identifier, error=ErrorData(code=code, message=message))
