"""Which neighbours are shown as a tie."""

import polars as pl
import pytest

from vocabgap.ranking.ties import tie_groups


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ([], []),
        ([(1, 1)], [1]),
        ([(1, 1), (2, 2), (3, 3)], [1, 2, 3]),
        ([(1, 2), (1, 2), (3, 3)], [1, 1, 2]),
        ([(1, 3), (2, 2), (3, 4), (3, 4)], [1, 1, 1, 1]),
        # The second overlaps with the third and that with the fourth, but neither with the first.
        ([(1, 2), (2, 3), (3, 4), (4, 4)], [1, 1, 2, 2]),
        # What overlaps with the first behind one that does not begins no group in front of it.
        ([(1, 3), (4, 4), (3, 3)], [1, 2, 2]),
    ],
)
def test_group_goes_on_while_intervals_overlap_its_first(
    intervals: list[tuple[int, int]], expected: list[int]
) -> None:
    ordered = pl.DataFrame(intervals, schema={"rank_low": pl.Int64, "rank_high": pl.Int64}, orient="row")

    assert tie_groups(ordered).to_list() == expected
