"""One decision: who said what about which capability, when and why."""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Final, Literal

import msgspec
from msgspec.structs import replace

from vocabgap.errors import InvalidInputError, require_text
from vocabgap.text import can_be_seen, count, surface, visible

ID_PREFIX: Final = "dec-"
ID_DIGITS: Final = 12
KEPT_WORDINGS: Final = 20  # of a capability: enough that one of them is in any corpus that has the need

SameOrDifferent = Literal["same", "different"]  # whether two sides are one need, as people say in a review
ReviewAnswer = Literal[SameOrDifferent, "skip"]

_Text = Annotated[str, msgspec.Meta(min_length=1)]


class Action(StrEnum):
    """What can be decided. The list is closed."""

    MERGE = "merge"
    SPLIT = "split"
    RENAME = "rename"
    PIN = "pin"
    DISMISS = "dismiss"
    AUTHOR = "author"
    REOPEN = "reopen"
    UNDO = "undo"


# What each action says beside the capability that it is about.
_NEEDED: Final[Mapping[Action, str]] = {
    Action.MERGE: "other",
    Action.SPLIT: "wordings",
    Action.RENAME: "label",
    Action.AUTHOR: "entry",
    Action.UNDO: "undoes",
}
_IN_WORDS: Final[Mapping[Action, str]] = {
    Action.MERGE: "merged '{other}' into {name}",
    Action.SPLIT: "split '{first}'{more} off {name}",
    Action.RENAME: "renamed {name} to '{label}'",
    Action.PIN: "pinned {name}",
    Action.DISMISS: "dismissed {name}",
    Action.AUTHOR: "authored {name} as '{entry}'",
    Action.REOPEN: "reopened {name}",
    Action.UNDO: "undid {undoes}",
}


class Subject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A capability as it was when something was decided about it.

    What a decision holds on to are the wordings: identifiers and groups may change with the next run.

    Attributes:
        capability_id: Its identifier then.
        label: Its label then; where people have united several groups, that of the one that was named.
        wordings: One wording of each of its surfaces, those of the group that was named first: that of the
            label, then the most mentioned. Of most decisions the first of them, of a status all.
    """

    capability_id: _Text
    label: _Text
    wordings: Annotated[tuple[_Text, ...], msgspec.Meta(min_length=1)]


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One line of the decisions file.

    Attributes:
        decision_id: Identifier, a digest of everything else that was decided.
        time: The moment it was decided.
        actor: Who decided it.
        action: What was decided.
        reason: Why, in the person's words.
        capability: What it is about; only an undo has none.
        other: What is merged into the capability.
        wordings: What is split off from it.
        staying: What is said to stay when others are split off; what is in neither goes where it is nearer.
        label: What it is called from now on.
        entry: The vocabulary entry that was authored for it.
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
        needed = _NEEDED.get(self.action)
        if (self.capability is None) != (self.action is Action.UNDO):
            verb = "has no" if self.action is Action.UNDO else "needs a"
            raise ValueError(f"{self.action} {verb} field 'capability'")
        if self.staying and self.action is not Action.SPLIT:
            raise ValueError(f"{self.action} has no field 'staying'")
        for name in _NEEDED.values():
            value = getattr(self, name)
            if name == needed and not value:
                raise ValueError(f"{self.action} needs field '{name}'")
            if isinstance(value, str) and not can_be_seen(value):
                raise ValueError(f"{self.action} needs field '{name}' with a character that can be seen")
            if name != needed and value not in {None, ()}:
                raise ValueError(f"{self.action} has no field '{name}'")

    @property
    def place(self) -> tuple[datetime, str]:
        """Where it stands in the order of decisions, whatever the order of lines."""
        return self.time, self.decision_id

    @property
    def what(self) -> str:
        """What was decided, in words, without who and when."""
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
        """The decision as a line that a report can print."""
        why = f": {visible(self.reason)}" if self.reason.strip() else ""
        when = self.time.astimezone(UTC).date().isoformat()
        return f"{when} {visible(self.actor)} {self.what}{why} ({self.decision_id})"

    def __repr__(self) -> str:
        """The same; the wordings that it holds on to would fill a page."""
        return f"Decision({self.summary})"


def decide(
    action: Action,
    capability: Subject | None = None,
    *,
    actor: str,
    time: datetime,
    reason: str = "",
    other: Subject | None = None,
    wordings: Iterable[str] = (),
    label: str | None = None,
    entry: str | None = None,
    undoes: str | None = None,
    staying: Iterable[str] = (),
) -> Decision:
    """Make a decision with its identifier.

    The identifier is a digest of the rest, so that the same line in two copies of the file is the same
    decision, and two decisions are hardly ever taken for one.
    """
    for name, text in (("actor", actor), ("reason", reason), ("label", label), ("entry", entry)):
        require_text(name, text or "")
    if reason.strip() and not can_be_seen(reason):
        raise InvalidInputError(
            f"reason '{visible(reason)}' has no character that can be seen",
            hint="say why in words, or not at all",
        )
    if not can_be_seen(actor):
        raise InvalidInputError("nobody is named as the one who decides", hint="name somebody with --actor")
    try:
        draft = Decision(
            decision_id=f"{ID_PREFIX}{'0' * ID_DIGITS}",
            time=time.astimezone(UTC),
            actor=actor.strip(),
            action=action,
            reason=reason.strip(),
            capability=capability,
            other=other,
            wordings=tuple(wordings),
            label=label,
            entry=entry,
            undoes=undoes,
            staying=tuple(staying),
        )
    except ValueError as error:
        raise InvalidInputError(str(error)) from error
    digest = hashlib.sha256(msgspec.json.encode(draft)).hexdigest()
    return replace(draft, decision_id=f"{ID_PREFIX}{digest[:ID_DIGITS]}")


def subject(
    capability_id: str, label: str, wordings: Iterable[str], most: int | None = KEPT_WORDINGS
) -> Subject:
    """A capability as a decision keeps it: one wording of each surface, those first that stand for it."""
    one_each: dict[str, str] = {}
    for wording in wordings:
        one_each.setdefault(surface(wording), wording)
    return Subject(capability_id, label, tuple(one_each.values())[:most])
