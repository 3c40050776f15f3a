"""Serving: over standard input and output, or over HTTP on this machine alone."""

import signal
import socket
from collections.abc import Callable
from typing import Any, Final

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from vocabgap.errors import AccessDeniedError, StateError
from vocabgap.signals import STOPPING

LOOPBACK: Final = "127.0.0.1"
PATH: Final = "/mcp"
_LONGEST_GOODBYE: Final = 2  # seconds that connections have to end, once the server is to stop


def serve_stdio(server: Server[Any]) -> None:
    """Serve one client over standard input and output, until it closes the input."""
    # Standard input is waited for in a thread, which nothing but its end can wake. Every line of a log is
    # written whole, so that the system may end the process at any moment.
    for number in STOPPING:
        signal.signal(number, signal.SIG_DFL)
    anyio.run(_over_stdio, server)


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


async def _over_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
