"""A chunk as others push it, for the tests of the shared corpus."""

from typing import Any

import pytest


@pytest.fixture
def chunk() -> dict[str, Any]:
    """A valid parsed-chunk-v1 record of tenant `ada`, repository `lab`."""
    return {
        "schemaVersion": "1.0.0",
        "tenantId": "ada",
        "repoSlug": "lab",
        "rootKind": "external-source",
        "sourcePath": "kitchen/vocabulary_gaps.jsonl",
        "content": '{"description": "a word for the smell of rain"}',
        "hashInputs": ["kind", "name", "content", "sourcePath", "parserId", "parserVersion"],
        "parserId": "vocabgap-gap-log",
        "parserVersion": "1.0.0",
        "kind": "gap-record",
        "name": "rain",
    }
