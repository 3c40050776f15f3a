"""Screens of a review: a group, the wordings that fit it least, and the nearest other groups.

The similarity of two groups is the cosine of the means of their rows. Together with the mentions of the
smaller group, it gives the probability that both are one need. A part of a group and the rest of it are
compared in the same way. People make mistakes, so earlier decisions are evidence, not certainty: a later
screen shows an unlikely answer again.

The value of a neighbour is the mentions of the smaller group times the probability of one need. The value of
a part is the mentions of the smaller side times the probability of two. The most valuable screen comes first.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
from scipy import sparse

from vocabgap.clustering.cutting import members_of
from vocabgap.clustering.wordings import Points
from vocabgap.linkage import FloatArray, IntArray, Rows, on_grid
from vocabgap.linkage.rows import cosine_distances
from vocabgap.model.tables import Apart, Constraint, Together
from vocabgap.text import numbers_in, without_numbers

MOST_NEIGHBOURS: Final = 10  # on a screen
MOST_PARTS: Final = 6
CANDIDATES: Final = 3  # groups that a screen may be about, per group of the top
LEAST_LIKELY: Final = 0.02  # probability of a neighbour that is shown
CELLS: Final = 1 << 23  # of cosines that are computed together
HEAVIEST: Final = 100  # most mentioned members of a group whose parts are compared


class OddsModel(NamedTuple):
    """A model of the log-odds that two groups are one need: the coefficients of a logistic regression."""

    constant: float
    cosine: float  # of the means of the groups
    doubling: float  # of the mentions of the smaller group


# Fitted by logistic regression on gap logs and public phrases; left-out sets gave nearly the same.
BY_MEANING: Final = OddsModel(-5.83, 9.3, -0.38)
BY_WORDS: Final = OddsModel(-4.57, 10.9, -0.33)
STAYING: Final = 0.3  # log-odds added for a part of a group, because the clustering joined it
ANSWER: Final = 3.0  # log-odds of an answer: about one tick in twenty is wrong
PATIENCE: Final = 1.0  # expected number of refused neighbours that halves the probability of others


@dataclass(frozen=True)
class Neighbour:
    """A group that may be the same need.

    Attributes:
        label: The label of the group.
        mentions: The number of its mentions.
        wordings: Its wordings, most used first.
        probability: The estimated probability that it is the same need.
    """

    label: str
    mentions: int
    wordings: tuple[str, ...] = field(repr=False)
    probability: float


@dataclass(frozen=True)
class Part:
    """A part of a group that may be another need. Its wordings leave together.

    Attributes:
        wordings: Its wordings, most used first.
        mentions: The number of its mentions.
        probability: The estimated probability that it is another need.
    """

    wordings: tuple[str, ...]
    mentions: int
    probability: float


@dataclass(frozen=True)
class Screen:
    """A group, and what a person may change about it.

    Attributes:
        label: The label of the group.
        mentions: The number of its mentions.
        wordings: Its wordings, most used first.
        parts: Parts of the group that may be another need; the first is worth most.
        neighbours: Groups that may be the same need; the first is worth most.
        value: The number of mentions that the answer is expected to move.
    """

    label: str
    mentions: int
    wordings: tuple[str, ...] = field(repr=False)
    parts: tuple[Part, ...]
    neighbours: tuple[Neighbour, ...]
    value: float

    @property
    def doubtful(self) -> tuple[str, ...]:
        """The most used wording of each part."""
        return tuple(part.wordings[0] for part in self.parts)

    def staying(self, apart: Iterable[int]) -> list[str]:
        """Return the wordings without those of some parts."""
        gone = {wording for place in apart for wording in self.parts[place].wordings}
        return [wording for wording in self.wordings if wording not in gone]

    @property
    def all_wordings(self) -> Iterator[str]:
        """The wordings of the group and of its neighbours."""
        yield from self.wordings
        for neighbour in self.neighbours:
            yield from neighbour.wordings

    @property
    def content(self) -> tuple[object, ...]:
        """The wordings on the screen; equal for equal screens."""
        return self.wordings, self.doubtful, tuple(each.wordings for each in self.neighbours)


@dataclass(frozen=True)
class Answer:
    """A person's answer to a screen.

    Attributes:
        same: Positions of the neighbours that are the same need.
        apart: Positions of the parts that are another need.
    """

    same: Sequence[int] = ()
    apart: Sequence[int] = ()


# A part of a group: its points, the mentions of the smaller side, the log-odds that both sides are one need.
_Part = tuple[IntArray, float, float]


class Screens:
    """A search for the most valuable screens. It keeps what stays the same when the groups change.

    `weights` are the mentions of each point, shape (n,).
    """

    def __init__(self, points: Points, rows: Rows) -> None:
        self.weights = points.weights
        self._points = points
        self._rows = rows
        self._model = BY_WORDS if rows.dense is None else BY_MEANING
        self._parts: dict[bytes, list[_Part]] = {}

    def ranked(
        self,
        labels: IntArray,
        names: Sequence[str],
        constraints: Iterable[Constraint],
        top: int,
        about: Sequence[int] | None = None,
    ) -> list[Screen]:
        """Return screens of some groups, the most valuable first; a group without a question has none.

        Args:
            labels: The group of each point, shape (n,).
            names: The label of each group.
            constraints: The decisions so far.
            top: How many of the largest groups matter.
            about: The groups; by default the largest.
        """
        groups = _Groups(self, labels, constraints)
        if about is None:
            about = np.argsort(-groups.sizes, kind="stable")[: CANDIDATES * top].tolist()
        at_once = 1 + CELLS // (1 + len(groups.members))
        blocks = (about[start : start + at_once] for start in range(0, len(about), at_once))
        near = ((block, groups.cosines(block)) for block in blocks)
        valued = [
            self._screen(groups, group, row, names)
            for block, cosines in near
            for group, row in zip(block, cosines, strict=True)
        ]
        by_value = sorted(valued, key=lambda screen: -screen[0])
        return [screen for value, screen in by_value if value > 0.0]

    def _screen(
        self, groups: "_Groups", group: int, cosines: FloatArray, names: Sequence[str]
    ) -> tuple[float, Screen]:
        """Return the exact value of the screen of a group, and the screen."""
        chances, values = groups.neighbours(group, cosines)
        sizes, members = groups.sizes, groups.members
        near = np.argsort(-values, kind="stable")[:MOST_NEIGHBOURS].tolist()
        neighbours = [(other, float(chances[other])) for other in near if chances[other] >= LEAST_LIKELY]
        parts = sorted(groups.parts(group), key=lambda part: (-part[2], part[0][0]))[:MOST_PARTS]
        value = float(values[[other for other, _ in neighbours]].sum()) + sum(worth for *_, worth in parts)
        return value, Screen(
            names[group],
            int(sizes[group]),
            self.wordings(members[group]),
            tuple(
                Part(self.wordings(part), int(self.weights[part].sum()), round(chance, 3))
                for part, chance, _ in parts
            ),
            tuple(
                Neighbour(names[other], int(sizes[other]), self.wordings(members[other]), round(chance, 3))
                for other, chance in neighbours
            ),
            round(value, 3),
        )

    def nearness(self, labels: IntArray, some: Sequence[int]) -> FloatArray:
        """Return cosine similarities of the means of some groups, 0 to 1, shape (some, some)."""
        return np.clip(on_grid(_Groups(self, labels, ()).cosines(some)[:, some]), 0.0, 1.0)

    def wordings(self, points: Iterable[int]) -> tuple[str, ...]:
        """Return the wordings of some points, most used first."""
        uses = (use for point in points for use in self._points.uses.at(int(point)))
        return tuple(wording for wording, _ in sorted(uses, key=lambda use: (-use[1], use[0])))

    def parts(self, group: IntArray) -> list[_Part]:
        """Return the parts of a group by average linkage, at most `MOST_PARTS`, without the main part."""
        key = group.tobytes()
        if key not in self._parts:
            order = group[np.argsort(-self.weights[group], kind="stable")]
            members = np.sort(order[:HEAVIEST])
            self._parts[key] = list(self._divided(members)) if len(members) > 1 else []
        return self._parts[key]

    def _divided(self, members: IntArray) -> Iterator[_Part]:
        from scipy.cluster.hierarchy import fcluster, linkage  # noqa: PLC0415 - needs time to load
        from scipy.spatial.distance import squareform  # noqa: PLC0415

        distances, own = cosine_distances(self._rows, members), self.weights[members]
        cosines = 1.0 - distances
        tree = linkage(squareform(distances, checks=False), "average")
        number = fcluster(tree, MOST_PARTS + 1, "maxclust")
        main = number[(own + cosines @ own / own.sum() / 2.0).round(9).argmax()]
        parts = self._with_other_numbers(members)
        seen = set(chain.from_iterable(parts))
        others = (part for part in members_of(number - 1) if number[part[0]] != main)
        parts += [part for part in others if seen.isdisjoint(part)]
        for part in parts:
            one = np.zeros(len(members))
            one[part] = own[part]
            other = own - one
            cosine = one @ cosines @ other / np.sqrt((one @ cosines @ one) * (other @ cosines @ other))
            smaller = min(one.sum(), other.sum())
            yield members[part], float(smaller), float(self.log_odds(cosine, smaller)) + STAYING

    def _with_other_numbers(self, members: IntArray) -> list[IntArray]:
        """Return a part of a group for each number except the most used one, as places in the group.

        Only numbers count that are the whole difference between two wordings of the group.
        """
        surfaces = self._points.surfaces["surface"].gather(members).to_list()
        alike: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for surface in surfaces:
            alike[without_numbers(surface)].add(numbers_in(surface))
        differing = set(chain.from_iterable(several for several in alike.values() if len(several) > 1))
        parts: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for place, surface in enumerate(surfaces):
            if (numbers := numbers_in(surface)) in differing:
                parts[numbers].append(place)
        by_use = sorted(parts.values(), key=lambda part: -self.weights[members[part]].sum())
        return [np.array(part) for part in by_use[1:]]

    def sums(self, labels: IntArray, count: int) -> tuple[sparse.csr_array, FloatArray]:
        """Return the sums of the rows of each group: of terms, and of dense parts."""
        places = (labels, np.arange(len(labels)))
        return self._rows.sums(sparse.csr_array((self.weights, places), (count, len(labels))))

    def evidence(self, constraints: Iterable[Constraint]) -> Iterator[tuple[int, int, float]]:
        """Yield pairs of points that decisions compare, and the log-odds that they are one need."""
        for constraint in constraints:
            one, apart = _compared(constraint)
            place = self._points.places.get
            anchor, *same = map(place, one)
            others = [(point, ANSWER) for point in same]
            others += [(point, -ANSWER) for point in map(place, apart)]
            for point, odds in others:
                if anchor is not None and point is not None:
                    yield anchor, point, odds

    def log_odds(self, cosines: FloatArray, smaller: FloatArray) -> FloatArray:
        """Return the log-odds that groups are one need."""
        constant, cosine, doubling = self._model
        return constant + cosine * on_grid(cosines) + doubling * np.log2(smaller)


class _Groups:
    """The present groups: their sizes and means, and what decisions say about them."""

    def __init__(self, screens: Screens, labels: IntArray, constraints: Iterable[Constraint]) -> None:
        self._screens = screens
        self.members = members_of(labels)
        count = len(self.members)
        self.sizes = np.bincount(labels, screens.weights, minlength=count)
        self._terms, self._dense = screens.sums(labels, count)
        squares = self._terms.multiply(self._terms).sum(axis=1) + (self._dense**2).sum(axis=1)
        self._lengths = np.sqrt(np.maximum(squares, np.finfo(float).tiny))
        self._answers: dict[tuple[int, int], float] = defaultdict(float)
        for one, other, odds in screens.evidence(constraints):
            self._answers[min(one, other), max(one, other)] += odds
        self._between: dict[int, list[tuple[int, float]]] = defaultdict(list)
        self._within: dict[int, list[tuple[int, int, float]]] = defaultdict(list)
        for (one, other), odds in self._answers.items():
            left, right = int(labels[one]), int(labels[other])
            if left == right:
                self._within[left].append((one, other, odds))
            else:
                self._between[left].append((right, odds))
                self._between[right].append((left, odds))

    def cosines(self, some: Sequence[int]) -> FloatArray:
        """Return the cosines of the means of some groups with all means, shape (some, groups)."""
        dots = (self._terms[some] @ self._terms.T).toarray() + self._dense[some] @ self._dense.T
        return np.asarray(dots / self._lengths / self._lengths[some, None])

    def neighbours(self, group: int, cosines: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return, for each group, the probability of one need with `group`, and its value as a neighbour."""
        smaller = np.minimum(self.sizes, self.sizes[group])
        odds = self._screens.log_odds(cosines, smaller)
        expected = _chance(odds)
        odds += _strongest(self._between[group], len(odds))
        odds[group] = -np.inf
        # Neighbours that were expected and are not the same need make others less likely, too.
        refused = {other for other, answer in self._between[group] if answer < 0.0}
        accepted = sum(answer > 0.0 for *_, answer in self._within[group])
        missed = float(sum(expected[other] for other in sorted(refused)))
        chances = _chance(odds) * (PATIENCE + accepted) / (PATIENCE + accepted + missed)
        return chances, chances * smaller

    def parts(self, group: int) -> Iterator[tuple[IntArray, float, float]]:
        """Yield the parts of a group: points, probability of another need, and value."""
        for part, smaller, log_odds in self._screens.parts(self.members[group]):
            answers = [
                (0, odds) for left, right, odds in self._within[group] if (left in part) != (right in part)
            ]
            chance = float(_chance(-(log_odds + _strongest(answers, 1)[0])))
            yield part, chance, chance * smaller


def _strongest(answers: Iterable[tuple[int, float]], count: int) -> FloatArray:
    """Return, for each place, the highest log-odds above zero plus the lowest below it, shape (count,)."""
    for_, against = np.zeros(count), np.zeros(count)
    for place, odds in answers:
        for_[place], against[place] = max(for_[place], odds), min(against[place], odds)
    return for_ + against


def _chance(log_odds: FloatArray) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-log_odds)))


def _compared(constraint: Constraint) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the surfaces of one need, the anchor first, and those of other needs."""
    if isinstance(constraint, Together):
        return constraint.surfaces, ()
    if isinstance(constraint, Apart):
        return (constraint.anchor,), constraint.leaving  # what stays may be in doubt, too
    return (constraint.anchor, *constraint.same), constraint.apart
