"""Exact search among dense rows by blocks of matrix products.

A product in float32 is fast and a little off. It tells most rows apart from the nearest; the few that it
cannot tell are worked out in float64.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from vocabgap.clustering.arrays import FloatArray, IntArray

Scores = npt.NDArray[np.float32]

_BLOCK_CELLS: Final = 2**23  # scores held at once
_PAIRS_AT_ONCE: Final = 2**14
_ROUNDING: Final = 2.0**-23  # what a float32 product of unit rows is off for each of its parts, at most
_STRIPS: Final = 8  # strips that scores are looked at in, for each one that is wanted


def slack(parts: int) -> float:
    """What the product of two rows of unit length in float32 is off, at most.

    Args:
        parts: Dimensions that are added up.
    """
    return _ROUNDING * (parts + 2)


def rows_of_a_block(columns: int) -> int:
    """How many rows are compared with so many others at once."""
    return max(1, _BLOCK_CELLS // columns)


def least_of_largest(scores: Scores, count: int) -> Scores:
    """A lower bound, for each row, of its `count`-th largest score, shape (rows,).

    Args:
        scores: Shape (rows, columns).
        count: From 1 to the number of columns.
    """
    strips = min(scores.shape[1], _STRIPS * count)
    width = scores.shape[1] // strips
    # The largest of each strip: a pass that costs much less than sorting out all scores. A strip takes every
    # so manyth column, for neighbours in the alphabet are often near, and would hide behind one another.
    peaks = scores[:, : strips * width].reshape(len(scores), width, strips).max(axis=1)
    return np.asarray(np.partition(peaks, strips - count, axis=1)[:, strips - count])


def products(rows: FloatArray, one: IntArray, other: IntArray) -> FloatArray:
    """Dot products of pairs of rows, shape (pairs,); each the same whatever the others are."""
    found = np.empty(len(one))
    for start in range(0, len(one), _PAIRS_AT_ONCE):
        part = slice(start, start + _PAIRS_AT_ONCE)
        np.einsum("pd,pd->p", rows[one[part]], rows[other[part]], out=found[part])
    return found
