import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from vocabgap.ingest import caching
from vocabgap.ingest.caching import in_order

ROWS = pl.DataFrame({"row": range(30)})
spans = st.integers(0, 29).flatmap(lambda start: st.tuples(st.just(start), st.integers(0, 30 - start)))


@pytest.mark.parametrize("long_run", [1, 8, 1_000])
@given(chosen=st.lists(spans))
def test_rows_in_order_are_the_slices_one_after_the_other(
    long_run: int, chosen: list[tuple[int, int]]
) -> None:
    slices = [ROWS.slice(start, rows) for start, rows in chosen]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(caching, "_LONG_RUN", long_run)
        assert_frame_equal(in_order(ROWS, chosen), pl.concat([ROWS.clear(), *slices]))


def test_rows_that_are_in_order_already_are_not_copied() -> None:
    assert in_order(ROWS, [(0, 10), (10, 0), (10, 20)]) is ROWS
