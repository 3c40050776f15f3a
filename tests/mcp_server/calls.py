"""Calls of tools, through the official client."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp import Client

Connect = Callable[..., AbstractAsyncContextManager["Client"]]


async def data_of(client: "Client", tool: str, **arguments: object) -> dict[str, Any]:
    """Call a tool that succeeds; return its data."""
    result = await client.call_tool(tool, arguments)
    envelope: dict[str, Any] = result.structured_content
    assert (result.is_error, envelope["success"], envelope["error"]) == (False, True, None), (
        envelope
    )
    data: dict[str, Any] = envelope["data"]
    return data


async def error_of(client: "Client", tool: str, **arguments: object) -> dict[str, str]:
    """Call a tool that fails; return its error."""
    result = await client.call_tool(tool, arguments)
    envelope: dict[str, Any] = result.structured_content
    assert (result.is_error, envelope["success"], envelope["data"]) == (True, False, None), envelope
    error: dict[str, str] = envelope["error"]
    return error
