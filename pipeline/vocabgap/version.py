"""The version of the package, and of the shapes that it publishes: frames, run.json and NDJSON events."""

__version__ = "0.1.0"
SCHEMA_VERSION = 1
