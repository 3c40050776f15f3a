"""Whether decisions can all be respected: what one puts together, no other may keep apart."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from vocabgap.decisions.record import Decision
from vocabgap.errors import StateError
from vocabgap.records.moments import iso
from vocabgap.schema import Apart, Constraint, Together
from vocabgap.text import visible


class Reasoned(NamedTuple):
    """What is to hold of the surfaces, and the decision that says so."""

    decision: Decision
    constraint: Constraint


_Links = Mapping[str, list[tuple[str, Decision]]]


def require_agreement(reasoned: Iterable[Reasoned]) -> None:
    """Refuse what merges link, directly or in a chain, and a split parts.

    Args:
        reasoned: Everything that is to hold.

    Raises:
        StateError: Two decisions cannot both be respected; it names them.
    """
    known = tuple(reasoned)
    links = _links(known, {})
    for decision, constraint in known:
        if isinstance(constraint, Apart) and constraint.anchor in links:
            linked = _latest_links(links, constraint.anchor)
            for leaving in constraint.leaving:
                merged = linked.get(leaving)
                if merged is not None:
                    raise _conflict(decision, merged, leaving)


def require_followed(made: Decision, reasoned: Iterable[Reasoned], groups: Mapping[str, str]) -> None:
    """Refuse a decision of which less would come than the person who makes it sees in it.

    A merge of two groups that a split keeps apart, through whichever of their surfaces: what the split parts
    would leave again at once. A split whose surfaces a merge holds together with others of the same group:
    these would leave, too.

    Args:
        made: The decision, among those below.
        reasoned: Everything that is to hold.
        groups: The group of each surface, as the person sees it.

    Raises:
        StateError: It and an earlier one cannot both be respected; it names them.
    """
    known = tuple(reasoned)
    own = next((constraint for decision, constraint in known if decision == made), None)
    if isinstance(own, Together):
        _require_union(made, own, known, groups)
    elif isinstance(own, Apart):
        _require_parting(made, own, known, groups)


def _require_union(
    merge: Decision, own: Together, known: Iterable[Reasoned], groups: Mapping[str, str]
) -> None:
    links = _links((each for each in known if each.decision != merge), groups)
    first, second = ({*_latest_links(links, groups.get(each, each))} for each in own)
    if first & second:  # one capability already, in which splits hold as they are
        return
    for decision, constraint in known:
        if isinstance(constraint, Apart):
            for leaving in constraint.leaving:
                parted = {groups.get(constraint.anchor), groups.get(leaving)}
                if parted & first and parted & second:
                    raise _conflict(decision, merge, leaving)


def _require_parting(
    split: Decision, own: Apart, known: Iterable[Reasoned], groups: Mapping[str, str]
) -> None:
    links = _links(known, {})
    for leaving in own.leaving:
        for linked, merge in _latest_links(links, leaving).items():
            stays = linked not in own.leaving and groups.get(linked) == groups.get(own.anchor)
            if merge is not None and stays:
                raise _conflict(split, merge, leaving)


def _links(reasoned: Iterable[Reasoned], groups: Mapping[str, str]) -> _Links:
    """Of each surface, or its group if it has one, those that a merge links it with directly."""
    links: defaultdict[str, list[tuple[str, Decision]]] = defaultdict(list)
    for decision, constraint in reasoned:
        if isinstance(constraint, Together):
            first, second = (groups.get(each, each) for each in constraint)
            links[first].append((second, decision))
            links[second].append((first, decision))
    return links


def _latest_links(links: _Links, start: str) -> dict[str, Decision | None]:
    """Of everything that merges link with a surface, the latest of those on the shortest way there."""
    latest: dict[str, Decision | None] = {start: None}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        for there, merged in links.get(here, ()):
            if there not in latest:
                before = latest[here]
                latest[there] = merged if before is None else max(before, merged, key=lambda each: each.place)
                waiting.append(there)
    return latest


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
