import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from vocabgap.corpus.version import ORDER, in_order

TEXT = st.sampled_from(["", "A", "a", "a-b", "ab", "é", "\U0001f327", "￿"])
ROWS = st.lists(
    st.tuples(TEXT, TEXT, TEXT, st.one_of(st.none(), st.integers(-1, 2), st.just(2**40)), TEXT), max_size=30
)
SCHEMA = {name: pl.Int64 if name == "line" else pl.String for name in ORDER}


@given(rows=ROWS)
def test_the_order_is_that_of_a_plain_sort(rows: list[tuple[str, str, str, int | None, str]]) -> None:
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    expected = sorted(rows, key=lambda row: (*row[:3], row[3] is not None, row[3] or 0, row[4]))

    assert in_order(frame).rows() == expected


def test_text_is_ordered_by_code_point() -> None:
    frame = pl.DataFrame([("t", "r", path, 1, "i") for path in "aZ￿\U0001f327é"], schema=SCHEMA, orient="row")

    assert in_order(frame).get_column("source_path").to_list() == sorted("aZ￿\U0001f327é")
