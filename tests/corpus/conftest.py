"""Builders of shared corpora, of what is pushed into them, and of image repositories."""

from pathlib import Path
from typing import Any

import pytest

from corpus.builders import write_photos
from vocabgap.corpus.corpus import Corpus, open_corpus
from vocabgap.corpus.store import Store


@pytest.fixture
def chunk() -> dict[str, Any]:
    """Return a valid parsed-chunk-v1 record of tenant `ada`, repository `lab`."""
    return {
        "schemaVersion": "1.0.0", "tenantId": "ada", "repoSlug": "lab", "rootKind": "external-source",
        "sourcePath": "kitchen/vocabulary_gaps.jsonl",
        "content": '{"description": "a word for the smell of rain"}',
        "hashInputs": ["kind", "name", "content", "sourcePath", "parserId", "parserVersion"],
        "parserId": "vocabgap-gap-log", "parserVersion": "1.0.0", "kind": "gap-record", "name": "rain",
    }  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return a corpus that does not exist yet."""
    return Store(tmp_path / "corpus")


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Return a corpus without a push."""
    return open_corpus(tmp_path / "corpus")


@pytest.fixture
def other(tmp_path: Path) -> Corpus:
    """Return another one."""
    return open_corpus(tmp_path / "other")


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Write the logs of two images with three needs; one line is no record."""
    return write_photos(tmp_path)
