"""From decisions to what a run has to respect: constraints on surfaces, and what is said of the groups."""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC

import polars as pl

from vocabgap.constraints import Apart, Constraint, Together
from vocabgap.decisions.record import Action, Decision, Subject
from vocabgap.errors import InvalidInputError, StateError
from vocabgap.moments import iso
from vocabgap.schema import VERDICTS
from vocabgap.text import count, surface, visible


@dataclass(frozen=True, repr=False)
class Ruling:
    """What is decided about the surfaces of a corpus.

    Attributes:
        constraints: Which surfaces belong together and which apart, in the order in which it was decided.
        verdicts: What was said of the groups that hold certain surfaces (table `verdicts`).
        active: The decisions that are not undone, in order.
        dormant: Those among them that are about nothing in this corpus.
    """

    constraints: tuple[Constraint, ...]
    verdicts: pl.DataFrame
    active: tuple[Decision, ...]
    dormant: tuple[Decision, ...]

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
    return tuple(each for each in standing_of(decisions) if each.undoes is None)


def standing_of(decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    """The decisions that no other one undoes, in order, with those that undo.

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
    undone: set[str] = set()
    settled = [name for name, number in unsettled.items() if not number]
    for name in settled:
        target = known[name].undoes
        if target is not None:
            if name not in undone:
                undone.add(target)
            unsettled[target] -= 1
            if not unsettled[target]:
                settled.append(target)
    if len(settled) < len(known):
        circle = min(name for name, number in unsettled.items() if number)
        raise InvalidInputError(
            f"decision {circle} undoes itself in the end", hint="take one of the lines out"
        )
    standing = [each for each in known.values() if each.decision_id not in undone]
    return tuple(sorted(standing, key=lambda each: each.place))


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
    constraints: list[tuple[Decision, Constraint]] = []
    anchored: list[tuple[Decision, str]] = []
    dormant: list[Decision] = []
    for decision in active:
        found = _found(decision, present, parted)
        if not found:
            dormant.append(decision)
            continue
        anchored += [(decision, each) for each in found]
        if decision.action is Action.MERGE:
            constraints.append((decision, Together(found[0], found[1])))
        elif decision.action is Action.SPLIT:
            constraints.append((decision, Apart(found[0], tuple(found[1:]), decision.decision_id)))
    _require_agreement(constraints)
    verdicts = [
        (where, each.decision_id, each.time.astimezone(UTC), each.action.value, each.label, each.told)
        for each, where in anchored
    ]
    return Ruling(
        tuple(constraint for _, constraint in constraints),
        pl.DataFrame(verdicts, schema=VERDICTS.schema, orient="row"),
        active,
        tuple(dormant),
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


def _require_agreement(constraints: Sequence[tuple[Decision, Constraint]]) -> None:
    """Refuse what merges link, directly or in a chain, and a split parts."""
    links: defaultdict[str, list[tuple[str, Decision]]] = defaultdict(list)
    for decision, constraint in constraints:
        if isinstance(constraint, Together):
            links[constraint.first].append((constraint.second, decision))
            links[constraint.second].append((constraint.first, decision))
    for decision, constraint in constraints:
        if isinstance(constraint, Apart) and constraint.anchor in links:
            for leaving in constraint.leaving:
                merged = _latest_link(links, constraint.anchor, leaving)
                if merged is not None:
                    raise _conflict(decision, merged, leaving)


def _latest_link(links: dict[str, list[tuple[str, Decision]]], start: str, goal: str) -> Decision | None:
    """The latest of the merges on the shortest way from one surface to another; None if there is no way."""
    latest: dict[str, Decision | None] = {start: None}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        for there, merged in links.get(here, ()):
            if there not in latest:
                before = latest[here]
                latest[there] = merged if before is None else max(before, merged, key=lambda each: each.place)
                waiting.append(there)
    return latest.get(goal)


def _conflict(split: Decision, merge: Decision, leaving: str) -> StateError:
    earlier, later = sorted((split, merge), key=lambda each: each.place)

    def named(decision: Decision) -> str:
        when = f"{iso(decision.time)} by {visible(decision.actor)}"
        return f"{decision.decision_id} ({decision.what}, {when})"

    return StateError(
        f"two decisions cannot both be respected: {named(earlier)} and {named(later)};"
        f" one has '{leaving}' together with what the other parts it from",
        hint=f"`vocabgap decide undo {later.decision_id}` or `vocabgap decide undo {earlier.decision_id}`",
    )
