"""Reach, need and recency, and what is made of them."""

from datetime import UTC, datetime, timedelta
from math import log

import polars as pl
import pytest

from builders.ranking import ranked

NOW = datetime(2025, 6, 1, tzinfo=UTC)


def row_of(table: pl.DataFrame, label: str) -> dict[str, float]:
    row: dict[str, float] = table.row(by_predicate=pl.col("label") == label, named=True)
    return row


def test_reach_is_the_logarithm_of_images_beside_the_most() -> None:
    widely = [{"missing_capability": "widely", "image_id": f"i{n}"} for n in range(7)]
    narrowly = [{"missing_capability": "narrowly", "image_id": "i0"}] * 3

    table = ranked([*widely, *narrowly])

    shares = row_of(table, "narrowly")["priority"] / row_of(table, "widely")["priority"]
    assert shares == pytest.approx(log(2) / log(8))


def test_need_is_the_share_unsatisfied_drawn_towards_the_corpus() -> None:
    badly = [{"missing_capability": "badly", "satisfaction": -1}] * 3
    well = [{"missing_capability": "well", "satisfaction": 1}] * 3

    table = ranked([*badly, *well, {"missing_capability": "unrated"}])

    share = (3 + 1) / (6 + 2)
    assert row_of(table, "badly")["priority"] == pytest.approx((3 + 5 * share) / (3 + 5))
    assert row_of(table, "well")["priority"] == pytest.approx((0 + 5 * share) / (3 + 5))
    assert row_of(table, "unrated")["priority"] == pytest.approx(share)


@pytest.mark.parametrize(("days", "expected"), [(0, 1.0), (90, 0.5), (180, 0.25), (-3, 1.0)])
def test_recency_is_halved_by_each_half_life(days: int, expected: float) -> None:
    table = ranked([{"timestamp": NOW - timedelta(days=days)}], now=NOW)

    assert table["priority"].to_list() == [
        pytest.approx(expected / 2)
    ]  # half are unsatisfied by default


def test_what_has_no_timestamp_is_as_old_as_the_oldest_record() -> None:
    dated = [
        {"missing_capability": "dated", "timestamp": NOW - timedelta(days=days)} for days in (0, 90)
    ]

    table = ranked([*dated, {"missing_capability": "undated"}], now=NOW)

    assert row_of(table, "undated")["priority"] == row_of(table, "dated")["priority"] / 2


def test_equal_evidence_gives_equal_priority_wherever_it_stands() -> None:
    asked = [
        {
            "missing_capability": f"need {name}",
            "image_id": image,
            "timestamp": NOW - timedelta(days=33),
        }
        for name in range(40)
        for image in "abc"
    ]

    assert ranked(asked, now=NOW)["priority"].n_unique() == 1
