"""The table of capabilities: what it is made of, what it refuses, and what it leaves as it was."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from builders.ranking import by_surface, ranked, records
from vocabgap.clustering.grouping import cluster
from vocabgap.errors import InvalidInputError
from vocabgap.model.settings import RankBy
from vocabgap.model.tables import CAPABILITIES
from vocabgap.ranking.capabilities import order_of, rank

Row = Mapping[str, Any]


def test_no_records_give_the_empty_table() -> None:
    frame = records([])

    assert_frame_equal(rank(frame, cluster(frame)), CAPABILITIES.empty())


def test_wording_that_was_not_clustered_is_refused() -> None:
    found = cluster(records([{"missing_capability": "lamp glow"}]))
    others = records(
        [{"missing_capability": name} for name in ("lamp glow", "tilt shift", "ice ring")]
    )

    with pytest.raises(InvalidInputError, match="the wordings of 2 records were not clustered"):
        rank(others, found)


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

    with pytest.raises(InvalidInputError, match="the groups of 1 record are not in the corpus"):
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


@pytest.mark.parametrize("by", RankBy)
def test_the_count_that_a_ranking_is_sorted_by_is_told(by: RankBy) -> None:
    rows = [{"missing_capability": name} for name in ("lamp glow", "lamp glow", "ice ring")]

    table = ranked(rows, by=by)

    assert order_of(table, by) is by
    assert order_of(table) in RankBy
