"""Turn decisions into constraints on surfaces and verdicts on groups, which a run follows."""

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from functools import cached_property, lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from vocabgap.decisions.record import FILE, SETTLING, Action, Decision
from vocabgap.errors import Hint, InvalidInputError, StateError
from vocabgap.model.capability import SETTLED
from vocabgap.model.moments import iso
from vocabgap.model.tables import (
    AUTHORED,
    CLAIMED,
    NEW,
    OPEN,
    REGRESSED,
    VERDICTS,
    Apart,
    Confirmed,
    Constraint,
    Together,
)
from vocabgap.ranking.statuses import KINDS, STATUS_OF
from vocabgap.text import excerpt, form, own_form, surface, surface_of, visible

if TYPE_CHECKING:
    from vocabgap.clustering.grouping import Clusters

_form = lru_cache(maxsize=100_000)(form)  # each new decision replays the same decisions
_Links = Mapping[str, list[tuple[str, Decision]]]


class ContradictionError(StateError):
    """Two decisions contradict each other; `decisions` has both, the older one first."""

    def __init__(self, message: str, hint: Hint | str, decisions: tuple[Decision, Decision]) -> None:
        super().__init__(message, hint=hint)
        self.decisions = decisions


class Reasoned(NamedTuple):
    """A constraint on surfaces and its decision."""

    decision: Decision
    constraint: Constraint


