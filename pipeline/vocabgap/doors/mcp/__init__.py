"""The verbs of vocabgap as tools of the Model Context Protocol, for agents; extra `mcp`.

A server has one workspace, fixed when it starts. What its tools answer is cut where it is long, and marked as
data from logs. Nothing here is imported by the rest of the package but by the command that starts it.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Final

from vocabgap.errors import StateError
from vocabgap.text import excerpt

INSTALL_HINT: Final = "pip install 'vocabgap[mcp]'"
_NEEDED: Final = ("mcp_types", "mcp.server.lowlevel")


def is_installed() -> bool:
    """Tell whether the MCP SDK is installed, without importing it."""
    return find_spec(_NEEDED[0]) is not None


def require_extra() -> None:
    """Refuse to go on without the official SDK, in a version that can be used."""
    for name in _NEEDED:
        try:
            import_module(name)
        except ImportError as error:
            missing = isinstance(error, ModuleNotFoundError) and error.name in {name, "mcp"}
            problem = (
                "needs mcp, which is not installed" if missing else f"cannot load mcp: {excerpt(str(error))}"
            )
            raise StateError(f"the MCP server {problem}", hint=INSTALL_HINT) from error
