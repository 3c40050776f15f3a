"""Rows by meaning: sentence embeddings, contrasts and words; and the linkage of many of them.

All texts of a corpus are about one field, so their embeddings share a direction without information. It is
subtracted, and more of it if there are more texts. The embedding of a short text is noisy. So each row is
averaged with its nearest neighbours, weighted by a power of their cosine similarity. This is alpha query
expansion (Radenović, Tolias & Chum 2018, arXiv 1711.02512). Each surface counts once here.

More wordings than can be embedded one by one are grouped first by words, then by meaning. The nearest
wordings by words are merged, until few enough groups are left; contrasts and distant wordings are not merged.
One wording per group is embedded, and counts as often as its group has surfaces. These wordings are clustered
by meaning. If too many groups are left, the smallest groups stay as they are.

Both kinds of merges form one dendrogram. Distances by words are longer than those by meaning, so they are
scaled down. They are scaled further if the group merges by meaning below that.
"""

from collections.abc import Sequence
from itertools import compress
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from vocabgap.clustering.contrasts import LEFT, Poles, leaving, pole_rows, poles_of
from vocabgap.clustering.cutting import MEANING_CUT, WORDS_CUT, average_linkage, linkage_table, members_of
from vocabgap.clustering.describing import representative
from vocabgap.clustering.encoder import in_unknown_script
from vocabgap.clustering.vectorizing import vectorize, word_rows
from vocabgap.clustering.wordings import Points, represented
from vocabgap.errors import InvalidInputError, unusable
from vocabgap.linkage import FloatArray, IntArray, Merges, Rows, in_order_of_height
from vocabgap.linkage.neighbours import nearest_rows
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
EMBEDDED_AT_MOST: Final = 20_000  # surfaces
NEAR: Final = 0.5  # cosine distance of words below which wordings may share an embedding


class TextEmbedder(Protocol):
    """A model that turns texts into vectors. It may have `scripts`: those that it knows, see `encoder.py`."""

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
    wordings, texts = list(compress(points.plainest, read)), list(compress(points.texts, read))
    others = list(compress(points.contents, ~read))
    copies = None if copies is None else copies[read]
    embeddings = embedded(embedder, [*map(without_message, wordings), *texts])
    meaning = _unit(centred(embeddings[: len(texts)], copies) + centred(embeddings[len(texts) :], copies))
    poles = pole_rows(list(map(poles_of, compress(points.need_stems(), read))))
    dense = drawn_nearer(_unit(np.hstack([meaning * np.sqrt(MEANING), poles * np.sqrt(CONTRASTS)])), copies)
    words = word_rows(points.text_contents)[read]
    by_words = vectorize(others, points.sentence_shares[~read]).plain_terms()
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


def similarity(embedder: TextEmbedder, texts: Sequence[str], others: Sequence[str]) -> FloatArray:
    """Return the cosine similarity of each text to another one, shape (n,)."""
    distinct = sorted({*texts, *others})
    place = dict(zip(distinct, range(len(distinct)), strict=True))
    rows = embedded(embedder, distinct)
    one, other = (rows[[place[text] for text in each]] for each in (texts, others))
    return np.asarray((one * other).sum(axis=1).round(6))


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


