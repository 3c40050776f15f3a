"""Decide about the capabilities of a published run, from the command line or a notebook."""

from bisect import insort
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from vocabgap.decisions.effects import Effect, Naming, PublishedGroups
from vocabgap.decisions.record import (
    APPLY_HINT,
    FILE,
    ID_PREFIX,
    KEPT_WORDINGS,
    SETTLING,
    Action,
    Decision,
    Identified,
    Subject,
    append_decisions,
    decide,
    read_decisions,
    read_proposals,
)
from vocabgap.decisions.replay import (
    agreeing,
    in_force,
    replaced,
    require_change,
    require_own_label,
    undoings,
)
from vocabgap.errors import (
    Hint,
    InvalidInputError,
    NotFoundError,
    VocabgapError,
    expanded,
    require_kind,
    texts,
)
from vocabgap.listing.finding import named
from vocabgap.model.loading import login
from vocabgap.model.lookup import Named, find_wording, lookup
from vocabgap.model.moments import iso, require_offset
from vocabgap.model.settings import DEFAULT_DECISIONS, DEFAULT_OUT
from vocabgap.reporting.published_run import PublishedRun, read_gaps, read_published
from vocabgap.text import can_be_seen, excerpt, is_excerpt, printable_name, shortened

_ANOTHER_RUN: Final = "nothing was decided; decide on the page of this run, or name its run with --run"


