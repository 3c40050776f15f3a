"""Decide about the capabilities of a published run, from the command line or a notebook."""

from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import polars as pl

from vocabgap.decisions.record import (
    FILE,
    ID_PREFIX,
    KEPT_WORDINGS,
    Action,
    Decision,
    Subject,
    append_decision,
    decide,
    read_decisions,
    subject,
)
from vocabgap.decisions.replay import agreeing, in_force, require_change, require_own_label, undoings
from vocabgap.errors import Hint, InvalidInputError, expanded, require_kind, texts
from vocabgap.model.loading import login
from vocabgap.model.lookup import Named, find_capability, find_wording, lookup
from vocabgap.model.moments import require_offset
from vocabgap.model.settings import DEFAULT_DECISIONS, DEFAULT_OUT
from vocabgap.model.tables import REGRESSED, SETTLED
from vocabgap.reporting.published_run import read_groups, read_run
from vocabgap.text import can_be_seen, excerpt, printable_name, shortened, surface


class Decisions:
    """The decisions about the capabilities of a run; its methods read them and add new ones.

    Name a capability by its identifier (or the first characters of it), its label, or a wording. A decision
    is added as a line to the file; the next run follows it.

    Args:
        run: The folder of the published run.
        file: The file of decisions; created if it does not exist.
        actor: The person who decides; by default VOCABGAP_ACTOR, else the user name.
        now: The time of the decisions; by default the current time.
        on_wait: Called if another program is writing the file.

    Raises:
        VocabgapError: Every method raises it if the run or the file cannot be read, if there is no such
            capability, wording or decision, or if the decision would change nothing.
    """

    def __init__(
        self,
        run: str | Path = DEFAULT_OUT,
        file: str | Path = DEFAULT_DECISIONS,
        *,
        actor: str | None = None,
        now: datetime | None = None,
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        self._run = run
        self.file = expanded(file)
        self._actor = actor
        self._on_wait = on_wait
        self._now = None if now is None else require_offset(now, name="now")

    def __repr__(self) -> str:
        """Return the file and the run in one line."""
        file, run = printable_name(str(self.file)), printable_name(str(self._run))
        return f"Decisions('{file}'; run '{run}')"

    def all(self) -> tuple[Decision, ...]:
        """Return all decisions, oldest first."""
        return read_decisions(self.file)

    def in_force(self) -> tuple[Decision, ...]:
        """Return the active decisions: the decisions that no other decision undoes."""
        return in_force(self.all())

    def outgrown(self) -> frozenset[str]:
        """Return the identifiers of the decisions that groups of the run have outgrown."""
        return frozenset(self._ranked["outgrown"].explode().drop_nulls())

    def merge(self, capability: str, other: str, why: str = "") -> Decision:
        """Merge two capabilities into one, with the identifier of the first.

        An earlier decision must not separate wordings of the two.
        """
        into, merged = self._subject(capability), self._subject(other)
        if into.capability_id == merged.capability_id:
            raise InvalidInputError(
                f"'{shortened(capability)}' and '{shortened(other)}' are the same capability",
                hint="name two different capabilities",
            )
        return self._append(Action.MERGE, into, reason=why, other=merged)

    def split(self, capability: str, wordings: str | Iterable[str], why: str = "") -> Decision:
        """Split wordings off a capability.

        An earlier decision must not unite a wording that leaves with a wording that stays.
        """
        row = find_capability(self._ranked, capability).row(0, named=True)
        leaving = tuple(find_wording(row, wording) for wording in texts("wordings", wordings))
        about = self._staying(capability, frozenset(map(surface, leaving)))
        return self._append(Action.SPLIT, about, reason=why, wordings=leaving)

    def rename(self, capability: str, label: str, why: str = "") -> Decision:
        """Give a capability another label."""
        require_kind("label", label, str, "text")
        if not label.strip():
            raise InvalidInputError("the new label is blank", hint="give the capability a label")
        return self._append(Action.RENAME, self._subject(capability), reason=why, label=label.strip())

    def pin(self, capability: str, why: str = "") -> Decision:
        """Rank a capability first, whatever its counts are and whichever entries cover it."""
        return self._append(Action.PIN, self._subject(capability), reason=why)

    def dismiss(self, capability: str, why: str) -> Decision:
        """Dismiss a capability: nobody will author it.

        The decision applies while its present wordings have at least half of its mentions.
        """
        require_kind("why", why, str, "text")
        if not can_be_seen(why):
            raise InvalidInputError("a dismissal needs a reason", hint="add --why")
        return self._append(Action.DISMISS, self._subject(capability, most=None), reason=why)

    def author(self, capability: str, entry: str, why: str = "") -> Decision:
        """Record the entry that was authored for a capability; a later mention is a regression."""
        require_kind("entry", entry, str, "text")
        if not entry.strip():
            raise InvalidInputError("the entry is blank", hint="give the vocabulary entry with --entry")
        about = self._subject(capability, most=None)
        return self._append(Action.AUTHOR, about, reason=why, entry=entry.strip())

    def reopen(self, capability: str, why: str = "") -> Decision:
        """Reopen a capability that was dismissed or authored."""
        return self._append(Action.REOPEN, self._subject(capability, most=None), reason=why)

    def undo(self, decision: str, why: str = "") -> Decision:
        """Undo a decision, as if it had never been made; name it by the first characters of its identifier.

        If you undo a merge, each later decision stays with one of the two capabilities: the one whose wording
        or identifier named it.
        """
        decisions = self.all()
        place = lookup(
            [Named(made.decision_id, made.what) for made in decisions],
            decision,
            singular="decision",
            plural="decisions",
            hint="see `vocabgap decisions list`",
            prefix=ID_PREFIX,
            fewest=1,
        )
        wanted = decisions[place]
        undo = undoings(decisions).get(wanted.decision_id)
        if undo is not None:
            raise InvalidInputError(
                f"{wanted.decision_id} was already undone by {undo.decision_id}",
                hint=Hint("{} restores it", (("decide", "undo", undo.decision_id),), FILE),
            )
        return self._append(Action.UNDO, None, reason=why, undoes=wanted.decision_id)

    def _append(
        self,
        action: Action,
        about: Subject | None,
        *,
        reason: str,
        **details: str | Subject | tuple[str, ...],
    ) -> Decision:
        decision = decide(
            action,
            about,
            actor=login() if self._actor is None else self._actor,
            time=datetime.now(UTC) if self._now is None else self._now,
            reason=reason,
            **details,
        )
        self._require_news(decision)
        groups = None  # an undo needs no run
        if decision.action is not Action.UNDO:
            groups = dict(self._groups.select("surface", "capability_id").iter_rows())
        append_decision(self.file, decision, agreeing(decision, groups), self._on_wait)
        return decision

    def _require_news(self, decision: Decision) -> None:
        """Refuse a decision that changes nothing, or a label that another capability has."""
        if decision.capability is None:
            return
        active = self.in_force()
        about = self._ranked.filter(capability_id=decision.capability.capability_id)
        ((label, status),) = about.select("label", "status").iter_rows()
        require_change(
            decision,
            active,
            label=label,
            is_settled=status in {*SETTLED, REGRESSED},
            is_regressed=status == REGRESSED,
        )
        require_own_label(decision, active, dict(self._ranked.select("capability_id", "label").iter_rows()))

    @cached_property
    def _ranked(self) -> pl.DataFrame:
        return read_run(self._run, option="--run")[1]

    @cached_property
    def _groups(self) -> pl.DataFrame:
        return read_groups(self._run)

    def _subject(self, name: str, most: int | None = KEPT_WORDINGS) -> Subject:
        """Find a capability by its name.

        If people merged several groups, the wordings of one group come first: the group with the name, else
        the group whose identifier is kept. If the merge is undone, the decision stays with that group.
        """
        require_kind("capability", name, str, "the name of a capability")
        row = find_capability(self._ranked, name).row(0, named=True)
        forms = {variant["wording"]: surface(variant["wording"]) for variant in row["variants"]}
        own = self._groups.filter(capability_id=row["capability_id"])
        group_of = dict(own.select("surface", "group_id").iter_rows())
        label_of = dict(own.select("group_id", "group_surface").iter_rows())
        there = {*map(group_of.get, forms.values())}
        likely = (group_of.get(surface(name)), row["capability_id"])
        meant = next((group for group in likely if group in there), None)

        def distance(wording: str) -> tuple[bool, bool, bool]:
            form = forms[wording]
            return group_of.get(form) != meant, form != label_of.get(meant), wording != row["label"]

        ordered = sorted(forms, key=distance)
        is_elsewhere = meant is not None and group_of.get(surface(row["label"]), meant) != meant
        return subject(row["capability_id"], ordered[0] if is_elsewhere else row["label"], ordered, most)

    def _staying(self, name: str, leaving: Collection[str]) -> Subject:
        """Find a capability without the surfaces that leave; the named wording comes first."""
        whole = self._subject(name, most=None)
        staying = [wording for wording in whole.wordings if surface(wording) not in leaving]
        if not staying:
            raise InvalidInputError(
                f"no wording of '{excerpt(whole.label)}' would stay",
                hint="name only the wordings to split off",
            )
        staying.sort(key=lambda wording: surface(wording) != surface(name))
        return subject(whole.capability_id, whole.label, staying)
