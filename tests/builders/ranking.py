"""Records of which only what matters is given, what is ranked of them, and files of a vocabulary."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from vocabgap.clustering.grouping import Clusters, cluster
from vocabgap.model.tables import RECORDS
from vocabgap.ranking.capabilities import rank

Row = Mapping[str, Any]

DEFAULTS: Row = {
    "timestamp": None, "image_id": "quay-01", "session_id": None, "snapshot_hash": None, "description": None,
    "workaround": "", "intent": None, "intent_category": "uncategorized", "missing_capability": "lamp glow",
    "operations_involved": [], "vocabulary_used": [], "satisfaction": None, "notes": "", "count": 1,
    "category_guessed": False,
    "tenant_id": "local", "repo_slug": "photos", "root_kind": "external-source",
    "source_path": "quay-01/vocabulary_gaps.jsonl", "byte_offset": 0,
}  # fmt: skip


def day(number: int) -> datetime:
    """Gives the noon of a day of May 2025."""
    return datetime(2025, 5, number, 12, tzinfo=UTC)


def records(rows: Sequence[Row]) -> pl.DataFrame:
    """Records of which only what matters is given; each stands in a line of its own."""
    complete = [
        {**DEFAULTS, "line": line, "record_id": f"record-{line}", **row}
        for line, row in enumerate(rows, start=1)
    ]
    return pl.DataFrame(complete, schema=RECORDS.schema)


def by_surface(frame: pl.DataFrame) -> Clusters:
    """Groups in which only wordings of one surface are together, so that a test knows its groups."""
    return cluster(frame, threshold=0.0)


def ranked(rows: Sequence[Row], **settings: Any) -> pl.DataFrame:  # noqa: ANN401 - passed on to rank
    """The capabilities of some records, one a surface."""
    frame = records(rows)
    return rank(frame, by_surface(frame), **settings)


def write(tmp_path: Path, name: str, content: object) -> Path:
    """Writes a file of text, or of something as JSON, in a folder of the test's own."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path
