"""The search for the nearest clusters, in loops that Numba compiles. `blocks` explains why it is exact.

For each query, the search compares the candidates first, those with the highest limits before others.
Then it bounds the similarity of each block of clusters, and opens blocks from the highest bound down. In an
open block it compares the clusters whose own bound is high enough.

A query scores terms: the score of a term is what it adds to a similarity per unit of its weight. A term that
is a dimension has a score if the query has it. The score of any other term is the sum over the trigrams that
it shares with the query. Many terms may share a trigram ("deploy1", "deploy2", ...). Then only terms with
enough of the query's other trigrams are scored. The rest score at most the norm of the shared trigrams.

Bounds are float32 sums of positive parts with a small error per part, so they get some slack. Similarities
are computed in float64.

All compiled loops are in this module, because Numba compiles a cached function again only if the function's
own file changes.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from vocabgap.linkage.rows import FloatArray, IntArray

# Copies of the constants in `rows` and `neighbours`: Numba would not notice a change of an imported one.
GRID: Final = 2.0**40
DEPTH: Final = 0.85

MANY_POSTINGS: Final = 2**15  # of a query's trigrams: reading more takes longer than the rest of a search
_LARGE_BLOCK: Final = 16  # clusters, if those of a block share many terms ...
_SMALL_BLOCK: Final = 4  # ... and if not
_LEVELS: Final = 255  # weights from 0 to 1 are kept in steps of 1/255, rounded up
_STRIP: Final = 64  # bounds that are scanned at once
_TAIL: Final = 0.5  # share of the wanted similarity that terms outside the bounds may add, at most ...
_LONGEST_TAIL: Final = 0.15  # ... and the most that they may add
_KEYS: Final = 3  # heaviest terms that order the clusters ...
_KEY_BITS: Final = 21  # ... and the bits of each in the key
_ROUNDING: Final = 2.0**-23  # error of a float32 sum of positive parts up to 1, per part, at most
_ABOVE: Final = 1.0 + 2.0**-22  # factor that keeps a similarity from shrinking in float32
_PARTS: Final = 32  # further parts of a sum, in addition to the postings


class Vectors(NamedTuple):
    """Clusters as the means of their rows, in the arrays of a CSR matrix."""

    start: IntArray
    terms: npt.NDArray[np.int32]
    weights: FloatArray


class Trigrams(NamedTuple):
    """Terms as sums of trigrams, in the arrays of two CSR matrices: trigrams by term, and terms by trigram.

    A term without trigrams is a dimension. Any other term is called spelt.
    """

    start: IntArray
    grams: npt.NDArray[np.int32]
    weights: FloatArray
    gram_start: IntArray
    terms: npt.NDArray[np.int32]
    gram_weights: FloatArray


class Blocks(NamedTuple):
    """Blocks of clusters, indexed by term. Unsigned indices save checks of their sign.

    They stay valid when clusters merge: a mean has no larger weight of a term than its parts. A merged
    cluster is then a member of the blocks of its parts.
    """

    members: npt.NDArray[np.int32]  # places of the clusters, block by block; negative for none
    size: int  # members of a block

    first: IntArray  # shape (terms + 1,): the blocks with term c are at `first[c]` to `first[c + 1]`
    blocks: npt.NDArray[np.uint32]  # shape (entries,)
    weights: npt.NDArray[np.float32]  # shape (entries,): largest weight of the term in a cluster of the block
    start: IntArray  # shape (blocks + 1,): the terms of block b are at `start[b]` to `start[b + 1]`
    terms: npt.NDArray[np.uint32]  # shape (entries,)
    levels: npt.NDArray[np.uint8]  # shape (size * entries,): weights, cluster by cluster within each block
    trigram_parts: npt.NDArray[np.float32]  # shape (blocks,): largest sum of weights of spelt terms


class Memory(NamedTuple):
    """The working memory of one thread. Between two queries, all scores are zero."""

    term_scores: FloatArray  # of each term for the query
    scored_terms: npt.NDArray[np.int32]  # terms whose score may not be zero ...
    n_scored: IntArray  # ... and their number
    scored_for: npt.NDArray[np.int32]  # the last query that a term was scored for in a comparison
    parts: FloatArray  # partial scores of terms
    read_terms: npt.NDArray[np.int32]  # terms whose blocks are read
    query_grams: FloatArray  # weights of the query's trigrams
    used_grams: npt.NDArray[np.int32]  # trigrams with a weight
    bounds: npt.NDArray[np.float32]  # on the similarity of each block
    opened: npt.NDArray[np.int32]  # blocks to open
    level_scores: npt.NDArray[np.float32]  # the score per level of each term of a block
    limits: npt.NDArray[np.float32]  # bounds on the similarity of each cluster of a block
    compared: npt.NDArray[np.int32]  # the last query that a cluster was compared with
    near: FloatArray  # similarities of the nearest clusters, falling
    places: npt.NDArray[np.int32]  # these clusters

    @classmethod
    def of(cls, terms: int, grams: int, blocks: int, clusters: int, listed: int) -> "Memory":
        """Allocate the memory of one thread."""
        return cls(
            np.zeros(terms),
            np.empty(terms, np.int32),
            np.zeros(1, np.int64),
            np.full(terms, -1, np.int32),
            np.zeros(terms),
            np.empty(terms, np.int32),
            np.zeros(grams),
            np.empty(grams, np.int32),
            np.empty(blocks, np.float32),
            np.empty(blocks, np.int32),
            np.empty(terms, np.float32),
            np.empty(_LARGE_BLOCK, np.float32),
            np.full(clusters, -1, np.int32),
            np.empty(listed),
            np.empty(listed, np.int32),
        )


def compiled(function: Callable[..., Any], **options: bool) -> Any:  # noqa: ANN401 - a dispatcher
    """Compile a function at its first call, or load what an earlier run compiled."""
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # no folder for the cache; NUMBA_CACHE_DIR can name one
        return njit(**options)(function)


@partial(compiled, nogil=True)
def search(
    rows, queries, candidates, limits, bounds, floor, order, vectors, trigrams, blocks, memory,
    listed, listed_limits, similarity, bound,
):  # fmt: skip
    """Fill the fields of `Nearest` for the queries in some rows.

    See `Neighbours.search`. A thread writes only the results of its own queries, so the number of
    threads does not matter. `limits` are overwritten.
    """
    near, term_scores = memory.near, memory.term_scores
    for row in rows:
        q = queries[row]
        n_used = _expand_query(q, vectors, trigrams, memory)
        count, unlisted = _compare_candidates(
            q, candidates[row], limits[row], bounds[row], order, vectors, trigrams, floor, memory
        )
        if unlisted > floor and (count == 0 or near[0] <= unlisted):
            count = _search_blocks(q, n_used, count, order, vectors, trigrams, blocks, floor, memory)
            unlisted = _wanted_similarity(near, count, floor)
        else:
            count, unlisted = _list_candidates(
                q, candidates[row], limits[row], unlisted, count, order, floor, memory
            )
        for c in memory.scored_terms[: memory.n_scored[0]]:
            term_scores[c] = 0.0
        for g in range(n_used):
            memory.query_grams[memory.used_grams[g]] = 0.0
        similarity[row] = near[0] if count > 0 else floor
        bound[row] = unlisted
        for k in range(count):  # loops, as slices take Numba seconds more to compile
            listed[row, k] = memory.places[k]
            listed_limits[row, k] = max(near[k], unlisted) * _ABOVE
        listed_limits[row, count:] = -1.0


@njit
def _compare_candidates(q, candidates, limits, bound, order, vectors, trigrams, floor, memory):
    """List the nearest candidates; return the length of the list, and the bound on all others.

    Clusters with the highest limits come first. The loop stops when no other cluster can be the nearest.
    """
    near, places, compared, term_scores = memory.near, memory.places, memory.compared, memory.term_scores
    start, terms, weights = vectors
    count = 0
    compared[q] = q
    for _ in range(len(candidates)):
        k = np.argmax(limits)
        if limits[k] < (near[0] if count > 0 else floor):
            break
        limits[k] = -1.0
        p = candidates[k]
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
def _list_candidates(q, candidates, limits, bound, count, order, floor, memory):
    """List the candidates that were not compared, each with its limit; return as `_compare_candidates`."""
    near, places, compared = memory.near, memory.places, memory.compared
    for k in range(len(candidates)):
        p = candidates[k]
        if p >= 0 and limits[k] > floor and compared[p] != q:
            compared[p] = q
            if count == len(near):
                bound = max(bound, min(limits[k], near[-1]))
            count = _insert(near, places, count, limits[k], p, order)
    return count, bound


@njit
def _search_blocks(q, n_used, count, order, vectors, trigrams, blocks, floor, memory):
    bounds, opened = memory.bounds, memory.opened
    wanted = _wanted_similarity(memory.near, count, floor)
    most = _largest(blocks.trigram_parts)
    limit = min(_TAIL * wanted, _LONGEST_TAIL) / most if most > 0.0 else 0.0
    unscored = 0.0
    postings = 0
    for gram in memory.used_grams[:n_used]:
        postings += trigrams.gram_start[gram + 1] - trigrams.gram_start[gram]
    if postings <= MANY_POSTINGS:
        _score_all_terms(n_used, trigrams, memory)
    else:
        unscored = _score_likely_terms(q, n_used, limit, trigrams, memory)
    terms, left_out = _choose_terms(trigrams, limit, memory)
    _bound_blocks(terms, max(left_out, unscored), trigrams, blocks, memory)
    slack = _ROUNDING * (terms + _PARTS)
    # The best block comes first: it shows how similar the others have to be.
    best = _best_block(bounds)
    count = _open_block(q, best, count, order, vectors, trigrams, blocks, unscored, floor, memory)
    bounds[best] = -1.0
    likely = opened[: _likely_blocks(bounds, _wanted_similarity(memory.near, count, floor) - slack, opened)]
    for b in likely[np.argsort(-bounds[likely].astype(np.float64))]:
        if bounds[b] < _wanted_similarity(memory.near, count, floor) - slack:
            break
        count = _open_block(q, b, count, order, vectors, trigrams, blocks, unscored, floor, memory)
    return count


@njit
def _choose_terms(trigrams, limit, memory):
    """Choose the terms to read; return their number, and the largest score of the other terms."""
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
def _bound_blocks(terms, left_out, trigrams, blocks, memory):
    """Bound the similarity of each block, from the terms to read and the largest score of others."""
    bounds = memory.bounds
    for b in range(len(bounds)):
        bounds[b] = np.float32(left_out) * blocks.trigram_parts[b]
    for c in memory.read_terms[:terms]:
        term_score = memory.term_scores[c]
        if trigrams.start[c] < trigrams.start[c + 1]:
            term_score -= left_out
        term_score = np.float32(term_score)
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
    count = 0
    for first in range(0, len(bounds), _STRIP):
        if _largest(bounds[first : first + _STRIP]) >= least:
            for b in range(first, min(first + _STRIP, len(bounds))):
                if bounds[b] >= least:
                    likely[count] = b
                    count += 1
    return count


@njit(fastmath=True)  # lets the compiler compare several at once
def _largest(values):
    most = values[0]
    for value in values:
        most = max(most, value)
    return most


@njit
def _open_block(q, block, count, order, vectors, trigrams, blocks, unscored, floor, memory):
    near, places, compared, term_scores = memory.near, memory.places, memory.compared, memory.term_scores
    start, terms, weights = vectors
    limits = _bound_clusters(block, unscored, blocks, memory)
    slack = _ROUNDING * (blocks.start[block + 1] - blocks.start[block] + _PARTS)
    wanted = _wanted_similarity(near, count, floor)
    members = blocks.members[block * blocks.size : (block + 1) * blocks.size]
    for k in range(len(members)):
        p = members[k]
        if p >= 0 and compared[p] != q and limits[k] >= wanted - slack:
            compared[p] = q
            if unscored > 0.0:
                _score_terms(q, terms[start[p] : start[p + 1]], trigrams, memory)
            similarity = _exact_similarity(term_scores, p, start, terms, weights)
            if similarity > floor and similarity >= wanted:
                count = _insert(near, places, count, similarity, p, order)
                wanted = _wanted_similarity(near, count, floor)
    return count


@njit
def _bound_clusters(block, unscored, blocks, memory):
    """Bound the similarity of each cluster of a block; terms without a score count as `unscored`."""
    first, end = blocks.start[block], blocks.start[block + 1]
    level_scores, limits = memory.level_scores[: end - first], memory.limits
    for k in range(first, end):
        level_scores[k - first] = memory.term_scores[blocks.terms[k]] / _LEVELS
    levels = blocks.levels[blocks.size * first : blocks.size * end]
    rest = np.float32(unscored * blocks.trigram_parts[block])
    for j in range(blocks.size):
        limits[j] = rest + _rough_product(level_scores, levels[j * (end - first) : (j + 1) * (end - first)])
    return limits


@njit(fastmath=True)  # lets the compiler add up several at once
def _rough_product(level_scores, levels):
    total = np.float32(0.0)
    for k in range(len(levels)):
        total += level_scores[k] * np.float32(levels[k])
    return total


@njit
def _exact_similarity(term_scores, p, start, terms, weights):
    total = 0.0
    for i in range(start[p], start[p + 1]):
        total += term_scores[terms[i]] * weights[i]
    return np.floor(total * GRID + 0.5) / GRID


@njit
def _insert(near, places, count, similarity, p, order):
    """Insert a cluster into a list by falling similarity, then order. A full list loses its last."""
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
    """Return the similarity that a cluster needs to enter a list."""
    if count == 0:
        return floor
    wanted = max(floor, DEPTH * near[0])
    return max(wanted, near[count - 1]) if count == len(near) else wanted


@njit
def _expand_query(q, vectors, trigrams, memory):
    """Add up the trigrams of a query and score its dimensions; return the number of trigrams."""
    term_scores, scored_terms = memory.term_scores, memory.scored_terms
    query_grams, used_grams = memory.query_grams, memory.used_grams
    start, terms, weights = vectors
    grams, gram_weights, first_gram = trigrams.grams, trigrams.weights, trigrams.start
    n_scored, n_used = 0, 0
    for i in range(start[q], start[q + 1]):
        c = terms[i]
        if first_gram[c] == first_gram[c + 1]:
            scored_terms[n_scored] = c
            n_scored += 1
            term_scores[c] = weights[i]
        for k in range(first_gram[c], first_gram[c + 1]):
            gram = grams[k]
            if query_grams[gram] == 0.0:
                used_grams[n_used] = gram
                n_used += 1
            query_grams[gram] += weights[i] * gram_weights[k]
    memory.n_scored[0] = n_scored
    return n_used


@njit
def _score_terms(q, terms, trigrams, memory):
    """Score the spelt terms among some terms, unless they have a score."""
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
def _score_all_terms(n_used, trigrams, memory):
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
    for g in range(n_used):
        gram = memory.used_grams[g]
        for k in range(first_term[gram], first_term[gram + 1]):
            c = terms[k]
            if term_scores[c] == 0.0:
                scored_terms[n_scored] = c
                n_scored += 1
            term_scores[c] += memory.query_grams[gram] * gram_weights[k]
    memory.n_scored[0] = n_scored


@njit
def _score_likely_terms(q, n_used, limit, trigrams, memory):
    """Score all terms that may score more than a limit; return a bound on the other scores."""
    query_grams, used_grams = memory.query_grams, memory.used_grams
    parts, begun = memory.parts, memory.read_terms
    # The heaviest trigrams are the rarest. The others are left out while their norm is within the limit.
    falling = used_grams[np.argsort(-query_grams[used_grams[:n_used]])]
    rest, n_read = 0.0, n_used
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
def layout_keys(start, terms, weights, spread):
    """Return a key for each row: rows that share their heaviest terms have keys near to each other.

    `spread`, shape (terms,), lowers the weight of terms in few rows.
    """
    keys = np.empty(len(start) - 1, np.int64)
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
        keys[p] = 0
        for c in heaviest:
            keys[p] = (keys[p] << _KEY_BITS) | (c & ((1 << _KEY_BITS) - 1))
    return keys


@compiled
def blocks_of(start, terms, weights, members, first_gram):
    """Arrange members in blocks: the other fields of `Blocks`. `first_gram` is `Trigrams.start`."""
    columns = len(first_gram) - 1
    size = _block_size(start, terms, members, columns)
    count = -(-len(members) // size)
    parts = np.zeros(count, np.float32)
    last = np.full(columns, -1, np.int32)
    first, block_start = np.zeros(columns + 1, np.int64), np.zeros(count + 1, np.int64)
    for k, p in enumerate(members):
        part = 0.0
        for i in range(start[p], start[p + 1]):
            c = terms[i]
            if first_gram[c] < first_gram[c + 1]:
                part += weights[i]
            if last[c] != k // size:
                last[c] = k // size
                first[c + 1] += 1
                block_start[k // size + 1] += 1
        parts[k // size] = max(parts[k // size], np.float32(part))
    first, block_start = np.cumsum(first), np.cumsum(block_start)
    end, entry = first[:-1].copy(), np.empty(columns, np.int64)
    blocks, most = np.empty(first[-1], np.uint32), np.zeros(first[-1], np.float32)
    block_terms, levels = np.empty(first[-1], np.uint32), np.zeros(size * first[-1], np.uint8)
    last[:] = -1
    entries = 0
    for k, p in enumerate(members):
        begin, after = block_start[k // size], block_start[k // size + 1]
        place = size * begin + (k % size) * (after - begin) - begin  # of its levels, but for the entry
        for i in range(start[p], start[p + 1]):
            c = terms[i]
            if last[c] != k // size:
                last[c] = k // size
                blocks[end[c]] = k // size
                end[c] += 1
                entry[c] = entries
                block_terms[entries] = c
                entries += 1
            most[end[c] - 1] = max(most[end[c] - 1], np.float32(weights[i]))
            level = min(np.int64(np.ceil(weights[i] * _LEVELS)), _LEVELS)
            levels[place + entry[c]] = level
    return size, first, blocks, most, block_start, block_terms, levels, parts


@njit
def _block_size(start, terms, members, columns):
    """Choose large blocks if their clusters share at least half of their terms."""
    last = np.full(columns, -1, np.int32)
    entries, distinct = 0, 0
    for k, p in enumerate(members):
        entries += start[p + 1] - start[p]
        for c in terms[start[p] : start[p + 1]]:
            if last[c] != k // _LARGE_BLOCK:
                last[c] = k // _LARGE_BLOCK
                distinct += 1
    return _LARGE_BLOCK if 2 * distinct <= entries else _SMALL_BLOCK
