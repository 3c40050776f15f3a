"""From decisions to what a run has to respect: constraints on surfaces, and what is said of the groups."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC

import polars as pl

from vocabgap.decisions.agreement import Reasoned, require_agreement
from vocabgap.decisions.record import Action, Decision, Subject
from vocabgap.errors import InvalidInputError
from vocabgap.schema import VERDICTS, Apart, Constraint, Together
from vocabgap.text import count, surface


@dataclass(frozen=True, repr=False)
class Ruling:
    """What is decided about the surfaces of a corpus.

    Attributes:
        reasoned: Which surfaces belong together and which apart, each with the decision that says so, in the
            order in which it was decided.
        verdicts: What was said of the groups that hold certain surfaces (table `verdicts`).
        active: The decisions that are not undone, in order.
        dormant: Those among them that are about nothing in this corpus.
    """

    reasoned: tuple[Reasoned, ...]
    verdicts: pl.DataFrame
    active: tuple[Decision, ...]
    dormant: tuple[Decision, ...]

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Which surfaces belong together and which apart, in the order in which it was decided."""
        return tuple(each.constraint for each in self.reasoned)

    def __repr__(self) -> str:
        """How many decisions there are, in one line."""
        return (
            f"Ruling({count(len(self.active), 'decision')} in force, {len(self.dormant):,} of them dormant)"
        )


def in_force(decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    """The decisions that no other one undoes, in order; an undo is none of them.

    Raises:
        InvalidInputError: A decision undoes one that is not there, or itself in the end.
    """
    known = {each.decision_id: each for each in decisions}
    undone = undoings(known.values())
    standing = (each for each in known.values() if each.undoes is None and each.decision_id not in undone)
    return tuple(sorted(standing, key=lambda each: each.place))


def undoings(decisions: Iterable[Decision]) -> dict[str, Decision]:
    """Of each decision that is undone, an undo of an undo included, the first undo that stands.

    Raises:
        InvalidInputError: A decision undoes one that is not there, or itself in the end.
    """
    known = {each.decision_id: each for each in decisions}
    unsettled = dict.fromkeys(known, 0)  # decisions that undo it and are not settled themselves
    for each in known.values():
        if each.undoes is not None:
            if each.undoes not in known:
                raise InvalidInputError(
                    f"decision {each.decision_id} undoes {each.undoes}, which is not in the file",
                    hint="put the line back, or take out the one that undoes it",
                )
            unsettled[each.undoes] += 1
    # What nothing undoes stands; what stands undoes its target; and so on, from the last undo to the first.
    undone: dict[str, Decision] = {}
    settled = [name for name, number in unsettled.items() if not number]
    for name in settled:
        undo = known[name]
        target = undo.undoes
        if target is not None:
            if name not in undone:
                undone[target] = min(undo, undone.get(target, undo), key=lambda each: each.place)
            unsettled[target] -= 1
            if not unsettled[target]:
                settled.append(target)
    if len(settled) < len(known):
        circle = min(name for name, number in unsettled.items() if number)
        raise InvalidInputError(
            f"decision {circle} undoes itself in the end", hint="take one of the lines out"
        )
    return undone


def replay(decisions: Iterable[Decision], surfaces: Collection[str]) -> Ruling:
    """What the decisions mean for the surfaces of a corpus.

    A decision is about the first of its capability's wordings whose surface is there. One that finds none of
    them is dormant: it has no effect until they come back.

    Args:
        decisions: All that was decided; their order means nothing, only their time.
        surfaces: The distinct surfaces of the corpus.

    Raises:
        InvalidInputError: A decision undoes one that is not there.
        StateError: Two of them cannot both be respected; the error names them.
    """
    present = frozenset(surfaces)
    active = in_force(decisions)
    parted = frozenset(surface(wording) for each in active for wording in each.wordings)
    reasoned: list[Reasoned] = []
    anchored: list[tuple[Decision, str]] = []
    dormant: list[Decision] = []
    for decision in active:
        found = _found(decision, present, parted)
        if not found:
            dormant.append(decision)
            continue
        anchored += [(decision, each) for each in found]
        if decision.action is Action.MERGE:
            reasoned.append(Reasoned(decision, Together(found[0], found[1])))
        elif decision.action is Action.SPLIT:
            apart = Apart(found[0], tuple(found[1:]), decision.decision_id)
            reasoned.append(Reasoned(decision, apart))
    require_agreement(reasoned)
    verdicts = pl.DataFrame([_verdict(*each) for each in anchored], schema=VERDICTS.schema, orient="row")
    return Ruling(tuple(reasoned), verdicts, active, tuple(dormant))


def surfaces_of(decisions: Iterable[Decision]) -> frozenset[str]:
    """The surfaces of all wordings that some decisions name."""
    holders = (part for each in decisions for part in (each.capability, each.other, each) if part is not None)
    return frozenset(surface(wording) for part in holders for wording in part.wordings)


def _verdict(decision: Decision, where: str) -> tuple[object, ...]:
    """A row of table `verdicts`."""
    wordings = () if decision.capability is None else decision.capability.wordings
    return (
        where,
        decision.decision_id,
        decision.time.astimezone(UTC),
        decision.action.value,
        decision.label,
        decision.told,
        list(map(surface, wordings)),
    )


def _found(decision: Decision, present: frozenset[str], parted: frozenset[str]) -> list[str]:
    """The surfaces that a decision is about: the capability's, then those of what it is merged with or split.

    None where the corpus lacks one side.
    """
    if decision.capability is None:
        return []
    leaving = list(dict.fromkeys(surface(wording) for wording in decision.wordings))
    anchor = _anchor(decision.capability, present - set(leaving), parted)
    if anchor is None:
        return []
    if decision.other is not None:
        second = _anchor(decision.other, present, parted)
        return [] if second is None else [anchor, second]
    if decision.action is Action.SPLIT:
        there = [each for each in leaving if each in present]
        return [anchor, *there] if there else []
    return [anchor]


def _anchor(about: Subject, present: Collection[str], parted: Collection[str]) -> str | None:
    """What stands for a capability: its first surface, else one that no split took out of anything."""
    first, *others = map(surface, about.wordings)
    if first in present:
        return first
    return next((each for each in others if each in present and each not in parted), None)
