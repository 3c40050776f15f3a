"""Average linkage of rows of unit length, by whichever way suits their number."""

import os
from typing import Final

import polars as pl

from vocabgap.clustering import dense_linkage
from vocabgap.clustering.arrays import FloatArray
from vocabgap.clustering.dendrogram import in_order_of_height
from vocabgap.clustering.vectorizing import Rows
from vocabgap.errors import InvalidInputError
from vocabgap.schema import LINKAGE

# Up to here the full matrix of distances is faster than loading a compiler, and takes at most 32 MB.
DENSE_LIMIT: Final = 2_000
FARTHEST: Final = 1.0  # no cut is beyond
_THREADS: Final = "NUMBA_NUM_THREADS"


def average_linkage(rows: Rows, weights: FloatArray, reach: float = FARTHEST) -> tuple[pl.DataFrame, float]:
    """The average-linkage dendrogram of weighted rows.

    Args:
        rows: Rows of unit length, n of them.
        weights: Weight of each row, shape (n,), positive.
        reach: Cosine distance up to which merges are wanted. All of them are given where there are few rows.

    Returns:
        Table `linkage`, and the distance below which it has every merge: the reach, at least.

    Raises:
        InvalidInputError: The environment asks for a number of threads that there cannot be.
    """
    count = len(weights)
    if count < 2:  # noqa: PLR2004
        return LINKAGE.empty(), FARTHEST
    if count <= DENSE_LIMIT:
        distances = dense_linkage.cosine_distances(rows.plain_terms(), rows.dense)
        return dense_linkage.average_linkage(distances, weights), FARTHEST
    _require_threads()
    from vocabgap.clustering import sparse_linkage  # noqa: PLC0415 - loads Numba

    merges = sparse_linkage.average_linkage(rows, weights, reach)
    return in_order_of_height(merges.keep, merges.drop, merges.height, weights), reach


def _require_threads() -> None:
    """Look at what Numba reads when it is loaded, and would end with a traceback over."""
    asked = os.environ.get(_THREADS, "1")
    if not asked.isdecimal() or int(asked) < 1:
        raise InvalidInputError(
            f"{_THREADS} is '{asked}', not a number of threads",
            hint="expected a whole number from 1 on; where it is not set, every core is used",
        )
