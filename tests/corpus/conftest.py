"""Builders of shared corpora, of what is pushed into them, and of image repositories."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from vocabgap.corpus.corpus import Corpus, open_corpus
from vocabgap.corpus.parquet_store import ParquetStore
from vocabgap.corpus.store import Store
from vocabgap.schema import CHUNKS


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


Chunks = Callable[..., pl.DataFrame]


@pytest.fixture(scope="session")
def chunks() -> Chunks:
    """Makes rows of table `chunks`, one for each id, on lines 1, 2, … of one path."""

    def make(
        *ids: str,
        tenant: str = "ada",
        repo: str = "lab",
        path: str = "kitchen/vocabulary_gaps.jsonl",
        content: str | None = "a word for the smell of rain",
        vector: list[float] | None = None,
    ) -> pl.DataFrame:
        row = {
            "tenant_id": tenant,
            "repo_slug": repo,
            "root_kind": "image-repo",
            "source_path": path,
            "kind": "gap-record",
            "content": content,
            "metadata": "{}",
            "embedding": vector,
            "config_version": 0,
            "ingested_at": datetime(2026, 7, 1, tzinfo=UTC),
        }
        rows = [
            {**row, "id": each, "name": f"name of {each}", "line": n} for n, each in enumerate(ids, start=1)
        ]
        return pl.DataFrame(rows, schema=CHUNKS.schema)

    return make


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A corpus that does not exist yet."""
    return ParquetStore(tmp_path / "corpus")


@pytest.fixture
def parquet_store(tmp_path: Path) -> ParquetStore:
    """A corpus in Parquet files that does not exist yet."""
    return ParquetStore(tmp_path / "corpus")


Gap = Callable[..., dict[str, object]]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """A corpus that nothing was pushed into yet."""
    return open_corpus(tmp_path / "corpus")


@pytest.fixture
def other(tmp_path: Path) -> Corpus:
    """Another one."""
    return open_corpus(tmp_path / "other")


@pytest.fixture
def photos(gap: Gap, write_corpus: Callable[..., Path]) -> Path:
    """Two images with three needs; one line is no record."""
    return write_corpus(
        {
            "heron": [gap("sky mask", satisfaction=-1), gap("film grain")],
            "fjord": [gap("mask the sky"), "no json"],
        }
    )


@pytest.fixture
def ids_of() -> Callable[[Corpus], list[str]]:
    """Gives the ids of the chunks in a corpus."""

    def find(corpus: Corpus) -> list[str]:
        ids: list[str] = corpus.store.version().rows(["id"])["id"].sort().to_list()
        return ids

    return find
