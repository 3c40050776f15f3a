"""Which places of a ranking are not told apart."""

from typing import Final

import polars as pl

_FIRST: Final = 1


def tie_groups(ordered: pl.DataFrame) -> pl.Series:
    """Number the groups of capabilities whose order is not sure.

    A tie group is a run of neighbours in the ranking. It begins with the first capability that is in no group
    yet, and goes on as long as the next one's interval of the rank overlaps that of the group's first: which
    of the two stands before the other is then not sure. The next one begins a new group. Groups are not
    chained by what lies between: the last of one may overlap with the first of the next.

    Args:
        ordered: Columns `rank_low` and `rank_high`, in order of rank.

    Returns:
        The number of each capability's group, counted from 1.
    """
    numbers = []
    number, reach = _FIRST - 1, -1
    for low, high in ordered.select("rank_low", "rank_high").iter_rows():
        if low > reach:
            number, reach = number + 1, high
        numbers.append(number)
    return pl.Series("tie_group", numbers, pl.Int64)
