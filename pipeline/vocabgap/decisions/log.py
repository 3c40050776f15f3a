"""The decisions file: JSON Lines that are only ever appended to, by several people and through git."""

from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Final

import msgspec

from vocabgap.decisions.record import Decision
from vocabgap.errors import InvalidInputError, StateError
from vocabgap.files.lines import add_lines, appending, read_lines
from vocabgap.files.refusals import FileKind, FileRole, file_kind

_CONFLICT: Final = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
_ROLE: Final = FileRole(
    "decisions file",
    "name another one with --decisions",
    undone="nothing was decided",
    again="decide again when that one is done",
)
_LINE_HINT: Final = "correct the line, or take it out; nothing else was read"


def read_decisions(path: Path) -> tuple[Decision, ...]:
    """The decisions of a file, in the order in which they were made.

    The order of lines means nothing, so that a merge of two copies may bring them in any. A line that is
    there twice counts once. Where the file does not exist, nothing was decided.

    Raises:
        InvalidInputError: A line is no decision; the error names file, line and field.
        StateError: The file is none, or a merge of two copies was left unresolved.
        AccessDeniedError: It may not be read.
    """
    with _ROLE.refusing(path, "read"):
        kind = file_kind(path)
        if kind is FileKind.NOTHING:
            return ()
        if kind is not FileKind.FILE:
            raise _ROLE.no_file(path, kind)
        return _parsed(path.read_bytes(), path)


def append_decision(
    path: Path,
    decision: Decision,
    check: Callable[[tuple[Decision, ...]], None],
    on_wait: Callable[[], None] = lambda: None,
) -> None:
    """Add a decision at the end of the file, once it is known to fit what is there.

    The file is locked meanwhile, so that of two people who decide at once the second is checked against the
    first; the line is on the disk when this returns.
    """
    with _ROLE.refusing(path, "written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with appending(path, _ROLE, on_wait) as file:
            before = file.read()
            known = {each.decision_id: each for each in _parsed(before, path)}
            together = {**known, decision.decision_id: decision}.values()
            check(tuple(sorted(together, key=lambda each: each.place)))
            if decision.decision_id in known:
                return
            add_lines(file, path, msgspec.json.encode(decision) + b"\n")


def _parsed(content: bytes, path: Path) -> tuple[Decision, ...]:
    by_id: dict[str, tuple[int, Decision]] = {}
    for number, decision in read_lines(
        content.split(b"\n"), lambda number, line: _decision(line, f"{path}:{number}")
    ):
        first, known = by_id.setdefault(decision.decision_id, (number, decision))
        if known != decision:
            raise StateError(
                f"{path}:{number}: decision {decision.decision_id} differs from that in line {first}",
                hint="keep one of the two lines",
            )
    return tuple(sorted((decision for _, decision in by_id.values()), key=lambda each: each.place))


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
