"""Compiles loops with Numba, which is loaded with this module alone, and keeps what was compiled.

It is kept beside the module, or in the person's cache folder where that cannot be written. What was kept can
be made again at any time: where it is damaged or there is no room for it, that costs seconds and is no error.
"""

import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

from vocabgap.clustering.blending import DEPTH
from vocabgap.clustering.vectorizing import GRID, FloatArray, IntArray

# mypy: disable-error-code="no-untyped-call"


_DAMAGED: Final = "the compiled loops that an earlier run has kept cannot be read; they are compiled again"
_NOT_KEPT: Final = "the compiled loops cannot be kept, so that the next run compiles them again"


@cache
def _sources() -> str:
    """A digest of everything that is compiled: what was kept of other sources is not taken."""
    digest = sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class _Kept(FunctionCache):  # type: ignore[misc] # Numba is untyped
    """What is kept of one function, or nothing where that cannot be read or written."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        # Numba would look at the file of the function alone, and not at those that it calls into.
        self._cache_file = IndexDataCacheFile(self._cache_path, self._impl.filename_base, _sources())

    def load_overload(self, sig: object, target_context: object) -> object:
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # what a damaged pickle raises has no common base
            warnings.warn(f"{_DAMAGED}: {error!r}", RuntimeWarning, stacklevel=2)
            self._unless_the_disk_refuses(self.flush)
            return None

    def save_overload(self, sig: object, data: object) -> None:
        self._unless_the_disk_refuses(partial(super().save_overload, sig, data))

    @staticmethod
    def _unless_the_disk_refuses(write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            warnings.warn(f"{_NOT_KEPT}: {error}", RuntimeWarning, stacklevel=2)


def compiled(function: Callable[..., Any], *, parallel: bool = False) -> Any:  # noqa: ANN401 - a dispatcher
    """A function compiled at its first call, or loaded from what an earlier run compiled."""
    dispatcher = njit(parallel=parallel)(function)
    with suppress(RuntimeError):  # where there is no folder to keep it in
        dispatcher._cache = _Kept(function)  # noqa: SLF001 - as `njit(cache=True)` does
    return dispatcher


compiled_in_parallel: Final = partial(compiled, parallel=True)


# Lists of the nearest clusters of a query, in compiled loops.
#
# They are short, so they are kept sorted by insertion rather than as heaps.


# mypy: disable-error-code="no-untyped-def,untyped-decorator"


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


# The inverted index: for each term the clusters that have it, in compiled loops.
#
# Terms are numbered from the rarest to the most frequent, and searched for in that order. So with
# each posting goes the norm of what its cluster has from that term on: a cluster that was not met
# before can only be as similar as this norm and that of the query from that term on allow (Anastasiu
# & Karypis 2014, "L2AP"). The postings of a term are sorted by it, the largest first, so that reading
# them can end early.


# mypy: disable-error-code="no-untyped-def,untyped-decorator"


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


# What a thread of the compiled search works with.


# mypy: disable-error-code="no-untyped-def,untyped-decorator"


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
def memory_of(memories, thread):
    """That of one thread."""
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


# What each term would add to a similarity: G x of a query x, with G the cosines between terms.
#
# Terms of their own have none but themselves. The cosines of the others are never held, for there are
# as many as there are pairs of words: a query is spelt out in trigrams, and those of a term give its
# gain. For a few clusters that are known the gains of their terms are enough; a search of the index
# wants them all.


# mypy: disable-error-code="no-untyped-def,untyped-decorator"


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


@compiled
def spell_out(q, vectors, spelling, memory):
    """Work out the trigrams of a query, and the gains of terms that are dimensions; gives both numbers."""
    gains, gaining, spectrum, heard = memory.gains, memory.gaining, memory.spectrum, memory.heard
    start, terms, loads = vectors
    gram_of, gram_loads, first_gram = spelling.grams, spelling.loads, spelling.start
    count, grams = 0, 0
    for i in range(start[q], start[q + 1]):
        c = terms[i]
        if first_gram[c] == first_gram[c + 1]:
            gaining[count] = c
            count += 1
            gains[c] = loads[i]
        for k in range(first_gram[c], first_gram[c + 1]):
            gram = gram_of[k]
            if spectrum[gram] == 0.0:
                heard[grams] = gram
                grams += 1
            spectrum[gram] += loads[i] * gram_loads[k]
    return count, grams


@compiled
def gains_of(p, count, vectors, spelling, memory):
    """Work out the gains of the terms of one cluster alone; gives the number of gains that are not zero."""
    gains, gaining, spectrum = memory.gains, memory.gaining, memory.spectrum
    gram_of, gram_loads, first_gram = spelling.grams, spelling.loads, spelling.start
    for i in range(vectors.start[p], vectors.start[p + 1]):
        c = vectors.terms[i]
        if gains[c] == 0.0 and first_gram[c] < first_gram[c + 1]:
            gain = 0.0
            for k in range(first_gram[c], first_gram[c + 1]):
                gain += spectrum[gram_of[k]] * gram_loads[k]
            if gain != 0.0:
                gains[c] = gain
                gaining[count] = c
                count += 1
    return count


@compiled
def all_gains(count, grams, spelling, memory):
    """Work out the gains of all terms, those of some being known; gives the number that are not zero."""
    gains, gaining, spectrum, heard = memory.gains, memory.gaining, memory.spectrum, memory.heard
    term_of, term_loads, first_term = spelling.terms, spelling.gram_loads, spelling.gram_start
    dimensions = 0
    for t in range(count):
        c = gaining[t]
        if spelling.start[c] == spelling.start[c + 1]:
            gaining[dimensions] = c
            dimensions += 1
        else:
            gains[c] = 0.0
    count = dimensions
    for g in range(grams):
        gram = heard[g]
        for k in range(first_term[gram], first_term[gram + 1]):
            c = term_of[k]
            if gains[c] == 0.0:
                gaining[count] = c
                count += 1
            gains[c] += spectrum[gram] * term_loads[k]
    return count


# Sums of rows by cluster, and what becomes of them in a round of merges. A compiled loop.


# mypy: disable-error-code="no-untyped-def,untyped-decorator"


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
