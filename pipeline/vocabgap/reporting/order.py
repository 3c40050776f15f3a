"""What a ranking counts first, as its order tells: a report must not say more of it than is so."""

from typing import Final

import polars as pl

from vocabgap.errors import InvalidInputError
from vocabgap.ranking import SETTLED
from vocabgap.settings.model import RankBy, ranking

_HINT: Final = "hand in what vocabgap.rank returned, or some of its rows, in their order"


def order_of(ranked: pl.DataFrame, said: RankBy | str | None = None) -> RankBy:
    """What a ranking counts first.

    What people have decided about may stand anywhere, and what is not established or settled stands behind;
    among the rest, and among those, the numbers say it.

    Args:
        ranked: Table `capabilities`.
        said: What it was ranked by, if that is known; else the first of the rankings that its order fits.

    Raises:
        InvalidInputError: The order is another one than that, or none that a ranking gives.
    """
    fitting = _fitting(ranked) if ranked["rank"].is_sorted() else []
    if not fitting:
        raise InvalidInputError("the capabilities are in no order that a ranking gives", hint=_HINT)
    if said is None:
        return fitting[0]
    wanted = ranking(said)
    if wanted not in fitting:
        raise InvalidInputError(
            f"ranked_by: the capabilities are not ranked by {wanted.value}, but by {fitting[0].value}",
            hint=f"leave ranked_by out, or rank them with by='{wanted.value}'",
        )
    return wanted


def _fitting(ranked: pl.DataFrame) -> list[RankBy]:
    block = (pl.col("status").is_in(SETTLED), pl.col("established"))
    undecided = ranked.filter(pl.col("decisions").list.len() == 0)
    falls = undecided.select((pl.col(by.value).diff() <= 0).over(*block).all() for by in RankBy)
    return [by for by in RankBy if falls[by.value].item()]
