"""Rows by meaning: sentence embeddings, contrasts and words.

All texts of a corpus are about one field, so their embeddings share a direction without information. It is
subtracted, and more of it if there are more texts. The embedding of a short text is noisy. So each row is
averaged with its nearest neighbours, weighted by a power of their cosine similarity. This is alpha query
expansion (Radenović, Tolias & Chum 2018, arXiv 1711.02512). Each surface counts once here.
"""

from collections.abc import Sequence
from itertools import compress
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from vocabgap.clustering.contrasts import pole_rows, poles_of
from vocabgap.clustering.scripts import in_unknown_script
from vocabgap.clustering.vectorizing import vectorize, word_rows
from vocabgap.clustering.wordings import Points
from vocabgap.errors import InvalidInputError, unusable
from vocabgap.linkage import FloatArray, IntArray, Rows
from vocabgap.linkage.products import nearest_rows
from vocabgap.text import without_message

# Chosen on four labelled gap logs and eight sets of public phrases; similar values give similar results.
MEANING: Final = 2.0  # weight of the embeddings ...
CONTRASTS: Final = 0.35  # ... of the poles of a need ...
WORDS: Final = 0.4  # ... and of the words
WORD_PART: Final = WORDS / (MEANING + CONTRASTS + WORDS)  # of the square of a row
SHRINKAGE: Final = 5.0  # number of texts for which half of their mean is subtracted
EXPANSION: Final = 6  # nearest texts that are averaged into a text
ALPHA: Final = 3  # power of the cosine that weights a neighbour
PRIOR: Final = 0.2  # added to the sum of the weights, so that few and far neighbours count less


class TextEmbedder(Protocol):
    """A model that turns texts into vectors. It may have `scripts`: those that it knows, see `scripts.py`."""

    @property
    def name(self) -> str:
        """The name of the model."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """Return a vector for each text, shape (n, dimensions)."""


def blended_rows(points: Points, embedder: TextEmbedder, copies: IntArray | None = None) -> Rows:
    """Make rows of unit length from the meaning of needs and records, their poles, and their words.

    Each wording is embedded as it is, and again without its frame but with the details of its record.
    Embeddings cover the spelling, so there are no character trigrams. A row may represent several surfaces
    (`copies`, shape (n,)). Wordings in a script that the model does not know have rows of `vectorize`.
    """
    read = ~unread(points, embedder)
    wordings, texts = list(compress(points.most_used, read)), list(compress(points.texts, read))
    others = list(compress(points.contents, ~read))
    copies = None if copies is None else copies[read]
    embeddings = embedded(embedder, [*map(without_message, wordings), *texts])
    meaning = _unit(centred(embeddings[: len(texts)], copies) + centred(embeddings[len(texts) :], copies))
    poles = pole_rows(list(map(poles_of, compress(points.need_stems(), read))))
    dense = drawn_nearer(_unit(np.hstack([meaning * np.sqrt(MEANING), poles * np.sqrt(CONTRASTS)])), copies)
    words = word_rows(points.text_contents, points.weights)[read]
    by_words = vectorize(others, points.weights[~read], points.sentence_shares[~read]).plain_terms()
    scales = np.sqrt([WORD_PART, 1.0 - WORD_PART])
    order = np.argsort(np.argsort(~read, kind="stable"))
    return Rows(
        sparse.csr_array(sparse.block_diag([words * scales[0], by_words], format="csr")[order]),
        dense=np.pad(dense * scales[1], ((0, len(others)), (0, 0)))[order],
    )


def unread(points: Points, embedder: TextEmbedder) -> npt.NDArray[np.bool_]:
    """Tell, for each surface, whether it is in a script that the model does not know."""
    names = points.surfaces["surface"].to_list()
    if all(map(str.isascii, names)) or not hasattr(embedder, "scripts"):
        return np.zeros(len(names), np.bool_)
    return in_unknown_script(names, embedder.scripts)


def embedded(embedder: TextEmbedder, texts: Sequence[str]) -> FloatArray:
    """Embed some texts as rows of unit length, shape (n, dimensions)."""
    if not (callable(getattr(embedder, "embed", None)) and isinstance(getattr(embedder, "name", None), str)):
        hint = "see vocabgap.Embedder.load"
        raise unusable("embedder", "an object with a name and embed(texts)", embedder, hint=hint)
    if not texts:
        return np.zeros((0, 0))
    vectors = np.ascontiguousarray(embedder.embed(texts), np.float64)
    if vectors.ndim != 2 or len(vectors) != len(texts):  # noqa: PLR2004
        raise InvalidInputError(
            f"embedder '{embedder.name}' gave an array of shape {vectors.shape} for {len(texts)} texts",
            hint="return one row per text",
        )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths) & (lengths > 0.0)).all():
        raise InvalidInputError(
            f"embedder '{embedder.name}' gave a vector that is zero or not finite", hint="check the model"
        )
    return np.asarray(vectors / lengths)


def centred(embeddings: FloatArray, copies: IntArray | None = None) -> FloatArray:
    """Subtract the direction that all texts share; return rows of unit length."""
    copies = np.ones(len(embeddings), np.int64) if copies is None else copies
    total = np.add.reduce(embeddings * copies[:, None], axis=0)
    return _unit(embeddings - total / (copies.sum() + SHRINKAGE))


def drawn_nearer(rows: FloatArray, copies: IntArray | None = None) -> FloatArray:
    """Average rows of unit length with their nearest rows; each row counts as often as `copies`."""
    # All texts in a script that the model does not know have the same embedding.
    numbers: dict[bytes, int] = {}
    number = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rows])
    distinct = rows[np.unique(number, return_index=True)[1]]
    if len(distinct) < 2:  # noqa: PLR2004
        return rows
    copies = np.bincount(number, copies).astype(np.int64)
    drawn = np.empty_like(distinct)
    for start, near, similarity in nearest_rows(distinct, EXPANSION):
        part = slice(start, start + len(near))
        own = copies[part, None] - 1
        # The row's own copies come first, then copies of each neighbour up to the limit.
        before = np.cumsum(np.concatenate([own, copies[near]], axis=1), axis=1)[:, :-1]
        taken = np.clip(EXPANSION - before, 0, copies[near])
        weights = taken * np.maximum(similarity, 0.0) ** ALPHA
        kept = np.minimum(own, EXPANSION)
        total = PRIOR + kept + weights.sum(axis=1, keepdims=True)
        near_sum = kept * distinct[part] + (weights[:, :, None] * distinct[near]).sum(axis=1)
        drawn[part] = distinct[part] + near_sum / total
    return np.asarray(_unit(drawn)[number])


def _unit(rows: FloatArray) -> FloatArray:
    from sklearn.preprocessing import normalize  # noqa: PLC0415 - takes a second to load

    return np.asarray(normalize(rows)) if rows.size else rows
