"""What each term would add to a similarity: G x of a query x, with G the cosines between terms.

Terms of their own have none but themselves. The cosines of the others are never held, for there are as many
as there are pairs of words: a query is spelt out in trigrams, and those of a term give its gain. For a few
clusters that are known the gains of their terms are enough; a search of the index wants them all.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vocabgap.clustering.arrays import FloatArray, IntArray
from vocabgap.clustering.compiling import compiled


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
