"""The contracts of the shared corpus as they are published: two schemas and what goes with them in words."""

import json
from functools import cache
from importlib.resources import files
from typing import Any, Final

PARSED_CHUNK: Final = "parsed-chunk-v1"
BACKUP_RECORD: Final = "backup-record-v1"
FILES: Final = {
    PARSED_CHUNK: "parsed-chunk-v1.schema.json",
    BACKUP_RECORD: "backup-record-v1.schema.json",
    "identity": "identity.md",
    "deletion-signals": "deletion-signals.md",
}
"""Name of a contract to its file; the first two are JSON Schemas (2020-12), the others prose."""


def contract_text(name: str) -> str:
    """A contract as its file has it.

    Args:
        name: One of `FILES`.
    """
    return files(__name__).joinpath(FILES[name]).read_text(encoding="utf-8")


@cache
def contract_schema(name: str) -> dict[str, Any]:
    """A contract's JSON Schema.

    Args:
        name: `PARSED_CHUNK` or `BACKUP_RECORD`.
    """
    schema: dict[str, Any] = json.loads(contract_text(name))
    return schema
