"""Fixtures of the command line and of the server, for what the glossary adds to both."""

from cli.conftest import _own_folder, photos
from mcp_server.conftest import _schemas_as_checked, anyio_backend, connect, mcp_sdk

__all__ = ["_own_folder", "_schemas_as_checked", "anyio_backend", "connect", "mcp_sdk", "photos"]
