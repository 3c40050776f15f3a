"""Plan what to author: count the sessions that have no gap any more if some needs get an entry.

A session has a gap as long as a counted record of it asks for an open need: one that is neither authored nor
dismissed. A greedy order often frees more than the ranking. It need not be the best one: a need may free no
session alone, and many beside another one.
"""

from collections.abc import Iterator
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl

from vocabgap.files.parts import Parts
from vocabgap.model.capability import SETTLED
from vocabgap.model.tables import counted, stripped
from vocabgap.ranking.coverage import is_listed, probably_covered

MOST: Final = 20  # steps


class Step(msgspec.Struct, frozen=True):
    """A need to author, and the sessions without a gap after it and all steps before."""

    rank: int
    label: str
    freed: int


class Plan(msgspec.Struct, frozen=True):
    """The known sessions with an open need, and those that the first steps of two orders free."""

    sessions: int
    unknown: int  # counted records of open needs that name no session
    by_rank: tuple[Step, ...]
    by_sessions: tuple[Step, ...]  # greedy


def plan(ranked: pl.DataFrame, gaps: Parts, covered_from: float) -> Plan:
    """Count the sessions that listed needs without an entry free, from tables `capabilities` and `gaps`."""
    open_ = ranked.filter(~pl.col("status").is_in(SETTLED))
    keys = ("tenant_id", "session", "capability_id")
    session = stripped(pl.col("session_id")).replace("", None).alias("session")
    rows = gaps.each(lambda part: counted(part).with_columns(session).group_by(keys).agg(pl.len()))
    rows = rows.join(open_.select("capability_id", "rank"), on="capability_id")
    held = rows.drop_nulls("session").group_by(*keys[:2]).agg(pl.col("rank").unique().sort())
    held = held.sort(*keys[:2]).with_row_index("number")
    pairs = held.explode("rank").select("number", "rank").to_numpy().T
    listed = open_.filter(is_listed(), ~probably_covered(covered_from)).sort("rank").select("rank", "label")
    orders = (tuple(_steps(pairs, dict(listed.iter_rows()), greedily=each)) for each in (False, True))
    return Plan(held.height, int(rows.filter(pl.col("session").is_null())["len"].sum()), *orders)


def _steps(pairs: npt.NDArray[np.int64], labels: dict[int, str], *, greedily: bool) -> Iterator[Step]:
    """Yield the steps of an order; `pairs` has a number for each session, and the ranks of its needs.

    The greedy order takes the need that frees most sessions now; then the one with the greatest part of them.
    """
    sessions, best = np.unique(pairs[0]).size, min(labels, default=0)
    for _ in range(min(MOST, len(labels))):
        if greedily:
            alone = 1.0 / np.bincount(pairs[0])[pairs[0]]
            frees, part = (np.bincount(pairs[1], each, max(labels) + 1) for each in (alone == 1, alone))
            best = max(labels, key=lambda rank: (frees[rank], part[rank].round(9)))
        pairs = pairs[:, pairs[1] != best]
        yield Step(best, labels.pop(best), sessions - np.unique(pairs[0]).size)
        best = min(labels, default=0)
