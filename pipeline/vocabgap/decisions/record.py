"""Decisions and their file. Proposals are decisions that the page of a report saves.

Several people may append to the file, also through git.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from vocabgap.errors import InvalidInputError, StateError, expanded, require_text
from vocabgap.files.journal import Journal, entries_of
from vocabgap.files.refusals import FileRole, named_content
from vocabgap.text import can_be_seen, count, surface, visible

ID_PREFIX: Final = "dec-"
ID_DIGITS: Final = 12
FILE: Final = ("--decisions",)  # the option that the commands of a hint repeat
APPLY_HINT: Final = "correct or remove the line, or save the decisions again; nothing was decided"
KEPT_WORDINGS: Final = 20  # of a capability: enough to find the need in other corpora

_Line = TypeVar("_Line", bound=msgspec.Struct)

_Text = Annotated[str, msgspec.Meta(min_length=1)]


class Action(StrEnum):
    """The kinds of decisions."""

    MERGE = "merge"
    SPLIT = "split"
    RENAME = "rename"
    PIN = "pin"
    DISMISS = "dismiss"
    AUTHOR = "author"
    REOPEN = "reopen"
    CLAIM = "claim"
    CONFIRM = "confirm"
    UNDO = "undo"


SETTLING: Final = frozenset({Action.DISMISS, Action.AUTHOR, Action.REOPEN, Action.CLAIM})
"""The actions that give a status. The last one counts."""
# The field that an action needs in addition to the capability.
_NEEDED: Final[Mapping[Action, str]] = {
    Action.MERGE: "other",
    Action.SPLIT: "wordings",
    Action.RENAME: "label",
    Action.AUTHOR: "entry",
    Action.UNDO: "undoes",
}
_ALLOWED: Final = {Action.SPLIT: {"staying"}, Action.CONFIRM: {"wordings", "staying"}}
_IN_WORDS: Final[Mapping[Action, str]] = {
    Action.MERGE: "merged '{other}' into {name}",
    Action.SPLIT: "split '{first}'{more} off {name}",
    Action.RENAME: "renamed {name} to '{label}'",
    Action.PIN: "pinned {name}",
    Action.DISMISS: "dismissed {name}",
    Action.AUTHOR: "authored {name} as '{entry}'",
    Action.REOPEN: "reopened {name}",
    Action.CLAIM: "claimed {name}",
    Action.CONFIRM: "left {name} as it is",
    Action.UNDO: "undid {undoes}",
}


class Subject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A capability at the time of a decision.

    The decision stores wordings, one for each surface, because identifiers and groups may change. The wording
    of the label is first, then the most frequent. A decision about a status stores all, others only some.
    """

    capability_id: _Text
    label: _Text  # if people merged several groups, the label of the named group
    wordings: Annotated[tuple[_Text, ...], msgspec.Meta(min_length=1)]


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One line of the decisions file.

    Attributes:
        decision_id: Identifier, a digest of the other fields.
        time: The time of the decision.
        actor: The person who decided.
        action: The kind of decision.
        reason: The reason of the person.
        capability: The capability; only an undo has none.
        other: The capability that is merged into `capability`.
        wordings: The wordings that are split off; or, if a person confirms a group, wordings of other needs.
        staying: The wordings that stay in a split, or are confirmed. In a split, other wordings go to the
            more similar side.
        label: The new label.
        entry: The vocabulary entry that was authored.
        undoes: The decision that is undone.
    """

    decision_id: Annotated[str, msgspec.Meta(pattern=rf"\A{ID_PREFIX}[0-9a-f]{{{ID_DIGITS}}}\Z")]
    time: Annotated[datetime, msgspec.Meta(tz=True)]
    actor: _Text
    action: Action
    reason: str = ""
    capability: Subject | None = None
    other: Subject | None = None
    wordings: tuple[_Text, ...] = ()
    label: str | None = None
    entry: str | None = None
    undoes: str | None = None
    staying: tuple[_Text, ...] = ()

    def __post_init__(self) -> None:
        try:
            self.time.astimezone(UTC)
        except OverflowError as error:
            raise ValueError(str(error)) from error
        needed = {_NEEDED.get(self.action), "" if self.action is Action.UNDO else "capability"}
        allowed = needed | _ALLOWED.get(self.action, set())
        for name in ("capability", *_NEEDED.values(), "staying"):
            value = getattr(self, name)
            if name in needed and not value:
                raise ValueError(f"{self.action} needs field '{name}'")
            if isinstance(value, str) and not can_be_seen(value):
                raise ValueError(f"{self.action} needs field '{name}' with a visible character")
            if name not in allowed and value not in {None, ()}:
                raise ValueError(f"{self.action} has no field '{name}'")

    @property
    def place(self) -> tuple[datetime, str]:
        """The sort key of the decision; the order of lines does not matter."""
        return self.time, self.decision_id

    @property
    def what(self) -> str:
        """The decision in words, without person and time."""
        name = "" if self.capability is None else f"'{visible(self.capability.label)}'"
        more = f" and {count(len(self.wordings) - 1, 'more wording')}" if len(self.wordings) > 1 else ""
        return _IN_WORDS[self.action].format(
            name=name,
            other="" if self.other is None else visible(self.other.label),
            first=visible(self.wordings[0]) if self.wordings else "",
            more=more,
            label=visible(self.label or ""),
            entry=visible(self.entry or ""),
            undoes=self.undoes,
        )

    @property
    def summary(self) -> str:
        """The decision as a line of a report."""
        why = f": {visible(self.reason)}" if self.reason.strip() else ""
        when = self.time.astimezone(UTC).date().isoformat()
        return f"{when} {visible(self.actor)} {self.what}{why} ({self.decision_id})"

    def __repr__(self) -> str:
        """Return the summary; the wordings would fill a page."""
        return f"Decision({self.summary})"


_SAVED: Final = tuple(action for action in Action if action not in {Action.UNDO, Action.CONFIRM})


class Identified(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A capability as a report shows it. The label protects against a wrong identifier."""

    capability_id: _Text
    label: str


