"""Questions about the groups: is this one need, or two? The most useful questions come first.

A question is about a merge of the dendrogram. If the merge is not made: are the largest groups of its two
sides one need? If it is made within a group: are its sides two needs? The distance of the merge from its cut
shows how likely each answer is. The mentions of the smaller side show how much the answer would change. The
first few questions are about the cut, which affects all groups, the others about the largest groups.

An answer is also a lesson about the merge that joins two wordings. The cut moves to the distance that the
fewest lessons contradict; a single answer hardly moves it.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from vocabgap.clustering.constraints import Ties
from vocabgap.clustering.cutting import Tree, members_of
from vocabgap.clustering.vectorizing import FloatArray, IntArray
from vocabgap.clustering.wordings import Points
from vocabgap.model.tables import Constraint, Together
from vocabgap.text import count

# Fitted on the answers of an oracle about twelve labelled sets; nearby values do hardly worse.
SHIFTS: Final = np.round(np.arange(-20, 16) / 100, 2)  # of the cut that lessons may cause
EVEN: Final = -0.02  # distance beyond the cut at which two mentions are one need as often as two ...
LESS: Final = 0.0375  # ... and how much less that is for twice the mentions
SOFTNESS: Final = 0.115
SEVERAL: Final = 2.5  # mentions that each lesson counts as
RELUCTANCE: Final = 0.045  # shift that costs half a contradiction
_OUT_OF_REACH: Final = 0.3  # distance from the cut beyond which no shift matters
ID_PREFIX: Final = "ask-"
_ID_DIGITS: Final = 12
_FIRST: Final = 5  # lessons before which the cut is asked about
_CONTRASTING: Final = 0.06  # chance that two sides of a contrast are one need
_NEAR: Final = 0.6  # distance up to which contrasts are asked about
_BELOW_TOP: Final = 0.5  # weight of a change in the next groups below the top
_FEWEST: Final = 2  # mentions of a side; smaller ones come later
_SURE: Final = 0.03  # chance of a change below which a question comes last
_CUT_POWER: Final = 0.25  # power of the smaller side's mentions in questions about the cut


class Lesson(NamedTuple):
    """A decision about a merge: its distance beyond the cut, and whether its sides are one need."""

    margin: float
    is_one: bool


def likelihood(beyond: FloatArray | float, smaller: FloatArray | float) -> FloatArray:
    """Estimate how likely two sides are one need.

    Args:
        beyond: How far beyond its cut their merge is.
        smaller: Mentions of the smaller side.
    """
    return np.asarray(1.0 / (1.0 + np.exp((beyond - EVEN + LESS * np.log2(smaller)) / SOFTNESS)))


def lessons(tree: Tree, place: Mapping[str, int], constraints: Iterable[Constraint]) -> list[Lesson]:
    """Return the lessons of constraints; merges of contrasts or far from their cut teach nothing.

    If a wording is split from several others, the lowest of their merges counts.

    Args:
        tree: The dendrogram.
        place: The point of each surface.
        constraints: The surfaces that belong together or apart.
    """
    constraints = list(constraints)
    if not constraints:
        return []
    parent = _parents(tree)
    heights = tree.linkage["height"].to_numpy()
    learned = []
    for constraint in constraints:
        if not {*constraint.surfaces} <= place.keys():  # `constrained` refuses it
            continue
        anchor, *others = (place[surface] for surface in constraint.surfaces)
        merge = _first_merge(parent, anchor, others) - tree.n_samples
        if merge >= 0 and not tree.leaving[merge]:
            margin = float(heights[merge] - tree.cuts[merge])
            if abs(margin) <= _OUT_OF_REACH:
                learned.append(Lesson(margin, isinstance(constraint, Together)))
    return learned


def taught_shift(learned: list[Lesson]) -> float:
    """Return the shift of the cuts that suits the lessons; 0.0 without lessons."""
    if not learned:
        return 0.0
    margins, is_one = map(np.array, zip(*learned, strict=True))
    chance = likelihood(margins - SHIFTS[:, None], SEVERAL)
    contradicted = -np.log(np.where(is_one, chance, 1.0 - chance)).sum(axis=1)
    cost = contradicted + (SHIFTS / RELUCTANCE) ** 2 / 2.0
    return float(SHIFTS[cost.argmin()])


def _parents(tree: Tree) -> list[int]:
    """Return the merge that each point and merge goes into, or -1."""
    parents = np.full(tree.n_samples + tree.linkage.height, -1, np.int64)
    merges = np.arange(tree.n_samples, len(parents))
    for side in ("left", "right"):
        parents[tree.linkage[side].to_numpy()] = merges
    return parents.tolist()


def _first_merge(parent: list[int], point: int, others: Iterable[int]) -> int:
    """Return the lowest merge that holds a point and any of some others, or -1."""
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


@dataclass(frozen=True)
class Question:
    """A question whether two sides are one need.

    Attributes:
        question_id: An identifier that depends on the two sides only.
        left: One wording per surface of the side that keeps its name, most used first.
        right: The wordings of the other side.
        left_mentions: Mentions of the left side.
        right_mentions: Mentions of the right side.
        are_one: Whether they are one group now.
        likely: The estimated chance that they are one need.
        why: The reason for the question.
    """

    question_id: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    left_mentions: int
    right_mentions: int
    are_one: bool
    likely: float
    why: str


class _Merge(NamedTuple):
    """A merge to ask about, with the numbers of its groups if they are apart."""

    value: float
    number: int
    likely: float
    apart: tuple[int, int] | None


def questions(
    tree: Tree,
    points: Points,
    labels: IntArray,
    constraints: Sequence[Constraint],
    *,
    shift: float,
    top: int,
    about_cut: bool,
) -> Iterator[Question]:
    """Yield the open questions in order; leave out questions that earlier decisions answer.

    Args:
        tree: The dendrogram.
        points: The points of the clustering.
        labels: The current groups, shape (n,).
        constraints: All decisions; the groups follow them.
        shift: How much further apart groups may be than the wordings suggest.
        top: How many of the largest groups count.
        about_cut: Whether the first few questions are about the cut.
    """
    names = points.surfaces["surface"].to_list()
    place = {name: point for point, name in enumerate(names)}
    decided = _Decided(constraints, place)
    about_cut = about_cut and len(lessons(tree, place, constraints)) < _FIRST
    groups = members_of(labels)
    merged = tree.linkage.select("left", "right").rows()
    for merge in _merges(tree, labels, points.weights, shift, top, about_cut=about_cut):
        if merge.apart is None:
            sides = [_leaves(merged, tree.n_samples, side) for side in merged[merge.number]]
        else:
            sides = [groups[number].tolist() for number in merge.apart]
        ordered = [sorted(side, key=lambda point: (-points.weights[point], point)) for side in sides]
        ordered.sort(key=lambda side: (-points.weights[side].sum(), side))
        if merge.apart is None and decided.has_ties(ordered[1], beyond=ordered[0]):
            ordered.reverse()  # the side that leaves may not be tied to others
        left, right = ordered
        if points.need_stems[left[0]] == points.need_stems[right[0]]:
            continue  # the same words in another frame
        if not decided.settles(left, right) and not (
            merge.apart is None and decided.has_ties(right, beyond=left)
        ):
            yield _question(points, names, (left, right), merge, about_cut=about_cut)


def _merges(
    tree: Tree, labels: IntArray, weights: FloatArray, shift: float, top: int, *, about_cut: bool
) -> list[_Merge]:
    """Return the merges to ask about, in order."""
    mentions = np.bincount(labels, weights)
    order = np.argsort(-mentions, kind="stable")
    last = min(mentions[order[:top]], default=0.0)
    near = set(order[: 2 * top].tolist())
    size = [*weights.tolist(), *tree.linkage["size"].to_list()]
    heights, leaving = tree.linkage["height"].to_list(), tree.leaving.tolist()
    beyond = (tree.linkage["height"].to_numpy() - tree.cuts - shift).tolist()
    # For each node: the group that holds all of it, or -1; and the largest group in it.
    whole = labels.tolist() + [-1] * len(heights)
    largest = whole.copy()
    of_group = mentions.tolist()
    seen = set[tuple[int, int]]()
    merges: list[tuple[bool, bool, _Merge]] = []
    sides = zip(tree.linkage["left"].to_list(), tree.linkage["right"].to_list(), strict=True)
    for number, (left, right) in enumerate(sides):
        node = tree.n_samples + number
        whole[node] = whole[left] if whole[left] == whole[right] else -1
        pair = largest[left], largest[right]
        largest[node] = max(pair, key=of_group.__getitem__)
        contrasts = leaving[number] != 0
        if whole[node] >= 0:
            if whole[node] not in near:
                continue
            apart, smaller, standing = None, min(size[left], size[right]), of_group[whole[node]]
        else:
            if pair[0] == pair[1] or pair in seen or near.isdisjoint(pair):
                continue
            seen.add(pair)
            apart, (smaller, standing) = pair, sorted(of_group[group] for group in pair)
            if smaller + standing < last or (contrasts and heights[number] >= _NEAR):
                continue
        chance = _CONTRASTING if contrasts else float(likelihood(beyond[number], smaller))
        change = 1.0 - chance if apart is None else chance
        value = change * smaller * (1.0 if standing >= last else _BELOW_TOP)
        if about_cut:
            value = 0.0 if contrasts else chance * (1.0 - chance) * smaller**_CUT_POWER
        merges.append((change < _SURE, smaller < _FEWEST, _Merge(value, number, chance, apart)))
    merges.sort(key=lambda entry: (*entry[:2], -entry[2].value, entry[2].number))
    return [merge for *_, merge in merges]


def _question(
    points: Points,
    names: Sequence[str],
    sides: tuple[list[int], list[int]],
    merge: _Merge,
    *,
    about_cut: bool,
) -> Question:
    left, right = (tuple(points.spoken[point] for point in side) for side in sides)
    one, other = (int(points.weights[side].sum()) for side in sides)
    if merge.apart is None:
        why = f"one group of {count(one + other, 'mention')}; two of {one:,} and {other:,} after a split"
    else:
        why = f"two groups of {one:,} and {other:,} mentions; one of {one + other:,} after a merge"
    if about_cut:
        why += "; the answer helps to place the cut"
    digested = sorted("\n".join(sorted(names[point] for point in side)) for side in sides)
    digest = hashlib.sha256("\n\n".join(digested).encode()).hexdigest()
    return Question(
        f"{ID_PREFIX}{digest[:_ID_DIGITS]}",
        left,
        right,
        one,
        other,
        merge.apart is None,
        round(merge.likely, 3),
        why,
    )


class _Decided:
    """The decisions about two sets of points."""

    def __init__(self, constraints: Iterable[Constraint], place: dict[str, int]) -> None:
        self._ties = Ties()
        self._apart: list[tuple[int, frozenset[int]]] = []
        for constraint in constraints:
            points = [place[surface] for surface in constraint.surfaces]
            if isinstance(constraint, Together):
                self._ties.tie(points)
            else:
                self._apart.append((points[0], frozenset(points[1:])))

    def settles(self, left: list[int], right: list[int]) -> bool:
        """Tell whether people decided if the two sides are one need."""
        one, other = set(left), set(right)
        if any(not other.isdisjoint(self._ties.of(point)) for point in left):
            return True
        return any(
            (anchor in one and not other.isdisjoint(leaving))
            or (anchor in other and not one.isdisjoint(leaving))
            for anchor, leaving in self._apart
        )

    def has_ties(self, side: list[int], *, beyond: list[int]) -> bool:
        """Tell whether a side is tied to points outside both sides."""
        both = {*side, *beyond}
        return any(not self._ties.of(point) <= both for point in side)


def _leaves(merged: Sequence[tuple[int, int]], n_samples: int, node: int) -> list[int]:
    leaves, waiting = [], [node]
    while waiting:
        here = waiting.pop()
        if here < n_samples:
            leaves.append(here)
        else:
            waiting += merged[here - n_samples]
    return leaves
