"""The verbs of vocabgap as tools of the Model Context Protocol, for agents; extra `mcp`.

A server has one workspace, fixed when it starts. What its tools answer is cut where it is long, and marked as
data from logs. Nothing here is imported by the rest of the package but by the command that starts it.
"""
