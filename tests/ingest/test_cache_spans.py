import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from vocabgap.ingest.caching import in_order

ROWS = pl.DataFrame({"row": range(30)})
spans = st.integers(0, 29).flatmap(lambda start: st.tuples(st.just(start), st.integers(0, 30 - start)))


@given(chosen=st.lists(spans))
def test_rows_in_order_are_the_slices_one_after_the_other(chosen: list[tuple[int, int]]) -> None:
    slices = [ROWS.slice(start, rows) for start, rows in chosen]

    assert_frame_equal(in_order(ROWS, chosen), pl.concat([ROWS.clear(), *slices]))


def test_rows_that_are_in_order_already_are_not_copied() -> None:
    assert in_order(ROWS, [(0, 10), (10, 0), (10, 20)]) is ROWS
