"""Proposed decisions: the lines that the page of a report saves, and `vocabgap decide apply` records."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import msgspec

from vocabgap.decisions.record import Action, decoded_line
from vocabgap.errors import InvalidInputError, expanded
from vocabgap.files.journal import entries_of
from vocabgap.files.refusals import existing_content

HINT: Final = "correct or remove the line, or save the decisions again; nothing was decided"
_SAVED: Final = tuple(action for action in Action if action not in {Action.UNDO, Action.CONFIRM})

_Text = Annotated[str, msgspec.Meta(min_length=1)]


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


def read_proposals(source: str | Path | Iterable[str | bytes]) -> Iterator[tuple[str, Proposal]]:
    """Yield the place and the content of each line of a file, or of the given lines.

    Raises:
        NotFoundError: The file does not exist.
        InvalidInputError: A line is no proposal, or there is none.
    """
    if isinstance(source, str | Path):
        path = expanded(source)
        content = existing_content(path, "file of decisions", "check its name; - reads a pipe")
        lines: Iterable[bytes] = content.split(b"\n")
    else:
        path = Path("stdin")
        lines = (line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line for line in source)
    number = 0
    decode = partial(decoded_line, kind=Proposal, hint=HINT, actions=_SAVED)
    for number, proposal in entries_of(lines, decode, path):
        yield f"{path}:{number}", proposal
    if not number:
        raise InvalidInputError(f"{path}: it has no decision", hint="save the decisions of the page again")
