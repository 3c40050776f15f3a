"""Vectors of wordings in few dimensions, for systems that want dense ones of one length.

This is a sparse random projection. A hash of its text sends each term to a few dimensions, with a sign each.
Dot products are preserved on average (Achlioptas 2003; Weinberger et al. 2009). A term goes to the same
places in every corpus, so vectors of two exports can be compared as far as their weights can.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
import polars as pl
from scipy import sparse

from vocabgap.clustering.vectorizing import FloatArray, IntArray, grams, pairs_of, vectorize, vocabulary_of
from vocabgap.clustering.wordings import NO_SYNONYMS, points_of

METHOD: Final = "tf-idf rows of the clustering, sparse random projection of hashed terms"
SEED: Final = 20_260_401
DECIMALS: Final = 6
_PLACES: Final = 8  # of a term: 8 bytes of a hash of 64 each
_BLOCK_ROWS: Final = 16_384


class WordingVectors:
    """The vectors of the wordings of some records.

    Args:
        records: The three columns of table `records` that a phrase is taken from.
        dimension: Length of a vector.
        seed: Another seed sends terms to other places.
        stop_words: Words to ignore beside the function words.
        synonyms: A word or phrase to the others that stand for it.
    """

    def __init__(
        self,
        records: pl.DataFrame,
        dimension: int,
        *,
        seed: int = SEED,
        stop_words: Iterable[str] = (),
        synonyms: Mapping[str, Iterable[str]] = NO_SYNONYMS,
    ) -> None:
        points = points_of(records, stop_words, synonyms)
        self._rows = vectorize(points.contents, points.weights, points.sentence_shares)
        self._places = _places(terms_of(points.contents), dimension, seed)
        self._dimension = dimension
        position = {surface: point for point, surface in enumerate(points.surfaces["surface"])}
        self._points = {
            wording: position[surface]
            for wording, surface in points.wordings.select("wording", "surface").iter_rows()
        }

    def of(self, wordings: Iterable[str | None]) -> FloatArray:
        """Return vectors of unit length, rounded to `DECIMALS`; zeros for other texts."""
        points = np.array([-1 if wording is None else self._points.get(wording, -1) for wording in wordings])
        known = np.flatnonzero(points >= 0)
        vectors = np.zeros((len(points), self._dimension))
        for start in range(0, len(known), _BLOCK_ROWS):
            block = known[start : start + _BLOCK_ROWS]
            vectors[block] = self._projected(points[block])
        return vectors

    def _projected(self, points: IntArray) -> FloatArray:
        dense = (self._rows.plain(points) @ self._places).toarray()
        length = np.sqrt((dense * dense).sum(axis=1, keepdims=True))
        length[length == 0.0] = 1.0
        rounded: FloatArray = np.round(dense / length, DECIMALS) + 0.0  # no negative zero
        return rounded


def _places(terms: list[tuple[str, str]], dimension: int, seed: int) -> sparse.csr_array:
    """Return the dimensions and signs of each term, shape (terms, dimension)."""
    salt = seed.to_bytes(8, "big")
    hashed = b"".join(
        hashlib.blake2b(f"{kind} {text}".encode(), digest_size=8 * _PLACES, salt=salt).digest()
        for kind, text in terms
    )
    numbers = np.frombuffer(hashed, ">u8").astype(np.uint64)
    columns = ((numbers >> np.uint64(1)) % np.uint64(dimension)).astype(np.int64)
    signs = np.where(numbers & np.uint64(1), 1.0, -1.0) / np.sqrt(_PLACES)
    rows = np.repeat(np.arange(len(terms)), _PLACES)
    return sparse.csr_array((signs, (rows, columns)), shape=(len(terms), dimension))


def terms_of(contents: Sequence[str]) -> list[tuple[str, str]]:
    """Return the kind and text of each dimension of `Rows.plain`, for the same contents."""
    vocabulary = vocabulary_of(contents)
    return [
        *(("word", word) for word in vocabulary),
        *(("pair", " ".join(pair)) for pair in pairs_of(contents, vocabulary)),
        *(("letters", gram) for gram in dict.fromkeys(gram for word in vocabulary for gram in grams(word))),
    ]
