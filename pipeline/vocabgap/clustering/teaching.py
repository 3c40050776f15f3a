"""What people's decisions say about where needs part in a corpus.

A decision that two wordings are one need, or two, is a lesson about the merge at which the dendrogram brings
them together. The cut is shifted to where the fewest lessons contradict it, each the less the nearer it is,
and no further than many of them ask for: one answer moves it hardly.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import numpy as np

from vocabgap.clustering.cutting import Tree
from vocabgap.clustering.vectorizing import FloatArray
from vocabgap.model.tables import Constraint, Together

# Fitted on the answers of an oracle about twelve labelled sets; what is near these values does hardly worse.
SHIFTS: Final = np.round(np.arange(-20, 16) / 100, 2)  # that can be taught
EVEN: Final = -0.02  # distance beyond the cut at which two mentions are one need as often as two ...
LESS: Final = 0.0375  # ... and how much less that is for twice the mentions
SOFTNESS: Final = 0.115
SEVERAL: Final = 2.5  # mentions that a lesson counts as; with those of its smaller side it teaches no better
RELUCTANCE: Final = 0.045  # a shift of so much has to be worth half a contradiction
_OUT_OF_REACH: Final = 0.3  # no shift would make, or undo, what is as far from its cut


class Lesson(NamedTuple):
    """Whether what a merge brings together is one need, and how far beyond its cut it does so."""

    margin: float
    is_one: bool


def likelihood(beyond: FloatArray | float, smaller: FloatArray | float) -> FloatArray:
    """How likely two sides are one need: the less, the further beyond their cut, and the larger they are.

    Args:
        beyond: How far beyond its cut their merge is.
        smaller: Mentions of the smaller side.
    """
    return np.asarray(1.0 / (1.0 + np.exp((beyond - EVEN + LESS * np.log2(smaller)) / SOFTNESS)))


def lessons(tree: Tree, place: Mapping[str, int], constraints: Iterable[Constraint]) -> list[Lesson]:
    """What constraints say about the cut; nothing, of merges that contrast, are far from it or not known.

    Of wordings that are parted from several others the merge counts that brings the first of them together.

    Args:
        tree: The dendrogram.
        place: The point of each surface.
        constraints: Which surfaces belong together and which apart.
    """
    constraints = list(constraints)
    if not constraints:
        return []
    parent = _parents(tree)
    heights = tree.linkage["height"].to_numpy()
    learned = []
    for constraint in constraints:
        if not {*constraint.surfaces} <= place.keys():  # which whoever follows the constraints refuses
            continue
        anchor, *others = (place[surface] for surface in constraint.surfaces)
        merge = _first_merge(parent, anchor, others) - tree.n_samples
        if merge >= 0 and not tree.leaving[merge]:
            margin = float(heights[merge] - tree.cuts[merge])
            if abs(margin) <= _OUT_OF_REACH:
                learned.append(Lesson(margin, isinstance(constraint, Together)))
    return learned


def taught_shift(learned: list[Lesson]) -> float:
    """How much further than its cuts the dendrogram is to be cut; 0.0 where nothing was said."""
    if not learned:
        return 0.0
    margins, is_one = map(np.array, zip(*learned, strict=True))
    chance = likelihood(margins - SHIFTS[:, None], SEVERAL)
    contradicted = -np.log(np.where(is_one, chance, 1.0 - chance)).sum(axis=1)
    cost = contradicted + (SHIFTS / RELUCTANCE) ** 2 / 2.0
    return float(SHIFTS[cost.argmin()])


def _parents(tree: Tree) -> list[int]:
    """Of each point and merge the merge that it goes into, -1 where there is none."""
    parents = np.full(tree.n_samples + tree.linkage.height, -1, np.int64)
    merges = np.arange(tree.n_samples, len(parents))
    for side in ("left", "right"):
        parents[tree.linkage[side].to_numpy()] = merges
    return parents.tolist()


def _first_merge(parent: list[int], point: int, others: Iterable[int]) -> int:
    """The lowest merge that has a point and one of some others below it, -1 where none is known."""
    above = set[int]()
    while point >= 0:
        above.add(point)
        point = parent[point]
    met = set[int]()
    for other in others:
        while other >= 0 and other not in above:
            other = parent[other]  # noqa: PLW2901 - the way up
        met.add(other)
    met.discard(-1)
    return min(met, default=-1)
