"""Reviews: a person looks at screens about the largest groups; the answers are decisions."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vocabgap.decisions.record import (
    Action,
    Decision,
    Subject,
    append_decisions,
    decide,
    one_each,
    read_decisions,
    subject,
)
from vocabgap.decisions.replay import ContradictionError, agreeing, followed, in_force
from vocabgap.errors import InvalidInputError, require_kind, unusable, whole_number
from vocabgap.model.loading import login
from vocabgap.model.settings import DEFAULT_SCREENS, DEFAULT_TOP
from vocabgap.ranking.identity import derived_id
from vocabgap.text import count, form, surface

if TYPE_CHECKING:
    from vocabgap.clustering.grouping import Clusters
    from vocabgap.clustering.screens import Answer, Screen


@dataclass(frozen=True, repr=False)
class Reviewed:
    """The result of a review.

    Attributes:
        clusters: The groups after the answers.
        decisions: The decisions of the answers, in order.
        screens: All screens in order, also skipped ones.
    """

    clusters: "Clusters"
    decisions: tuple[Decision, ...]
    screens: tuple["Screen", ...]

    def __repr__(self) -> str:
        """Return the number of screens and decisions in one line."""
        screens, decisions = count(len(self.screens), "screen"), count(len(self.decisions), "decision")
        return f"Reviewed({screens}, {decisions}; {self.clusters})"


def review(
    found: "Clusters",
    ask: Callable[["Screen"], "Answer | None"],
    screens: int = DEFAULT_SCREENS,
    top: int = DEFAULT_TOP,
    *,
    decisions: Iterable[Decision] = (),
    actor: str | None = None,
    now: datetime | None = None,
) -> Reviewed:
    """Show screens about the largest groups, the one that may change most first, until none is worth asking.

    Args:
        found: The groups that `vocabgap.cluster` returns.
        ask: Returns the answer to a screen: positions in `.neighbours` that are the same need, and positions
            in `.parts` that are another need; None skips the screen.
        screens: The largest number of screens.
        top: The number of the largest groups that matter; 0 for all.
        decisions: Earlier decisions, which the groups follow.
        actor: The person who answers; by default VOCABGAP_ACTOR, else the user name.
        now: The time of the first answer; by default the current time.

    Returns:
        The groups and the new decisions; nothing is written.
    """
    from vocabgap.clustering.grouping import Clusters  # noqa: PLC0415 - loaded with the groups
    from vocabgap.clustering.screens import Answer  # noqa: PLC0415

    most = whole_number("screens", screens)
    require_kind("found", found, Clusters, "the groups of vocabgap.cluster")
    if not callable(ask):
        raise unusable("ask", "a function that answers a screen", ask)
    under_review = Review(found, decisions, top=top, actor=actor, now=now)
    decided: list[Decision] = []
    shown: list[Screen] = []
    while len(shown) < most and (screen := under_review.next_screen(shown)):
        shown.append(screen)
        answer = ask(screen)
        if answer is not None:
            require_kind("answer", answer, Answer, "a vocabgap.Answer or None")
            decided += under_review.follow(under_review.decisions(screen, answer))
    return Reviewed(under_review.clusters, tuple(decided), tuple(shown))


class Review:
    """Groups under review, and the decisions so far.

    The groups `found` follow all decisions `decided`. `capabilities` maps surfaces to identifiers; by
    default, labels give the identifiers. The other arguments are as in `review`.
    """

    def __init__(
        self,
        found: "Clusters",
        decided: Iterable[Decision] = (),
        *,
        top: int = DEFAULT_TOP,
        actor: str | None = None,
        now: datetime | None = None,
        capabilities: Mapping[str, str] | None = None,
    ) -> None:
        self._found = found.at(found.threshold) if found.constraints else found
        self._top = whole_number("top", top)
        self._actor = login() if actor is None else actor
        self._fixed = now is not None
        self._next = datetime.min.replace(tzinfo=UTC) if now is None else now
        if capabilities is None:
            labels = found.wordings.join(found.clusters, on="cluster").select("surface", "label_surface")
            capabilities = {name: derived_id(label) for name, label in labels.iter_rows()}
        self._capabilities = capabilities
        self.decided: tuple[Decision, ...] = ()
        self.clusters = self._found
        self.follow(decided)

    def follow(self, new: Iterable[Decision]) -> tuple[Decision, ...]:
        """Apply further decisions to the groups, and return them."""
        new = tuple(new)
        if {*new} - {*self.decided}:
            self.clusters = self.after(new)
            self.decided = self._decided_with(new)
        return new

    def after(self, new: Iterable[Decision]) -> "Clusters":
        """Return the groups as further decisions would make them."""
        return followed(self._found, self._decided_with(new))[1]

    def _decided_with(self, new: Iterable[Decision]) -> tuple[Decision, ...]:
        return tuple(sorted({*self.decided, *new}, key=lambda decision: decision.place))

    def next_screen(self, shown: "Iterable[Screen]") -> "Screen | None":
        """Return the screen that may change most and was not shown; None if there is none."""
        return next(iter(self.left(shown)), None)

    def left(self, shown: "Iterable[Screen]") -> "list[Screen]":
        """Return the screens that were not shown, the most valuable first."""
        contents = {screen.content for screen in shown}
        return [screen for screen in self.clusters.screens(self._top) if screen.content not in contents]

    def saved(
        self,
        decided: Callable[[], tuple[Decision, ...]],
        file: Path,
        on_wait: Callable[[], None] = lambda: None,
    ) -> tuple[Decision, ...]:
        """Append new decisions to a file, all or none, after all decisions of the file were applied.

        Raises:
            ContradictionError: An answer contradicts another person's decision.
        """
        self.follow(read_decisions(file))
        new = decided()
        append_decisions(file, new, agreeing(new, self._groups), on_wait)
        self.follow(read_decisions(file))
        return new

    def undone(self, new: Iterable[Decision]) -> tuple[Decision, ...]:
        """Return the earlier decisions that some decisions undo, without confirmations."""
        names = {undo.undoes for undo in new}
        changes = (decision for decision in self.decided if decision.action is not Action.CONFIRM)
        return tuple(decision for decision in changes if decision.decision_id in names)

    def decisions(self, screen: "Screen", answer: "Answer") -> tuple[Decision, ...]:
        """Return the decisions of an answer; they undo this person's earlier decisions that contradict them.

        A merge unites the groups of the first wordings. A split separates the wordings of a part from all
        others. What the person did not tick is confirmed: it changes nothing, and is not asked again.
        """
        same = _positions("same", answer.same, len(screen.neighbours))
        apart = _positions("apart", answer.apart, len(screen.parts))
        about = self._subject(screen.label, screen.staying(apart))
        new = [
            self._decide(
                Action.SPLIT,
                about,
                "another need",
                wordings=screen.parts[place].wordings,
                staying=one_each(screen.staying(apart[: number + 1])),  # later parts leave on their own
            )
            for number, place in enumerate(apart)
        ]
        new += [
            self._decide(Action.MERGE, about, "the same need", other=self._subject(each.label, each.wordings))
            for each in (screen.neighbours[place] for place in same)
        ]
        others = tuple(each.wordings[0] for place, each in enumerate(screen.neighbours) if place not in same)
        kept = tuple(wording for place, wording in enumerate(screen.doubtful) if place not in apart)
        if others or kept:
            new.append(self._decide(Action.CONFIRM, about, "", wordings=others, staying=kept))
        ticked = (wording for place in same for wording in screen.neighbours[place].wordings)
        one_need = [*screen.staying(apart), *ticked]
        return self._completed(about, one_need, frozenset((*screen.wordings, *one_need)), new)

    def _completed(
        self, about: Subject, one_need: Sequence[str], named: frozenset[str], new: list[Decision]
    ) -> tuple[Decision, ...]:
        """Return the decisions that make some wordings one group, and do the rest of an answer.

        If an undo changes what nobody ticked, further merges and splits keep it. `named` are the wordings of
        the screen's group and of the ticked ones.
        """
        undos: list[Decision] = []
        together = self._agreed(new, undos)
        for _ in range(100):  # an answer may contradict many earlier ones
            after = self.after(together)
            groups = after.group_of
            home, *others = (groups[form(wording, groups)] for wording in one_need)
            strays = [wording for wording, group in zip(one_need[1:], others, strict=True) if group != home]
            if not strays:
                repair = self._repair(named, after) if undos else None
                if repair is None:
                    break
                new.append(repair)
                together = self._agreed(new, undos)
                continue
            split = self._own_split(strays, together, new)
            if split is not None:
                undos.append(self._undo(split, "answered otherwise"))
            else:
                stray = groups[form(strays[0], groups)]
                apart = [wording for wording in strays if groups[form(wording, groups)] == stray]
                other = self._subject(apart[0], apart)
                new.append(self._decide(Action.MERGE, about, "the same need", other=other))
            together = self._agreed(new, undos)
        return together

    def _repair(self, named: frozenset[str], after: "Clusters") -> Decision | None:
        """Return a decision that restores a group without named wordings, if there is one to restore."""
        now = dict(after.wordings.select("wording", "cluster").iter_rows())
        members = _members(after)
        for own in _members(self.clusters).values():
            if not named.isdisjoint(own):
                continue
            for group in dict.fromkeys(now[wording] for wording in own):
                piece = [wording for wording in members[group] if wording in own]
                extra = [wording for wording in members[group] if wording not in own]
                if extra:
                    about = self._subject(extra[0], extra)
                    sides = {"wordings": tuple(piece), "staying": one_each(extra)}
                    return self._decide(Action.SPLIT, about, "another need", **sides)
                if group != now[own[0]]:
                    about, other = (self._subject(part[0], part) for part in (own, piece))
                    return self._decide(Action.MERGE, about, "the same need", other=other)
        return None

    def _own_split(
        self, wordings: Iterable[str], together: Iterable[Decision], new: Sequence[Decision]
    ) -> Decision | None:
        """Return an active earlier split of this person that names one of some wordings."""
        forms = {*map(surface, wordings)}
        for split in in_force((*self.decided, *together)):
            is_own = split.action is Action.SPLIT and split.actor == self._actor and split not in new
            if is_own and not forms.isdisjoint(map(surface, split.wordings)):
                return split
        return None

    def _agreed(self, new: Sequence[Decision], undos: list[Decision]) -> tuple[Decision, ...]:
        """Return new decisions after undos of this person's decisions that contradict them."""
        while True:
            together = (*undos, *new)
            try:
                agreeing(new, self._groups)((*self.decided, *together))
            except ContradictionError as error:
                earlier, _ = error.decisions
                if earlier in new or earlier.actor != self._actor:
                    raise
                undos.append(self._undo(earlier, "answered otherwise"))
            else:
                return together

    def undo(self, made: Iterable[Decision]) -> tuple[Decision, ...]:
        """Return undos of the decisions of an answer, so that all is as before it."""
        active = in_force(self.decided)
        undone = (decision for decision in made if decision in active or decision.action is Action.UNDO)
        return tuple(self._undo(decision, "went back") for decision in undone)

    @property
    def _groups(self) -> dict[str, str]:
        return {name: str(group) for name, group in self.clusters.group_of.items()}

    def _subject(self, label: str, wordings: Iterable[str]) -> Subject:
        wordings = tuple(wordings)
        return subject(self._capabilities[form(wordings[0], self._capabilities)], label, wordings)

    def _undo(self, decision: Decision, reason: str) -> Decision:
        return self._decide(Action.UNDO, None, reason, undoes=decision.decision_id)

    def _decide(self, action: Action, about: Subject | None, reason: str, **details: Any) -> Decision:  # noqa: ANN401
        return decide(action, about, actor=self._actor, time=self._moment(), reason=reason, **details)

    def _moment(self) -> datetime:
        """Return the present; decisions are ordered by time, so each is later than the one before."""
        moment = self._next if self._fixed else max(self._next, datetime.now(UTC))
        self._next = moment
        with suppress(OverflowError):  # the largest datetime
            self._next += timedelta(microseconds=1)
        return moment


def _members(groups: "Clusters") -> dict[int, list[str]]:
    """Return the wordings of each group, in the order of the table."""
    members: dict[int, list[str]] = defaultdict(list)
    for wording, cluster in groups.wordings.select("wording", "cluster").iter_rows():
        members[cluster].append(wording)
    return members


def _positions(name: str, given: Iterable[int], count_: int) -> list[int]:
    """Return different positions in order; refuse others than 0 to `count_` - 1."""
    require_kind(name, given, Iterable, "a list of positions")
    positions = sorted({whole_number(name, position) for position in given})
    if positions and positions[-1] >= count_:
        known = f"its positions are 0 to {count_ - 1}" if count_ else "it offers nothing to tick"
        raise InvalidInputError(f"{name}: the screen has no position {positions[-1]}", hint=known)
    return positions
