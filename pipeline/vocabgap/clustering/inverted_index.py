"""The inverted index: for each term the clusters that have it, in compiled loops.

Terms are numbered from the rarest to the most frequent, and searched for in that order. So with each posting
goes the norm of what its cluster has from that term on: a cluster that was not met before can only be as
similar as this norm and that of the query from that term on allow (Anastasiu & Karypis 2014, "L2AP"). The
postings of a term are sorted by it, the largest first, so that reading them can end early.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from vocabgap.clustering.arrays import FloatArray, IntArray
from vocabgap.clustering.compiling import compiled

LEVELS: Final = 255  # norms from 0 to 1 are kept in steps of 1/255, rounded up


class Vectors(NamedTuple):
    """Clusters as the means of their rows, in the arrays of a CSR matrix."""

    start: IntArray
    terms: npt.NDArray[np.int32]
    loads: FloatArray


class Postings(NamedTuple):
    """Those of term c stand from `first[c]` to `first[c + 1]`, by falling norm.

    Attributes:
        first: Shape (terms + 1,).
        clusters: Shape (entries,): where the cluster stands.
        loads: Shape (entries,): of the term in the cluster.
        norms: Shape (entries,): of the cluster's loads from this term on, in levels.
        rests: The same without this term.
    """

    first: IntArray
    clusters: npt.NDArray[np.int32]
    loads: npt.NDArray[np.float32]
    norms: npt.NDArray[np.uint8]
    rests: npt.NDArray[np.uint8]


def inverted_index(vectors: Vectors, terms: int) -> Postings:
    """The postings of each of a number of terms."""
    return Postings(*_postings(vectors.start, vectors.terms, vectors.loads, terms))


@compiled
def _level(square):
    return min(np.int64(np.ceil(np.sqrt(square) * LEVELS)), LEVELS)


@compiled
def _postings(start, terms, loads, columns):
    entries = len(terms)
    norms = np.empty(entries, np.uint8)
    owner = np.empty(entries, np.int32)
    at_level = np.zeros(LEVELS + 2, np.int64)  # entries of higher levels, by level
    first = np.zeros(columns + 1, np.int64)
    for p in range(len(start) - 1):
        square = 0.0
        for i in range(start[p + 1] - 1, start[p] - 1, -1):
            square += loads[i] * loads[i]
            norms[i] = _level(square)
            owner[i] = p
            at_level[LEVELS - norms[i] + 1] += 1
            first[terms[i] + 1] += 1
    at_level, first = np.cumsum(at_level), np.cumsum(first)
    falling = np.empty(entries, np.int64)
    for i in range(entries):
        above = LEVELS - norms[i]
        falling[at_level[above]] = i
        at_level[above] += 1
    free = first[:-1].copy()
    clusters = np.empty(entries, np.int32)
    much = np.empty(entries, np.float32)
    sorted_norms = np.empty(entries, np.uint8)
    rests = np.empty(entries, np.uint8)
    for entry in falling:
        slot = free[terms[entry]]
        free[terms[entry]] = slot + 1
        clusters[slot] = owner[entry]
        much[slot] = loads[entry]
        sorted_norms[slot] = norms[entry]
        rests[slot] = norms[entry + 1] if entry + 1 < start[owner[entry] + 1] else 0
    return first, clusters, much, sorted_norms, rests


@compiled
def largest_sum(start, terms, loads, spelt):
    """The largest sum over the clusters of the loads of terms that have trigrams, given where these start."""
    largest = 0.0
    for p in range(len(start) - 1):
        total = 0.0
        for i in range(start[p], start[p + 1]):
            if spelt[terms[i]] < spelt[terms[i] + 1]:
                total += loads[i]
        largest = max(largest, total)
    return largest