class Decisions:
    """The decisions about the capabilities of a run; its methods read them and add new ones.

    Name a capability by its rank, its identifier (or the first characters of it), its label, or a wording. A
    decision is added as a line to the file; the next run follows it.

    Args:
        run: The folder of the published run.
        file: The file of decisions; created if it does not exist.
        actor: The person who decides; by default VOCABGAP_ACTOR, else the user name.
        now: The time of the decisions; by default the current time.
        dry_run: Check each decision, but write nothing.
        on_wait: Called if another program is writing the file.

    Raises:
        VocabgapError: Every method raises it if it cannot read or find what it needs, or if the decision
            would change nothing.
    """

    def __init__(
        self,
        run: str | Path = DEFAULT_OUT,
        file: str | Path = DEFAULT_DECISIONS,
        *,
        actor: str | None = None,
        now: datetime | None = None,
        dry_run: bool = False,
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        self._run = run
        self.file = expanded(file)
        self._actor = actor
        self._dry_run = dry_run
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
        decided = self._published.manifest.decisions
        return frozenset(() if decided is None else decided.outgrown)

    def unfollowed(self) -> frozenset[str]:
        """Return the identifiers of the decisions that the run does not follow."""
        decided = self._published.manifest.decisions
        return frozenset(() if decided is None else decided.unfollowed)

    def merge(self, capability: str, other: str, why: str = "") -> Decision:
        """Merge two capabilities into one, with the identifier of the first.

        An earlier decision must not separate wordings of the two.
        """
        return self._decide(Action.MERGE, capability, why, other=other)

    def split(self, capability: str, wordings: str | Iterable[str], why: str = "") -> Decision:
        """Split wordings off a capability.

        An earlier decision must not unite a wording that leaves with a wording that stays.
        """
        return self._decide(Action.SPLIT, capability, why, wordings=texts("wordings", wordings))

    def rename(self, capability: str, label: str, why: str = "") -> Decision:
        """Give a capability another label."""
        return self._decide(Action.RENAME, capability, why, label=label)

    def pin(self, capability: str, why: str = "") -> Decision:
        """Rank a capability first, whatever its counts are and whichever entries cover it."""
        return self._decide(Action.PIN, capability, why)

    def dismiss(self, capability: str, why: str) -> Decision:
        """Dismiss a capability: nobody will author it.

        The decision applies while its present wordings have at least half of its mentions.
        """
        return self._decide(Action.DISMISS, capability, why)

    def author(self, capability: str, entry: str, why: str = "") -> Decision:
        """Record the entry that was authored for a capability; later reports tell what that changed."""
        return self._decide(Action.AUTHOR, capability, why, entry=entry)

    def reopen(self, capability: str, why: str = "") -> Decision:
        """Reopen a capability that was dismissed, authored or claimed."""
        return self._decide(Action.REOPEN, capability, why)

    def claim(self, capability: str, why: str = "") -> Decision:
        """Claim a capability: the actor is authoring it. Nobody else may claim it until it is reopened."""
        return self._decide(Action.CLAIM, capability, why)

    def apply(
        self, source: str | Path | Iterable[str | bytes], on_other_run: Callable[[str], None] = lambda _: None
    ) -> tuple[Decision, ...]:
        """Record decisions that the page of a report saved, in a file or as lines: all of them or none.

        Each line is a `Proposal`. Identifier and label of a capability must fit the run. `on_other_run` is
        called with the moment of each other run that lines come from.
        """
        decided: list[Decision] = []
        active = [*in_force(self.all())]
        runs: dict[str, None] = {}
        for place, line in read_proposals(source):
            runs[line.run] = None
            try:
                about = self._identified("capability", line.capability)
                other = None if line.other is None else self._identified("other", line.other)
                given = ("wordings", "label", "entry")
                details: dict[str, Any] = {name: getattr(line, name) for name in given}
                details |= {"other": other, "is_exact": True, "after": len(decided)}
                decision = self._made(line.action, about, line.reason, active, **details)
                decided.append(decision)
                insort(active, decision, key=lambda decision: decision.place)
            except VocabgapError as error:
                error.message, error.hint = f"{place}: {error.message}", error.hint or APPLY_HINT
                raise
        self._record(decided)
        for run in runs:
            if run != iso(self._published.manifest.now):
                on_other_run(run)
        return tuple(decided)

    def effects(self, decisions: Iterable[Decision]) -> tuple[Effect, ...]:
        """Return the capabilities of the run that some new decisions change, before and after them."""
        new = tuple(decisions)
        run, manifest = self._published, self._published.manifest
        published = PublishedGroups(
            read_gaps(run.folder),
            run.groups,
            manifest.settings,
            manifest.now,
            by_meaning=manifest.model is not None,
        )
        return published.effects([decision for decision in self.all() if decision not in new], new)

    def replaced(self, decisions: Iterable[Decision]) -> tuple[Decision, ...]:
        """Return the earlier decisions that some new decisions undo or replace."""
        new = tuple(decisions)
        earlier = [decision for decision in self.all() if decision not in new]
        undos = {decision.undoes for decision in new}
        undone = [decision for decision in earlier if decision.decision_id in undos]
        active = in_force(earlier)
        rivals = filter(None, (replaced(decision, active) for decision in new))
        return tuple(dict.fromkeys((*undone, *rivals)))

    def undo(self, decision: str | None = None, why: str = "", *, last: bool = False) -> Decision:
        """Undo a decision, as if it had never been made; name it by the first characters of its identifier.

        With `last`, undo the last active decision of the file that is not a confirmation. After a merge is
        undone, each later decision stays with the capability whose wording or identifier it named.
        """
        decisions = self.all()
        if (decision is None) is not last:
            raise InvalidInputError("an undo takes the identifier of a decision, or `--last`")
        if decision is None:
            changes = [active for active in in_force(decisions) if active.action is not Action.CONFIRM]
            if not changes:
                raise NotFoundError(f"'{self.file}' has no decision to undo", hint="nothing was undone")
            wanted = changes[-1]
        else:
            place = lookup(
                [Named(known.decision_id, "" if known.undoes else known.what) for known in decisions],
                decision,
                singular="decision",
                plural="decisions",
                hint="see `vocabgap decisions list`",
                prefix=ID_PREFIX,
                fewest=0,
            )
            wanted = decisions[place]
        undo = undoings(decisions).get(wanted.decision_id)
        if undo is not None:
            raise InvalidInputError(
                f"{wanted.decision_id} was already undone by {undo.decision_id}",
                hint=Hint("{} restores it", (("decide", "undo", undo.decision_id),), FILE),
            )
        undo = self._signed(Action.UNDO, None, why, undoes=wanted.decision_id)
        self._record([undo])
        return undo

    def _decide(self, action: Action, capability: str, why: str, **details: Any) -> Decision:  # noqa: ANN401
        decision = self._made(action, capability, why, in_force(self.all()), **details)
        self._record([decision])
        return decision

    def _made(
        self,
        action: Action,
        capability: str,
        why: str,
        active: Sequence[Decision],
        *,
        after: int = 0,
        other: str | None = None,
        wordings: tuple[str, ...] = (),
        is_exact: bool = False,
        **words: Any,  # noqa: ANN401 - checked below
    ) -> Decision:
        """Return a decision about a capability; `active` are the decisions before it."""
        details: dict[str, Any] = {name: text for name, text in words.items() if text is not None}
        for name, text in (*details.items(), ("why", why)):
            require_kind(name, text, str, "text")
        for name, text in details.items():
            if not text.strip():
                raise InvalidInputError(f"the {name} is blank")
            details[name] = text.strip()
        if action is Action.DISMISS and not can_be_seen(why):
            raise InvalidInputError("a dismissal needs a reason")
        named = self._named(capability, active)
        about = named.subject(None if action in SETTLING else KEPT_WORDINGS)
        if other is not None:
            details["other"] = self._named(other, active).subject()
            if about.capability_id == details["other"].capability_id:
                pair = f"'{shortened(capability)}' and '{shortened(other)}'"
                raise InvalidInputError(f"{pair} are the same capability")
        if wordings:
            leaving = tuple(find_wording(named.row, wording) for wording in wordings)
            about, staying = named.staying(leaving, is_exact=is_exact)
            details |= {"wordings": leaving, "staying": staying}
        decision = self._signed(action, about, why, after=after, **details)
        self._require_news(decision, active)
        return decision

    def _signed(
        self, action: Action, about: Subject | None, why: str, after: int = 0, **details: object
    ) -> Decision:
        """Return a decision with person and time; decisions of one call follow each other by microseconds."""
        time = (datetime.now(UTC) if self._now is None else self._now) + timedelta(microseconds=after)
        actor = login() if self._actor is None else self._actor
        return decide(action, about, actor=actor, time=time, reason=why, **details)

    def _record(self, decisions: Sequence[Decision]) -> None:
        """Append all decisions or none; check them against the file, also for a trial."""
        groups = None
        if any(decision.action is not Action.UNDO for decision in decisions):  # an undo needs no run
            groups = dict(self._published.groups.select("surface", "capability_id").iter_rows())
        check = agreeing(decisions, groups)
        if self._dry_run:
            check((*self.all(), *decisions))
        else:
            append_decisions(self.file, decisions, check, self._on_wait)

    def _identified(self, field: str, named: Identified) -> str:
        """Return the identifier of a capability that must be in the run under its label."""
        label = self._labels.get(named.capability_id)
        if label is None:
            problem = f"'{excerpt(named.label)}' ({excerpt(named.capability_id)}) is not in the run"
            raise NotFoundError(f"field '{field}': {problem}", hint=_ANOTHER_RUN)
        if not is_excerpt(named.label, label):
            problem = f"{named.capability_id} is '{excerpt(label)}' in the run, not '{excerpt(named.label)}'"
            raise InvalidInputError(f"field '{field}': {problem}", hint=_ANOTHER_RUN)
        return named.capability_id

    def _require_news(self, decision: Decision, active: Sequence[Decision]) -> None:
        """Refuse a decision that changes nothing, or a label that another capability has."""
        if decision.capability is None:
            return
        published = self._published.capabilities.filter(capability_id=decision.capability.capability_id)
        standing = [each for each in active if each.decision_id not in self.outgrown()]
        require_change(decision, standing, published.row(0, named=True))
        require_own_label(decision, active, self._labels)

    @cached_property
    def _published(self) -> PublishedRun:
        return read_published(self._run)

    @cached_property
    def _labels(self) -> dict[str, str]:
        return dict(self._published.capabilities.select("capability_id", "label").iter_rows())

    def _named(self, name: str, active: Sequence[Decision]) -> Naming:
        require_kind("capability", name, str, "the name of a capability")
        published = self._published.capabilities.filter(capability_id=named(self._published, name))
        return Naming(name, published.row(0, named=True), self._published.groups, active)
