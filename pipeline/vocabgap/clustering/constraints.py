"""Groups that follow people's decisions: some surfaces are merged, and some are split, against the cut.

Decisions are applied in their order, each one to the groups after the decision before it. A split stays
active: if a later decision brings the surfaces together, they leave again.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from vocabgap.clustering.cutting import members_of
from vocabgap.clustering.describing import SHOWN_DIGITS, Labeller
from vocabgap.clustering.wordings import Points
from vocabgap.errors import InvalidInputError
from vocabgap.linkage import FloatArray, IntArray, Rows
from vocabgap.model.tables import Apart, Constraint, Together


class Origin(NamedTuple):
    """The state of a group before the constraints."""

    cluster: int | None  # its number; None if it left another group
    split: str | None  # the constraint that made it leave; the second and later times with a number
    capability_id: str | None = None  # the identifier that the last merge named for it


class Regrouped(NamedTuple):
    """The groups that respect the constraints, numbered in the order of their first point."""

    labels: IntArray  # the group of each point, shape (n,)
    labelled: list[tuple[str, int]]  # the label of each group, and the point it belongs to
    origins: tuple[Origin, ...]
    followed: tuple[Constraint, ...]


def regrouped(
    labels: IntArray,
    labelled: Sequence[tuple[str, int]],
    points: Points,
    rows: Rows,
    constraints: Collection[Constraint],
) -> Regrouped:
    """Apply the constraints to the groups.

    A united group has the label of the larger one. If a group is split, its undecided members go to the side
    with the higher mean similarity, or stay. A split does not hold if merges tie what leaves to what stays.
    """
    groups, standing = _Groups(labels, labelled, points, rows), list[Apart]()
    for constraint in constraints:
        if isinstance(constraint, Apart):
            standing.append(constraint)
            groups.part(constraint, constraint.leaving)
        elif isinstance(constraint, Together) and groups.unite(constraint):
            # Only in the united group, surfaces that were split may be together again.
            for apart in [one for one in standing if groups.are_one(one.anchor, constraint.first)]:
                groups.part(apart, [apart.anchor])
    return groups.result(constraints)


class _Groups:
    def __init__(
        self, labels: IntArray, labelled: Sequence[tuple[str, int]], points: Points, rows: Rows
    ) -> None:
        self._members: dict[int, list[int]] = {
            number: group.tolist() for number, group in enumerate(members_of(labels))
        }
        self._group: list[int] = labels.tolist()
        self._labelled = dict(enumerate(labelled))
        self._origin = {number: Origin(number, None) for number in self._members}
        self._mentions = points.surfaces["mentions"].to_list()
        self._rows = rows
        self._points = points
        self._times: Counter[str] = Counter()
        self._tied: dict[int, frozenset[int]] = {}
        self._failing: set[Constraint] = set()

    @cached_property
    def _labeller(self) -> Labeller:
        return Labeller(self._points)

    def are_one(self, first: str, second: str) -> bool:
        return self._group[self._place(first)] == self._group[self._place(second)]

    def unite(self, constraint: Together) -> bool:
        """Unite two groups; return whether they were two."""
        first, second = map(self._place, constraint.surfaces)
        tied = self._tied_to(first) | self._tied_to(second)
        self._tied |= dict.fromkeys(tied, tied)
        kept, dropped = self._group[first], self._group[second]
        self._origin[kept] = self._origin[kept]._replace(capability_id=constraint.capability_id)
        if kept == dropped:
            return False
        if self._size(dropped) > self._size(kept):
            self._labelled[kept] = self._labelled[dropped]
        self._move(self._members.pop(dropped), kept)
        return True

    def part(self, constraint: Apart, surfaces: Iterable[str]) -> None:
        """Part what leaves from what stays in the groups of some surfaces."""
        for group in dict.fromkeys(self._group[self._place(surface)] for surface in surfaces):
            self._divide(group, constraint)

    def _divide(self, group: int, constraint: Apart) -> None:
        present = [point for point in map(self._place, constraint.leaving) if self._group[point] == group]
        names = (constraint.anchor, *constraint.staying)
        there = [self._tied_to(point) for point in map(self._place, names) if self._group[point] == group]
        # Members that an earlier decision ties to a leaving member leave, too.
        leaving = frozenset[int]().union(*map(self._tied_to, present))
        staying = frozenset[int]().union(*(tied for tied in there if tied.isdisjoint(leaving)))
        if any(not tied.isdisjoint(leaving) for tied in there):
            self._failing.add(constraint)
        if not staying or not present:
            return
        gone = {*leaving, *self._nearer(group, staying, leaving)}
        members = self._members[group]
        number = max(self._labelled) + 1
        self._members[group] = [point for point in members if point not in gone]
        self._members[number] = []
        self._times[constraint.name] += 1
        times = self._times[constraint.name]
        self._origin[number] = Origin(None, constraint.name if times == 1 else f"{constraint.name} {times}")
        self._move([point for point in members if point in gone], number)
        if self._labelled[group][1] in gone:
            self._labelled[group] = self._labeller.label(sorted(self._members[group]))
        self._labelled[number] = self._labeller.label(sorted(self._members[number]))

    def result(self, constraints: Iterable[Constraint]) -> Regrouped:
        order = sorted(self._members, key=lambda number: min(self._members[number]))
        place = {number: position for position, number in enumerate(order)}
        return Regrouped(
            np.array([place[number] for number in self._group], dtype=np.int64),
            [self._labelled[number] for number in order],
            tuple(self._origin[number] for number in order),
            tuple(constraint for constraint in constraints if constraint not in self._failing),
        )

    def _nearer(self, group: int, staying: frozenset[int], leaving: frozenset[int]) -> set[int]:
        """Return the undecided points that are more similar to the leaving side; tied points go together."""
        undecided = sorted({*self._members[group]} - staying - leaving)
        units = list(dict.fromkeys(map(self._tied_to, undecided)))
        if not units:
            return set()
        order = np.array([point for unit in units for point in sorted(unit)])
        terms, dense = self._rows.plain_terms(order), self._rows.dense
        sizes = [len(unit) for unit in units]
        starts = np.cumsum([0, *sizes[:-1]])

        def mean_similarity(side: frozenset[int]) -> FloatArray:
            others = np.array(sorted(side))
            cosines = terms @ self._rows.plain_terms(others).mean(axis=0)
            if dense is not None:
                own, other = map(self._rows.dense_rows_of, (order, others))
                cosines += dense[own] @ dense[other].mean(axis=0)
            # Further digits are rounding errors.
            return np.asarray((np.add.reduceat(cosines, starts) / sizes).round(SHOWN_DIGITS))

        goes = mean_similarity(leaving) > mean_similarity(staying)
        return {point for unit, away in zip(units, goes.tolist(), strict=True) if away for point in unit}

    def _tied_to(self, point: int) -> frozenset[int]:
        """Return a point and all that must-links tie it to, directly or in a chain."""
        return self._tied.get(point, frozenset([point]))

    def _move(self, points: list[int], group: int) -> None:
        self._members[group] += points
        for point in points:
            self._group[point] = group

    def _size(self, group: int) -> int:
        return sum(self._mentions[point] for point in self._members[group])

    def _place(self, surface: str) -> int:
        if surface not in self._points.places:
            raise InvalidInputError(
                f"no record has the surface '{surface}'", hint="constrain surfaces that were clustered"
            )
        return self._points.places[surface]
