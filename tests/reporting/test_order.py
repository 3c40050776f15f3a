"""What a report says that it is ranked by is what its order tells."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from builders import gap, write_corpus
from vocabgap.clustering.grouping import cluster
from vocabgap.errors import InvalidInputError
from vocabgap.ingest.scanning import scan
from vocabgap.model.settings import RankBy
from vocabgap.ranking.capabilities import order_of, rank
from vocabgap.reporting.writing import report


@pytest.fixture
def ranked(tmp_path: Path) -> Callable[..., pl.DataFrame]:
    """Ranks four needs, each first by something else."""
    old = "2025-01-01T00:00:00Z"
    glow = gap("moon glow", satisfaction=-1, timestamp=old)
    images = {
        "one": [gap("sky mask", notes=str(n), timestamp=old) for n in range(4)],
        "two": [gap("film grain", session_id="s-1"), gap("lens flare", session_id="s-2")],
        "three": [gap("film grain", session_id="s-1"), gap("lens flare", session_id="s-3")],
        "four": [gap("film grain", session_id="s-1"), glow],
        "five": [glow],
        "six": [glow],
    }
    records = scan(write_corpus(tmp_path, images)).records
    found = cluster(records)

    def make(**given: object) -> pl.DataFrame:
        return rank(records, found, **given)  # type: ignore[arg-type]

    return make


@pytest.mark.parametrize("by", list(RankBy))
def test_the_order_of_a_ranking_tells_what_it_counts(
    ranked: Callable[..., pl.DataFrame], by: RankBy
) -> None:
    assert order_of(ranked(by=by)) is by
    assert order_of(ranked(by=by), by.value) is by


def test_a_ranking_in_another_order_than_it_is_called_is_refused(
    ranked: Callable[..., pl.DataFrame],
) -> None:
    with pytest.raises(InvalidInputError, match="not ranked by mentions"):
        order_of(ranked(by="images"), "mentions")
    with pytest.raises(InvalidInputError, match="are not ranked by mentions nor "):
        order_of(ranked().sort("label"))


def test_what_is_pinned_or_settled_may_stand_where_it_does(
    ranked: Callable[..., pl.DataFrame],
) -> None:
    frame = ranked()
    pinned = pl.concat([frame[-1:].with_columns(decisions=pl.lit(["pinned"])), frame[:-1]])
    settled = pl.concat([frame[1:], frame[:1].with_columns(status=pl.lit("dismissed"))])

    for made in (pinned, settled):
        assert (
            order_of(made.with_columns(rank=pl.int_range(1, 5, dtype=pl.Int64))) is RankBy.MENTIONS
        )


def test_a_report_says_what_its_frame_is_ranked_by(
    ranked: Callable[..., pl.DataFrame], tmp_path: Path
) -> None:
    report(ranked(by="priority"), tmp_path / "out")

    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "Ranked by priority; ranks 1 " in text
    assert "## The whole list, by priority" in text


def test_a_report_without_settings_follows_the_limits_of_its_ranking(
    ranked: Callable[..., pl.DataFrame], tmp_path: Path
) -> None:
    summary = report(ranked(min_images=2), tmp_path / "out").summary

    labels = [item.label for item in summary.capabilities]
    assert (labels, summary.hidden) == (["moon glow", "film grain", "lens flare"], 1)
