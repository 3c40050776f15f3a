"""Log the gaps that hooks of an agent's program report: calls of tools that do not exist.

A record has the name of the tool, the time and the session, but no argument, no result and nothing that the
person typed. A denied permission, a time limit or an interrupt is no gap. The shapes are those of the hooks
of Claude Code and Cursor as of November 2026.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from vocabgap.errors import InvalidInputError, StateError
from vocabgap.files.refusals import FileKind, file_kind, refusing
from vocabgap.logbook.log import LoggedGap, log_gap
from vocabgap.model.record import LOG_NAME, UNKNOWN_TOOL_NOTE
from vocabgap.text import visible

MOST_INPUT: Final = 1 << 20  # bytes of a hook's input
_MOST_LINE: Final = 4 << 20  # bytes of a line of a transcript that is looked into
_NAME: Final = r"[A-Za-z0-9][\w.:/-]{0,127}"
_NO_TOOL: Final = re.compile(rf"No such tool available: ({_NAME})")
_MARK: Final = b"No such tool available"
_UNKNOWN: Final = re.compile(
    r"(?i)\b(?:unknown|no such) tool\b|\btool\b.{0,160}\b(?:not found|does not exist)\b"
)
_CALL: Final = re.compile(r"[\w-]{1,128}")


class UnmetCall(msgspec.Struct, frozen=True):
    """A call of a tool that does not exist."""

    tool: str
    call: str = ""  # the program's identifier
    session: str | None = None
    moment: str | None = None  # as the program wrote it; null for now


def log_calls(agent: str, content: bytes, image: Path | None) -> list[LoggedGap]:
    """Log each call of a missing tool in the input of a hook, once.

    The log is in the folder `image`, by default in the working folder of the agent.

    Raises:
        VocabgapError: The input or a timestamp is invalid, or the log cannot be written. The other calls are
            still logged.
    """
    if agent not in AGENTS:
        raise InvalidInputError(f"no hook of '{agent}' is known", hint=f"expected {' or '.join(AGENTS)}")
    try:
        given = msgspec.json.decode(content[:MOST_INPUT], type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"the input is not a JSON object: {error}") from error
    find, where = AGENTS[agent]
    folder = Path(image or where(given) or ".")
    logged, refused = [], None
    for call in find(given):
        note = f"call {call.call} {UNKNOWN_TOOL_NOTE}" if call.call else f"call {UNKNOWN_TOOL_NOTE}"
        if call.call and _holds(folder / LOG_NAME, note):
            continue  # logged at the end of an earlier turn
        try:
            logged.append(
                log_gap(
                    folder,
                    f"the tool {call.tool} was called, and there is none",
                    missing_capability=call.tool,
                    session_id=call.session,
                    timestamp=call.moment,
                    notes=note,
                )
            )
        except InvalidInputError as error:  # the other calls are logged first
            refused = error
    if refused is not None:
        raise refused
    return logged


def note_failure(error: Exception) -> None:
    """Append the reason of a hook's failure to a file, because output would disturb the agent."""
    with suppress(OSError, RuntimeError):  # some users have no home
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        path = Path(state, "vocabgap", "hook.log")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as log:
            log.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {visible(str(error))}\n")


def _holds(log: Path, note: str) -> bool:
    with refusing(f"'{log}' cannot be read"):
        return log.exists() and note.encode() in log.read_bytes()


def _of_transcript(given: dict[str, Any]) -> Iterator[UnmetCall]:
    """Yield the calls in the transcript of Claude Code at the end of a turn, or of a session."""
    if given.get("hook_event_name") not in ("Stop", "SubagentStop", "SessionEnd"):
        return
    session = _text(given, "session_id")
    path = Path(_text(given, "transcript_path") or "")
    if (kind := file_kind(path)) is not FileKind.FILE:  # a pipe would keep the agent waiting
        raise StateError(f"the transcript is {kind}, expected a regular file")
    with refusing("the transcript cannot be read"), path.open("rb") as transcript:
        while line := transcript.readline(_MOST_LINE):
            if _MARK in line:
                yield from _refused_calls(line, session)


def _refused_calls(line: bytes, session: str | None) -> Iterator[UnmetCall]:
    entry = _object(line)
    for part in _parts(entry):
        if part.get("type") != "tool_result" or part.get("is_error") is not True:
            continue
        if refusal := _NO_TOOL.search(json.dumps(part.get("content"))):
            call = _identifier(part)
            yield UnmetCall(refusal[1], call, session, _text(entry, "timestamp"))


def _of_failure(given: dict[str, Any]) -> Iterator[UnmetCall]:
    tool, message = _text(given, "tool_name") or "", _text(given, "error_message") or ""
    is_gap = given.get("failure_type") == "error" and given.get("is_interrupt") is not True
    if given.get("hook_event_name") != "postToolUseFailure" or not is_gap:
        return
    if re.fullmatch(_NAME, tool) and tool in message and _UNKNOWN.search(message):
        yield UnmetCall(tool, _identifier(given), _text(given, "conversation_id"))


def _identifier(given: dict[str, Any]) -> str:
    call = _text(given, "tool_use_id") or ""
    return call if _CALL.fullmatch(call) else ""


def _workspace(given: dict[str, Any]) -> str | None:
    roots = given.get("workspace_roots")
    return next((root for root in roots if isinstance(root, str)), None) if isinstance(roots, list) else None


def _object(line: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}  # incomplete


def _parts(entry: dict[str, Any]) -> list[dict[str, Any]]:
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _text(given: dict[str, Any], key: str) -> str | None:
    value = given.get(key)
    return value if isinstance(value, str) else None


# By agent: how to find the calls in the input of a hook, and the folder that the agent works in.
_Finding = Callable[[dict[str, Any]], Iterator[UnmetCall]]
AGENTS: Final[dict[str, tuple[_Finding, Callable[[dict[str, Any]], str | None]]]] = {
    "claude-code": (_of_transcript, lambda given: _text(given, "cwd")),
    "cursor": (_of_failure, _workspace),
}