@dataclass(frozen=True, repr=False)
class EffectiveDecisions:
    """Active decisions and their effect on the surfaces of a corpus, oldest first."""

    reasoned: tuple[Reasoned, ...]  # the constraints with their decisions
    about: tuple[tuple[Decision, list[str]], ...]  # decisions that concern this corpus, and their surfaces
    active: tuple[Decision, ...]  # decisions that are not undone
    inactive: tuple[Decision, ...]  # active decisions that match nothing in this corpus
    separated: frozenset[str]  # forms of wordings that a split separates from others with their surface
    unfollowed: tuple[Decision, ...] = ()  # active decisions that the groups do not follow, because of others

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        """Table `verdicts`: the decisions about the groups of some surfaces."""
        rows: list[tuple[object, ...]] = []
        unfollowed = {decision.decision_id for decision in self.unfollowed}
        for decision, surfaces in self.about:
            who = (decision.decision_id, decision.time.astimezone(UTC), decision.actor)
            told = decision.summary + " – not followed" * (decision.decision_id in unfollowed)
            what = (decision.action.value, decision.label, decision.entry, told)
            wordings = () if decision.capability is None else decision.capability.wordings
            about = [_form(wording, self.separated) for wording in wordings]
            rows += [(anchor, *who, *what, about) for anchor in surfaces]
        return pl.DataFrame(rows, schema=VERDICTS.schema, orient="row")

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints, oldest first."""
        return tuple(reasoned.constraint for reasoned in self.reasoned)

    def __repr__(self) -> str:
        """Return the number of decisions in one line."""
        return f"EffectiveDecisions({len(self.active):,} active, {len(self.inactive):,} without effect)"


def replay(
    decisions: Iterable[Decision], names: Collection[str], unfollowed: Collection[str] = ()
) -> EffectiveDecisions:
    """Apply decisions to the surfaces of a corpus.

    A decision concerns the first wording of its capability that the corpus has. If the corpus has none, the
    decision is inactive. The times of the decisions matter, not their order. `names` are the surfaces, and
    the separated forms (`separations`) that the corpus has. Decisions named in `unfollowed` have no effect.

    Raises:
        InvalidInputError: A decision undoes a decision that does not exist.
        StateError: Two decisions contradict each other; the error names them.
    """
    present = frozenset(names)
    active = in_force(decisions)
    effective = [decision for decision in active if decision.decision_id not in unfollowed]
    separated = separations(effective)
    splits = (decision for decision in effective if decision.action is Action.SPLIT)
    parted = frozenset(_forms((wording for split in splits for wording in split.wordings), separated))
    reasoned: list[Reasoned] = []
    about: list[tuple[Decision, list[str]]] = []
    inactive: list[Decision] = []
    for decision in active:
        anchors = _found(decision, present, parted, separated)
        is_change = decision.action is not Action.CONFIRM
        if not anchors:
            inactive += [decision] * is_change
            continue
        if is_change:
            about.append((decision, anchors))
        if decision.decision_id in unfollowed:
            continue
        if decision.action is Action.MERGE:
            reasoned.append(Reasoned(decision, Together(anchors[0], anchors[1], _about(decision))))
        elif decision.action is Action.SPLIT:
            staying = tuple(name for name in _forms(decision.staying, separated) if name in present)
            apart = Apart(anchors[0], tuple(anchors[1:]), decision.decision_id, staying)
            reasoned.append(Reasoned(decision, apart))
        elif decision.action is Action.CONFIRM:
            same, others = (tuple(_forms(own, separated)) for own in (decision.staying, decision.wordings))
            reasoned.append(Reasoned(decision, Confirmed(anchors[0], same, others)))
    require_agreement(reasoned)
    left_out = tuple(decision for decision in active if decision.decision_id in unfollowed)
    return EffectiveDecisions(tuple(reasoned), tuple(about), active, tuple(inactive), separated, left_out)


def followed(
    clusters: "Clusters",
    decisions: Iterable[Decision],
    adapted: Callable[[Constraint], Constraint] = lambda constraint: constraint,
) -> "tuple[EffectiveDecisions, Clusters]":
    """Apply decisions to groups; return the decisions with their effect, and the new groups.

    A split is left out if merges tie what leaves to what stays; of several, the later half goes first. Later
    decisions may move what stayed. `adapted` completes a constraint before the groups follow it.
    """
    active, unfollowed = in_force(decisions), set[str]()
    while True:
        separated = separations(each for each in active if each.decision_id not in unfollowed)
        effective = replay(active, clusters.names(separated), unfollowed)
        constraints = [*map(adapted, effective.constraints)]
        groups = clusters.constrained(constraints, separated)
        known, holding = zip(effective.reasoned, constraints, strict=True), {*groups.constraints}
        failing = [each.decision.decision_id for each, constraint in known if constraint not in holding]
        if not failing:
            return effective, groups
        unfollowed.update(failing[len(failing) // 2 :])


def separations(active: Iterable[Decision]) -> frozenset[str]:
    """Return the own forms of wordings that active splits separate from wordings with the same surface."""
    forms: set[str] = set()
    for split in active:
        if split.capability is None or split.action is not Action.SPLIT:
            continue
        staying = {surface(wording) for wording in (*split.capability.wordings, *split.staying)}
        forms.update(own_form(wording) for wording in split.wordings if surface(wording) in staying)
    return frozenset(forms)


def _forms(wordings: Iterable[str], separated: frozenset[str]) -> dict[str, None]:
    return dict.fromkeys(_form(wording, separated) for wording in wordings)


def _found(
    decision: Decision, present: frozenset[str], parted: frozenset[str], separated: frozenset[str]
) -> list[str]:
    """Return the surfaces of a decision, the capability first; none if a side is missing."""
    if decision.capability is None:
        return []
    leaving = _forms(decision.wordings, separated)
    anchor = _anchor(_forms(decision.capability.wordings, separated), present, parted, leaving)
    if anchor is None:
        return []
    if decision.other is not None:
        second = _anchor(_forms(decision.other.wordings, separated), present, parted)
        return [] if second is None else [anchor, second]
    if decision.action is Action.SPLIT:
        there = [form for form in leaving if form in present]
        return [anchor, *there] if there else []
    return [anchor]


def _anchor(
    about: Iterable[str], present: Collection[str], parted: Collection[str], leaving: Collection[str] = ()
) -> str | None:
    """Return the surface that represents a capability: the first one, if the corpus has it.

    Otherwise it is the first one of the corpus that no split moved.
    """
    forms = iter(about)
    first = next(forms)
    if first in present and first not in leaving:
        return first
    return next((form for form in forms if form in present and form not in parted), None)


def in_force(decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    """Return the decisions that no other decision undoes, oldest first, without the undos."""
    by_id = {decision.decision_id: decision for decision in decisions}
    undone = undoings(by_id.values())
    standing = (each for each in by_id.values() if each.undoes is None and each.decision_id not in undone)
    return tuple(sorted(standing, key=lambda decision: decision.place))


def undoings(decisions: Iterable[Decision]) -> dict[str, Decision]:
    """Map each undone decision (or undo) to the first undo of it that is not undone."""
    by_id = {decision.decision_id: decision for decision in decisions}
    undos: dict[str, list[Decision]] = {name: [] for name in by_id}
    for undo in by_id.values():
        if undo.undoes is None:
            continue
        if undo.undoes not in by_id:
            problem = f"decision {undo.decision_id} undoes {undo.undoes}, which is not in the file"
            raise InvalidInputError(problem, hint="restore that line, or remove the line that undoes it")
        undos[undo.undoes].append(undo)
    undone: dict[str, Decision] = {}
    graph = {name: [undo.decision_id for undo in own] for name, own in undos.items()}
    try:
        for name in TopologicalSorter(graph).static_order():  # undos first
            standing = [undo for undo in undos[name] if undo.decision_id not in undone]
            if standing:
                undone[name] = min(standing, key=lambda undo: undo.place)
    except CycleError as error:
        problem = f"decision {min(error.args[1])} undoes itself through others"
        raise InvalidInputError(problem, hint="remove one of the lines") from error
    return undone


def surfaces_of(decisions: Iterable[Decision]) -> frozenset[str]:
    """Return the names of all wordings in some decisions."""
    decisions = tuple(decisions)
    separated = separations(in_force(decisions))
    parts = (part for decision in decisions for part in (decision.capability, decision.other, decision))
    return frozenset(_form(wording, separated) for part in parts if part for wording in part.wordings)


def replaced(decision: Decision, active: Iterable[Decision]) -> Decision | None:
    """Return the active decision on the same merge, status, label or pin that a new decision replaces."""
    if decision.action in {Action.SPLIT, Action.UNDO}:
        return None
    alike = SETTLING if decision.action in SETTLING else {decision.action}
    rivals = [rival for rival in active if rival.action in alike and _sides(rival) == _sides(decision)]
    return rivals[-1] if rivals else None


def _sides(decision: Decision) -> set[tuple[str, str]]:
    """Return the capability of a decision; of a merge, both, each with its first wording."""
    if decision.capability is None or decision.other is None:
        return {(_about(decision), "")}
    return {(side.capability_id, side.wordings[0]) for side in (decision.capability, decision.other)}


def require_change(decision: Decision, active: Sequence[Decision], published: Mapping[str, Any]) -> None:
    """Refuse a decision that would change nothing, or that takes a need from the person who claimed it.

    `published` is the row of the capability in table `capabilities` of the run.
    """
    last = replaced(decision, active)
    about = [earlier.label for earlier in active if earlier.label and _about(earlier) == _about(decision)]
    current = about[-1] if about else published["label"]
    problem = ""
    if last is not None and last.place > decision.place:
        problem = "has a decision that overrules this one"
    elif decision.action in SETTLING:
        problem = _problem_of_status(decision, last, published)
    elif decision.other is not None and last is not None:
        problem = f"is already merged with '{excerpt(decision.other.label)}'"
    elif decision.action is Action.PIN and last is not None:
        problem = "is already pinned"
    elif decision.action is Action.RENAME and decision.label == current:
        problem = "already has this label"
    if problem:
        raise InvalidInputError(
            f"'{excerpt(current)}' {problem}{f': {last.summary}' if last else ''}",
            hint=Hint("nothing was decided; {} lists the decisions", (("decisions", "list"),), FILE),
        )


def _problem_of_status(decision: Decision, last: Decision | None, published: Mapping[str, Any]) -> str:
    """Return why a decision would not change the status of a capability; an empty text if it would."""
    action, status = decision.action, published["status"]
    by, since = published["status_by"], published["status_since"]
    if last is not None and not (status == REGRESSED and last.action is Action.AUTHOR):
        status, by, since = STATUS_OF[KINDS[last.action]], last.actor, last.time
    same_reason = last is not None and last.action is action and last.reason == decision.reason
    same_entry = last is not None and last.entry == decision.entry
    if action is Action.REOPEN and status in {NEW, OPEN}:
        return "is already open"
    if action is Action.CLAIM and status in SETTLED:
        return f"is {status}; reopen it first"
    if action is Action.CLAIM and status == CLAIMED:
        return f"is already claimed by {visible(by)} since {since:%Y-%m-%d}"
    if action is Action.DISMISS and same_reason:
        return "was already dismissed for the same reason"
    if action is Action.AUTHOR and status == AUTHORED and same_entry:
        return f"was already authored as '{excerpt(decision.entry or '')}'"
    return ""


def require_own_label(decision: Decision, active: Sequence[Decision], labels: Mapping[str, str]) -> None:
    """Refuse a label that another capability has."""
    if decision.label is None:
        return
    called = dict(labels)
    for earlier in active:
        if earlier.label is not None:
            called[_about(earlier)] = earlier.label
    merged = {earlier.other.capability_id for earlier in active if earlier.other is not None}
    wanted = surface(decision.label)
    for capability_id, label in called.items():
        if capability_id not in merged and capability_id != _about(decision) and surface(label) == wanted:
            raise InvalidInputError(
                f"another capability has the label '{excerpt(label)}': {capability_id}",
                hint=Hint("choose another label, or merge the two with {}", (("decide", "merge"),), FILE),
            )


def _about(decision: Decision) -> str:
    return "" if decision.capability is None else decision.capability.capability_id


def require_agreement(reasoned: Iterable[Reasoned]) -> None:
    """Refuse a split of surfaces that merges connect, directly or in a chain."""
    pairs = tuple(reasoned)
    links = _links(pairs, {})
    for decision, constraint in pairs:
        if isinstance(constraint, Apart) and constraint.anchor in links:
            linked = _latest_links(links, constraint.anchor)
            for leaving in constraint.leaving:
                if (merged := linked.get(leaving)) is not None:
                    raise _conflict(decision, merged, leaving)


def agreeing(
    new: Iterable[Decision], groups: Mapping[str, str] | None
) -> Callable[[tuple[Decision, ...]], None]:
    """Return a check that refuses new decisions if one of them contradicts another decision.

    `groups` maps surfaces to groups; it is None if only decisions are known.
    """

    def check(together: tuple[Decision, ...]) -> None:
        known = dict(groups or {})
        try:
            for name in separations(in_force(together)):
                if surface_of(name) in known:
                    known.setdefault(name, known[surface_of(name)])
            effective = replay(together, surfaces_of(together) if groups is None else known)
            for decision in new:
                require_followed(decision, effective.reasoned, known)
        except ContradictionError as error:
            undo = (("decide", "undo", error.decisions[0].decision_id),)
            hint = Hint("nothing was decided; {} undoes the earlier one", undo, FILE)
            raise ContradictionError(error.message, hint, error.decisions) from error

    return check


def require_followed(new: Decision, reasoned: Iterable[Reasoned], groups: Mapping[str, str]) -> None:
    """Refuse a decision whose effect its author would not expect.

    A merge of two groups has no effect if a split separates some of their surfaces. A split moves more than
    its author names if a merge unites its surfaces with other surfaces of the same group.
    """
    pairs = tuple(reasoned)
    own = next((constraint for decision, constraint in pairs if decision == new), None)
    if isinstance(own, Together):
        links = _links((part for part in pairs if part.decision != new), groups)
        first, second = ({*_latest_links(links, groups.get(part, part))} for part in own.surfaces)
        for split, apart in pairs:
            if first & second or not isinstance(apart, Apart):
                continue
            for leaving in apart.leaving:
                parted = {groups.get(apart.anchor), groups.get(leaving)}
                if parted & first and parted & second:
                    raise _conflict(split, new, leaving)
    elif isinstance(own, Apart):
        links = _links(pairs, {})
        united = _latest_links(_links(pairs, groups), groups.get(own.anchor, own.anchor))
        for leaving in own.leaving:
            for linked, merge in _latest_links(links, leaving).items():
                stays = linked not in own.leaving and groups.get(linked, linked) in united
                if merge is not None and stays:
                    raise _conflict(new, merge, leaving)


def _links(reasoned: Iterable[Reasoned], groups: Mapping[str, str]) -> _Links:
    """Map each surface, or its group, to its direct partners in merges."""
    links: defaultdict[str, list[tuple[str, Decision]]] = defaultdict(list)
    for decision, constraint in reasoned:
        if isinstance(constraint, Together):
            first, second = (groups.get(part, part) for part in constraint.surfaces)
            links[first].append((second, decision))
            links[second].append((first, decision))
    return links


def _latest_links(links: _Links, start: str) -> dict[str, Decision | None]:
    """Map each surface that merges connect with `start` to the latest merge on the shortest path."""
    latest: dict[str, Decision | None] = {start: None}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        for there, merged in links.get(here, ()):
            if there not in latest:
                latest[there] = max(latest[here] or merged, merged, key=lambda decision: decision.place)
                waiting.append(there)
    return latest


def _conflict(split: Decision, merge: Decision, leaving: str) -> ContradictionError:
    earlier, later = sorted((split, merge), key=lambda decision: decision.place)

    def named(decision: Decision) -> str:
        when = f"{iso(decision.time)} by {visible(decision.actor)}"
        return f"{decision.decision_id} ({decision.what}, {when})"

    return ContradictionError(
        f"two decisions contradict each other: {named(earlier)} and {named(later)};"
        f" one unites '{leaving}' with wordings that the other splits off",
        Hint("{} or {}", tuple(("decide", "undo", own.decision_id) for own in (later, earlier)), FILE),
        (earlier, later),
    )
