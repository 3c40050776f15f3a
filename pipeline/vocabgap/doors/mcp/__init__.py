"""Tools of the Model Context Protocol, for agents; they need the extra `mcp`."""
