"""Votes rank needs. They do not change which wordings are one need."""

from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.clustering import asking
from vocabgap import cluster
from vocabgap.clustering.blending import TextEmbedder
from vocabgap.linkage import FloatArray

TEXTS = Path(__file__).parents[1].joinpath("data", "voted.txt").read_text("utf-8").splitlines()


class ByMeaning:
    """Embeds a text as the sum of a random vector for each of its words."""

    name = "by meaning"

    def embed(self, texts: Sequence[str]) -> FloatArray:
        return np.array([sum(map(self._vector, text.lower().split())) for text in texts])

    def _vector(self, word: str) -> FloatArray:
        return np.random.default_rng(crc32(word[:4].encode())).standard_normal(32) + 0.2


def groups(records: pl.DataFrame, embedder: TextEmbedder | str) -> set[frozenset[str]]:
    found = cluster(records, embedder=embedder)
    return {
        frozenset(wordings)
        for _, wordings in found.wordings.group_by("cluster").agg("wording").rows()
    }


@pytest.mark.parametrize("embedder", ["none", ByMeaning()], ids=["words", "meaning"])
def test_a_mapped_count_changes_no_group(embedder: TextEmbedder | str) -> None:
    votes = [
        (1, 2, 3, 5, 8, 40, 120)[(7 * place * place + place) % 7] for place in range(len(TEXTS))
    ]

    found = groups(asking(*TEXTS), embedder)

    assert len(TEXTS) == 75
    assert groups(asking(*TEXTS).with_columns(count=pl.Series(votes)), embedder) == found


@settings(max_examples=15)
@given(st.lists(st.integers(1, 200), min_size=len(TEXTS), max_size=len(TEXTS)))
def test_neither_votes_nor_repeated_records_change_a_group(votes: list[int]) -> None:
    repeated = [
        text for text, times in zip(TEXTS, votes, strict=True) for _ in range(times % 4 + 1)
    ]

    alone = groups(asking(*TEXTS), "none")

    assert groups(asking(*TEXTS).with_columns(count=pl.Series(votes)), "none") == alone
    assert groups(asking(*repeated), "none") == alone