def cascaded(
    points: Points, poles: Sequence[Poles], embedder: TextEmbedder, max_distance: float
) -> tuple[Rows, pl.DataFrame, float, IntArray]:
    """Cluster more surfaces than `EMBEDDED_AT_MOST`; `max_distance` limits the merges by meaning.

    Return the rows of all surfaces, table `linkage` of them, the distance below which the merges by meaning
    are complete, and 1 for each surface that was embedded, else 0, shape (n,). A row has the surface's own
    words, and the meaning of the surface that represents it, if any.
    """
    words = vectorize(points.contents, points.sentence_shares)
    near, _ = average_linkage(words, NEAR)
    side, count = leaving(near, poles), len(points.contents)
    enough = np.searchsorted(np.cumsum(side == 0), count - EMBEDDED_AT_MOST) + 1
    first = near.filter(pl.col("height") < NEAR).head(int(enough))
    merges = _merges(first, np.arange(count), side)
    roots, groups = np.unique(_roots(merges, count), return_inverse=True)
    names, terms = points.surfaces["surface"].to_list(), [frozenset(each.split()) for each in points.contents]
    representatives = np.zeros(len(roots), np.int64)
    for number, members in enumerate(members_of(groups)):
        own = ([terms[each] for each in members], [1] * len(members), [names[each] for each in members])
        representatives[number] = members[representative(*own)]
    chosen = np.sort(np.argsort(-np.bincount(groups), kind="stable")[:EMBEDDED_AT_MOST])
    place = np.full(len(roots), len(chosen))  # behind the others, for groups that are not embedded
    place[chosen] = np.arange(len(chosen))

    embedded, wordings = represented(points, place[groups], representatives[chosen])
    copies = np.bincount(place[groups])[: len(chosen)]
    rows = blended_rows(embedded.with_texts(wordings), embedder, copies)
    by_meaning, max_distance = average_linkage(rows, max_distance, copies)
    linkage = _joined(merges, _merges(by_meaning, roots[chosen]), count)
    counted = np.zeros(len(groups), np.int64)
    counted[representatives[chosen]] = 1
    return _rows_of_all(points, rows, place[groups]), linkage, max_distance, counted


def _merges(linkage: pl.DataFrame, names: IntArray, side: npt.NDArray[np.int8] | None = None) -> Merges:
    """Return the merges of a linkage under other names, without merges at which a side leaves."""
    name = names.tolist()
    leaves = [0] * linkage.height if side is None else side[: linkage.height].tolist()
    merges: list[tuple[int, int, float]] = []
    rows = linkage.select("left", "right", "height").iter_rows()
    for (left, right, height), leaving_side in zip(rows, leaves, strict=True):
        name.append(name[right if leaving_side == LEFT else left])
        if not leaving_side:
            merges.append((name[left], name[right], height))
    return Merges.of(merges)


def _roots(merges: Merges, count: int) -> IntArray:
    """Return, for each point, the point that names its group."""
    root = list(range(count))
    for keep, drop in zip(reversed(merges.keep.tolist()), reversed(merges.drop.tolist()), strict=True):
        root[drop] = root[keep]
    return np.array(root)


def _joined(by_words: Merges, by_meaning: Merges, count: int) -> pl.DataFrame:
    """Return table `linkage` of both kinds; no merge by words is higher than one by meaning above it."""
    above = np.full(count, np.inf)
    for side in (by_meaning.keep, by_meaning.drop):
        np.minimum.at(above, side, by_meaning.height)
    roots = _roots(by_words, count)
    scaled = by_words.height * (MEANING_CUT.pair / WORDS_CUT.pair)
    lowered = np.minimum(scaled, above[roots[by_words.keep]])
    both = Merges(
        np.concatenate([by_words.keep, by_meaning.keep]),
        np.concatenate([by_words.drop, by_meaning.drop]),
        np.concatenate([lowered, by_meaning.height]),
    )
    return linkage_table(*in_order_of_height(both, np.ones(count)))


def _rows_of_all(points: Points, embedded: Rows, place: IntArray) -> Rows:
    """Return the row of each surface, given the embedded rows and the place of each surface there."""
    words = word_rows(points.contents)
    dense = np.zeros((0, 0)) if embedded.dense is None else embedded.dense
    has_meaning = np.append(dense.any(axis=1), False)[place]
    scales = np.where(has_meaning, np.sqrt(WORD_PART), 1.0)
    return Rows(
        sparse.csr_array(sparse.diags_array(scales) @ words),
        dense=np.vstack([dense, np.zeros((1, dense.shape[1]))]),
        dense_row=place,
    )
