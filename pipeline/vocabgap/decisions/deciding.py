"""Deciding about the capabilities of a published run: what the command line and notebooks call."""

from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import polars as pl

from vocabgap.decisions.log import append_decision, read_decisions
from vocabgap.decisions.record import ID_PREFIX, KEPT_WORDINGS, Action, Decision, Subject, decide, subject
from vocabgap.decisions.replay import agreeing, in_force, require_change, require_own_label, undoings
from vocabgap.errors import InvalidInputError, VocabgapError, expanded, require_kind, texts
from vocabgap.model.loading import login
from vocabgap.model.lookup import Named, find_capability, find_wording, lookup
from vocabgap.model.moments import require_offset
from vocabgap.model.settings import DEFAULT_DECISIONS, DEFAULT_OUT
from vocabgap.model.tables import REGRESSED, SETTLED
from vocabgap.reporting.published_run import read_groups, read_run
from vocabgap.text import can_be_seen, count, excerpt, printable_name, shortened, surface


class Decisions:
    """What people decided about the capabilities of a run, and what they decide now.

    A capability is named by its identifier or the beginning of it, by its label, or by any of its wordings.
    Nothing is changed but the file, to which a line is added; the next run follows it.

    Args:
        run: The folder of the published run that is looked at.
        file: The file that keeps the decisions; it is made where it does not exist.
        actor: Who decides; by default who the environment variable VOCABGAP_ACTOR names, or is logged in.
        now: The moment of the decisions; the clock's by default.
        on_wait: Called where a decision has to wait for somebody else's to be written.

    Raises:
        VocabgapError: By every method: the run or the file cannot be read, there is no such capability,
            wording or decision, or the decision would change nothing.
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
        """How many decisions the file holds, in one line."""
        try:
            summary = f"{count(len(self.all()), 'decision')}, {len(self.in_force()):,} in force"
        except VocabgapError:
            summary = "cannot be read"
        file, run = printable_name(str(self.file)), printable_name(str(self._run))
        return f"Decisions('{file}': {summary}; run '{run}')"

    def all(self) -> tuple[Decision, ...]:
        """Every decision of the file, in the order in which they were made."""
        return read_decisions(self.file)

    def in_force(self) -> tuple[Decision, ...]:
        """Those that no other one undoes."""
        return in_force(self.all())

    def outgrown(self) -> frozenset[str]:
        """Identifiers of the decisions that hold no longer in the run, its groups having outgrown them."""
        return frozenset(self._ranked["outgrown"].explode().drop_nulls())

    def merge(self, capability: str, other: str, why: str = "") -> Decision:
        """Say that two capabilities are one. It keeps the identifier of the first.

        Refused where an earlier decision keeps wordings of the one apart from wordings of the other.
        """
        into, merged = self._subject(capability), self._subject(other)
        if into.capability_id == merged.capability_id:
            raise InvalidInputError(
                f"'{shortened(capability)}' and '{shortened(other)}' are one capability",
                hint="there is nothing to merge",
            )
        return self._append(Action.MERGE, into, reason=why, other=merged)

    def split(self, capability: str, wordings: str | Iterable[str], why: str = "") -> Decision:
        """Say that some wordings are another need than the rest of a capability.

        Refused where an earlier decision holds a wording that leaves together with one that stays.
        """
        row = find_capability(self._ranked, capability).row(0, named=True)
        leaving = tuple(find_wording(row, each) for each in texts("wordings", wordings))
        about = self._staying(capability, frozenset(map(surface, leaving)))
        return self._append(Action.SPLIT, about, reason=why, wordings=leaving)

    def rename(self, capability: str, label: str, why: str = "") -> Decision:
        """Give a capability a label of its own."""
        require_kind("label", label, str, "text")
        if not label.strip():
            raise InvalidInputError("the new label is blank", hint="say what the capability is to be called")
        return self._append(Action.RENAME, self._subject(capability), reason=why, label=label.strip())

    def pin(self, capability: str, why: str = "") -> Decision:
        """Have a capability stand first, whatever its counts and whatever covers it."""
        return self._append(Action.PIN, self._subject(capability), reason=why)

    def dismiss(self, capability: str, why: str) -> Decision:
        """Say that a capability is not going to be authored.

        That holds while the wordings that it has now carry at least half of its mentions.
        """
        require_kind("why", why, str, "text")
        if not can_be_seen(why):
            raise InvalidInputError("a dismissal needs a reason", hint="say it with --why")
        return self._append(Action.DISMISS, self._subject(capability, most=None), reason=why)

    def author(self, capability: str, entry: str, why: str = "") -> Decision:
        """Say which vocabulary entry was authored for a capability; it regresses if it is mentioned again."""
        require_kind("entry", entry, str, "text")
        if not entry.strip():
            raise InvalidInputError("the entry is blank", hint="name the vocabulary entry with --entry")
        about = self._subject(capability, most=None)
        return self._append(Action.AUTHOR, about, reason=why, entry=entry.strip())

    def reopen(self, capability: str, why: str = "") -> Decision:
        """Say that a capability is open after all."""
        return self._append(Action.REOPEN, self._subject(capability, most=None), reason=why)

    def undo(self, decision: str, why: str = "") -> Decision:
        """Take a decision back: everything is as if it had never been made.

        What was decided meanwhile about a capability that a merge had united stays with the one of the two
        that had the wording it was named by, or the identifier.
        A decision is named by its identifier, or the beginning of it.
        """
        known = self.all()
        place = lookup(
            [Named(each.decision_id, each.what) for each in known],
            decision,
            singular="decision",
            plural="decisions",
            hint="see `vocabgap decisions list`",
            prefix=ID_PREFIX,
            fewest=1,
        )
        wanted = known[place]
        undone = undoings(known).get(wanted.decision_id)
        if undone is not None:
            raise InvalidInputError(
                f"{wanted.decision_id} was undone before, by {undone.decision_id}",
                hint=f"`vocabgap decide undo {undone.decision_id}` brings it back",
            )
        return self._append(Action.UNDO, None, reason=why, undoes=wanted.decision_id)

    def _append(self, action: Action, about: Subject | None, **said: object) -> Decision:
        decision = decide(
            action,
            about,
            actor=login() if self._actor is None else self._actor,
            time=datetime.now(UTC) if self._now is None else self._now,
            **said,  # type: ignore[arg-type]
        )
        self._require_news(decision)
        append_decision(self.file, decision, self._agreeing(decision), self._on_wait)
        return decision

    def _require_news(self, decision: Decision) -> None:
        """Refuse what is so already, and a name that two capabilities would have."""
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

    def _agreeing(self, decision: Decision) -> Callable[[tuple[Decision, ...]], None]:
        """What refuses decisions that cannot all be respected, as far as the run's wordings show it."""
        if decision.action is Action.UNDO:  # which needs no run
            return agreeing(decision, None)
        return agreeing(decision, dict(self._groups.select("surface", "capability_id").iter_rows()))

    @cached_property
    def _ranked(self) -> pl.DataFrame:
        return read_run(self._run, option="--run")[1]

    @cached_property
    def _groups(self) -> pl.DataFrame:
        return read_groups(self._run)

    def _subject(self, name: str, most: int | None = KEPT_WORDINGS) -> Subject:
        """A capability by its name.

        Where people have united several groups, those wordings come first that the clustering has in one
        group with the name, or in the group whose identifier is kept: it is as if the rest had never been
        united with them, should somebody undo that.
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
        """A capability without some surfaces, which cannot stand for what stays.

        A wording that it is named by stands for it first: that one is to stay in any case.
        """
        whole = self._subject(name, most=None)
        staying = [wording for wording in whole.wordings if surface(wording) not in leaving]
        if not staying:
            raise InvalidInputError(
                f"nothing of '{excerpt(whole.label)}' would stay",
                hint="name only the wordings that are to leave",
            )
        staying.sort(key=lambda wording: surface(wording) != surface(name))
        return subject(whole.capability_id, whole.label, staying)
