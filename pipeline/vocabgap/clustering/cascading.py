"""Cluster more wordings than can be embedded one by one: first by words, then by meaning.

The nearest wordings by words are merged first, until few enough groups are left; contrasts and distant
wordings are not merged. One wording per group is embedded, and weighted by the mentions of its group. These
wordings are clustered by meaning. If too many groups are left, the smallest groups stay as they are.

Both kinds of merges form one dendrogram. Distances by words are longer than those by meaning, so they are
scaled down. They are scaled further if the group merges by meaning below that.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from vocabgap.clustering.blending import WORD_PART, TextEmbedder, blended_rows
from vocabgap.clustering.contrasts import LEFT, Poles, leaving
from vocabgap.clustering.cutting import MEANING_CUT, WORDS_CUT, average_linkage, linkage_table, members_of
from vocabgap.clustering.describing import Labeller
from vocabgap.clustering.vectorizing import vectorize, word_rows
from vocabgap.clustering.wordings import Points, represented
from vocabgap.linkage import FloatArray, IntArray, Merges, Rows, in_order_of_height

EMBEDDED_AT_MOST: Final = 20_000  # surfaces
NEAR: Final = 0.5  # cosine distance of words below which wordings may share an embedding


def cascaded(
    points: Points, poles: Sequence[Poles], embedder: TextEmbedder, max_distance: float
) -> tuple[Rows, pl.DataFrame, float, IntArray]:
    """Cluster more surfaces than `EMBEDDED_AT_MOST`; `max_distance` limits the merges by meaning.

    Return the rows of all surfaces, table `linkage` of them, the distance below which the merges by meaning
    are complete, and 1 for each surface that was embedded, else 0, shape (n,). A row has the surface's own
    words, and the meaning of the surface that represents it, if any.
    """
    words = vectorize(points.contents, points.weights, points.sentence_shares)
    near, _ = average_linkage(words, points.weights, NEAR)
    side, count = leaving(near, points.weights, poles), len(points.contents)
    enough = np.searchsorted(np.cumsum(side == 0), count - EMBEDDED_AT_MOST) + 1
    first = near.filter(pl.col("height") < NEAR).head(int(enough))
    merges = _merges(first, np.arange(count), side)
    roots, groups = np.unique(_roots(merges, count), return_inverse=True)
    label = Labeller(points).label
    representatives = np.array(
        [group[0] if len(group) == 1 else label(group.tolist())[1] for group in members_of(groups)]
    )
    mentions = np.bincount(groups, points.weights)
    chosen = np.sort(np.argsort(-mentions, kind="stable")[:EMBEDDED_AT_MOST])
    place = np.full(len(roots), len(chosen))  # behind the others, for groups that are not embedded
    place[chosen] = np.arange(len(chosen))

    embedded, wordings = represented(points, place[groups], representatives[chosen])
    copies = np.bincount(place[groups])[: len(chosen)]
    rows = blended_rows(embedded.with_texts(wordings), embedder, copies)
    by_meaning, max_distance = average_linkage(rows, embedded.weights, max_distance)
    linkage = _joined(merges, _merges(by_meaning, roots[chosen]), points.weights)
    counted = np.zeros(len(groups), np.int64)
    counted[representatives[chosen]] = 1
    return _rows_of_all(points, rows, place[groups]), linkage, max_distance, counted


def _merges(linkage: pl.DataFrame, names: IntArray, side: npt.NDArray[np.int8] | None = None) -> Merges:
    """Return the merges of a linkage under other names, without merges at which a side leaves."""
    name = names.tolist()
    leaves = [0] * linkage.height if side is None else side[: linkage.height].tolist()
    merges: list[tuple[int, int, float]] = []
    for (left, right, height), leaving_side in zip(
        linkage.select("left", "right", "height").iter_rows(), leaves, strict=True
    ):
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


def _joined(by_words: Merges, by_meaning: Merges, weights: FloatArray) -> pl.DataFrame:
    """Return table `linkage` of both kinds; no merge by words is higher than one by meaning above it."""
    above = np.full(len(weights), np.inf)
    for side in (by_meaning.keep, by_meaning.drop):
        np.minimum.at(above, side, by_meaning.height)
    roots = _roots(by_words, len(weights))
    scaled = by_words.height * (MEANING_CUT.pair / WORDS_CUT.pair)
    lowered = np.minimum(scaled, above[roots[by_words.keep]])
    both = Merges(
        np.concatenate([by_words.keep, by_meaning.keep]),
        np.concatenate([by_words.drop, by_meaning.drop]),
        np.concatenate([lowered, by_meaning.height]),
    )
    return linkage_table(*in_order_of_height(both, weights))


def _rows_of_all(points: Points, embedded: Rows, place: IntArray) -> Rows:
    """Return the row of each surface, given the embedded rows and the place of each surface there."""
    words = word_rows(points.contents, points.weights)
    dense = np.zeros((0, 0)) if embedded.dense is None else embedded.dense
    has_meaning = np.append(dense.any(axis=1), False)[place]
    scales = np.where(has_meaning, np.sqrt(WORD_PART), 1.0)
    return Rows(
        sparse.csr_array(sparse.diags_array(scales) @ words),
        dense=np.vstack([dense, np.zeros((1, dense.shape[1]))]),
        dense_row=place,
    )
