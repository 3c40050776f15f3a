"""Builders of shared corpora, of what is pushed into them, and of image repositories."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

import polars as pl

from builders import gap, write_corpus
from vocabgap.corpus.corpus import Corpus
from vocabgap.corpus.version import CHUNKS


class Owner(TypedDict):
    """The arguments of a push that name its owner."""

    tenant: str
    repo: str


NORTH: Owner = {"tenant": "north", "repo": "photos"}


def chunks(
    *ids: str,
    tenant: str = "ada",
    repo: str = "lab",
    path: str = "kitchen/vocabulary_gaps.jsonl",
    content: str | None = "a word for the smell of rain",
    vector: list[float] | None = None,
) -> pl.DataFrame:
    """Return rows of table `chunks`, one for each id, on lines 1, 2, … of one path."""
    row = {
        "tenant_id": tenant,
        "repo_slug": repo,
        "root_kind": "external-source",
        "source_path": path,
        "kind": "gap-record",
        "content": content,
        "metadata": "{}",
        "embedding": vector,
        "config_version": 0,
        "ingested_at": datetime(2026, 7, 1, tzinfo=UTC),
    }
    rows = [
        {**row, "id": each, "name": f"name of {each}", "line": n}
        for n, each in enumerate(ids, start=1)
    ]
    return pl.DataFrame(rows, schema=CHUNKS.schema)


def write_photos(folder: Path) -> Path:
    """Write the logs of two images with three needs; one line is no record."""
    return write_corpus(
        folder,
        {
            "heron": [gap("sky mask", satisfaction=-1), gap("film grain")],
            "fjord": [gap("mask the sky"), "no json"],
        },
    )


def ids_of(corpus: Corpus) -> list[str]:
    """Return the ids of the chunks in a corpus."""
    ids: list[str] = corpus.store.version().rows(["id"])["id"].sort().to_list()
    return ids
