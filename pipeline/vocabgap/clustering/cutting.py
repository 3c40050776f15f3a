"""Cuts of a dendrogram: at one distance, or at a distance for each merge; and the certainty of groups.

Two single wordings must be close to be one need. Two large groups may be further apart, because a mean of
many distances is more certain than one. Sentences with the same meaning share fewer words than noun phrases,
so they may also be further apart. Opposites (add, remove) are never one need. In a corpus about few things,
wordings of different needs are close, so wordings of one need must be closer still.

Two more cuts give an interval for the size of a need. A tighter cut splits its group: the lower end is the
largest part. A looser cut joins groups: the upper end is the joined group. But the upper end is at most the
size that groups of this log reach, because a small group may be a part of any need. So the interval is wide
in a log with many wordings per need, such as dialogue. The manual has the figures.
"""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from vocabgap.clustering.contrasts import LEFT, RIGHT, Poles
from vocabgap.clustering.wordings import sentence_share
from vocabgap.linkage import FloatArray, IntArray, Rows, dendrogram_of
from vocabgap.model.tables import LINKAGE

Sides = npt.NDArray[np.int8]


class Cut(NamedTuple):
    """Cosine distances that separate needs."""

    pair: float  # for two single noun phrases
    group: float  # extra distance for two groups; the larger they are, the more of it
    sentence: float  # extra distance for sentences
    crowded: float = 0.0  # how much closer phrases must be in a crowded corpus, per unit of its distance

    @property
    def farthest(self) -> float:
        """The distance at and above which nothing merges."""
        return self.pair + self.group + self.sentence


# Fitted on gap logs, then on public phrases, leaving out one family at a time.
WORDS_CUT: Final = Cut(0.55, 0.0, 0.21)
MEANING_CUT: Final = Cut(0.32, 0.25, 0.2, 0.3)
SPARSE: Final = 0.4  # a corpus is crowded if a quarter of its merges are below this distance

CLOSER: Final = 0.5  # the tighter cut, as a share of the distance of each merge
FARTHER: Final = 1.75  # the looser cut
GROWTH: Final = 1.25  # the least upper end of several wordings, as a multiple of their group
REACHED_BY: Final = 0.9  # share of mentions in groups of at most the reach of a log
LEAST_REACH: Final = 15  # mentions


class LeastCohesion(NamedTuple):
    """The cohesion below which a group is marked as mixed."""

    many: float  # of many wordings
    two: float  # extra cohesion of two wordings; the more there are, the less of it


BY_WORDS: Final = LeastCohesion(0.34, 0.12)
BY_MEANING: Final = LeastCohesion(0.56, 0.16)


def average_linkage(
    rows: Rows, max_distance: float = 1.0, copies: IntArray | None = None
) -> tuple[pl.DataFrame, float]:
    """Return table `linkage` of rows, and the distance below which it is complete.

    A row may represent several surfaces (`copies`, shape (n,)).
    """
    weights = None if copies is None else copies.astype(np.float64)
    merges, max_distance = dendrogram_of(rows, weights, max_distance)
    return linkage_table(*merges), max_distance


def linkage_table(children: IntArray, distances: FloatArray, counts: FloatArray) -> pl.DataFrame:
    """Return merges in SciPy's order and numbering as table `linkage`."""
    left, right = children.T
    columns = {"left": left, "right": right, "height": distances, "size": counts.astype(np.int64)}
    return pl.DataFrame(columns, schema=LINKAGE.schema)


