"""Plan what to author: how many sessions have no gap any more if some needs get an entry.

A session has a gap as long as one of its counted records asks for an open need: one that nobody authored or
dismissed. A record without a session is not guessed to belong to one.

The ranking sorts needs by their own counts. A second order prefers, step by step, the need that frees most
sessions at once. Such a greedy order is often better, but not always: a need may free no session alone, and
many beside another one.
"""

from collections.abc import Callable, Iterator
from functools import partial
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
_DIGITS = 9  # sums that differ only beyond these are the same


class Step(msgspec.Struct, frozen=True):
    """A need to author, and the sessions without a gap after it and all needs before it."""

    rank: int
    label: str
    freed: int


class Plan(msgspec.Struct, frozen=True):
    """The sessions that are freed by authoring the first needs of two orders."""

    sessions: int  # known sessions with an open need
    unknown: int  # counted records of open needs that name no session
    by_rank: tuple[Step, ...]
    by_sessions: tuple[Step, ...]  # each step frees most sessions


def plan(ranked: pl.DataFrame, gaps: Parts, covered_from: float) -> Plan:
    """Count the sessions that authoring frees; `ranked` and `gaps` are tables `capabilities` and `gaps`.

    Only listed needs that no entry probably covers become steps. Other open needs hold their sessions, too.
    """
    open_ = ranked.filter(~pl.col("status").is_in(SETTLED)).sort("rank").with_row_index("need")
    keys = ("tenant_id", "session", "capability_id")
    session = stripped(pl.col("session_id")).replace("", None).alias("session")
    rows = gaps.each(lambda part: counted(part).with_columns(session).group_by(keys).agg(pl.len()))
    rows = rows.join(open_.select("capability_id", "need"), on="capability_id")
    held = rows.drop_nulls("session").group_by(*keys[:2]).agg(pl.col("need").unique().sort())
    held = held.sort(*keys[:2]).with_row_index("number")
    pairs = held.explode("need").select("number", "need").to_numpy().T
    listed = open_.filter(is_listed(), ~probably_covered(covered_from)).select("need", "rank", "label")
    steps = [(need, partial(Step, rank, label)) for need, rank, label in listed.iter_rows()]
    by_rank, by_sessions = (
        tuple(_steps(pairs, held.height, dict(steps), greedily=greedily)) for greedily in (False, True)
    )
    unknown = int(rows.filter(pl.col("session").is_null())["len"].sum())
    return Plan(held.height, unknown, by_rank, by_sessions)


def _steps(
    pairs: npt.NDArray[np.uint32], sessions: int, left: dict[int, Callable[[int], Step]], *, greedily: bool
) -> Iterator[Step]:
    """Yield the first steps in the order of `left`, or greedily; `pairs` has the needs of each session.

    The greedy order takes the need that frees most sessions now. Equal ones are sorted by their part of the
    sessions that they are in, then by rank.
    """
    for _ in range(min(MOST, len(left))):
        best = next(iter(left))
        if greedily:
            still_open = np.bincount(pairs[0], minlength=sessions)[pairs[0]]
            frees, part = (
                np.bincount(pairs[1], weight, minlength=max(left) + 1).round(_DIGITS).tolist()
                for weight in (still_open == 1, 1.0 / still_open)
            )
            best = max(left, key=lambda need: (frees[need], part[need]))
        pairs = pairs[:, pairs[1] != best]
        yield left.pop(best)(sessions - np.unique(pairs[0]).size)
