"""The decisions file: JSON Lines that are only ever appended to, by several people and through git."""

from collections.abc import Callable, Iterable
from datetime import UTC
from pathlib import Path
from typing import Final

import msgspec

from vocabgap.decisions.record import Decision
from vocabgap.errors import InvalidInputError, StateError
from vocabgap.files.journal import Journal
from vocabgap.files.refusals import FileRole

_CONFLICT: Final = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
_LINE_HINT: Final = "correct the line, or take it out; nothing else was read"


def read_decisions(path: Path) -> tuple[Decision, ...]:
    """Return the decisions of a file in the order in which they were made; none if there is no file.

    The order of lines means nothing, because a merge of two copies may shuffle them. A line that occurs
    twice counts once.

    Raises:
        InvalidInputError: A line is not a decision; the error names file, line and field.
        StateError: The path is not a file, or it holds an unresolved merge of two copies.
        AccessDeniedError: The system does not permit reading it.
    """
    return _in_order(_distinct(_JOURNAL.read(path), path).values())


def append_decision(
    path: Path,
    decision: Decision,
    check: Callable[[tuple[Decision, ...]], None],
    on_wait: Callable[[], None] = lambda: None,
) -> None:
    """Append a decision if it fits what the file holds; wait until the line is on the disk.

    `check` is called with all decisions while the file is locked. So the second of two people who decide at
    once is checked against the first.
    """
    with _JOURNAL.appending(path, on_wait) as writer:
        before = _distinct(writer.entries(), path)
        check(_in_order({**before, decision.decision_id: decision}.values()))
        if decision.decision_id not in before:
            writer.add(msgspec.json.encode(decision) + b"\n")


def _in_order(decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    return tuple(sorted(decisions, key=lambda decision: decision.place))


def _distinct(entries: Iterable[tuple[int, Decision]], path: Path) -> dict[str, Decision]:
    by_id: dict[str, tuple[int, Decision]] = {}
    for number, decision in entries:
        first, same = by_id.setdefault(decision.decision_id, (number, decision))
        if same != decision:
            raise StateError(
                f"{path}:{number}: decision {decision.decision_id} differs from that in line {first}",
                hint="keep one of the two lines",
            )
    return {name: decision for name, (_, decision) in by_id.items()}


def _decision(line: bytes, place: str) -> Decision:
    text = line.decode("utf-8", "replace")
    if text.startswith(_CONFLICT):
        raise StateError(
            f"{place}: a merge of two copies was left unresolved",
            hint="take out the lines of <<<<<<<, ======= and >>>>>>>, and keep every line between them",
        )
    try:
        decision = msgspec.json.decode(line, type=Decision)
        decision.time.astimezone(UTC)
    except OverflowError as error:
        raise InvalidInputError(
            f"{place}: field 'time': expected a moment between the years 1 and 9999 in UTC", hint=_LINE_HINT
        ) from error
    except msgspec.ValidationError as error:
        problem, _, where = str(error).partition(" - at `$")
        field = where.removeprefix(".").rstrip("`")
        message = f"field '{field}': {problem}" if field else problem
        raise InvalidInputError(f"{place}: {message.replace('`', chr(39))}", hint=_LINE_HINT) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidInputError(
            f"{place}: expected a decision as a JSON object: {error}", hint=_LINE_HINT
        ) from error
    return decision


_JOURNAL: Final = Journal(
    FileRole(
        "decisions file",
        "name another one with --decisions",
        undone="nothing was decided",
        again="decide again when that one is done",
    ),
    _decision,
)