class Tree(NamedTuple):
    """A dendrogram and its cuts."""

    linkage: pl.DataFrame  # table `linkage`
    cuts: FloatArray  # the distance below which each merge is made, shape (merges,)
    leaving: Sides  # the side of each merge that leaves because of a contrast, `LEFT` or `RIGHT`; else 0
    cut: Cut  # the distances that the cuts come from
    n_samples: int
    max_distance: float  # below which the linkage is complete
    doubts: Sequence[Poles] = ()  # the poles of each point, and those that separate no groups

    def labels(self, threshold: float | None, times: float = 1.0) -> IntArray:
        """Return the group of each point, shape (n_samples,), at a multiple of a cosine distance.

        Without a distance each merge has its own cut, and contrasts are separated. Wordings that share
        nothing never merge.
        """
        at = np.minimum((self.cuts if threshold is None else threshold) * times, 1.0)
        return flat_groups(self.linkage, self.n_samples, at, self.leaving if threshold is None else None)

    def with_copies(self, places: IntArray) -> "Tree":
        """Return the dendrogram of the points and of copies of some points behind them.

        `places` are the places of all points in this dendrogram. A point and its copies merge first, at
        distance 0, so that no other group changes.
        """
        count, copies = self.n_samples, len(places) - self.n_samples
        node = np.arange(count + self.linkage.height)
        node[count:] += 2 * copies
        size = [1] * len(places) + [0] * copies
        merges: list[tuple[int, int, float, int]] = []
        for copy, place in enumerate(places[count:].tolist(), start=count):
            merged = len(places) + len(merges)
            size[merged] = size[node[place]] + size[copy]
            merges.append((int(node[place]), copy, 0.0, size[merged]))
            node[place] = merged
        moved = self.linkage.with_columns(
            pl.Series(side, node[self.linkage[side].to_numpy()]) for side in ("left", "right")
        )
        return self._replace(
            linkage=pl.concat([pl.DataFrame(merges, schema=LINKAGE.schema, orient="row"), moved]),
            cuts=np.concatenate([np.ones(copies), self.cuts]),
            leaving=np.concatenate([np.zeros(copies, np.int8), self.leaving]),
            n_samples=len(places),
            doubts=[self.doubts[place] for place in places.tolist()] if self.doubts else (),
        )


def cuts(
    linkage: pl.DataFrame,
    clause_shares: FloatArray,
    cut: Cut,
    *,
    counted: IntArray | None = None,
    unread: npt.NDArray[np.bool_] | None = None,
) -> FloatArray:
    """Return the distance below which each merge is made, shape (merges,).

    The clause shares of all members are averaged, so that commands among questions count as sentences, too.
    `counted` is 0 for a surface that another surface represents. `unread` is true for a surface that is
    compared by words alone.
    """
    count = len(clause_shares)
    mass = np.concatenate([clause_shares, np.zeros(linkage.height)]).tolist()
    surfaces = ([1] * count if counted is None else counted.tolist()) + [0] * linkage.height
    by_words = ([False] * count if unread is None else unread.tolist()) + [False] * linkage.height
    sides = linkage.select("left", "right").iter_rows()
    for node, (left, right) in enumerate(sides, start=count):
        mass[node] = mass[left] + mass[right]
        surfaces[node] = surfaces[left] + surfaces[right]
        by_words[node] = by_words[left] and by_words[right]
    sentence = sentence_share(np.array(mass[count:]) / linkage["size"].to_numpy())
    # The certainty of the mean of many distances, relative to a single one.
    surer = 1.0 - 1.0 / np.sqrt(np.maximum(surfaces[count:], 2) / 2.0)
    pair = cut.pair
    if cut.crowded:
        compared = np.where(by_words, 0, surfaces)
        pair -= cut.crowded * max(0.0, SPARSE - _quarter(linkage, compared, int(compared[:count].sum())))
    with_words = WORDS_CUT.pair + WORDS_CUT.sentence * sentence
    return np.where(by_words[count:], with_words, pair + cut.group * surer + cut.sentence * sentence)


