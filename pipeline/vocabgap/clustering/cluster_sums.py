"""Sums of rows by cluster, and what becomes of them in a round of merges. A compiled loop."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import numpy as np

from vocabgap.clustering.compiling import compiled


@compiled
def merged(kept, partner, start, terms, sums):
    """The sums of the clusters that are kept, each with that of its partner: starts, terms, sums."""
    size = 0
    for i in range(len(kept)):
        size += start[kept[i] + 1] - start[kept[i]]
        if partner[i] >= 0:
            size += start[partner[i] + 1] - start[partner[i]]
    begins = np.zeros(len(kept) + 1, np.int64)
    new_terms = np.empty(size, np.int32)
    new_sums = np.empty(size)
    k = 0
    for i in range(len(kept)):
        one, one_end = start[kept[i]], start[kept[i] + 1]
        other, other_end = 0, 0
        if partner[i] >= 0:
            other, other_end = start[partner[i]], start[partner[i] + 1]
        while one < one_end or other < other_end:
            if other >= other_end or (one < one_end and terms[one] < terms[other]):
                new_terms[k] = terms[one]
                new_sums[k] = sums[one]
                one += 1
            elif one >= one_end or terms[other] < terms[one]:
                new_terms[k] = terms[other]
                new_sums[k] = sums[other]
                other += 1
            else:
                new_terms[k] = terms[one]
                new_sums[k] = sums[one] + sums[other]
                one += 1
                other += 1
            k += 1
        begins[i + 1] = k
    return begins, new_terms[:k].copy(), new_sums[:k].copy()