class Proposal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One line: a decision without person and time. The fields are those of the decisions file.

    Attributes:
        run: The present moment of the report, as `now` in its `run.json`.
        action: The kind of decision, except `undo` and `confirm`.
        capability: The capability.
        other: The capability to merge into it.
        wordings: The wordings to split off.
        label: The new label.
        entry: The vocabulary entry that was authored.
        reason: The reason of the person.
    """

    run: str
    action: Action
    capability: Identified
    other: Identified | None = None
    wordings: tuple[_Text, ...] = ()
    label: str | None = None
    entry: str | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        if self.action not in _SAVED:
            raise ValueError(f"field 'action': a page saves no '{self.action}'")


def decide(
    action: Action,
    capability: Subject | None = None,
    *,
    actor: str,
    time: datetime,
    reason: str = "",
    **details: Any,  # noqa: ANN401 - further fields of a decision
) -> Decision:
    """Return a decision with its identifier, a digest of the fields: equal lines are one decision."""
    for name, text in {"actor": actor, "reason": reason, **details}.items():
        if isinstance(text, str):
            require_text(name, text)
    if reason.strip() and not can_be_seen(reason):
        problem = f"reason '{visible(reason)}' has no visible character"
        raise InvalidInputError(problem, hint="write a reason, or leave it out")
    if not can_be_seen(actor):
        raise InvalidInputError("the actor is empty", hint="name a person with --actor")
    try:
        draft = Decision(
            decision_id=f"{ID_PREFIX}{'0' * ID_DIGITS}",
            time=time.astimezone(UTC),
            actor=actor.strip(),
            action=action,
            reason=reason.strip(),
            capability=capability,
            **details,
        )
    except ValueError as error:
        raise InvalidInputError(str(error)) from error
    digest = hashlib.sha256(msgspec.json.encode(draft)).hexdigest()
    return replace(draft, decision_id=f"{ID_PREFIX}{digest[:ID_DIGITS]}")


def subject(
    capability_id: str, label: str, wordings: Iterable[str], most: int | None = KEPT_WORDINGS
) -> Subject:
    """Return a capability as a decision stores it: with the first wording of each surface."""
    return Subject(capability_id, label, one_each(wordings)[:most])


def one_each(wordings: Iterable[str]) -> tuple[str, ...]:
    """Return the first wording of each surface."""
    first: dict[str, str] = {}
    for wording in wordings:
        first.setdefault(surface(wording), wording)
    return tuple(first.values())


def read_decisions(path: Path) -> tuple[Decision, ...]:
    """Return the decisions of a file, oldest first; none if there is no file.

    The order of lines does not matter, because a merge of two copies may change it. A repeated line counts
    once. Errors name file, line and field.
    """
    return _in_order(_distinct(_JOURNAL.read(path), path))


def decisions_after(path: Path, moment: datetime) -> Iterator[tuple[int, Decision]]:
    """Yield the decisions of a file that are later than a moment, each with the number of its line."""
    return ((line, decision) for line, decision in _JOURNAL.read(path) if decision.time > moment)


def append_decisions(
    path: Path,
    decisions: Sequence[Decision],
    check: Callable[[tuple[Decision, ...]], None],
    on_wait: Callable[[], None] = lambda: None,
) -> None:
    """Append all decisions if `check` accepts them, else none; return when the lines are on the disk.

    `check` is called with all decisions while the file is locked. If two people decide at the same time,
    the second decision is checked against the first.
    """
    with _JOURNAL.appending(path, on_wait) as writer:
        before = _distinct(writer.entries(), path)
        new = {added.decision_id: added for added in decisions if added.decision_id not in before}
        check(_in_order(before | new))
        if new:
            writer.add(b"".join(msgspec.json.encode(decision) + b"\n" for decision in new.values()))


def _in_order(by_id: Mapping[str, Decision]) -> tuple[Decision, ...]:
    return tuple(sorted(by_id.values(), key=lambda decision: decision.place))


def _distinct(entries: Iterable[tuple[int, Decision]], path: Path) -> dict[str, Decision]:
    by_id: dict[str, tuple[int, Decision]] = {}
    for number, decision in entries:
        first, same = by_id.setdefault(decision.decision_id, (number, decision))
        if same != decision:
            raise StateError(
                f"{path}:{number}: decision {decision.decision_id} differs from line {first}",
                hint="remove one of the two lines",
            )
    return {name: decision for name, (_, decision) in by_id.items()}


def _decision(line: bytes, place: str) -> Decision:
    if line.startswith((b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")):
        raise StateError(
            f"{place}: a merge of two copies has unresolved conflicts",
            hint="remove the lines of <<<<<<<, ======= and >>>>>>>, but keep all lines between them",
        )
    return decoded_line(line, place, Decision, "correct or remove the line; no decision was read")


def decoded_line(
    line: bytes, place: str, kind: type[_Line], hint: str, actions: Iterable[str] = Action
) -> _Line:
    """Decode a line of a file of decisions; an error names the place and the field."""
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        problem, _, where = str(error).partition(" - at `$")
        field = where.removeprefix(".").rstrip("`")
        if field == "action" and "enum" in problem:
            problem += f", expected one of {', '.join(actions)}"
        elif "matching regex" in problem:
            problem = f"expected {ID_PREFIX} and {ID_DIGITS} hexadecimal digits"
        message = f"field '{field}': {problem}" if field else problem
        raise InvalidInputError(f"{place}: {message.replace('`', chr(39))}", hint=hint) from error


def read_proposals(source: str | Path | Iterable[str | bytes]) -> Iterator[tuple[str, Proposal]]:
    """Yield the place and the content of each line of a file, or of the given lines.

    Raises:
        NotFoundError: The file does not exist.
        InvalidInputError: A line is no proposal, or there is none.
    """
    if isinstance(source, str | Path):
        path = expanded(source)
        content = named_content(path, "file of decisions", "check its name; - reads a pipe")
        lines: Iterable[bytes] = content.split(b"\n")
    else:
        path = Path("stdin")
        lines = (line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line for line in source)
    number = 0
    decode = partial(decoded_line, kind=Proposal, hint=APPLY_HINT, actions=_SAVED)
    for number, proposal in entries_of(lines, decode, path):
        yield f"{path}:{number}", proposal
    if not number:
        raise InvalidInputError(f"{path}: it has no decision", hint="save the decisions of the page again")


_JOURNAL: Final = Journal(
    FileRole(
        "decisions file",
        "name another file in the settings, as [decisions] file",
        undone="nothing was decided",
        again="decide again when the other writer is done",
    ),
    _decision,
)
