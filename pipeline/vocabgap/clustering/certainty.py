"""How sure a group is: what its size would be had it been cut elsewhere, and whether it holds several needs.

The size of the need that most of a group asks for lies, in about nine of ten cases, between a share of the
largest part that a tighter cut leaves of the group and a multiple of the group that holds it at a looser cut.
Fitted on five labelled sets and checked on six others; the figures stand in the manual. It tells nothing of
the records that were not logged, and nothing of ranks: intervals of those come from draws of images.

What people have decided about is not said to hold several needs. How large it is stays unsure: an answer is
about two sides of a group, and says nothing of the wordings that are still elsewhere.
"""

from collections.abc import Collection
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from vocabgap.clustering.cutting import MEANING_CUT, Tree
from vocabgap.clustering.vectorizing import FloatArray, IntArray

LEAST_MENTIONS: Final = 4  # of a group that may be said to hold several needs


class Margins(NamedTuple):
    """How far the sizes of needs are from those of groups."""

    tighter: float  # how much nearer wordings have to be in the tight cut
    share: float  # of the largest part that it leaves, which the need has at least
    looser: float  # how much further apart they may be in the loose cut
    times: float  # the size of the group there, which the need has at most
    mixed_below: float  # the cohesion of a group that probably holds several needs


BY_WORDS: Final = Margins(0.26, 1.0, 0.18, 1.25, 0.42)
BY_MEANING: Final = Margins(0.10, 0.5, 0.08, 1.25, 0.56)


def certainty(
    labels: IntArray,
    weights: FloatArray,
    cohesion: FloatArray,
    tree: Tree,
    *,
    threshold: float | None,
    shift: float,
    decided: Collection[int] = (),
) -> pl.DataFrame:
    """Columns `mentions_low`, `mentions_high` and `mixed`, a row a group.

    Args:
        labels: The group of each point, shape (n,).
        weights: How often each was mentioned, shape (n,).
        cohesion: Of each group, shape (groups,).
        tree: The dendrogram.
        threshold: The distance at which it was cut; None where that went by the wordings.
        shift: How much further than these say groups were let be apart.
        decided: The groups that people have decided about, which are not marked.
    """
    margins = BY_MEANING if tree.cut == MEANING_CUT else BY_WORDS
    parts = tree.labels(threshold, shift - margins.tighter)
    wholes = tree.labels(threshold, shift + margins.looser)
    size = np.bincount(labels, weights)
    surfaces = np.bincount(labels)
    low, high = _largest(labels, parts, weights), np.zeros(len(size))
    np.maximum.at(high, labels, np.bincount(wholes, weights)[wholes])
    same = np.zeros(len(size))  # what one wording alone has is one need in any case
    np.maximum.at(same, labels, weights)
    low = np.maximum(np.floor(margins.share * low), same)
    high = np.maximum(np.where(surfaces == 1, high, np.ceil(margins.times * high)), size)
    mixed = (cohesion < margins.mixed_below) & (size >= LEAST_MENTIONS) & (surfaces > 1)
    mixed[np.array(sorted(decided), np.int64)] = False
    return pl.DataFrame(
        {"mentions_low": low.astype(np.int64), "mentions_high": high.astype(np.int64), "mixed": mixed}
    )


def _largest(labels: IntArray, parts: IntArray, weights: FloatArray) -> FloatArray:
    """The mentions of the largest part of each group, shape (groups,)."""
    pairs, place = np.unique(np.stack([labels, parts]), axis=1, return_inverse=True)
    largest = np.zeros(int(labels.max(initial=-1)) + 1)
    np.maximum.at(largest, pairs[0], np.bincount(place.ravel(), weights))
    return largest
