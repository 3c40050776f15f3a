"""What to ask people about the groups: one need or two? The answers that would change most come first.

A question is about a merge of the dendrogram. One that is not made: are its two sides, of each the largest
group, one need? One that is made within a group: is that two? Which of the two is so is told from how far
the merge is from its cut; what an answer would change, from the mentions of the smaller side. The first few
questions are about where the cut lies, which moves everything; the others about the largest groups.

A decision that two wordings are one need, or two, is a lesson about the merge that joins them. The cut moves
to the distance that the fewest lessons contradict, and one answer moves it hardly.
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

# Fitted on the answers of an oracle about twelve labelled sets; what is near these values does hardly worse.
SHIFTS: Final = np.round(np.arange(-20, 16) / 100, 2)  # that can be taught
EVEN: Final = -0.02  # distance beyond the cut at which two mentions are one need as often as two ...
LESS: Final = 0.0375  # ... and how much less that is for twice the mentions
SOFTNESS: Final = 0.115
SEVERAL: Final = 2.5  # mentions that a lesson counts as; with those of its smaller side it teaches no better
RELUCTANCE: Final = 0.045  # a shift of so much has to be worth half a contradiction
_OUT_OF_REACH: Final = 0.3  # no shift would make, or undo, what is as far from its cut
ID_PREFIX: Final = "ask-"
_ID_DIGITS: Final = 12
_FIRST: Final = 5  # lessons before which the cut is asked about
_CONTRASTING: Final = 0.06  # how often two sides are one need that stand at poles of a contrast ...
_NEAR: Final = 0.6  # ... which are asked about if they are no further apart
_BELOW_TOP: Final = 0.5  # what a change counts in the next groups below the top
_FEWEST: Final = 2  # mentions of a side; what has fewer comes later,
_SURE: Final = 0.03  # and last that of which hardly an answer would change anything
_CUT_POWER: Final = 0.25  # of the smaller side's mentions, where the cut is asked about


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


@dataclass(frozen=True)
class Question:
    """Whether two sides are one need.

    Attributes:
        question_id: The same for the same two sides, whenever it is asked.
        left: The wordings of one side, a surface each, most used first; it is the one that keeps its name.
        right: Those of the other.
        left_mentions: Mentions of the one side.
        right_mentions: Mentions of the other.
        are_one: Whether they are one group as things stand.
        likely: How likely the answer is that they are one need, as far as the distances tell.
        why: Why it is asked.
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
    """A merge to ask about; of groups that are apart, the numbers of these."""

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
    """What to ask, the question that comes first first; none whose answer follows from what was decided.

    Args:
        tree: The dendrogram.
        points: What was clustered.
        labels: The groups as they are now, shape (n,).
        constraints: What was decided, all of it followed by the groups.
        shift: By how much they were cut further than the wordings say.
        top: How many of the largest groups count.
        about_cut: Whether the first few are to be about the cut.
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
            ordered.reverse()  # what leaves may not be held by anything else
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
    """The merges to ask about, in the order in which they are asked."""
    mentions = np.bincount(labels, weights)
    order = np.argsort(-mentions, kind="stable")
    last = min(mentions[order[:top]], default=0.0)
    near = set(order[: 2 * top].tolist())
    size = [*weights.tolist(), *tree.linkage["size"].to_list()]
    heights, leaving = tree.linkage["height"].to_list(), tree.leaving.tolist()
    beyond = (tree.linkage["height"].to_numpy() - tree.cuts - shift).tolist()
    # Of every node the group that all of it is in, or -1; and the largest group of which it has something.
    whole = labels.tolist() + [-1] * len(heights)
    largest = whole.copy()
    of_group = mentions.tolist()
    seen = set[tuple[int, int]]()
    found: list[tuple[bool, bool, _Merge]] = []
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
        found.append((change < _SURE, smaller < _FEWEST, _Merge(value, number, chance, apart)))
    found.sort(key=lambda each: (*each[:2], -each[2].value, each[2].number))
    return [merge for *_, merge in found]


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
        why = f"one group of {count(one + other, 'mention')}; two of {one:,} and {other:,} if they are apart"
    else:
        why = f"two groups of {one:,} and {other:,} mentions; one of {one + other:,} if they are one"
    if about_cut:
        why += "; and it says much about where needs part here"
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
    """What constraints say about two sets of points."""

    def __init__(self, constraints: Iterable[Constraint], place: dict[str, int]) -> None:
        self._ties = Ties()
        self._apart: list[tuple[int, frozenset[int]]] = []
        for each in constraints:
            points = [place[surface] for surface in each.surfaces]
            if isinstance(each, Together):
                self._ties.tie(points)
            else:
                self._apart.append((points[0], frozenset(points[1:])))

    def settles(self, left: list[int], right: list[int]) -> bool:
        """Whether it was decided that they are one need, or two."""
        one, other = set(left), set(right)
        if any(not other.isdisjoint(self._ties.of(point)) for point in left):
            return True
        return any(
            (anchor in one and not other.isdisjoint(leaving))
            or (anchor in other and not one.isdisjoint(leaving))
            for anchor, leaving in self._apart
        )

    def has_ties(self, side: list[int], *, beyond: list[int]) -> bool:
        """Whether a side is held together with what is in neither of the two."""
        both = {*side, *beyond}
        return any(not self._ties.of(point) <= both for point in side)


def _leaves(merged: Sequence[tuple[int, int]], n_samples: int, node: int) -> list[int]:
    """The points below a node."""
    found, waiting = [], [node]
    while waiting:
        here = waiting.pop()
        if here < n_samples:
            found.append(here)
        else:
            waiting += merged[here - n_samples]
    return found
