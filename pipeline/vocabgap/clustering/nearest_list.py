"""Lists of the nearest clusters of a query, in compiled loops.

They are short, so they are kept sorted by insertion rather than as heaps.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from typing import Final

import numpy as np

from vocabgap.clustering.arrays import GRID
from vocabgap.clustering.compiling import compiled

DEPTH: Final = 0.85  # a search goes down to this share of the nearest similarity, so that its list lasts


@compiled
def exact_similarity(gains, p, start, terms, loads):
    """The similarity of a query, given what each term adds, to a cluster."""
    total = 0.0
    for i in range(start[p], start[p + 1]):
        total += gains[terms[i]] * loads[i]
    return np.floor(total * GRID + 0.5) / GRID


@compiled
def insert(near, places, count, similarity, p, order):
    """Put a cluster into a list by falling similarity, then order. A full list loses its last."""
    k = min(count, len(near) - 1)
    if count == len(near) and not (
        similarity > near[k] or (similarity == near[k] and order[p] < order[places[k]])
    ):
        return count
    while k > 0 and (
        similarity > near[k - 1] or (similarity == near[k - 1] and order[p] < order[places[k - 1]])
    ):
        near[k] = near[k - 1]
        places[k] = places[k - 1]
        k -= 1
    near[k] = similarity
    places[k] = p
    return min(count + 1, len(near))


@compiled
def wanted_similarity(near, count, floor):
    """How similar a cluster must be to enter a list."""
    if count == 0:
        return floor
    wanted = max(floor, DEPTH * near[0])
    return max(wanted, near[count - 1]) if count == len(near) else wanted
