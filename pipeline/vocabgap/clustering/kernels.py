"""The search for the nearest clusters in loops that Numba compiles: see `neighbours` for why it misses none.

For each query: its exact similarity to what is known, nearest first by what is known of these; then a bound
on each block of clusters, and those blocks opened whose bound is high enough, the highest first. Of the
clusters of an open block those are compared that a closer bound lets be near enough.

A query scores terms: G x of a query x, with G the cosines between terms, is what each term adds to a
similarity for a unit of its weight. Terms that are dimensions have no cosine but with themselves. Those of
the others are never held, for there are as many as there are pairs of words: a query is summed up in
trigrams, and those of a term give its score. For a few known clusters the scores of their terms are enough;
a search wants them all. But where many words share a trigram ("deploy1", "deploy2", ...) only those are
scored that have enough of the query's other trigrams: without these a term scores no more than the norm of
the shared ones. What else a cluster has of terms is then scored when it is compared.

Bounds are added up in float32, in which a sum of positive parts is off by so much of itself for each part:
they are let be lower by that. Similarities are worked out in float64.

All compiled loops are in this one module: what Numba keeps of a function is good until the file of that
function changes, and the files of what it calls do not count.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from vocabgap.clustering.vectorizing import FloatArray, IntArray

# Those of the rest of the room, as literals: a change of an imported one would not be seen.
GRID: Final = 2.0**40
DEPTH: Final = 0.85

MANY_POSTINGS: Final = 2**15  # of a query's trigrams: more cost more than the rest of a search
_BLOCK: Final = 16  # clusters
_LEVELS: Final = 255  # weights from 0 to 1 are kept in steps of 1/255, rounded up
_STRIP: Final = 64  # bounds that are looked through at once
_TAIL: Final = 0.5  # share of the wanted similarity that may come from terms that blocks are not bounded by
_KEYS: Final = 3  # terms that clusters are laid out by ...
_KEY_BITS: Final = 21  # ... and what each takes of an integer
_ROUNDING: Final = 2.0**-23  # what a float32 sum of positive parts up to 1 is off for each part, at most
_ABOVE: Final = 1.0 + 2.0**-22  # times a similarity: no less than it in float32, whatever is then averaged
_PARTS: Final = 32  # parts that are reckoned with beside the postings that are read


class Vectors(NamedTuple):
    """Clusters as the means of their rows, in the arrays of a CSR matrix."""

    start: IntArray
    terms: npt.NDArray[np.int32]
    weights: FloatArray


class Trigrams(NamedTuple):
    """Terms as sums of trigrams, in the arrays of two CSR matrices: trigrams by term, and terms by trigram.

    A term without trigrams is a dimension itself.
    """

    start: IntArray
    grams: npt.NDArray[np.int32]
    weights: FloatArray
    gram_start: IntArray
    terms: npt.NDArray[np.int32]
    gram_weights: FloatArray


class Blocks(NamedTuple):
    """Clusters by sixteen that follow each other: each block is listed by its terms, and lists them.

    Attributes:
        first: Shape (terms + 1,): the blocks that have term c stand from `first[c]` to `first[c + 1]`.
        blocks: Shape (entries,).
        weights: Shape (entries,): the largest of the term in a cluster of the block.
        start: Shape (blocks + 1,): the terms that block b has stand from `start[b]` to `start[b + 1]`.
        terms: Shape (entries,).
        levels: Shape (16 * entries,): weights in levels, of each block its clusters one after the other.
        trigram_parts: Shape (blocks,): the most that terms of trigrams weigh together in a cluster of it.
    """

    first: IntArray
    blocks: npt.NDArray[np.uint32]  # a loop does not ask whether these are negative
    weights: npt.NDArray[np.float32]
    start: IntArray
    terms: npt.NDArray[np.uint32]
    levels: npt.NDArray[np.uint8]
    trigram_parts: npt.NDArray[np.float32]


class Memory(NamedTuple):
    """What one thread works with. Between two queries all that is summed up is zero.

    Attributes:
        term_scores: Shape (terms,): G x of the query, what each term adds for a unit of weight.
        scored_terms: Shape (terms,): terms where that may not be zero ...
        n_scored: Shape (1,): ... and their number.
        scored_for: Shape (terms,): the last query that a term was scored for when it was compared.
        parts: Shape (terms,): parts of their scores.
        read_terms: Shape (terms,): those whose blocks are read.
        query_grams: Shape (grams,): weights of the query's trigrams.
        touched: Shape (grams,): trigrams where that is not zero.
        bounds: Shape (blocks,): accumulators, what a cluster of each block is similar at most.
        opened: Shape (blocks,): blocks whose clusters may be near enough.
        level_scores: Shape (terms,): of the terms of a block, what each adds for a level.
        limits: Shape (16,): what the clusters of a block are similar at most.
        compared: Shape (m,): the last query that the exact similarity was worked out for.
        near: Shape (LISTED,): similarities to the nearest clusters, falling.
        places: Shape (LISTED,): these clusters.
    """

    term_scores: FloatArray
    scored_terms: npt.NDArray[np.int32]
    n_scored: IntArray
    scored_for: npt.NDArray[np.int32]
    parts: FloatArray
    read_terms: npt.NDArray[np.int32]
    query_grams: FloatArray
    touched: npt.NDArray[np.int32]
    bounds: npt.NDArray[np.float32]
    opened: npt.NDArray[np.int32]
    level_scores: npt.NDArray[np.float32]
    limits: npt.NDArray[np.float32]
    compared: npt.NDArray[np.int32]
    near: FloatArray
    places: npt.NDArray[np.int32]

    @classmethod
    def of(cls, threads: int, terms: int, grams: int, blocks: int, clusters: int, listed: int) -> "Memory":
        """Memory of several threads: each array has a first axis for them."""
        return cls(
            np.zeros((threads, terms)),
            np.empty((threads, terms), np.int32),
            np.zeros((threads, 1), np.int64),
            np.full((threads, terms), -1, np.int32),
            np.zeros((threads, terms)),
            np.empty((threads, terms), np.int32),
            np.zeros((threads, grams)),
            np.empty((threads, grams), np.int32),
            np.empty((threads, blocks), np.float32),
            np.empty((threads, blocks), np.int32),
            np.empty((threads, terms), np.float32),
            np.empty((threads, _BLOCK), np.float32),
            np.full((threads, clusters), -1, np.int32),
            np.empty((threads, listed)),
            np.empty((threads, listed), np.int32),
        )


def compiled(function: Callable[..., Any], **options: bool) -> Any:  # noqa: ANN401 - a dispatcher
    """A function compiled at its first call, or loaded from what an earlier run compiled."""
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # there is no folder to keep it in; NUMBA_CACHE_DIR can name one
        return njit(**options)(function)


@partial(compiled, parallel=True)
def search(
    queries, known, limits, bounds, floors, order, vectors, trigrams, blocks, memories,
    listed, listed_limits, similarity, bound,
):  # fmt: skip
    """Fill the fields of `Nearest` for each query: see `SparseNeighbours.search`.

    Arrays of `memories` have a first axis for the threads. `limits` are overwritten.
    """
    threads = len(memories.near)
    # Nothing is written here: where Numba makes a loop parallel, it may take what is written to a part of an
    # array for unused.
    for thread in prange(threads):
        _answer_share(
            thread, threads, queries, known, limits, bounds, floors, order, vectors, trigrams, blocks,
            memories, listed, listed_limits, similarity, bound,
        )  # fmt: skip


# Not `search` compiled anew: what Numba keeps of a function is known by its name, whatever the options.
@partial(compiled, nogil=True)
def search_alone(
    queries, known, limits, bounds, floors, order, vectors, trigrams, blocks, memories,
    listed, listed_limits, similarity, bound,
):  # fmt: skip
    """The same on one thread, where several call it: threads of Numba may be started by one at a time."""
    _answer_share(
        0, 1, queries, known, limits, bounds, floors, order, vectors, trigrams, blocks, memories,
        listed, listed_limits, similarity, bound,
    )  # fmt: skip


@njit
def _answer_share(
    first, step, queries, known, limits, bounds, floors, order, vectors, trigrams, blocks, memories,
    listed, listed_limits, similarity, bound,
):  # fmt: skip
    # Each thread has its own memory and writes only what belongs to its queries, so that the outcome does
    # not depend on their number.
    memory = _memory_of(memories, first)
    for row in range(first, len(queries), step):
        _answer(
            row, queries[row], known[row], limits[row], bounds[row], floors[row], order, vectors,
            trigrams, blocks, memory, listed, listed_limits, similarity, bound,
        )  # fmt: skip


@njit
def _answer(
    row, q, known, limits, bound_known, floor, order, vectors, trigrams, blocks, memory,
    listed, listed_limits, similarity, bound,
):  # fmt: skip
    near = memory.near
    n_touched = _expand_query(q, vectors, trigrams, memory)
    count, unlisted = _compare_known(q, known, limits, bound_known, order, vectors, trigrams, floor, memory)
    if unlisted > floor and (count == 0 or near[0] <= unlisted):
        count = _search_blocks(q, n_touched, count, order, vectors, trigrams, blocks, floor, memory)
        unlisted = _wanted_similarity(near, count, floor)
    else:
        count, unlisted = _list_known(q, known, limits, unlisted, count, order, floor, memory)
    for c in memory.scored_terms[: memory.n_scored[0]]:
        memory.term_scores[c] = 0.0
    for g in range(n_touched):
        memory.query_grams[memory.touched[g]] = 0.0
    similarity[row] = near[0] if count > 0 else floor
    bound[row] = unlisted
    listed[row, :count] = memory.places[:count]
    for k in range(count):
        listed_limits[row, k] = max(near[k], unlisted) * _ABOVE
    listed_limits[row, count:] = -1.0


@njit
def _compare_known(q, known, limits, bound, order, vectors, trigrams, floor, memory):
    """List the nearest of what is likely to be near, scoring no more terms than that takes.

    Those with the highest limits come first; what no limit lets be nearest is left. Gives the length of the
    list, and the bound on what is neither in it nor left.
    """
    near, places, compared, term_scores = memory.near, memory.places, memory.compared, memory.term_scores
    start, terms, weights = vectors
    count = 0
    compared[q] = q
    for _ in range(len(known)):
        k = np.argmax(limits)
        if limits[k] < (near[0] if count > 0 else floor):
            break
        limits[k] = -1.0
        p = known[k]
        if p >= 0 and compared[p] != q:
            compared[p] = q
            _score_terms(q, terms[start[p] : start[p + 1]], trigrams, memory)
            similarity = _exact_similarity(term_scores, p, start, terms, weights)
            if similarity > floor:
                if count == len(near):
                    bound = max(bound, min(similarity, near[-1]))
                count = _insert(near, places, count, similarity, p, order)
    return count, bound


@njit
def _list_known(q, known, limits, bound, count, order, floor, memory):
    """List also what was left, by its limits; gives the length of the list and the bound on all else."""
    near, places, compared = memory.near, memory.places, memory.compared
    for k in range(len(known)):
        p = known[k]
        if p >= 0 and limits[k] > floor and compared[p] != q:
            compared[p] = q
            if count == len(near):
                bound = max(bound, min(limits[k], near[-1]))
            count = _insert(near, places, count, limits[k], p, order)
    return count, bound


@njit
def _search_blocks(q, n_touched, count, order, vectors, trigrams, blocks, floor, memory):
    """List the nearest clusters beside those that are known; gives the length of the list."""
    bounds, opened = memory.bounds, memory.opened
    wanted = _wanted_similarity(memory.near, count, floor)
    most = _largest(blocks.trigram_parts)
    limit = _TAIL * wanted / most if most > 0.0 else 0.0
    unscored = 0.0
    if _trigram_postings(n_touched, trigrams, memory) <= MANY_POSTINGS:
        _score_all_terms(n_touched, trigrams, memory)
    else:
        unscored = _score_likely_terms(q, n_touched, limit, trigrams, memory)
    terms, left_out = _choose_terms(trigrams, limit, memory)
    _bound_blocks(terms, max(left_out, unscored), blocks, memory)
    slack = _ROUNDING * (terms + _PARTS)
    # The best one, at once: it shows how far the rest must be looked at.
    best = _best_block(bounds)
    count = _open_block(q, best, count, order, vectors, trigrams, blocks, unscored, floor, memory)
    bounds[best] = -1.0
    likely = opened[: _likely_blocks(bounds, _wanted_similarity(memory.near, count, floor) - slack, opened)]
    for b in likely[np.argsort(-bounds[likely])]:
        if bounds[b] < _wanted_similarity(memory.near, count, floor) - slack:
            break
        count = _open_block(q, b, count, order, vectors, trigrams, blocks, unscored, floor, memory)
    return count


@njit
def _choose_terms(trigrams, limit, memory):
    """The terms to read; gives their number, and the largest score left out."""
    term_scores, scored_terms, read_terms = memory.term_scores, memory.scored_terms, memory.read_terms
    first_gram = trigrams.start
    count, left_out = 0, 0.0
    for c in scored_terms[: memory.n_scored[0]]:
        if term_scores[c] > limit or first_gram[c] == first_gram[c + 1]:
            read_terms[count] = c
            count += 1
        else:
            left_out = max(left_out, term_scores[c])
    return count, left_out


@njit
def _bound_blocks(terms, left_out, blocks, memory):
    """How similar the clusters of each block are at most, by the terms to read and the most others score."""
    bounds = memory.bounds
    bounds[:] = np.float32(left_out) * blocks.trigram_parts
    for c in memory.read_terms[:terms]:
        term_score = np.float32(memory.term_scores[c])
        for k in range(blocks.first[c], blocks.first[c + 1]):
            bounds[blocks.blocks[k]] += term_score * blocks.weights[k]


@njit
def _best_block(bounds):
    best, most = 0, np.float32(-1.0)
    for first in range(0, len(bounds), _STRIP):
        strip = bounds[first : first + _STRIP]
        if _largest(strip) > most:
            best = first + int(np.argmax(strip))
            most = bounds[best]
    return best


@njit
def _likely_blocks(bounds, least, likely):
    """Fill in the blocks whose bound is not below some similarity; gives their number."""
    count = 0
    for first in range(0, len(bounds), _STRIP):
        if _largest(bounds[first : first + _STRIP]) >= least:
            for b in range(first, min(first + _STRIP, len(bounds))):
                if bounds[b] >= least:
                    likely[count] = b
                    count += 1
    return count


@njit(fastmath=True)  # for a compiler that may take the largest in any order takes it of many at once
def _largest(values):
    most = values[0]
    for value in values:
        most = max(most, value)
    return most


@njit
def _open_block(q, block, count, order, vectors, trigrams, blocks, unscored, floor, memory):
    """List what is near enough of a block by its exact similarity; gives the length of the list."""
    near, places, compared, term_scores = memory.near, memory.places, memory.compared, memory.term_scores
    start, terms, weights = vectors
    limits = _bound_clusters(block, unscored, blocks, memory)
    slack = _ROUNDING * (blocks.start[block + 1] - blocks.start[block] + _PARTS)
    wanted = _wanted_similarity(near, count, floor)
    for p in range(block * _BLOCK, min((block + 1) * _BLOCK, len(order))):
        if compared[p] != q and limits[p - block * _BLOCK] >= wanted - slack:
            if unscored > 0.0:
                _score_terms(q, terms[start[p] : start[p + 1]], trigrams, memory)
            similarity = _exact_similarity(term_scores, p, start, terms, weights)
            if similarity > floor and similarity >= wanted:
                count = _insert(near, places, count, similarity, p, order)
                wanted = _wanted_similarity(near, count, floor)
    return count


@njit
def _bound_clusters(block, unscored, blocks, memory):
    """How similar each cluster of a block is at most, terms without a score having as much as is given."""
    first, end = blocks.start[block], blocks.start[block + 1]
    level_scores, limits = memory.level_scores[: end - first], memory.limits
    for k in range(first, end):
        level_scores[k - first] = memory.term_scores[blocks.terms[k]] / _LEVELS
    levels = blocks.levels[_BLOCK * first : _BLOCK * end]
    rest = np.float32(unscored * blocks.trigram_parts[block])
    for j in range(_BLOCK):
        limits[j] = rest + _rough_product(level_scores, levels[j * (end - first) : (j + 1) * (end - first)])
    return limits


@njit(fastmath=True)  # adds up many at once
def _rough_product(level_scores, levels):
    total = np.float32(0.0)
    for k in range(len(levels)):
        total += level_scores[k] * np.float32(levels[k])
    return total


@njit
def _exact_similarity(term_scores, p, start, terms, weights):
    """The similarity of a query, given what each term adds, to a cluster."""
    total = 0.0
    for i in range(start[p], start[p + 1]):
        total += term_scores[terms[i]] * weights[i]
    return np.floor(total * GRID + 0.5) / GRID


@njit
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


@njit
def _wanted_similarity(near, count, floor):
    """How similar a cluster must be to enter a list."""
    if count == 0:
        return floor
    wanted = max(floor, DEPTH * near[0])
    return max(wanted, near[count - 1]) if count == len(near) else wanted


@njit
def _memory_of(memories, thread):
    return Memory(
        memories.term_scores[thread],
        memories.scored_terms[thread],
        memories.n_scored[thread],
        memories.scored_for[thread],
        memories.parts[thread],
        memories.read_terms[thread],
        memories.query_grams[thread],
        memories.touched[thread],
        memories.bounds[thread],
        memories.opened[thread],
        memories.level_scores[thread],
        memories.limits[thread],
        memories.compared[thread],
        memories.near[thread],
        memories.places[thread],
    )


@njit
def _expand_query(q, vectors, trigrams, memory):
    """Sum up the trigrams of a query, score the terms that are dimensions; gives the number of trigrams."""
    term_scores, scored_terms = memory.term_scores, memory.scored_terms
    query_grams, touched = memory.query_grams, memory.touched
    start, terms, weights = vectors
    grams, gram_weights, first_gram = trigrams.grams, trigrams.weights, trigrams.start
    n_scored, n_touched = 0, 0
    for i in range(start[q], start[q + 1]):
        c = terms[i]
        if first_gram[c] == first_gram[c + 1]:
            scored_terms[n_scored] = c
            n_scored += 1
            term_scores[c] = weights[i]
        for k in range(first_gram[c], first_gram[c + 1]):
            gram = grams[k]
            if query_grams[gram] == 0.0:
                touched[n_touched] = gram
                n_touched += 1
            query_grams[gram] += weights[i] * gram_weights[k]
    memory.n_scored[0] = n_scored
    return n_touched


@njit
def _score_terms(q, terms, trigrams, memory):
    """Score those of some terms that are made of trigrams, unless that was done."""
    scored_for, query_grams, first_gram = memory.scored_for, memory.query_grams, trigrams.start
    grams, gram_weights = trigrams.grams, trigrams.weights
    n_scored = memory.n_scored[0]
    for c in terms:
        if scored_for[c] != q and first_gram[c] < first_gram[c + 1]:
            scored_for[c] = q
            term_score = 0.0
            for k in range(first_gram[c], first_gram[c + 1]):
                term_score += query_grams[grams[k]] * gram_weights[k]
            memory.term_scores[c] = term_score
            memory.scored_terms[n_scored] = c
            n_scored += 1
    memory.n_scored[0] = n_scored


@njit
def _trigram_postings(n_touched, trigrams, memory):
    """How many terms the trigrams of the query have in all."""
    count = 0
    for gram in memory.touched[:n_touched]:
        count += trigrams.gram_start[gram + 1] - trigrams.gram_start[gram]
    return count


@njit
def _score_all_terms(n_touched, trigrams, memory):
    """Score all terms, those of some being known."""
    term_scores, scored_terms = memory.term_scores, memory.scored_terms
    terms, gram_weights, first_term = trigrams.terms, trigrams.gram_weights, trigrams.gram_start
    dimensions = 0
    for c in scored_terms[: memory.n_scored[0]]:
        if trigrams.start[c] == trigrams.start[c + 1]:
            scored_terms[dimensions] = c
            dimensions += 1
        else:
            term_scores[c] = 0.0
    n_scored = dimensions
    for g in range(n_touched):
        gram = memory.touched[g]
        for k in range(first_term[gram], first_term[gram + 1]):
            c = terms[k]
            if term_scores[c] == 0.0:
                scored_terms[n_scored] = c
                n_scored += 1
            term_scores[c] += memory.query_grams[gram] * gram_weights[k]
    memory.n_scored[0] = n_scored


@njit
def _score_likely_terms(q, n_touched, limit, trigrams, memory):
    """Score all terms that may score more than a limit; gives what the others score at most."""
    query_grams, touched, parts, begun = memory.query_grams, memory.touched, memory.parts, memory.read_terms
    # The heaviest trigrams are the rarest. As long as the others are within the limit, they are left out.
    falling = touched[np.argsort(-query_grams[touched[:n_touched]])]
    rest, n_read = 0.0, n_touched
    while n_read > 0 and rest + query_grams[falling[n_read - 1]] ** 2 <= limit * limit:
        n_read -= 1
        rest += query_grams[falling[n_read]] ** 2
    rest = np.sqrt(rest)
    n_begun = 0
    for gram in falling[:n_read]:
        for k in range(trigrams.gram_start[gram], trigrams.gram_start[gram + 1]):
            c = trigrams.terms[k]
            if parts[c] == 0.0:
                begun[n_begun] = c
                n_begun += 1
            parts[c] += query_grams[gram] * trigrams.gram_weights[k]
    unscored, n_likely = rest, 0
    for c in begun[:n_begun]:
        most = parts[c] + rest
        parts[c] = 0.0
        if most > limit:
            begun[n_likely] = c
            n_likely += 1
        else:
            unscored = max(unscored, most)
    _score_terms(q, begun[:n_likely], trigrams, memory)
    return unscored


@compiled
def laid_out(start, terms, weights, spread):
    """A number of each row: those that share their weightiest terms have numbers near to each other.

    Terms count by their `spread`, shape (terms,): what only few rows have does not bring many together.
    """
    numbers = np.empty(len(start) - 1, np.int64)
    heaviest, heights = np.empty(_KEYS, np.int64), np.empty(_KEYS)
    for p in range(len(start) - 1):
        heaviest[:], heights[:] = 0, 0.0
        for i in range(start[p], start[p + 1]):
            height = weights[i] * spread[terms[i]]
            if height > heights[-1]:
                k = _KEYS - 1
                while k > 0 and height > heights[k - 1]:
                    heaviest[k], heights[k] = heaviest[k - 1], heights[k - 1]
                    k -= 1
                heaviest[k], heights[k] = terms[i], height
        numbers[p] = 0
        for c in heaviest:
            numbers[p] = (numbers[p] << _KEY_BITS) | (c & ((1 << _KEY_BITS) - 1))
    return numbers


@compiled
def blocks_of(start, terms, weights, rows, first_gram):
    """The first so many rows by blocks, as the fields of `Blocks`; `first_gram` is `Trigrams.start`."""
    columns = len(first_gram) - 1
    count = -(-rows // _BLOCK)
    parts = np.zeros(count, np.float32)
    last = np.full(columns, -1, np.int32)
    first, block_start = np.zeros(columns + 1, np.int64), np.zeros(count + 1, np.int64)
    for p in range(rows):
        part = 0.0
        for i in range(start[p], start[p + 1]):
            c = terms[i]
            if first_gram[c] < first_gram[c + 1]:
                part += weights[i]
            if last[c] != p // _BLOCK:
                last[c] = p // _BLOCK
                first[c + 1] += 1
                block_start[p // _BLOCK + 1] += 1
        parts[p // _BLOCK] = max(parts[p // _BLOCK], np.float32(part))
    first, block_start = np.cumsum(first), np.cumsum(block_start)
    end, entry = first[:-1].copy(), np.empty(columns, np.int64)
    blocks, most = np.empty(first[-1], np.uint32), np.zeros(first[-1], np.float32)
    block_terms, levels = np.empty(first[-1], np.uint32), np.zeros(_BLOCK * first[-1], np.uint8)
    last[:] = -1
    entries = 0
    for p in range(rows):
        for i in range(start[p], start[p + 1]):
            c = terms[i]
            if last[c] != p // _BLOCK:
                last[c] = p // _BLOCK
                blocks[end[c]] = p // _BLOCK
                end[c] += 1
                entry[c] = entries
                block_terms[entries] = c
                entries += 1
            most[end[c] - 1] = max(most[end[c] - 1], np.float32(weights[i]))
            level = min(np.int64(np.ceil(weights[i] * _LEVELS)), _LEVELS)
            levels[_place_of(entry[c], p, block_start)] = level
    return first, blocks, most, block_start, block_terms, levels, parts


@njit
def _place_of(entry, p, block_start):
    """Where the level of a cluster stands, given the entry of its block."""
    first, end = block_start[p // _BLOCK], block_start[p // _BLOCK + 1]
    return _BLOCK * first + (p % _BLOCK) * (end - first) + entry - first
