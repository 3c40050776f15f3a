"""The verbs of vocabgap as tools of the Model Context Protocol, for agents; extra `mcp`."""
