"""Serving: over standard input and output, or over HTTP on this machine alone."""

import signal
import socket
import sys
from collections.abc import Callable
from typing import Any, Final

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from vocabgap.errors import AccessDeniedError, StateError, system_error
from vocabgap.files.atomic import STOPPING
from vocabgap.mcp_server.messages import Incoming, Outgoing, Unanswered

LOOPBACK: Final = "127.0.0.1"
PATH: Final = "/mcp"
_LONGEST_GOODBYE: Final = 2  # seconds that connections have to end, once the server is to stop


def serve_stdio(server: Server[Any]) -> None:
    """Serve one client over standard input and output, until it closes the input or reads no more.

    Raises:
        StateError: There is no standard input, or the system does not take the output.
    """
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
    """Serve clients of this machine over HTTP, until a signal comes.

    Args:
        server: The server.
        port: The port; 0 for one that is free.
        on_listening: Called with the address.

    Raises:
        StateError: The port is taken.
        AccessDeniedError: The system does not permit it.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
            listener.listen()  # whoever reads the address may connect at once
        except PermissionError as error:
            raise AccessDeniedError(
                f"port {port} may not be listened on", hint="name one from 1024 on with --http"
            ) from error
        except OSError as error:
            raise StateError(
                f"port {port} cannot be listened on: {error.strerror}", hint="name another one with --http"
            ) from error
        on_listening(f"http://{LOOPBACK}:{listener.getsockname()[1]}{PATH}")
        # The app refuses requests whose Host or Origin is not of this machine: a page in a browser is one.
        app = server.streamable_http_app(streamable_http_path=PATH, host=LOOPBACK)
        configuration = uvicorn.Config(
            app, log_config=None, access_log=False, timeout_graceful_shutdown=_LONGEST_GOODBYE
        )
        anyio.run(uvicorn.Server(configuration).serve, [listener])


def _first(failed: ExceptionGroup[Exception]) -> Exception:
    """The first error of a group, however deep it lies."""
    error = failed.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error


async def _over_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing):
        unanswered = Unanswered()
        answers = Outgoing(outgoing, unanswered)
        asked = Incoming(incoming, answers, unanswered)
        await server.run(asked, answers, server.create_initialization_options())