def _quarter(linkage: pl.DataFrame, surfaces: IntArray, compared: int) -> float:
    """Return the lower quartile of the heights of merges between compared surfaces."""
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
    """Return the groups under the highest merges that are strictly below their threshold, shape (n_samples,).

    All points under such a merge are one group, even if a merge inside it is above its own threshold. A side
    that leaves at a merge is a tree of its own. Groups are numbered from 0 by their first point.
    """
    leaving = np.zeros(linkage.height, np.int8) if leaving is None else leaving
    is_merged = (linkage["height"].to_numpy() < distance_threshold) & (leaving == 0)
    root = list(range(n_samples + linkage.height))
    sides = linkage.select("left", "right").iter_rows()
    merges = [*enumerate(zip(sides, is_merged.tolist(), leaving.tolist(), strict=True), start=n_samples)]
    # Parents have larger numbers than their parts, so one pass from the top is enough.
    for node, ((left, right), merged, leaves) in reversed(merges):
        if merged or root[node] != node:
            root[left] = root[node] if leaves != LEFT else left
            root[right] = root[node] if leaves != RIGHT else right
    numbers: dict[int, int] = {}
    return np.array([numbers.setdefault(node, len(numbers)) for node in root[:n_samples]], dtype=np.int64)


def members_of(labels: IntArray) -> list[IntArray]:
    """Return the points of each group, in order."""
    order = np.argsort(labels, kind="stable")
    ends = np.flatnonzero(np.diff(labels[order])) + 1
    return np.split(order, ends) if len(labels) else []


def below(linkage: pl.DataFrame, n_samples: int, members: IntArray) -> pl.DataFrame:
    """Return the merges inside one group as table `linkage`, numbered in the order of its members."""
    number = dict(zip(members.tolist(), range(len(members)), strict=True))
    size = dict.fromkeys(number, 1)
    rows: list[tuple[int, int, float, int]] = []
    sides = linkage.select("left", "right", "height").iter_rows()
    for node, (left, right, height) in enumerate(sides, start=n_samples):
        inside = [side for side in (left, right) if side in number]
        if not inside:
            continue
        number[node], size[node] = number[inside[0]], sum(size[side] for side in inside)
        if len(inside) > 1:
            one, other = sorted((number[left], number[right]))
            number[node] = len(members) + len(rows)
            rows.append((one, other, height, size[node]))
    return pl.DataFrame(rows, schema=LINKAGE.schema, orient="row")


def certainty(
    labels: IntArray,
    weights: FloatArray,
    cohesion: FloatArray,
    tree: Tree,
    *,
    threshold: float | None,
    opposite: Collection[int] = (),
    decided: Collection[int] = (),
) -> pl.DataFrame:
    """Return columns `mentions_low`, `mentions_high` and `mixed`, one row per group.

    Groups whose wordings may be opposite (`opposite`) are always marked as mixed. Low cohesion does not mark
    groups that people have decided about (`decided`).
    """
    parts, wholes = tree.labels(threshold, CLOSER), tree.labels(threshold, FARTHER)
    size, surfaces = np.bincount(labels, weights), np.bincount(labels)
    pairs, pair_of = np.unique(np.stack([labels, parts]), axis=1, return_inverse=True)
    low, high = np.zeros(len(size)), np.zeros(len(size))
    np.maximum.at(low, pairs[0], np.bincount(pair_of.ravel(), weights))
    np.maximum.at(high, labels, np.bincount(wholes, weights)[wholes])
    # If the linkage ends early, looser cuts are unknown.
    high = np.minimum(high if tree.max_distance >= 1.0 else np.inf, _reach(tree.labels(threshold), weights))
    high = np.maximum(np.where(surfaces == 1, size, np.ceil(GROWTH * size)), high)
    least = BY_MEANING if tree.cut == MEANING_CUT else BY_WORDS
    mixed = (surfaces > 1) & (cohesion < least.many + least.two * (2.0 / surfaces) ** 2)
    mixed[np.array(sorted(decided), np.int64)] = False
    mixed[np.array(sorted(opposite), np.int64)] = True
    return pl.DataFrame(
        {"mentions_low": low.astype(np.int64), "mentions_high": high.astype(np.int64), "mixed": mixed}
    )


def _reach(groups: IntArray, weights: FloatArray) -> float:
    """Return the size of the groups that hold most mentions of a log: the limit of upper ends."""
    sizes = np.sort(np.bincount(groups, weights))
    place = np.searchsorted(np.cumsum(sizes), REACHED_BY * sizes.sum())
    return float(sizes[: place + 1].max(initial=LEAST_REACH))
