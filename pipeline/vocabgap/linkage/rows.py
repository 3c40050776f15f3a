"""Rows of unit length, and products of them that do not depend on other rows."""

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

GRID: Final = 2.0**40  # steps of similarities and distances per unit
PAIRS_AT_ONCE: Final = 2**14


@dataclass(frozen=True)
class Rows:
    """Rows of unit length as combinations of terms: row i is `term_weights[i]` times the terms.

    The last terms are spelt: each is a row of `grams`. The terms before them are dimensions. Points may share
    dense rows; the last dense row is then zeros, for points without one.
    """

    term_weights: sparse.csr_array  # shape (n, terms), not negative, columns sorted
    grams: sparse.csr_array = field(
        default_factory=lambda: sparse.csr_array((0, 0))
    )  # shape (spelt terms, grams), not negative, unit length
    dense: FloatArray | None = None  # shape (n or shared rows, dimensions), further dimensions
    dense_row: IntArray | None = None  # shape (n,), the dense row of each point if points share them

    @property
    def n_unspelt(self) -> int:
        """The number of terms that are dimensions."""
        return int(self.term_weights.shape[1] - self.grams.shape[0])

    def plain_terms(self, points: IntArray | slice = slice(None)) -> sparse.csr_array:
        """Return some rows without their dense part, shape (points, unspelt terms + grams)."""
        return self._plain(self.term_weights[points])

    def sums(self, membership: sparse.csr_array) -> tuple[sparse.csr_array, FloatArray]:
        """Return weighted sums of rows: without their dense part as `plain_terms`, and of dense parts.

        `membership` has the shape (sums, n).
        """
        terms = self._plain(sparse.csr_array(membership @ self.term_weights))
        if self.dense is None:
            return terms, np.zeros((membership.shape[0], 0))
        if self.dense_row is not None:
            parts = (membership.data, self.dense_row[membership.indices], membership.indptr)
            membership = sparse.csr_array(parts, (membership.shape[0], len(self.dense)))
            membership.sum_duplicates()
        return terms, np.asarray(membership @ self.dense)

    def _plain(self, term_weights: sparse.csr_array) -> sparse.csr_array:
        rows = sparse.csr_array(term_weights @ self._terms)
        rows.sort_indices()  # a product then adds up in one order
        return rows

    def dense_rows_of(self, points: IntArray) -> IntArray:
        """Return the places of some points in `dense`."""
        return points if self.dense_row is None else self.dense_row[points]

    def at(self, points: IntArray) -> "Rows":
        """Return some rows; a row may be repeated."""
        dense = self.dense if self.dense is None or self.dense_row is not None else self.dense[points]
        dense_row = None if self.dense_row is None else self.dense_row[points]
        return Rows(self.term_weights[points], self.grams, dense, dense_row)

    @cached_property
    def _terms(self) -> sparse.csr_array:
        return sparse.block_diag([sparse.eye_array(self.n_unspelt), self.grams], format="csr")


def on_grid(values: FloatArray) -> FloatArray:
    """Round similarities or distances to the nearest step of the grid."""
    return np.asarray(np.floor(values * GRID + 0.5) / GRID)


def cosine_distances(rows: Rows, points: IntArray | None = None) -> FloatArray:
    """Compute the pairwise cosine distances of some points, or of all, shape (points, points)."""
    points = np.arange(rows.term_weights.shape[0]) if points is None else points
    terms = rows.plain_terms(points)
    dense = None if rows.dense is None else rows.dense[rows.dense_rows_of(points)]
    count, step = terms.shape[0], 512
    distances = np.empty((count, count))
    # By blocks: the sparse product of all rows would take more memory than the dense matrix.
    for start in range(0, count, step):
        part = slice(start, start + step)
        np.subtract(1.0, (terms[part] @ terms.T).toarray(), out=distances[part])
        if dense is not None:
            distances[part] -= dense[part] @ dense.T
        distances[part] = on_grid(distances[part])
    np.maximum(distances, 0.0, out=distances)
    np.fill_diagonal(distances, 0.0)
    return distances


def pair_products(rows: FloatArray, one: IntArray, other: IntArray) -> FloatArray:
    """Compute the dot product of each pair of rows, shape (pairs,), independently of the other pairs."""
    dots = np.empty(len(one))
    for start in range(0, len(one), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        np.einsum("pd,pd->p", rows[one[part]], rows[other[part]], out=dots[part])
    return dots


def usable_cpus() -> int:
    """Return the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
