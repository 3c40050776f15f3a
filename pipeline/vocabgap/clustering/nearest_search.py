"""The compiled search for the nearest clusters: see `neighbours` for why it misses none.

For each query: its exact similarity to what is known, then candidate generation through the inverted index,
narrowing by further postings, and verification of what is left. Lists of nearest clusters are short, so they
are kept sorted by insertion.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import prange

from vocabgap.clustering.arrays import FloatArray, IntArray
from vocabgap.clustering.compiling import compiled, compiled_in_parallel
from vocabgap.clustering.inverted_index import LEVELS

_DEPTH: Final = 0.85  # a search goes down to this share of the nearest similarity, so that its list lasts
_TAIL: Final = 0.3  # share of the wanted similarity that may come from terms that are not read at all
_PROMISING: Final = 0.5  # share of the wanted similarity that makes the best candidate of a list looked at
_DOT_COST: Final = 10  # what a similarity costs, in postings read
_ROUNDING: Final = 2.0**-23  # what a float32 sum of positive parts up to 1 is off for each part, at most
_PARTS: Final = 32  # parts that are reckoned with beside the postings that are read
_GRAIN: Final = 2.0**40  # similarities are compared in steps of 1e-12: the same from either side


class Spelling(NamedTuple):
    """Terms as sums of trigrams, in the arrays of two CSR matrices: trigrams by term, and terms by trigram.

    A term without trigrams is a dimension itself.
    """

    start: IntArray
    grams: npt.NDArray[np.int32]
    loads: FloatArray
    gram_start: IntArray
    terms: npt.NDArray[np.int32]
    gram_loads: FloatArray


class Memory(NamedTuple):
    """What one thread works with. Between two queries all that is summed up is zero.

    Attributes:
        gains: Shape (terms,): G x of the query, what each term adds for a unit of load.
        gaining: Shape (terms,): terms where that is not zero.
        reading: Shape (terms,): those whose postings are read, from the rarest on.
        stops: Shape (terms,): up to where they were read.
        spectrum: Shape (grams,): trigrams of the query.
        heard: Shape (grams,): trigrams where that is not zero.
        scores: Shape (m,): accumulators, the similarity to each cluster as far as it was read.
        rests: Shape (m,): norm of what a cluster has beyond the last posting that was read, in levels.
        candidates: Shape (m,): clusters whose score is not zero.
        compared: Shape (m,): the last query that the exact similarity was worked out for.
        near: Shape (LISTED,): similarities to the nearest clusters, falling.
        places: Shape (LISTED,): these clusters.
    """

    gains: FloatArray
    gaining: npt.NDArray[np.int32]
    reading: npt.NDArray[np.int32]
    stops: IntArray
    spectrum: FloatArray
    heard: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float32]
    rests: npt.NDArray[np.uint8]
    candidates: npt.NDArray[np.int32]
    compared: npt.NDArray[np.int32]
    near: FloatArray
    places: npt.NDArray[np.int32]

    @classmethod
    def of(cls, threads: int, terms: int, grams: int, clusters: int, listed: int) -> "Memory":
        """Memory of several threads: each array has a first axis for them."""
        return cls(
            np.zeros((threads, terms)),
            np.empty((threads, terms), np.int32),
            np.empty((threads, terms), np.int32),
            np.empty((threads, terms), np.int64),
            np.zeros((threads, grams)),
            np.empty((threads, grams), np.int32),
            np.zeros((threads, clusters), np.float32),
            np.empty((threads, clusters), np.uint8),
            np.empty((threads, clusters), np.int32),
            np.full((threads, clusters), -1, np.int32),
            np.empty((threads, listed)),
            np.empty((threads, listed), np.int32),
        )


@compiled
def _memory_of(memories, thread):
    return Memory(
        memories.gains[thread],
        memories.gaining[thread],
        memories.reading[thread],
        memories.stops[thread],
        memories.spectrum[thread],
        memories.heard[thread],
        memories.scores[thread],
        memories.rests[thread],
        memories.candidates[thread],
        memories.compared[thread],
        memories.near[thread],
        memories.places[thread],
    )


@compiled
def _term_gains(q, vectors, spelling, memory):
    """Work out G x of a query; gives the number of terms where it is not zero."""
    gains, gaining, spectrum, heard = memory.gains, memory.gaining, memory.spectrum, memory.heard
    count, grams = 0, 0
    for i in range(vectors.start[q], vectors.start[q + 1]):
        c = vectors.terms[i]
        if spelling.start[c] == spelling.start[c + 1]:
            gaining[count] = c
            count += 1
            gains[c] = vectors.loads[i]
        for k in range(spelling.start[c], spelling.start[c + 1]):
            gram = spelling.grams[k]
            if spectrum[gram] == 0.0:
                heard[grams] = gram
                grams += 1
            spectrum[gram] += vectors.loads[i] * spelling.loads[k]
    for g in range(grams):
        gram = heard[g]
        for k in range(spelling.gram_start[gram], spelling.gram_start[gram + 1]):
            c = spelling.terms[k]
            if gains[c] == 0.0:
                gaining[count] = c
                count += 1
            gains[c] += spectrum[gram] * spelling.gram_loads[k]
        spectrum[gram] = 0.0
    return count


@compiled
def _similarity(gains, p, start, terms, loads):
    total = 0.0
    for i in range(start[p], start[p + 1]):
        total += gains[terms[i]] * loads[i]
    return np.floor(total * _GRAIN + 0.5) / _GRAIN


@compiled
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


@compiled
def _wanted(near, count, floor):
    """How similar a cluster must be to enter a list."""
    if count == 0:
        return floor
    wanted = max(floor, _DEPTH * near[0])
    return max(wanted, near[count - 1]) if count == len(near) else wanted


@compiled
def _compare_known(q, known, bound, order, vectors, floor, memory):
    """List what is likely to be near; gives the length of the list and the bound on what is not in it."""
    near, places, compared = memory.near, memory.places, memory.compared
    count = 0
    compared[q] = q
    for p in known:
        if p >= 0 and compared[p] != q:
            compared[p] = q
            found = _similarity(memory.gains, p, vectors.start, vectors.terms, vectors.loads)
            if found > floor:
                if count == len(near):
                    bound = max(bound, min(found, near[-1]))
                count = _insert(near, places, count, found, p, order)
    return count, bound


@compiled
def _choose_terms(gaining, spelling, limit, memory):
    """The terms to read, in order; gives their number, their squared norm, and the largest gain left out."""
    gains, reading = memory.gains, memory.reading
    count, mass, left_out = 0, 0.0, 0.0
    for t in range(gaining):
        c = memory.gaining[t]
        if gains[c] > limit or spelling.start[c] == spelling.start[c + 1]:
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
    scores, rests = memory.scores, memory.rests
    gain = np.float32(memory.gains[c])
    left_level = np.float32(left / LEVELS)
    after_level = np.float32(np.sqrt(max(left * left - memory.gains[c] * memory.gains[c], 0.0)) / LEVELS)
    least = np.float32(needed)
    best, top = -1, np.float32(0.0)
    k, end = postings.first[c], postings.first[c + 1]
    while k < end and np.float32(postings.norms[k]) * left_level >= least:
        p = postings.clusters[k]
        part = gain * postings.loads[k]
        score = scores[p]
        rest = postings.rests[k]
        if score == 0.0 and part + np.float32(rest) * after_level >= least and part > 0.0:
            memory.candidates[candidates] = p
            candidates += 1
            score = part
        elif score > 0.0:
            score += part
        else:
            k += 1
            continue
        scores[p] = score
        rests[p] = rest
        if score > top and p != q:
            best, top = p, score
        k += 1
    return k, candidates, best, top


@compiled
def _generate(q, terms, mass, tail, slack, count, order, vectors, postings, floor, memory):
    """Candidate generation; gives the numbers of lists begun, of candidates and of listed clusters."""
    near, places, compared = memory.near, memory.places, memory.compared
    wanted = _wanted(near, count, floor)
    begun, candidates = 0, 0
    left = np.sqrt(mass)
    while begun < terms and left + tail >= wanted - slack:
        c = memory.reading[begun]
        needed = wanted - slack - tail
        memory.stops[begun], candidates, best, top = _read(q, c, left, needed, postings, memory, candidates)
        begun += 1
        mass -= memory.gains[c] * memory.gains[c]
        left = np.sqrt(max(mass, 0.0))
        # The most promising one, at once: it shows how far the rest must be looked at.
        if best >= 0 and compared[best] != q and top > _PROMISING * wanted:
            compared[best] = q
            found = _similarity(memory.gains, best, vectors.start, vectors.terms, vectors.loads)
            if found > floor:
                count = _insert(near, places, count, found, best, order)
                wanted = _wanted(near, count, floor)
    for h in range(begun, terms):
        memory.stops[h] = postings.first[memory.reading[h]]
    return candidates, count


@compiled
def _keep_likely(candidates, unread, needed, memory):
    """Drop the candidates that even the best of what was not read cannot lift far enough."""
    scores = memory.scores
    level = np.float32(np.sqrt(unread) / LEVELS)
    likely = 0
    for t in range(candidates):
        p = memory.candidates[t]
        if scores[p] + np.float32(memory.rests[p]) * level >= needed:
            memory.candidates[likely] = p
            likely += 1
        else:
            scores[p] = 0.0
    return likely


@compiled
def _narrow(candidates, terms, needed, postings, memory):
    """Read on, for candidates alone, as long as that is cheaper than their exact similarities."""
    scores = memory.scores
    unread = 0.0
    for h in range(terms):
        c = memory.reading[h]
        if memory.stops[h] < postings.first[c + 1]:
            unread += memory.gains[c] * memory.gains[c]
    candidates = _keep_likely(candidates, unread, needed, memory)
    h = 0
    while h < terms:
        budget = _DOT_COST * candidates
        before = unread
        while h < terms:
            c = memory.reading[h]
            end = postings.first[c + 1]
            budget -= end - memory.stops[h]
            if budget < 0:
                break
            if memory.stops[h] < end:
                gain = np.float32(memory.gains[c])
                for k in range(memory.stops[h], end):
                    p = postings.clusters[k]
                    if scores[p] != 0.0:
                        scores[p] += gain * postings.loads[k]
                unread -= memory.gains[c] * memory.gains[c]
            h += 1
        if h == terms:
            unread = 0.0
        if unread == before:
            break
        candidates = _keep_likely(candidates, max(unread, 0.0), needed, memory)
    return candidates


@compiled
def _verify(q, candidates, count, order, vectors, floor, memory):
    """List what is near enough by its exact similarity, and forget the scores."""
    near, places = memory.near, memory.places
    wanted = _wanted(near, count, floor)
    for t in range(candidates):
        p = memory.candidates[t]
        memory.scores[p] = 0.0
        if memory.compared[p] != q:
            found = _similarity(memory.gains, p, vectors.start, vectors.terms, vectors.loads)
            if found > floor and found >= wanted:
                count = _insert(near, places, count, found, p, order)
                wanted = _wanted(near, count, floor)
    return count


@compiled
def _search_index(q, gaining, count, order, vectors, spelling, most_spelt, postings, floor, memory):
    """List the nearest clusters beside those that are known; gives the length of the list."""
    wanted = _wanted(memory.near, count, floor)
    limit = _TAIL * wanted / most_spelt if most_spelt > 0.0 else 0.0
    terms, mass, left_out = _choose_terms(gaining, spelling, limit, memory)
    tail = left_out * most_spelt
    slack = _ROUNDING * (terms + _PARTS)
    candidates, count = _generate(
        q, terms, mass, tail, slack, count, order, vectors, postings, floor, memory
    )
    needed = _wanted(memory.near, count, floor) - slack - tail
    candidates = _narrow(candidates, terms, needed, postings, memory)
    return _verify(q, candidates, count, order, vectors, floor, memory)


@compiled
def _answer(
    row, q, known, bound_known, order, vectors, spelling, most_spelt, postings, floor, memory,
    listed, similarity, bound,
):  # fmt: skip
    near = memory.near
    gaining = _term_gains(q, vectors, spelling, memory)
    count, unlisted = _compare_known(q, known, bound_known, order, vectors, floor, memory)
    if unlisted > floor and (count == 0 or near[0] <= unlisted):
        count = _search_index(
            q, gaining, count, order, vectors, spelling, most_spelt, postings, floor, memory
        )
        unlisted = _wanted(near, count, floor)
    for t in range(gaining):
        memory.gains[memory.gaining[t]] = 0.0
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
        memory = _memory_of(memories, thread)
        for row in range(thread, len(queries), threads):
            _answer(
                row, queries[row], known[row], bounds[row], order, vectors, spelling, most_spelt, postings,
                floor, memory, listed, similarity, bound,
            )  # fmt: skip
