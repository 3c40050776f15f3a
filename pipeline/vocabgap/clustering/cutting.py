"""Where to cut the dendrogram: at one distance, or at that which suits what each merge brings together.

Two wordings alone have to be near to be one need; two groups of many may be further apart, for the mean of
many distances is surer than one of them. Sentences that mean the same share fewer words than noun phrases
do, among many that say nothing, so a group of sentences is held together by less. And what stands at
different poles of a contrast (add, remove) is no one need, however near it is.

Corpora differ, too: where all speak of a few things, wordings of different needs are near each other, so what
is one need has to be nearer still.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from vocabgap.clustering.contrasts import LEFT, RIGHT
from vocabgap.clustering.vectorizing import FloatArray, IntArray
from vocabgap.clustering.wordings import sentence_share
from vocabgap.model.tables import LINKAGE

Sides = npt.NDArray[np.int8]


class Cut(NamedTuple):
    """The cosine distances at which needs part."""

    pair: float  # two single noun phrases, at most
    group: float  # how much further two groups may be, the more the larger they are
    sentence: float  # how much further sentences may be
    crowded: float = 0.0  # how much nearer phrases have to be where a corpus is crowded, by its distance

    @property
    def farthest(self) -> float:
        """No merge is made from here on."""
        return self.pair + self.group + self.sentence


# Fitted on gap logs, and on public phrases after them, a family left out at a time.
WORDS_CUT: Final = Cut(0.55, 0.0, 0.21)
MEANING_CUT: Final = Cut(0.32, 0.25, 0.2, 0.3)
SPARSE: Final = 0.4  # a corpus is crowded if a quarter of the merges are below this distance


class Tree(NamedTuple):
    """A dendrogram, and where it is cut.

    Attributes:
        linkage: Table `linkage`, of n - 1 merges or those below `max_distance`.
        cuts: The distance below which each merge suits its wordings, shape (merges,).
        leaving: Of each merge the side that leaves, `LEFT` or `RIGHT`, for the two contrast; else 0.
        cut: What that was reckoned from.
        n_samples: Number of points.
        max_distance: The linkage holds every merge below this distance.
    """

    linkage: pl.DataFrame
    cuts: FloatArray
    leaving: Sides
    cut: Cut
    n_samples: int
    max_distance: float

    def labels(self, threshold: float | None, shift: float = 0.0) -> IntArray:
        """The group of each point at one distance, or where the wordings part: shape (n_samples,).

        Args:
            threshold: Cosine distance; None where the wordings say it, and what contrasts parts.
            shift: How much further apart groups may be. What shares nothing is never merged.
        """
        at = np.clip((self.cuts if threshold is None else threshold) + shift, 0.0, 1.0)
        return flat_groups(self.linkage, self.n_samples, at, self.leaving if threshold is None else None)


def cuts(
    linkage: pl.DataFrame,
    weights: FloatArray,
    clause_shares: FloatArray,
    cut: Cut,
    *,
    counted: IntArray | None = None,
) -> FloatArray:
    """The distance below which each merge is made, shape (merges,).

    The clause shares of the members are averaged before they are judged, so that commands among questions
    count as sentences, too.

    Args:
        linkage: Table `linkage`.
        weights: How often each surface was mentioned, shape (n,).
        clause_shares: The share of clause words of each surface, shape (n,).
        cut: Where needs part.
        counted: 1 for each surface by default; 0 for one that is not compared, for another stands for it.
    """
    count = len(weights)
    mass = np.concatenate([weights * clause_shares, np.zeros(linkage.height)]).tolist()
    surfaces = ([1] * count if counted is None else counted.tolist()) + [0] * linkage.height
    sides = linkage.select("left", "right").iter_rows()
    for node, (left, right) in enumerate(sides, start=count):
        mass[node] = mass[left] + mass[right]
        surfaces[node] = surfaces[left] + surfaces[right]
    sentence = sentence_share(np.array(mass[count:]) / linkage["size"].to_numpy())
    # How much surer the mean of many distances is than one of them.
    surer = 1.0 - 1.0 / np.sqrt(np.maximum(surfaces[count:], 2) / 2.0)
    pair = cut.pair
    if cut.crowded:
        pair -= cut.crowded * max(0.0, SPARSE - _quarter(linkage, np.array(surfaces), sum(surfaces[:count])))
    return pair + cut.group * surer + cut.sentence * sentence


def _quarter(linkage: pl.DataFrame, surfaces: IntArray, compared: int) -> float:
    """The distance below which a quarter of the merges between surfaces that are compared lies."""
    sides = (surfaces[linkage[side].to_numpy()] > 0 for side in ("left", "right"))
    heights = np.sort(linkage["height"].to_numpy()[np.logical_and(*sides)])
    nearest = (compared - 1) // 4
    return float(heights[nearest]) if 0 <= nearest < len(heights) else SPARSE


def flat_groups(
    linkage: pl.DataFrame,
    n_samples: int,
    distance_threshold: float | FloatArray,
    leaving: Sides | None = None,
) -> IntArray:
    """The groups under the highest merges that are strictly below their threshold.

    What lies under such a merge stays together, whatever the thresholds further down: the nodes of a tree
    are nested or apart, so this is a partition. Where a side leaves, it is a tree of its own.

    Args:
        linkage: Table `linkage` of `n_samples` points.
        n_samples: Number of points.
        distance_threshold: Cosine distance at which merging stops: one, or one for each merge.
        leaving: Of each merge the side that leaves, for which nothing is merged there; else 0.

    Returns:
        Labels, shape (n_samples,): groups numbered from 0 in the order of their first point.
    """
    leaving = np.zeros(linkage.height, np.int8) if leaving is None else leaving
    is_merged = (linkage["height"].to_numpy() < distance_threshold) & (leaving == 0)
    root = list(range(n_samples + linkage.height))
    merges = list(
        zip(
            *(linkage[side].to_list() for side in ("left", "right")),
            is_merged.tolist(),
            leaving.tolist(),
            strict=True,
        )
    )
    # Parents have larger numbers than their parts, so one pass from the top finds every root.
    for node, (left, right, merged, leaves) in zip(
        reversed(range(n_samples, len(root))), reversed(merges), strict=True
    ):
        if merged or root[node] != node:
            root[left] = root[node] if leaves != LEFT else left
            root[right] = root[node] if leaves != RIGHT else right
    numbers: dict[int, int] = {}
    return np.array([numbers.setdefault(node, len(numbers)) for node in root[:n_samples]], dtype=np.int64)


def members_of(labels: IntArray) -> list[IntArray]:
    """The points of each group, in order."""
    order = np.argsort(labels, kind="stable")
    ends = np.flatnonzero(np.diff(labels[order])) + 1
    return np.split(order, ends) if len(labels) else []


def below(linkage: pl.DataFrame, weights: FloatArray, members: IntArray) -> pl.DataFrame:
    """The merges inside one group, as a dendrogram of its own.

    Args:
        linkage: Table `linkage` of n points.
        weights: How often each was mentioned, shape (n,).
        members: The points of the group, ascending.

    Returns:
        Table `linkage` of `len(members)` points, numbered in that order.
    """
    number = dict(zip(members.tolist(), range(len(members)), strict=True))
    size = dict(zip(members.tolist(), weights[members].astype(int).tolist(), strict=True))
    rows: list[tuple[int, int, float, int]] = []
    sides = linkage.select("left", "right", "height").iter_rows()
    for node, (left, right, height) in enumerate(sides, start=len(weights)):
        inside = [side for side in (left, right) if side in number]
        if not inside:
            continue
        number[node], size[node] = number[inside[0]], sum(size[side] for side in inside)
        if len(inside) > 1:
            one, other = sorted((number[left], number[right]))
            number[node] = len(members) + len(rows)
            rows.append((one, other, height, size[node]))
    return pl.DataFrame(rows, schema=LINKAGE.schema, orient="row")
