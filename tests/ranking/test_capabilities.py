"""The table of capabilities: what it is made of, what it refuses, and what it leaves as it was."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from sklearn.cluster import AgglomerativeClustering

import vocabgap
from builders import outside
from builders.clustering import in_full
from builders.ranking import by_surface, records
from vocabgap.clustering.grouping import cluster
from vocabgap.clustering.vectorizing import vectorize
from vocabgap.clustering.wordings import clause_share, sentence_share
from vocabgap.errors import InvalidInputError
from vocabgap.model.tables import CAPABILITIES
from vocabgap.ranking.capabilities import rank
from vocabgap.text import content_words, ignored_stems, surface

Row = Mapping[str, Any]


def independent_top(entries: Sequence[Mapping[str, Any]], top: int) -> list[tuple[int, int, int]]:
    """Mentions, images and sessions of the most asked-for groups, from scikit-learn on one row a record."""
    surfaces = [
        surface(
            next(
                entry[name]
                for name in ("missing_capability", "description", "intent")
                if entry.get(name)
            )
        )
        for entry in entries
    ]
    distinct, position, mentioned = np.unique(surfaces, return_inverse=True, return_counts=True)
    contents = [" ".join(content_words(name, ignored_stems())) for name in distinct.tolist()]
    sentences = sentence_share(np.array([clause_share(name) for name in distinct]))
    rows = in_full(vectorize(contents, mentioned.astype(np.float64), sentences))[position]
    model = AgglomerativeClustering(
        metric="precomputed", linkage="average", distance_threshold=0.70, n_clusters=None
    ).fit(np.clip(1.0 - (rows @ rows.T).toarray(), 0.0, 1.0))
    labels = model.labels_.tolist()
    mentions = Counter(labels)
    images, sessions = defaultdict(set), defaultdict(set)
    for label, entry in zip(labels, entries, strict=True):
        images[label].add(entry["image_id"])
        if entry.get("session_id"):
            sessions[label].add(entry["session_id"])
    counted = [(mentions[label], len(images[label]), len(sessions[label])) for label in mentions]
    return sorted(counted, reverse=True)[:top]


def test_no_records_give_the_empty_table() -> None:
    frame = records([])

    assert_frame_equal(rank(frame, cluster(frame)), CAPABILITIES.empty())


def test_wording_that_was_not_clustered_is_refused() -> None:
    found = cluster(records([{"missing_capability": "lamp glow"}]))
    others = records(
        [{"missing_capability": name} for name in ("lamp glow", "tilt shift", "ice ring")]
    )

    with pytest.raises(InvalidInputError, match="2 records have wordings that were not clustered"):
        rank(others, found)


@pytest.mark.parametrize(
    "column", ["timestamp", "image_id", "tenant_id", "satisfaction", "source_path"]
)
def test_missing_column_of_the_records_is_named(column: str) -> None:
    frame = records([{}])

    with pytest.raises(InvalidInputError, match=f"frame 'records': column '{column}' is missing"):
        rank(frame.drop(column), cluster(frame))


def test_label_of_a_part_is_that_of_the_whole() -> None:
    wordings = ["lamp glow halo"] * 3 + ["lamp glow", "lamp glow", "lamp glow halos"]
    frame = records([{"missing_capability": wording} for wording in wordings])
    found = cluster(frame, threshold=1.0)

    table = rank(frame.slice(3), found)

    assert table["label"].to_list() == ["lamp glow halo"]
    assert {variant["wording"] for variant in table["variants"][0]} == {
        "lamp glow",
        "lamp glow halos",
    }


def test_what_is_not_counted_still_says_since_when_and_which_way() -> None:
    present = datetime(2025, 6, 1, tzinfo=UTC)
    asked = [present - timedelta(weeks=week) for week in (40, 9, 8, 7, 6, 5, 4.5, 0.5)]
    frame = records([{"timestamp": moment} for moment in asked])
    found = cluster(frame)

    whole = rank(frame, found, now=present)
    part = rank(frame.tail(1), found, corpus=frame, now=present)

    ours = ["capability_id", "label", "cohesion", "first_seen", "trend", "weekly", "status"]
    assert_frame_equal(part.select(ours), whole.select(ours))
    assert part["first_seen"].item() == asked[0]
    assert part.select("mentions", "last_seen").rows() == [(1, asked[-1])]


def test_a_corpus_that_lacks_what_is_ranked_is_refused() -> None:
    frame = records([{"missing_capability": name} for name in ("lamp glow", "tilt shift")])
    found = by_surface(frame)

    with pytest.raises(
        InvalidInputError, match="the corpus has no record of the groups of 1 record"
    ):
        rank(frame, found, corpus=frame.head(1))


def test_identifier_does_not_depend_on_unrelated_records() -> None:
    needs: list[Row] = [
        {"missing_capability": name} for name in ("lamp glow", "Lamp Glow", "lamp glows halo")
    ]
    unrelated: list[Row] = [
        {"missing_capability": name} for name in ("tilt shift", "ice ring brush", "???")
    ]
    alone, among = records(needs), records([*unrelated, *needs])

    expected = rank(alone, cluster(alone))
    found = rank(among, cluster(among))

    assert expected.height == 1
    assert found.filter(pl.col("label") == expected["label"].item())["capability_id"].to_list() == (
        expected["capability_id"].to_list()
    )


def test_top_of_a_real_workspace_is_that_of_an_independent_count(
    pytestconfig: pytest.Config,
) -> None:
    workspace = outside(pytestconfig, "chemigram/workspace")
    entries = [
        json.loads(line)
        for log in workspace.rglob("vocabulary_gaps.jsonl")
        for line in log.read_text(encoding="utf-8").splitlines()
    ]
    expected = independent_top(entries, 10)

    records = vocabgap.scan(workspace).records
    table = rank(records, cluster(records, threshold=0.70)).head(10)

    assert len(entries) == 631
    assert table.select("mentions", "images", "sessions").rows() == expected
