"""Deciding about the capabilities of a published run: what the command line and notebooks call."""

import difflib
import getpass
import os
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Final

import polars as pl

from vocabgap.arguments import require_kind, texts
from vocabgap.config import ACTOR_VARIABLE, expanded
from vocabgap.decisions import (
    ID_PREFIX,
    Action,
    Decision,
    Subject,
    append_decision,
    decide,
    in_force,
    read_decisions,
    replay,
    require_change,
    require_own_label,
    standing_of,
    subject,
)
from vocabgap.errors import InvalidInputError, NotFoundError, StateError, VocabgapError
from vocabgap.moments import require_offset
from vocabgap.ranking import REGRESSED, SETTLED
from vocabgap.reporting import named, read_run
from vocabgap.settings import DEFAULT_DECISIONS, DEFAULT_OUT
from vocabgap.text import count, printable_name, shortened, surface, visible

_ALIKE: Final = 3  # wordings to propose where none fits
_SHOWN: Final = 5  # decisions to tell where several fit


class Decisions:
    """What people decided about the capabilities of a run, and what they decide now.

    A capability is named by its identifier or the beginning of it, by its label, or by any of its wordings.
    Nothing is changed but the file, to which a line is added; the next run follows it.

    Args:
        run: The folder of the published run that is looked at.
        file: The file that keeps the decisions; it is made where it does not exist.
        actor: Who decides; by default who the environment variable VOCABGAP_ACTOR names, or is logged in.
        now: The moment of the decisions; the clock's by default.
    """

    def __init__(
        self,
        run: str | Path = DEFAULT_OUT,
        file: str | Path = DEFAULT_DECISIONS,
        *,
        actor: str | None = None,
        now: datetime | None = None,
    ) -> None:
        self._run = run
        self.file = expanded(file)
        self._actor = actor
        self._now = None if now is None else require_offset(now, name="now")

    def __repr__(self) -> str:
        """How many decisions the file holds, in one line."""
        try:
            told = f"{count(len(self.all()), 'decision')}, {len(self.in_force()):,} in force"
        except VocabgapError:
            told = "cannot be read"
        return (
            f"Decisions('{printable_name(str(self.file))}': {told}; run '{printable_name(str(self._run))}')"
        )

    def all(self) -> tuple[Decision, ...]:
        """Every decision of the file, in the order in which they were made.

        Raises:
            VocabgapError: The file cannot be read, or a line of it is no decision.
        """
        return read_decisions(self.file)

    def in_force(self) -> tuple[Decision, ...]:
        """Those that no other one undoes.

        Raises:
            VocabgapError: As `all`, or a decision undoes one that is not there.
        """
        return in_force(self.all())

    def merge(self, capability: str, other: str, why: str = "") -> Decision:
        """Say that two capabilities are one. It keeps the identifier of the first.

        Raises:
            VocabgapError: There is no such capability, or an earlier decision parts the wordings that stand
                for the two.
        """
        into, merged = self._subject(capability), self._subject(other)
        if into.capability_id == merged.capability_id:
            raise InvalidInputError(f"'{shortened(capability)}' and '{shortened(other)}' are one capability")
        return self._append(Action.MERGE, into, reason=why, other=merged)

    def split(self, capability: str, wordings: str | Iterable[str], why: str = "") -> Decision:
        """Say that some wordings are another need than the rest of a capability.

        Raises:
            VocabgapError: There is no such capability or wording, nothing would stay, or an earlier decision
                holds them together.
        """
        leaving = tuple(self._wording(capability, each) for each in texts("wordings", wordings))
        # What is split off cannot stand for what stays.
        about = self._subject(capability, frozenset(map(surface, leaving)))
        return self._append(Action.SPLIT, about, reason=why, wordings=leaving)

    def rename(self, capability: str, label: str, why: str = "") -> Decision:
        """Give a capability a label of its own.

        Raises:
            VocabgapError: There is no such capability, the label is blank, or another capability has it.
        """
        require_kind("label", label, str, "text")
        if not label.strip():
            raise InvalidInputError("the new label is blank", hint="say what the capability is to be called")
        return self._append(Action.RENAME, self._subject(capability), reason=why, label=label.strip())

    def pin(self, capability: str, why: str = "") -> Decision:
        """Have a capability stand first, whatever its counts.

        Raises:
            VocabgapError: There is no such capability, or it is pinned already.
        """
        return self._append(Action.PIN, self._subject(capability), reason=why)

    def dismiss(self, capability: str, why: str) -> Decision:
        """Say that a capability is not going to be authored.

        Raises:
            VocabgapError: There is no such capability, or no reason.
        """
        require_kind("why", why, str, "text")
        if not why.strip():
            raise InvalidInputError("a dismissal needs a reason", hint="say it with --why")
        return self._append(Action.DISMISS, self._subject(capability), reason=why)

    def author(self, capability: str, entry: str, why: str = "") -> Decision:
        """Say which vocabulary entry was authored for a capability; it regresses if it is mentioned again.

        Raises:
            VocabgapError: There is no such capability, or no entry is named.
        """
        require_kind("entry", entry, str, "text")
        if not entry.strip():
            raise InvalidInputError("the entry is blank", hint="name the vocabulary entry with --entry")
        return self._append(Action.AUTHOR, self._subject(capability), reason=why, entry=entry.strip())

    def reopen(self, capability: str, why: str = "") -> Decision:
        """Say that a capability is open after all.

        Raises:
            VocabgapError: There is no such capability, or it is open.
        """
        return self._append(Action.REOPEN, self._subject(capability), reason=why)

    def undo(self, decision: str, why: str = "") -> Decision:
        """Take a decision back: everything is as if it had never been made.

        Args:
            decision: Its identifier, or the beginning of it.
            why: The reason.

        Raises:
            VocabgapError: There is no such decision, or it was undone before.
        """
        known = self.all()
        fitting = [each for each in known if _begins(each.decision_id, decision)]
        if not fitting:
            raise NotFoundError(
                f"no decision begins with '{shortened(decision)}'",
                hint="see `vocabgap decisions list`",
            )
        if len(fitting) > 1:
            shown = ", ".join(f"{each.decision_id} ({each.what})" for each in fitting[:_SHOWN])
            more = f" and {len(fitting) - _SHOWN:,} more" if len(fitting) > _SHOWN else ""
            raise InvalidInputError(
                f"{len(fitting):,} decisions begin with '{shortened(decision)}'",
                hint=f"give more of the identifier: {shown}{more}",
            )
        (wanted,) = fitting
        standing = {each.decision_id for each in standing_of(known)}
        if wanted.decision_id not in standing:
            undone = next(
                each for each in known if each.undoes == wanted.decision_id and each.decision_id in standing
            )
            raise InvalidInputError(
                f"{wanted.decision_id} was undone before, by {undone.decision_id}",
                hint=f"`vocabgap decide undo {undone.decision_id}` brings it back",
            )
        return self._append(Action.UNDO, None, reason=why, undoes=wanted.decision_id)

    def _append(self, action: Action, about: Subject | None, **said: object) -> Decision:
        made = decide(
            action,
            about,
            actor=_login() if self._actor is None else self._actor,
            time=datetime.now(UTC) if self._now is None else self._now,
            **said,  # type: ignore[arg-type]
        )
        self._require_news(made)
        append_decision(self.file, made, self._agreeing(action))
        return made

    def _require_news(self, made: Decision) -> None:
        """Refuse what is so already, and a name that two capabilities would have."""
        if made.capability is None:
            return
        active = self.in_force()
        about = self._ranked.filter(capability_id=made.capability.capability_id)
        ((label, status),) = about.select("label", "status").iter_rows()
        require_change(
            made,
            active,
            label=label,
            is_settled=status in {*SETTLED, REGRESSED},
            is_regressed=status == REGRESSED,
        )
        require_own_label(made, active, dict(self._ranked.select("capability_id", "label").iter_rows()))

    def _agreeing(self, action: Action) -> Callable[[tuple[Decision, ...]], None]:
        """What refuses decisions that cannot all be respected, as far as the run's wordings show it."""
        of_run = None
        if action is not Action.UNDO:  # which needs no run
            wordings = self._ranked["variants"].explode().struct.field("wording")
            of_run = frozenset(map(surface, wordings.drop_nulls()))

        def check(together: tuple[Decision, ...]) -> None:
            surfaces = _surfaces_of(together) if of_run is None else of_run
            try:
                replay(together, surfaces)
            except StateError as error:
                raise StateError(
                    error.message, hint="nothing was decided; undo the earlier one first"
                ) from error

        return check

    @cached_property
    def _ranked(self) -> pl.DataFrame:
        return read_run(self._run, option="--run")[1]

    def _subject(self, name: str, without: Collection[str] = ()) -> Subject:
        """A capability by its name, without the wordings of some surfaces."""
        require_kind("capability", name, str, "the name of a capability")
        row = named(self._ranked, name)
        wordings = [variant["wording"] for variant in row["variants"]]
        staying = [wording for wording in wordings if surface(wording) not in without]
        if not staying:
            raise InvalidInputError(
                f"nothing of '{shortened(visible(row['label']))}' would stay",
                hint="name only the wordings that are to leave",
            )
        return subject(row["capability_id"], row["label"], staying)

    def _wording(self, capability: str, wording: str) -> str:
        """The wording of a capability that somebody means."""
        row = named(self._ranked, capability)
        own = [variant["wording"] for variant in row["variants"]]
        spoken = surface(wording) if wording.strip() else wording
        for found in (wording, *own):
            if found in own and (found == wording or visible(found) == wording or surface(found) == spoken):
                return str(found)
        near = difflib.get_close_matches(wording, own, _ALIKE, 0.5)
        proposed = " or ".join(f"'{shortened(visible(each))}'" for each in near)
        raise NotFoundError(
            f"'{shortened(visible(row['label']))}' has no wording '{shortened(visible(wording))}'",
            hint=f"did you mean {proposed}?" if near else "its column `variants` has all of them",
        )


def _login() -> str:
    """Who is at work, as far as the environment or the system knows."""
    try:
        return os.environ.get(ACTOR_VARIABLE) or getpass.getuser()
    except (KeyError, OSError):
        return ""


def _surfaces_of(decisions: Iterable[Decision]) -> frozenset[str]:
    """The surfaces of all wordings that some decisions name."""
    holders = (part for each in decisions for part in (each.capability, each.other, each) if part is not None)
    return frozenset(surface(wording) for part in holders for wording in part.wordings)


def _begins(decision_id: str, beginning: str) -> bool:
    wanted = beginning.strip()
    return bool(wanted) and decision_id.startswith((wanted, f"{ID_PREFIX}{wanted}"))
