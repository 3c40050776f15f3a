"""Surfaces to vectors: half TF-IDF of words and word pairs, half TF-IDF of character n-grams.

Words carry the meaning; character n-grams carry what stemming and typing leave different ("denoise",
"de-noising", "denoize"). Both halves count a surface as often as it was mentioned, so that the vectors
are those of the whole corpus and not only of its distinct surfaces.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

WORD_SHARE: Final = 0.5

FloatVector = npt.NDArray[np.float64]


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
