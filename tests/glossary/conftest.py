"""Fixtures of the command line and of the server, for what the glossary adds to both."""

from cli.conftest import _own_folder, photos
from mcp_server.conftest import anyio_backend, connect, mcp_sdk

__all__ = ["_own_folder", "anyio_backend", "connect", "mcp_sdk", "photos"]
