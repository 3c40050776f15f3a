"""The compiled search for the nearest clusters: see `neighbours` for why it misses none.

For each query: its exact similarity to what is known, then candidate generation through the inverted index,
narrowing by further postings, and verification of what is left.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from typing import Final

import numpy as np
from numba import prange

from vocabgap.clustering.kernels import (
    LEVELS,
    all_gains,
    compiled,
    compiled_in_parallel,
    exact_similarity,
    gains_of,
    insert,
    memory_of,
    spell_out,
    wanted_similarity,
)

_TAIL: Final = 0.5  # share of the wanted similarity that may come from terms that are not read at all
_PROMISING: Final = 0.5  # share of the wanted similarity that makes the best candidate of a list looked at
_DOT_COST: Final = 10  # what a similarity costs, in postings read
_ROUNDING: Final = 2.0**-23  # what a float32 sum of positive parts up to 1 is off for each part, at most
_PARTS: Final = 32  # parts that are reckoned with beside the postings that are read


@compiled
def _compare_known(q, known, bound, gaining, order, vectors, spelling, floor, memory):
    """List what is likely to be near, working out no more gains than that takes.

    Gives the length of the list, the bound on what is not in it, and the number of gains.
    """
    near, places, compared, gains = memory.near, memory.places, memory.compared, memory.gains
    start, terms, loads = vectors
    count = 0
    compared[q] = q
    for p in known:
        if p >= 0 and compared[p] != q:
            compared[p] = q
            gaining = gains_of(p, gaining, vectors, spelling, memory)
            found = exact_similarity(gains, p, start, terms, loads)
            if found > floor:
                if count == len(near):
                    bound = max(bound, min(found, near[-1]))
                count = insert(near, places, count, found, p, order)
    return count, bound, gaining


@compiled
def _choose_terms(gaining, spelling, limit, memory):
    """The terms to read, in order; gives their number, their squared norm, and the largest gain left out."""
    gains, gained, reading, first_gram = memory.gains, memory.gaining, memory.reading, spelling.start
    count, mass, left_out = 0, 0.0, 0.0
    for t in range(gaining):
        c = gained[t]
        if gains[c] > limit or first_gram[c] == first_gram[c + 1]:
            reading[count] = c
            count += 1
            mass += gains[c] * gains[c]
        else:
            left_out = max(left_out, gains[c])
    reading[:count].sort()
    return count, mass, left_out


@compiled
def _read(q, c, left, needed, postings, memory, candidates):
    """Add the postings of a term to the scores, up to where nothing new can be near enough.

    Args:
        q: The query.
        c: The term.
        left: Norm of the query from this term on.
        needed: Score that a candidate needs, all further terms at their best.
        postings: The inverted index.
        memory: Of this thread.
        candidates: Number of clusters with a score.

    Returns:
        Where reading ended, the number of candidates, the best of those just met, and its score.
    """
    scores, rests, met = memory.scores, memory.rests, memory.candidates
    first, clusters, loads, norms, next_norms = postings
    square = memory.gains[c] * memory.gains[c]
    gain = np.float32(memory.gains[c])
    left_level = np.float32(left / LEVELS)
    after_level = np.float32(np.sqrt(max(left * left - square, 0.0)) / LEVELS)
    least = np.float32(needed)
    best, top = -1, np.float32(0.0)
    k, end = first[c], first[c + 1]
    while k < end and np.float32(norms[k]) * left_level >= least:
        p = clusters[k]
        part = gain * loads[k]
        score = scores[p]
        rest = next_norms[k]
        if score == 0.0:
            if part + np.float32(rest) * after_level < least or part == 0.0:
                k += 1
                continue
            met[candidates] = p
            candidates += 1
        score += part
        scores[p] = score
        rests[p] = rest
        if score > top and p != q:
            best, top = p, score
        k += 1
    return k, candidates, best, top


@compiled
def _generate(q, terms, mass, tail, slack, count, order, vectors, postings, floor, memory):
    """Candidate generation; gives the numbers of lists begun, of candidates and of listed clusters."""
    near, places, compared, gains = memory.near, memory.places, memory.compared, memory.gains
    reading, stops, first = memory.reading, memory.stops, postings.first
    start, indices, loads = vectors
    wanted = wanted_similarity(near, count, floor)
    begun, candidates = 0, 0
    left = np.sqrt(mass)
    while begun < terms and left + tail >= wanted - slack:
        c = reading[begun]
        needed = wanted - slack - tail
        stops[begun], candidates, best, top = _read(q, c, left, needed, postings, memory, candidates)
        begun += 1
        mass -= gains[c] * gains[c]
        left = np.sqrt(max(mass, 0.0))
        # The most promising one, at once: it shows how far the rest must be looked at.
        if best >= 0 and compared[best] != q and top > _PROMISING * wanted:
            compared[best] = q
            found = exact_similarity(gains, best, start, indices, loads)
            if found > floor:
                count = insert(near, places, count, found, best, order)
                wanted = wanted_similarity(near, count, floor)
    for h in range(begun, terms):
        stops[h] = first[reading[h]]
    return candidates, count


@compiled
def _keep_likely(candidates, unread, needed, memory):
    """Drop the candidates that even the best of what was not read cannot lift far enough."""
    scores, rests, met = memory.scores, memory.rests, memory.candidates
    level, least = np.float32(np.sqrt(unread) / LEVELS), np.float32(needed)
    likely = 0
    for t in range(candidates):
        p = met[t]
        if scores[p] + np.float32(rests[p]) * level >= least:
            met[likely] = p
            likely += 1
        else:
            scores[p] = 0.0
    return likely


@compiled
def _next_to_read(terms, gains, reading, stops, first):
    """Which list that was not read to its end takes most off the bound for its length, and the bound."""
    chosen, most, unread = -1, 0.0, 0.0
    for h in range(terms):
        c = reading[h]
        left = first[c + 1] - stops[h]
        if left > 0:
            square = gains[c] * gains[c]
            unread += square
            if square / left > most:
                chosen, most = h, square / left
    return chosen, unread


@compiled
def _narrow(candidates, terms, needed, postings, memory):
    """Read on, for candidates alone, as long as that is cheaper than their exact similarities.

    Gives the number of candidates left, and the squared norm of what was not read.
    """
    scores, gains, reading, stops = memory.scores, memory.gains, memory.reading, memory.stops
    first, clusters, loads = postings.first, postings.clusters, postings.loads
    chosen, unread = _next_to_read(terms, gains, reading, stops, first)
    candidates = _keep_likely(candidates, unread, needed, memory)
    cost = 0
    while chosen >= 0:
        c = reading[chosen]
        end = first[c + 1]
        if end - stops[chosen] > _DOT_COST * candidates:
            break
        gain = np.float32(gains[c])
        for k in range(stops[chosen], end):
            p = clusters[k]
            score = scores[p]
            scores[p] = score + (gain * loads[k] if score != 0.0 else np.float32(0.0))
        cost += end - stops[chosen]
        stops[chosen] = end
        chosen, unread = _next_to_read(terms, gains, reading, stops, first)
        if cost > candidates or chosen < 0:
            candidates = _keep_likely(candidates, unread, needed, memory)
            cost = 0
    return candidates, unread


@compiled
def _most_likely_first(candidates, scores, met):
    best = 0
    for t in range(candidates):
        if scores[met[t]] > scores[met[best]]:
            best = t
    if candidates > 0:
        met[0], met[best] = met[best], met[0]


@compiled
def _verify(q, candidates, unread, lost, count, order, vectors, floor, memory):
    """List what is near enough by its exact similarity, and forget the scores."""
    near, places, compared, gains = memory.near, memory.places, memory.compared, memory.gains
    scores, rests, met = memory.scores, memory.rests, memory.candidates
    start, terms, loads = vectors
    wanted = wanted_similarity(near, count, floor)
    level = np.float32(np.sqrt(unread) / LEVELS)
    # What is found first shows how far the rest must be looked at.
    _most_likely_first(candidates, scores, met)
    for t in range(candidates):
        p = met[t]
        likely = scores[p] + np.float32(rests[p]) * level >= wanted - lost
        scores[p] = 0.0
        if likely and compared[p] != q:
            found = exact_similarity(gains, p, start, terms, loads)
            if found > floor and found >= wanted:
                count = insert(near, places, count, found, p, order)
                wanted = wanted_similarity(near, count, floor)
    return count


@compiled
def _search_index(q, gaining, count, order, vectors, spelling, most_spelt, postings, floor, memory):
    """List the nearest clusters beside those that are known; gives the length of the list."""
    wanted = wanted_similarity(memory.near, count, floor)
    limit = _TAIL * wanted / most_spelt if most_spelt > 0.0 else 0.0
    terms, mass, left_out = _choose_terms(gaining, spelling, limit, memory)
    tail = left_out * most_spelt
    slack = _ROUNDING * (terms + _PARTS)
    candidates, count = _generate(q, terms, mass, tail, slack, count, order, vectors, postings, floor, memory)
    needed = wanted_similarity(memory.near, count, floor) - slack - tail
    candidates, unread = _narrow(candidates, terms, needed, postings, memory)
    return _verify(q, candidates, unread, slack + tail, count, order, vectors, floor, memory)


@compiled
def _answer(
    row, q, known, bound_known, order, vectors, spelling, most_spelt, postings, floor, memory,
    listed, similarity, bound,
):  # fmt: skip
    near = memory.near
    gaining, grams = spell_out(q, vectors, spelling, memory)
    count, unlisted, gaining = _compare_known(
        q, known, bound_known, gaining, order, vectors, spelling, floor, memory
    )
    if unlisted > floor and (count == 0 or near[0] <= unlisted):
        gaining = all_gains(gaining, grams, spelling, memory)
        count = _search_index(
            q, gaining, count, order, vectors, spelling, most_spelt, postings, floor, memory
        )
        unlisted = wanted_similarity(near, count, floor)
    gains, gained, spectrum, heard = memory.gains, memory.gaining, memory.spectrum, memory.heard
    for t in range(gaining):
        gains[gained[t]] = 0.0
    for g in range(grams):
        spectrum[heard[g]] = 0.0
    similarity[row] = near[0] if count > 0 else floor
    bound[row] = unlisted
    listed[row, :count] = memory.places[:count]


@compiled_in_parallel
def search(
    queries, known, bounds, order, vectors, spelling, most_spelt, postings, floor, memories,
    listed, similarity, bound,
):  # fmt: skip
    """Fill `listed`, `similarity` and `bound` for each query: see `SparseNeighbours.search`."""
    threads = len(memories.scores)
    # Each thread has its own memory and writes only what belongs to its queries, so that the outcome does
    # not depend on their number. Nothing is written here: where Numba makes a loop parallel, it may take
    # what is written to a part of an array for unused.
    for thread in prange(threads):
        memory = memory_of(memories, thread)
        for row in range(thread, len(queries), threads):
            _answer(
                row, queries[row], known[row], bounds[row], order, vectors, spelling, most_spelt, postings,
                floor, memory, listed, similarity, bound,
            )  # fmt: skip
