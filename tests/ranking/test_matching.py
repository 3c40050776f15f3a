import random
from itertools import permutations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocabgap.ranking.identity import matched, overlaps

SCHEMA = {"previous": pl.String, "present": pl.String, "shared": pl.Int64, "preferred": pl.Boolean}


def pairs(*rows: tuple[str, str, int] | tuple[str, str, int, bool]) -> pl.DataFrame:
    return pl.DataFrame([(*row, False)[:4] for row in rows], schema=SCHEMA, orient="row")


def test_shared_surfaces_weigh_what_the_lesser_side_mentions() -> None:
    before = pl.DataFrame({"key": [*"aab"], "surface": [*"xyz"], "mentions": [5, 2, 1]})
    after = pl.DataFrame({"key": [*"ccd"], "surface": [*"xyq"], "mentions": [3, 9, 1]})

    assert overlaps(before, after).rows() == [("a", "c", 5)]


def test_the_whole_counts_and_not_the_heaviest_pair() -> None:
    table = pairs(("a", "x", 5), ("a", "y", 4), ("b", "x", 4), ("b", "y", 1))

    assert matched(table) == [("a", "y"), ("b", "x")]


def test_a_tie_goes_to_the_preferred() -> None:
    assert matched(pairs(("a", "x", 2, False), ("a", "y", 2, True))) == [("a", "y")]


def test_preference_never_outweighs_a_mention() -> None:
    table = pairs(("a", "x", 3), ("b", "x", 2, True), ("b", "y", 1, True), ("a", "y", 1, True))

    assert matched(table) == [("a", "x"), ("b", "y")]


def _best(table: pl.DataFrame) -> int:
    """The weight of the best matching, by trying all."""
    weight: dict[tuple[str, str], int] = {
        (one, other): often for one, other, often, _ in table.rows()
    }
    left, right = sorted({one for one, _ in weight}), sorted({other for _, other in weight})
    seats = [*right, *(None for _ in left)]
    return max(
        (sum(weight.get((one, seat), 0) for one, seat in zip(left, order, strict=False) if seat))
        for order in permutations(seats, len(left))
    )


tables = st.dictionaries(
    st.tuples(st.sampled_from("abc"), st.sampled_from("wxyz")),
    st.integers(1, 4),
    min_size=1,
    max_size=8,
)


@given(tables)
def test_the_matching_has_the_greatest_weight(table: dict[tuple[str, str], int]) -> None:
    frame = pairs(*((one, other, shared) for (one, other), shared in table.items()))

    found = matched(frame)

    assert sum(table[pair] for pair in found) == _best(frame)
    assert len({one for one, _ in found}) == len({other for _, other in found}) == len(found)


@pytest.mark.slow
@given(tables, st.randoms(use_true_random=False))
def test_neither_order_nor_what_is_elsewhere_changes_a_match(
    table: dict[tuple[str, str], int], shuffle: random.Random
) -> None:
    rows = [(one, other, shared) for (one, other), shared in table.items()]
    elsewhere = [(f"0{one}", f"0{other}", shared) for one, other, shared in rows]
    expected = matched(pairs(*rows))

    mixed = [*rows, *elsewhere]
    shuffle.shuffle(mixed)

    assert [pair for pair in matched(pairs(*mixed)) if not pair[0].startswith("0")] == expected
