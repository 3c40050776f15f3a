"""Sets of operations that recur in records: how often they do, and how often they would by chance.

Closed sets are found by prefix-preserving closure extension (Uno, Kiyomi, Arimura: LCM ver. 2, 2004), the
most frequent first, so that the search can stop early.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from heapq import heappop, heappush
from typing import Final, NamedTuple

import numpy as np
import polars as pl
from scipy import sparse
from scipy.special import gammaincinv

from vocabgap.files.parts import ROW, Parts
from vocabgap.model.record import OPERATION_ALIASES, fold_operation
from vocabgap.model.tables import COMBINATIONS, IMAGE_KEY, RECORDS, stripped
from vocabgap.ranking.evidence import operation_sets
from vocabgap.ranking.priority import IntArray

LEAST: Final = 3  # records and sessions of a set; fewer are no pattern
MOST_OPERATIONS: Final = 20  # of a record; a record with more probably lists all that were in use
MOST_SETS: Final = 1_000
_MOST_WORK: Final = 40_000_000  # operations of records that are read: a few seconds
_STEP: Final = 5_000  # operations that take as long to read as a step costs
_SESSION: Final = ("tenant_id", "session", "record")


class _Set(NamedTuple):
    names: tuple[str, ...]  # sorted
    records: int
    lists: IntArray  # positions of the lists of operations that hold it


def recurring_sets(
    records: pl.DataFrame | Parts, *, operation_aliases: Mapping[str, str] = OPERATION_ALIASES
) -> pl.DataFrame:
    """Find the sets of two or more operations that records use together, alone or with others.

    A record has a set if it involves all its operations. Records of one session with the same operations
    count once, because they are no independent events. So do the mentions of one record. Only closed sets are
    listed: every larger set is in fewer records. `expected` supposes that one operation joins the others
    independently, and takes the operation with the greatest result. Lift is `records / expected`; for two
    operations it is the lift of association rules (Brin and others 1997). Pass only rows that count.

    Returns:
        Table `combinations`, sorted by the records beyond chance. A set is in at least `LEAST` records and
        sessions. If there are more than `MOST_SETS`, or the search takes too long, the most frequent are
        kept. Records that name more than `MOST_OPERATIONS`, or none, are left out.
    """
    if isinstance(records, pl.DataFrame):
        RECORDS.require(records, ("operations_involved", "session_id", *IMAGE_KEY))
    parts = Parts.of(records)
    fold = partial(fold_operation, aliases=operation_aliases)
    listed = pl.col("operations_involved").unique()
    spelled = parts.each(lambda part: part.filter(~names_too_many()).select(listed)).unique()
    named = spelled.with_columns(operation_sets(spelled["operations_involved"], fold))
    named = named.filter(pl.col("operations").list.len() > 0)
    lists = named.select("operations").unique().sort(pl.col("operations").list.join("\n"))
    lists = lists.with_row_index("list")
    numbered = named.join(lists, on="operations").drop("operations")

    def holding(keys: Sequence[str], sets: Sequence[IntArray] | None = None) -> pl.Series:
        used = np.arange(lists.height) if sets is None else np.concatenate([[], *sets])
        numbers = numbered.filter(np.isin(numbered["list"], used))
        step = partial(_holding, keys=keys, size=lists.height, sets=sets)
        counts = parts.by(keys, step, partial(_involving, numbers=numbers, keys=keys))["held"]
        return counts.group_by("set").agg(pl.col("number").sum()).sort("set")["number"]

    lists = lists.with_columns(records=holding(_SESSION))
    closed = _closed_sets(lists)
    expected = _expected(closed, lists)
    several = [(own, chance) for own, chance in zip(closed, expected, strict=True) if len(own.names) > 1]
    table = pl.DataFrame(
        [(own.names, len(own.names), own.records, chance) for own, chance in several],
        {name: COMBINATIONS.schema[name] for name in ("operations", "size", "records", "expected")},
        orient="row",
    )
    sets = [own.lists for own, _ in several]
    low = gammaincinv(table["records"].to_numpy().astype(np.float64), 0.05)  # of an interval that holds 90 %
    return (
        table.with_columns(sessions=holding(_SESSION, sets), images=holding(IMAGE_KEY, sets))
        .with_columns(
            (pl.col("records") / pl.col("expected")).alias("lift"),
            (pl.Series(low, dtype=pl.Float64) / pl.col("expected")).alias("lift_low"),
        )
        .filter(pl.col("sessions") >= LEAST)
        .with_columns(pl.col("expected", "lift", "lift_low").round(6))  # as different processors agree
        .sort(
            pl.col("records") - pl.col("expected"),
            "records",
            pl.col("operations").list.join("\n"),
            descending=[True, True, False],
        )
        .select(COMBINATIONS.names)
    )


def names_too_many() -> pl.Expr:
    """Return whether a record names too many operations to be counted."""
    return pl.col("operations_involved").list.n_unique() > MOST_OPERATIONS


def _closed_sets(lists: pl.DataFrame) -> list[_Set]:
    """Return the closed sets of any size in at least `LEAST` records, the most frequent first."""
    involved = lists.select("list", "records", pl.col("operations").alias("operation")).explode("operation")
    totals = involved.group_by("operation").agg(pl.col("records").sum())
    often = totals.filter(pl.col("records") >= LEAST).select("operation").sort("operation")
    names = often["operation"].to_list()
    cells = involved.join(often.with_row_index("code"), on="operation")
    held = sparse.csr_array(
        (np.ones(cells.height, np.int64), (cells["list"].to_numpy(), cells["code"].to_numpy())),
        shape=(lists.height, len(names)),
    )
    weights = lists["records"].to_numpy().astype(np.int64)
    closed: list[_Set] = []
    several = work = pushed = 0
    # An item: minus its records, its turn, its lists, the set that it extends, and the added operation.
    none = np.empty(0, np.int64)
    queue: list[tuple[int, int, IntArray, IntArray, int]] = [
        (-int(weights.sum()), 0, np.arange(lists.height), none, -1)
    ]
    while queue and work < _MOST_WORK:
        less, _, rows, before, core = heappop(queue)
        by_operation = held[rows].tocsc()
        work += _STEP + by_operation.nnz
        records = by_operation.T @ weights[rows]
        closure = np.flatnonzero(records == -less)
        if not np.array_equal(closure[closure < core], before[before < core]):
            continue  # another set leads to it, too
        if len(closure) > 1 and several == MOST_SETS:
            break
        if len(closure):
            closed.append(_Set(tuple(names[code] for code in closure), -less, rows))
            several += len(closure) > 1
        for code in np.flatnonzero((records >= LEAST) & (records < -less)).tolist():
            if code > core:
                pushed += 1
                place = slice(by_operation.indptr[code], by_operation.indptr[code + 1])
                heappush(
                    queue, (-int(records[code]), pushed, rows[by_operation.indices[place]], closure, code)
                )
    else:
        less = queue[0][0] if queue else 0
    # Some of the sets with as many records as the next one may be missing.
    return [own for own in closed if own.records > -less] or closed


def _expected(closed: Sequence[_Set], lists: pl.DataFrame) -> list[float]:
    total = int(lists["records"].sum())
    sets = [(frozenset(own.names), own.records) for own in closed]

    def records_of(names: frozenset[str]) -> int:
        # The first closed superset has the same records.
        return next(records for superset, records in sets if names <= superset)

    single = {name: records_of(frozenset([name])) for names, _ in sets for name in names}
    return [
        max((single[name] * records_of(names - {name}) / total for name in names), default=0.0)
        for names, _ in sets
    ]


def _involving(part: pl.LazyFrame, numbers: pl.DataFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return the number of the list of each record, and its session or image."""
    has_session = (stripped(pl.col("session_id")) != "").fill_null(value=False)
    # A record without a known session counts as a session of its own.
    named = part.with_columns(
        pl.when(has_session).then("session_id").alias("session"),
        pl.when(~has_session).then(ROW).alias("record"),
    )
    return named.join(numbers.lazy(), on="operations_involved").select("list", *keys)


def _holding(
    records: pl.DataFrame, keys: Sequence[str], size: int, sets: Sequence[IntArray] | None
) -> dict[str, pl.DataFrame]:
    """Count the sessions, or images, with a list of each set; without sets, those with each list."""
    if sets is None:
        number = pl.struct(keys).n_unique().cast(pl.Int64).alias("number")
        return {"held": records.group_by(pl.col("list").alias("set")).agg(number)}
    cells = records.group_by(keys).agg(pl.col("list").unique()).with_row_index("place").explode("list")
    held = sparse.csr_array(
        (np.ones(cells.height, np.int8), (cells["list"].to_numpy(), cells["place"].to_numpy())),
        shape=(size, records.height),
    )
    numbers = [len(np.unique(held[own].indices)) for own in sets]
    counts = pl.DataFrame({"number": numbers}, {"number": pl.Int64})
    return {"held": counts.with_row_index("set")}
