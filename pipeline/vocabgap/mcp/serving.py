"""Serving: over standard input and output, or over HTTP on this machine alone."""

import signal
import socket
import sys
from collections import Counter, deque
from collections.abc import Callable
from io import TextIOWrapper
from typing import Any, Final, Self, TextIO

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from vocabgap.errors import StateError, system_error
from vocabgap.files.refusals import refusal
from vocabgap.files.signals import STOPPING
from vocabgap.mcp.door import guarded, refusals

LOOPBACK: Final = "127.0.0.1"
PATH: Final = "/mcp"
_LONGEST_GOODBYE: Final = 2  # seconds that connections have to end, once the server is to stop
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


def serve_http(server: Server[Any], port: int, token: str, on_listening: Callable[[str], None]) -> None:
    """Serve clients of this machine that know a token, until a signal comes; port 0 is one that is free."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
            listener.listen()  # whoever reads the address may connect at once
        except OSError as error:
            hint = "name another one, from 1024 on, with --http"
            raise refusal(f"port {port} cannot be listened on", error, hint=hint) from error
        hosts = [f"{name}:{listener.getsockname()[1]}" for name in (LOOPBACK, "localhost")]
        on_listening(f"http://{hosts[0]}{PATH}")
        # A page in a browser sends another Host or Origin, and other users of this machine know no token.
        security = TransportSecuritySettings(
            allowed_hosts=hosts, allowed_origins=[f"http://{each}" for each in hosts]
        )
        app = server.streamable_http_app(streamable_http_path=PATH, transport_security=security)
        configuration = uvicorn.Config(
            guarded(app, token, security),
            log_config=None,
            access_log=False,
            ws="none",  # only requests of HTTP are asked for the token
            timeout_graceful_shutdown=_LONGEST_GOODBYE,
        )
        anyio.run(uvicorn.Server(configuration).serve, [listener])


async def _over_stdio(server: Server[Any]) -> None:
    lines = _Lines(TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace"))
    async with stdio_server(lines) as (incoming, outgoing):
        unanswered = _Unanswered()
        answers = _Outgoing(outgoing, unanswered)
        requests = _Incoming(incoming, answers, unanswered, lines)
        await server.run(requests, answers, server.create_initialization_options())


class _Lines(anyio.AsyncFile[str]):
    """The lines of the input, kept until what the SDK makes of each has come: it does not say of which."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self.kept = deque[str]()

    async def readline(self) -> str:
        line = await super().readline()
        self.kept.append(line)
        return line


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
        self._identifiers = Counter[str | int]()  # a client may use one twice, and waits for two answers then
        self._changed = anyio.Event()

    def add(self, identifier: str | int) -> None:
        self._identifiers[coerce_request_id(identifier)] += 1

    def drop(self, identifier: str | int | None) -> None:
        """Forget one that was answered, or that nobody waits for any more."""
        if identifier is not None:
            self._identifiers -= Counter([coerce_request_id(identifier)])
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

    def __init__(
        self,
        stream: Any,  # noqa: ANN401 - the SDK's own
        outgoing: _Outgoing,
        unanswered: _Unanswered,
        lines: _Lines,
    ) -> None:
        super().__init__(stream, unanswered)
        self._outgoing = outgoing
        self._lines = lines.kept

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
            errors = refusals(self._lines.popleft())
            if isinstance(item, SessionMessage) and not errors:
                self._note(item.message)
                return item
            for error in errors:
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
