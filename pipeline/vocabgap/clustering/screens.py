"""Screens of a review: a group, the wordings that fit it least, and the nearest other groups.

The similarity of two groups is the cosine of the means of their rows. Together with the mentions of the
larger group, it gives the probability that both are one need. A part of a group and the rest of it are
compared in the same way. No screen asks what a decision answers, or what is unlikely: reviews end.

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

from vocabgap.clustering.contrasts import Contrast, Poles
from vocabgap.clustering.cutting import members_of
from vocabgap.clustering.wordings import Points
from vocabgap.linkage import FloatArray, IntArray, Rows, on_grid
from vocabgap.linkage.rows import cosine_distances
from vocabgap.model.tables import Apart, Constraint, Together
from vocabgap.text import numbers_in, without_numbers

MOST_NEIGHBOURS: Final = 10  # on a screen
MOST_PARTS: Final = 6
CANDIDATES: Final = 3  # groups that a screen may be about, per group of the top
LEAST_LIKELY: Final = 0.05  # probability of a tick that is shown
WORTH_ASKING: Final = 0.1  # probability of the likeliest tick of a screen
CELLS: Final = 1 << 23  # of cosines that are computed together
HEAVIEST: Final = 100  # most mentioned members of a group whose parts are compared


class OddsModel(NamedTuple):
    """A model of the log-odds that two sides are one need: the coefficients of a logistic regression."""

    constant: float
    cosine: float  # of the means of the sides
    doubling: float = 0.0  # of the mentions of the larger side
    least: float = 0.0  # cosine, also for lower ones
    most: float = 1.0  # cosine, also for higher ones

    def log_odds(self, cosines: FloatArray, larger: FloatArray) -> FloatArray:
        """Return the log-odds; `larger` are the mentions of the larger side."""
        doublings = np.log2(np.minimum(larger, LARGEST_FITTED))
        return (
            self.constant
            + self.cosine * on_grid(cosines).clip(self.least, self.most)
            + self.doubling * doublings
        )


# Fitted on gap logs and gap-shaped samples of public phrases; `benchmarks.quality --screens` measures them.
LARGEST_FITTED: Final = 32  # mentions of a group
GROUPS_BY_MEANING: Final = OddsModel(-4.66, 9.58, -0.56)
GROUPS_BY_WORDS: Final = OddsModel(-3.05, 11.0, -0.62, most=0.33)
PARTS_BY_MEANING: Final = OddsModel(-4.43, 7.68, least=0.58)
PARTS_BY_WORDS: Final = OddsModel(-1.35, 4.22, least=0.32)
OPPOSITE: Final = -0.6  # log-odds of one need, for a part that may be the opposite of the rest ...
OPPOSITE_GROUPS: Final = -1.4  # ... and what is added to them for two groups at different poles
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
        parts: Parts of the group that may be another need: opposites first, then what is worth most.
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
    def likeliest(self) -> float:
        """The probability of the likeliest tick; 0 without a tick."""
        near = (each.probability for each in self.neighbours)
        return max(chain(near, (each.probability for each in self.parts)), default=0.0)

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


class _Division(NamedTuple):
    """A division of a group into a part and the rest."""

    part: IntArray  # points
    smaller: float  # mentions of the smaller side
    log_odds: float  # that both sides are one need


class _LikelyPart(NamedTuple):
    """A part of a group that a screen shows."""

    points: IntArray
    probability: float  # of another need
    value: float


class Screens:
    """A search for the most valuable screens. It keeps what stays the same when the groups change.

    `weights` are the mentions of each point, shape (n,).
    """

    def __init__(self, points: Points, rows: Rows) -> None:
        self.weights = points.weights
        self._points = points
        self._rows = rows
        by_words = rows.dense is None
        self.groups_model = GROUPS_BY_WORDS if by_words else GROUPS_BY_MEANING
        self._parts_model = PARTS_BY_WORDS if by_words else PARTS_BY_MEANING
        self._divisions: dict[bytes, list[_Division]] = {}

    def ranked(
        self,
        labels: IntArray,
        names: Sequence[str],
        constraints: Iterable[Constraint],
        top: int,
        about: Sequence[int] | None = None,
        *,
        doubtful: Iterable[tuple[int, int]] = (),
        poles: Sequence[Poles] = (),
    ) -> list[Screen]:
        """Return screens of some groups, the most valuable first; a group without a question has none.

        Args:
            labels: The group of each point, shape (n,).
            names: The label of each group.
            constraints: The decisions so far.
            top: How many of the largest groups matter.
            about: The groups; by default the largest.
            doubtful: Pairs of points that may be opposites.
            poles: The poles of each group's label.
        """
        groups = _Groups(self, labels, constraints, doubtful, poles)
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
        return [screen for _, screen in by_value if screen.likeliest >= WORTH_ASKING]

    def _screen(
        self, groups: "_Groups", group: int, cosines: FloatArray, names: Sequence[str]
    ) -> tuple[float, Screen]:
        """Return the exact value of the screen of a group, and the screen."""
        chances, values = groups.neighbours(group, cosines)
        sizes, members = groups.sizes, groups.members
        near = np.lexsort((-on_grid(cosines), -values))[:MOST_NEIGHBOURS].tolist()
        neighbours = [(other, float(chances[other])) for other in near if chances[other] >= LEAST_LIKELY]
        parts = groups.parts(group)
        value = float(values[[other for other, _ in neighbours]].sum()) + sum(part.value for part in parts)
        return value, Screen(
            names[group],
            int(sizes[group]),
            self.wordings(members[group]),
            tuple(
                Part(self.wordings(points), int(self.weights[points].sum()), round(chance, 3))
                for points, chance, _ in parts
            ),
            tuple(
                Neighbour(names[other], int(sizes[other]), self.wordings(members[other]), round(chance, 3))
                for other, chance in neighbours
            ),
            round(value, 3),
        )

    def nearness(self, labels: IntArray, some: Sequence[int]) -> FloatArray:
        """Return cosine similarities of the means of some groups, 0 to 1, shape (some, some)."""
        return np.clip(on_grid(_Groups(self, labels).cosines(some)[:, some]), 0.0, 1.0)

    def wordings(self, points: Iterable[int]) -> tuple[str, ...]:
        """Return the wordings of some points, most used first."""
        uses = (use for point in points for use in self._points.uses.at(int(point)))
        return tuple(wording for wording, _ in sorted(uses, key=lambda use: (-use[1], use[0])))

    def divisions(self, group: IntArray) -> list[_Division]:
        """Return the divisions of a group by other numbers, and by average linkage; keep them for later."""
        key = group.tobytes()
        if key not in self._divisions:
            order = group[np.argsort(-self.weights[group], kind="stable")]
            members = np.sort(order[:HEAVIEST])
            self._divisions[key] = list(self._divided(members)) if len(members) > 1 else []
        return self._divisions[key]

    def _divided(self, members: IntArray) -> Iterator[_Division]:
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
            log_odds = self._parts_model.log_odds(cosine, np.array(1.0))
            yield _Division(members[part], float(smaller), float(log_odds))

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

    def answers(self, constraints: Iterable[Constraint]) -> Iterator[tuple[int, int, bool]]:
        """Yield pairs of points that decisions compare, and whether they are one need."""
        for constraint in constraints:
            one, apart = _compared(constraint)
            place = self._points.places.get
            anchor, *same = map(place, one)
            others = [(point, True) for point in same] + [(point, False) for point in map(place, apart)]
            for point, is_same in others:
                if anchor is not None and point is not None:
                    yield anchor, point, is_same


class _Groups:
    """The present groups: their sizes and means, and what decisions say about them."""

    def __init__(
        self,
        screens: Screens,
        labels: IntArray,
        constraints: Iterable[Constraint] = (),
        doubtful: Iterable[tuple[int, int]] = (),
        poles: Sequence[Poles] = (),
    ) -> None:
        self._screens = screens
        self.members = members_of(labels)
        count = len(self.members)
        self.sizes = np.bincount(labels, screens.weights, minlength=count)
        self._terms, self._dense = screens.sums(labels, count)
        squares = self._terms.multiply(self._terms).sum(axis=1) + (self._dense**2).sum(axis=1)
        self._lengths = np.sqrt(np.maximum(squares, np.finfo(float).tiny))
        self._between: dict[int, dict[int, bool]] = defaultdict(dict)  # answers about other groups
        self._within: dict[int, dict[tuple[int, int], bool]] = defaultdict(dict)  # about pairs of points
        for one, other, is_same in screens.answers(constraints):
            left, right = int(labels[one]), int(labels[other])
            if left == right:
                self._within[left][one, other] = is_same
            else:
                self._between[left][right] = self._between[right][left] = is_same
        self._opposites: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for one, other in doubtful:
            if labels[one] == labels[other]:
                self._opposites[int(labels[one])].append((one, other))

        self._poles = poles
        self._at_poles: dict[Contrast, list[tuple[int, int]]] = defaultdict(list)  # poles and groups
        for group, own in enumerate(poles):
            for contrast, pole in own.items():
                self._at_poles[contrast].append((pole, group))

    def _opposite_groups(self, group: int) -> list[int]:
        """Return the groups at another pole of a contrast than a group."""
        own = self._poles[group] if self._poles else {}
        return [
            other
            for contrast, pole in own.items()
            for other_pole, other in self._at_poles[contrast]
            if other_pole != pole
        ]

    def cosines(self, some: Sequence[int]) -> FloatArray:
        """Return the cosines of the means of some groups with all means, shape (some, groups)."""
        dots = (self._terms[some] @ self._terms.T).toarray() + self._dense[some] @ self._dense.T
        return np.asarray(dots / self._lengths / self._lengths[some, None])

    def neighbours(self, group: int, cosines: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return, for each group, the probability of one need with `group`, and its value as a neighbour."""
        larger = np.maximum(self.sizes, self.sizes[group])
        log_odds = self._screens.groups_model.log_odds(cosines, larger)
        log_odds[self._opposite_groups(group)] += OPPOSITE_GROUPS
        chances = _chance(log_odds)
        # Neighbours that were expected and are not the same need make others less likely.
        refused = sorted(other for other, is_same in self._between[group].items() if not is_same)
        accepted = sum(self._within[group].values())
        chances *= (PATIENCE + accepted) / (PATIENCE + accepted + chances[refused].sum())
        chances[[group, *self._between[group]]] = 0.0
        return chances, chances * np.minimum(self.sizes, self.sizes[group])

    def parts(self, group: int) -> list[_LikelyPart]:
        """Return the parts that no answer is about.

        Parts that may be opposites of the rest come first, then the most valuable ones.
        """
        seen = set(chain.from_iterable(self._opposites[group]))  # one point of each pair stays
        divisions = self._screens.divisions(self.members[group])
        others = (division for division in divisions if seen.isdisjoint(division.part))
        by_value = sorted(self._unanswered(group, others), key=lambda part: (-part.value, part.points[0]))
        return [*self._unanswered(group, self._opposites_in(group)), *by_value][:MOST_PARTS]

    def _unanswered(self, group: int, divisions: Iterable[_Division]) -> Iterator[_LikelyPart]:
        for part, smaller, log_odds in divisions:
            chance = float(_chance(np.array(-log_odds)))
            answered = any((left in part) != (right in part) for left, right in self._within[group])
            if chance >= LEAST_LIKELY and not answered:
                yield _LikelyPart(part, chance, chance * smaller)

    def _opposites_in(self, group: int) -> Iterator[_Division]:
        """Yield the opposites of the most mentioned point that has some, then those of others."""
        pairs, weights = self._opposites[group], self._screens.weights
        while pairs:
            main = max(chain.from_iterable(pairs), key=lambda point: (weights[point], -point))
            part = sorted({sum(pair) - main for pair in pairs if main in pair})
            pairs = [pair for pair in pairs if {main, *part}.isdisjoint(pair)]
            yield _Division(np.array(part), float(weights[part].sum()), OPPOSITE)


def _chance(log_odds: FloatArray) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-log_odds)))


def _compared(constraint: Constraint) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the surfaces of one need, the anchor first, and those of other needs."""
    if isinstance(constraint, Together):
        return constraint.surfaces, ()
    if isinstance(constraint, Apart):
        return (constraint.anchor,), constraint.leaving  # what stays may be in doubt, too
    return (constraint.anchor, *constraint.same), constraint.apart
