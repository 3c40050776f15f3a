"""The text of a record that says its need, and that records are grouped by."""

from collections.abc import Mapping
from typing import Any, Final

PHRASE_FIELDS: Final = ("missing_capability", "description", "intent")
"""The fields that may say it: the first that is not blank does."""


def need_of(record: Mapping[str, Any]) -> str:
    """What a record says is missing, trimmed; empty where it says nothing."""
    texts = (record.get(name) for name in PHRASE_FIELDS)
    return next((text.strip() for text in texts if text and text.strip()), "")
