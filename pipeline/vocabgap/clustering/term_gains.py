"""What each term would add to a similarity: G x of a query x, with G the cosines between terms.

Terms of their own have none but themselves. The cosines of the others are never held, for there are as many
as there are pairs of words: a query is spelt out in trigrams, and these say which terms have them.
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
def term_gains(q, vectors, spelling, memory):
    """Work out G x of a query; gives the number of terms where it is not zero."""
    gains, gaining, spectrum, heard = memory.gains, memory.gaining, memory.spectrum, memory.heard
    start, terms, loads = vectors
    gram_of, gram_loads = spelling.grams, spelling.loads
    term_of, term_loads = spelling.terms, spelling.gram_loads
    first_gram, first_term = spelling.start, spelling.gram_start
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
    for g in range(grams):
        gram = heard[g]
        for k in range(first_term[gram], first_term[gram + 1]):
            c = term_of[k]
            if gains[c] == 0.0:
                gaining[count] = c
                count += 1
            gains[c] += spectrum[gram] * term_loads[k]
        spectrum[gram] = 0.0
    return count
