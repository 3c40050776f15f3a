"""The compiled loops of the search for the nearest clusters. Numba is loaded with this module alone.

What is compiled is kept beside the module, or in the person's cache folder where that cannot be written.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from functools import partial
from typing import Final

import numpy as np
from numba import njit, prange

_DEPTH: Final = 0.85  # a search goes down to this share of the nearest similarity, so that its list lasts
_TAIL: Final = 0.3  # share of the wanted similarity that may come from terms that are not read at all
_DOT_COST: Final = 10  # what a similarity costs, in entries of lists read
_ROUNDING: Final = 2.0**-23  # what a float32 sum of positive parts up to 1 is off for each part, at most
_PARTS: Final = 32  # parts that are reckoned with beside the lists that are read
_GRAIN: Final = 2.0**40  # similarities are compared in steps of 1e-12: the same from either side


def _compiled(function, *, parallel=False):
    try:
        return njit(cache=True, parallel=parallel)(function)
    except RuntimeError:  # there is no folder that what is compiled could be kept in
        return njit(parallel=parallel)(function)


@_compiled
def index(start, terms, loads, columns):
    """The loads by term: where the list of each term starts, its clusters, and their loads as float32."""
    first = np.zeros(columns + 1, np.int64)
    for i in range(len(terms)):
        first[terms[i] + 1] += 1
    for c in range(columns):
        first[c + 1] += first[c]
    free = first[:-1].copy()
    who = np.empty(len(terms), np.int32)
    much = np.empty(len(terms), np.float32)
    for p in range(len(start) - 1):
        for i in range(start[p], start[p + 1]):
            k = free[terms[i]]
            free[terms[i]] = k + 1
            who[k] = p
            much[k] = loads[i]
    return first, who, much


@_compiled
def largest_sum(start, terms, loads, own):
    """The largest sum of spelling loads over the clusters."""
    largest = 0.0
    for p in range(len(start) - 1):
        total = 0.0
        for i in range(start[p], start[p + 1]):
            if terms[i] >= own:
                total += loads[i]
        largest = max(largest, total)
    return largest


@_compiled
def _similarity(worth, p, start, terms, loads):
    total = 0.0
    for i in range(start[p], start[p + 1]):
        total += worth[terms[i]] * loads[i]
    return np.floor(total * _GRAIN + 0.5) / _GRAIN


@_compiled
def _insert(near, places, count, similarity, p, order):
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


@_compiled
def _wanted(near, count, floor):
    """How similar a cluster must be to enter a list."""
    if count == 0:
        return floor
    wanted = max(floor, _DEPTH * near[0])
    return max(wanted, near[count - 1]) if count == len(near) else wanted


@_compiled
def _spread(q, start, terms, loads, own, gram_start, gram_terms, gram, worth, met):
    """Work out G x of a query into `worth`, and list the terms where it is not zero."""
    count = 0
    for i in range(start[q], start[q + 1]):
        c = terms[i]
        if c < own:
            met[count] = c
            count += 1
            worth[c] = loads[i]
        else:
            for k in range(gram_start[c - own], gram_start[c - own + 1]):
                v = gram_terms[k]
                if worth[v] == 0.0:
                    met[count] = v
                    count += 1
                worth[v] += loads[i] * gram[k]
    return count


@partial(_compiled, parallel=True)
def search(  # noqa: C901, PLR0912, PLR0915 - one loop over queries, for one compiled pass
    queries,
    known,
    bounds,
    order,
    start,
    terms,
    loads,
    own,
    spelt,
    gram_start,
    gram_terms,
    gram,
    first,
    who,
    much,
    floor,
    threads,
    listed,
    similarity,
    bound,
):
    """Fill `listed`, `similarity` and `bound` for each query: see `SparseNeighbours.search`."""
    columns = len(first) - 1
    size = listed.shape[1]
    # Each thread has its own memory and writes only what belongs to its queries, so that the outcome does
    # not depend on their number.
    for thread in prange(threads):
        worth = np.zeros(columns)
        met = np.empty(columns, np.int32)
        key = np.empty(columns)
        high = np.empty(columns, np.int32)
        scores = np.zeros(len(start) - 1, np.float32)
        touched = np.empty(len(start) - 1, np.int32)
        seen = np.full(len(start) - 1, -1, np.int32)
        near = np.empty(size)
        places = np.empty(size, np.int64)
        for row in range(thread, len(queries), threads):
            q = queries[row]
            seen[q] = row
            met_count = _spread(q, start, terms, loads, own, gram_start, gram_terms, gram, worth, met)
            count = 0
            unlisted = bounds[row]
            for j in range(known.shape[1]):
                p = known[row, j]
                if p >= 0 and seen[p] != row:
                    seen[p] = row
                    s = _similarity(worth, p, start, terms, loads)
                    if s > floor:
                        if count == size:
                            unlisted = max(unlisted, min(s, near[size - 1]))
                        count = _insert(near, places, count, s, p, order)
            if unlisted > floor and (count == 0 or near[0] <= unlisted):
                wanted = _wanted(near, count, floor)
                tail = _TAIL * wanted
                eta = tail / spelt if spelt > 0.0 else 0.0
                high_count = 0
                mass = 0.0
                for t in range(met_count):
                    c = met[t]
                    if c < own or worth[c] > eta:
                        square = worth[c] * worth[c]
                        key[high_count] = -square / (first[c + 1] - first[c] + 1)
                        high[high_count] = c
                        high_count += 1
                        mass += square
                slack = _ROUNDING * (high_count + _PARTS)
                sequence = np.argsort(key[:high_count])
                h = 0
                met_clusters = 0
                left = np.sqrt(mass)
                while h < high_count and left + tail >= wanted - slack:
                    c = high[sequence[h]]
                    h += 1
                    share = np.float32(worth[c])
                    top = np.float32(0.0)
                    top_place = -1
                    for k in range(first[c], first[c + 1]):
                        p = who[k]
                        value = scores[p] + share * much[k]
                        if value == 0.0:
                            continue  # too small for float32: what is met has a score, and is noted once
                        if scores[p] == 0.0:
                            touched[met_clusters] = p
                            met_clusters += 1
                        scores[p] = value
                        if value > top and p != q:
                            top = value
                            top_place = p
                    mass -= worth[c] * worth[c]
                    left = np.sqrt(max(mass, 0.0))
                    # The most promising one, at once: it shows how far the rest must be looked at.
                    if top_place >= 0 and seen[top_place] != row and top > 0.5 * wanted:
                        seen[top_place] = row
                        s = _similarity(worth, top_place, start, terms, loads)
                        if s > floor:
                            count = _insert(near, places, count, s, top_place, order)
                            wanted = _wanted(near, count, floor)
                # Nothing new can be near enough. What was met is narrowed down by further lists for as long
                # as that is cheaper than working out its similarities.
                while True:
                    if h == high_count:
                        left = 0.0
                    live = 0
                    for t in range(met_clusters):
                        p = touched[t]
                        if scores[p] + left + tail + slack >= wanted:
                            touched[live] = p
                            live += 1
                        else:
                            scores[p] = 0.0
                    met_clusters = live
                    budget = _DOT_COST * live
                    before = h
                    while h < high_count:
                        c = high[sequence[h]]
                        budget -= first[c + 1] - first[c]
                        if budget < 0:
                            break
                        share = np.float32(worth[c])
                        for k in range(first[c], first[c + 1]):
                            if scores[who[k]] != 0.0:
                                scores[who[k]] += share * much[k]
                        mass -= worth[c] * worth[c]
                        h += 1
                    left = np.sqrt(max(mass, 0.0)) if h < high_count else 0.0
                    if h == before:
                        break
                for t in range(met_clusters):
                    p = touched[t]
                    if scores[p] + left + tail + slack >= wanted and seen[p] != row:
                        s = _similarity(worth, p, start, terms, loads)
                        if s > floor and s >= wanted:
                            count = _insert(near, places, count, s, p, order)
                            wanted = _wanted(near, count, floor)
                    scores[p] = 0.0
                unlisted = wanted
            for t in range(met_count):
                worth[met[t]] = 0.0
            similarity[row] = near[0] if count > 0 else floor
            bound[row] = unlisted
            for j in range(count):
                listed[row, j] = places[j]


@_compiled
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
