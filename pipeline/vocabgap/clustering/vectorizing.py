"""Surfaces to vectors: half TF-IDF of words and word pairs, half TF-IDF of character n-grams.

Words carry the meaning; character n-grams carry what stemming and typing leave different ("denoise",
"de-noising", "denoize"). Both halves count a surface as often as it was mentioned, so that the vectors
are those of the whole corpus and not only of its distinct surfaces.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from vocabgap.text import stem, words

WORD_SHARE: Final = 0.5

# Function words, and the words that only say that something is wanted: every record says so. Negations
# ("not", "no", "without") are not among them, for they turn a need around.
_WORDS: Final = """
a an the this that these those it its there here
of to for in on at by with from as into onto upon and or if so than then
is are be been being was were am do does did has have had having
can could may might must shall should will would
i me my we us our you your he him his she her they them their
what which who whom whose when where how why
please just also want wants wanted wanting need needs needed needing wish lack lacks lacking missing
"""
FUNCTION_WORDS: Final = frozenset(_WORDS.split())

FloatVector = npt.NDArray[np.float64]


def content_words(surface: str, ignored: frozenset[str]) -> list[str]:
    """The words of a surface that are not ignored; all of them where nothing else would be left."""
    every = surface.split()
    return [word for word in every if word not in ignored] or every


def ignored_stems(stop_words: Iterable[str] = ()) -> frozenset[str]:
    """The stems of the function words and of further stop words; a single one may be given as it is."""
    stop_words = (stop_words,) if isinstance(stop_words, str) else stop_words
    return frozenset(stem(part) for word in (*FUNCTION_WORDS, *stop_words) for part in words(word))


def vectorize(contents: Sequence[str], mentions: FloatVector) -> sparse.csr_array:
    """Turn surfaces into rows of unit length whose dot product is their cosine similarity.

    Args:
        contents: The content words of each surface, joined by spaces.
        mentions: How often each surface was mentioned, shape (n,).

    Returns:
        A sparse matrix of shape (n, terms), float64. A blend of two feature spaces is one row: the two
        scaled by the square roots of their shares.
    """
    halves = (
        _tfidf(
            CountVectorizer(tokenizer=str.split, token_pattern=None, ngram_range=(1, 2)), contents, mentions
        ),
        _tfidf(CountVectorizer(analyzer="char_wb", ngram_range=(3, 5)), contents, mentions),
    )
    scales = np.sqrt([WORD_SHARE, 1.0 - WORD_SHARE])
    blend = sparse.hstack([half * scale for half, scale in zip(halves, scales, strict=True)], format="csr")
    rows = _unit_rows(sparse.csr_array(blend))
    rows.sort_indices()  # so that a product adds up in one order, and distances are symmetric to the last bit
    return rows


def _tfidf(counter: CountVectorizer, contents: Sequence[str], mentions: FloatVector) -> sparse.csr_array:
    """TF-IDF with smoothed IDF, as scikit-learn's, of a corpus that holds each row `mentions` times."""
    counter.set_params(lowercase=False, dtype=np.float64)
    counts = sparse.csr_array(counter.fit_transform(contents))
    present = counts.copy()
    present.data[:] = 1.0
    frequency = present.T @ mentions
    idf = np.log((1.0 + mentions.sum()) / (1.0 + frequency)) + 1.0
    return _unit_rows(counts @ sparse.diags_array(idf))


def _unit_rows(rows: sparse.csr_array) -> sparse.csr_array:
    length = np.sqrt(rows.multiply(rows).sum(axis=1))
    length[length == 0.0] = 1.0
    return sparse.csr_array(sparse.diags_array(1.0 / length) @ rows)
