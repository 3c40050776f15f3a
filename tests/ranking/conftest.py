"""None None"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from vocabgap.clustering.grouping import Clusters, cluster
from vocabgap.ranking.capabilities import rank
from vocabgap.schema import RECORDS

Row = Mapping[str, Any]

DEFAULTS: Row = {
    "timestamp": None,
    "image_id": "quay-01",
    "session_id": None,
    "snapshot_hash": None,
    "description": None,
    "workaround": "",
    "intent": None,
    "intent_category": "uncategorized",
    "missing_capability": "lamp glow",
    "operations_involved": [],
    "vocabulary_used": [],
    "satisfaction": None,
    "notes": "",
    "tenant_id": "local",
    "repo_slug": "photos",
    "root_kind": "image-repo",
    "source_path": "quay-01/vocabulary_gaps.jsonl",
    "byte_offset": 0,
}


@pytest.fixture(scope="session")
def day() -> Callable[[int], datetime]:
    """Gives the noon of a day of May 2025."""

    def at_noon(number: int) -> datetime:
        return datetime(2025, 5, number, 12, tzinfo=UTC)

    return at_noon


@pytest.fixture(scope="session")
def records() -> Callable[[Sequence[Row]], pl.DataFrame]:
    """Records of which only what matters is given; each stands in a line of its own."""

    def build(rows: Sequence[Row]) -> pl.DataFrame:
        complete = [
            {**DEFAULTS, "line": line, "record_id": f"record-{line}", **row}
            for line, row in enumerate(rows, start=1)
        ]
        return pl.DataFrame(complete, schema=RECORDS.schema)

    return build


@pytest.fixture(scope="session")
def by_surface() -> Callable[[pl.DataFrame], Clusters]:
    """Groups in which only wordings of one surface are together, so that a test knows its groups."""

    def build(frame: pl.DataFrame) -> Clusters:
        return cluster(frame, threshold=0.0)

    return build


@pytest.fixture(scope="session")
def ranked(
    records: Callable[[Sequence[Row]], pl.DataFrame], by_surface: Callable[[pl.DataFrame], Clusters]
) -> Callable[..., pl.DataFrame]:
    """The capabilities of some records, one a surface."""

    def build(rows: Sequence[Row], **settings: Any) -> pl.DataFrame:  # noqa: ANN401 - passed on to rank
        frame = records(rows)
        return rank(frame, by_surface(frame), **settings)

    return build


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file of text, or of something as JSON, in a folder of the test's own."""

    def make(name: str, content: object) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
        return path

    return make
