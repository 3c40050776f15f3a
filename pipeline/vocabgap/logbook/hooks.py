"""Hooks of an agent's program: set them up, and log the calls that they report.

The tools do not exist or are not granted, or the shell does not find a program. A record has the name of the
tool or program, the time and the session: no argument, no result and nothing that the person typed. A time
limit or an interrupt is not logged. The inputs are those of Claude Code and Cursor as of November 2026. To
set hooks up, entries are added to JSON files of the agent's program; other entries stay.
"""

import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from vocabgap.errors import InvalidInputError, StateError
from vocabgap.files import opened
from vocabgap.files.atomic import write_whole
from vocabgap.files.budget import require_decodable
from vocabgap.files.refusals import FileKind, content_of, file_kind, refusing
from vocabgap.ingest.adapters import ADAPTERS
from vocabgap.ingest.decoding import Decoded, FieldMap, decode_line, json_type, noted
from vocabgap.ingest.reading import elements, values_in
from vocabgap.logbook.log import LoggedGap, is_logged, log_without_waiting
from vocabgap.messages import refused_call
from vocabgap.model.record import ENVIRONMENT_NOTE, LOG_NAME, NOT_GRANTED_NOTE
from vocabgap.model.sources import shipped_sources
from vocabgap.text import visible

MOST_INPUT: Final = 1 << 20  # bytes of a hook's input


class ReportedCall(msgspec.Struct, frozen=True):
    """A refused call that the input of a hook shows."""

    tool: str
    note: str  # with the program's identifier of the call, if it has one
    session: str | None = None
    moment: datetime | str | None = None  # text if it is unreadable; None for the current time


def log_calls(agent: str, content: bytes, image: Path | None) -> list[LoggedGap]:
    """Log each refused call in the input of a hook, once.

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
    logged, refused, longest = [], None, 0.3  # seconds to wait for another writer of the log
    for call in find(given):
        if not re.fullmatch(r"[A-Za-z0-9][\w.:/+-]{0,127}", call.tool):
            continue
        if not call.note.startswith("call of ") and is_logged(folder, call.note):
            continue  # logged at the end of an earlier turn
        reason = "is not granted" if NOT_GRANTED_NOTE in call.note else "does not exist"
        description = f"the tool {call.tool} was called, but {reason}"
        if ENVIRONMENT_NOTE in call.note:
            description = f"the environment lacks the program {call.tool}"
        try:
            logged.append(
                log_without_waiting(
                    folder,
                    longest,
                    description=description,
                    missing_capability=call.tool,
                    session_id=call.session,
                    timestamp=call.moment,
                    notes=call.note,
                )
            )
        except InvalidInputError as error:  # the other calls are logged first
            refused = error
        else:
            longest = 0.0 if logged[-1].path.name != LOG_NAME else longest
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


def _of_transcript(given: dict[str, Any]) -> Iterator[ReportedCall]:
    """Yield the calls in the transcript of Claude Code at the end of a turn, or of a session."""
    if given.get("hook_event_name") not in ("Stop", "SubagentStop", "SessionEnd"):
        return
    session = _text(given, "session_id")
    path = Path(_text(given, "transcript_path") or "")
    if (kind := file_kind(path)) is not FileKind.FILE:  # a pipe would keep the agent waiting
        raise StateError(f"the transcript is {kind}, expected a regular file")
    with refusing("the transcript cannot be read"), opened(path) as transcript:
        source = shipped_sources()["claude-code"]
        fields = FieldMap.of(source)
        longest_line, read_at_end = 4 << 20, 64 << 20  # bytes; earlier turns read what is before
        begin = max(0, transcript.seek(0, os.SEEK_END) - read_at_end)
        transcript.seek(begin)
        lines = iter(lambda: transcript.readline(longest_line), b"")
        values = chain.from_iterable(values_in([line]) for line in lines if b"tool_use" in line)
        for block in elements(values, fields, ADAPTERS[source.adapter]):
            for element in block.lines:
                decoded = decode_line(element, fields)
                if isinstance(decoded, Decoded):
                    record = decoded.record
                    moment = decoded.unreadable_timestamp or record.timestamp
                    yield ReportedCall(record.missing_capability or "", record.notes, session, moment)


def _of_failure(given: dict[str, Any]) -> Iterator[ReportedCall]:
    tool, message = _text(given, "tool_name") or "", _text(given, "error_message") or ""
    is_gap = given.get("failure_type") == "error" and given.get("is_interrupt") is not True
    if given.get("hook_event_name") != "postToolUseFailure" or not is_gap:
        return
    call = refused_call(message, tool) if tool else None
    if call is not None:
        note = noted(call, _text(given, "tool_use_id") or "")
        yield ReportedCall(call.tool, note, _text(given, "conversation_id"))


def _workspace(given: dict[str, Any]) -> str | None:
    roots = given.get("workspace_roots")
    return next((root for root in roots if isinstance(root, str)), None) if isinstance(roots, list) else None


def _text(given: dict[str, Any], key: str) -> str | None:
    value = given.get(key)
    return value if isinstance(value, str) else None


# By agent: how to find the calls in the input of a hook, and the folder that the agent works in.
_Finding = Callable[[dict[str, Any]], Iterator[ReportedCall]]
AGENTS: Final[dict[str, tuple[_Finding, Callable[[dict[str, Any]], str | None]]]] = {
    "claude-code": (_of_transcript, lambda given: _text(given, "cwd")),
    "cursor": (_of_failure, _workspace),
}


class Change(NamedTuple):
    """A change of a file."""

    path: Path
    content: str
    added: str  # the entries; the rest of the file may hold secrets, and is not shown


def changes(folder: Path, agent: str) -> list[Change]:
    """Return the changes that add the entries of an agent to its files in a folder, and a settings file."""
    changed = []
    for name, entries in FILES[agent].items():
        if not (folder / name).resolve().is_relative_to(folder.resolve()):
            raise InvalidInputError(f"'{folder / name}' is a link out of the folder")
        before = _read(folder / name)
        after: dict[str, Any] = json.loads(_written(before))  # a copy; `deepcopy` allows less depth
        try:
            _add(after, entries)
        except InvalidInputError as error:
            raise InvalidInputError(f"'{folder / name}': {error}") from error
        if after != before:
            changed.append(Change(folder / name, _written(after), _written(entries)))
    file = folder / "vocabgap.toml"
    if file_kind(file) is FileKind.NOTHING:
        settings = '[ingest]\nroots = ["."]  # folders with gap logs, relative to this file\n'
        if not any(any(folder.glob(f"{between}/{LOG_NAME}")) for between in ("*", "*/*")):
            unit = 'unit = "project"  # what each log belongs to; without this line, an image'
            settings += f"\n[report]\n{unit}\n"
        changed.append(Change(file, settings, settings))
    return changed


def write(changed: Iterable[Change]) -> None:
    """Write the changed files, each one whole, and keep their permissions."""
    for path, content, _ in changed:
        again = "the files named before it are changed; repeat the command for the rest"
        with refusing(f"'{path}' cannot be changed", hint=again):
            mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644
            write_whole(path, content.encode(), mode)


def _written(value: Any) -> str:  # noqa: ANN401 - JSON
    return f"{json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)}\n"


def _read(path: Path) -> dict[str, Any]:
    """Return the settings of a file, if writing them again loses nothing; empty without a file."""
    content = content_of(path, "settings file")
    if content in {FileKind.NOTHING, FileKind.DANGLING}:
        return {}
    if not isinstance(content, bytes):
        raise InvalidInputError(f"'{path}' is {content}, expected a regular file")
    require_decodable(content, f"'{path}'")
    try:
        value = json.loads(content.decode(), object_pairs_hook=_once)
        _written(value).encode()
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"'{path}' cannot be read as JSON: {error}") from error
    if not isinstance(value, dict):
        raise InvalidInputError(f"'{path}': expected an object, found {json_type(value)}")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key is repeated; one of its values would be lost")
    return value


def _member(holder: dict[str, Any], key: str, kind: type) -> Any:  # noqa: ANN401 - JSON
    value = holder.setdefault(key, kind())
    if not isinstance(value, kind):
        expected = "a list" if kind is list else "an object"
        raise InvalidInputError(f"{key}: expected {expected}, found {json_type(value)}")
    return value


def _add(settings: dict[str, Any], entries: Mapping[str, Any]) -> None:
    """Add missing entries; existing entries of the same name stay."""
    for key, members in entries.items():
        if not isinstance(members, dict):
            settings.setdefault(key, members)
            continue
        holder = _member(settings, key, dict)
        for name, member in members.items():
            if isinstance(member, list):
                present = _member(holder, name, list)
                present += [entry for entry in member if entry not in present]
            else:
                holder.setdefault(name, member)


_STOPPED: Final = [{"hooks": [{"type": "command", "command": "vocabgap hook claude-code"}]}]
_SERVER: Final = {"mcpServers": {"vocabgap": {"command": "vocabgap", "args": ["mcp", "."]}}}
# The files of each agent, with the entries that are added.
FILES: Final[dict[str, dict[str, dict[str, Any]]]] = {
    "claude-code": {
        ".claude/settings.json": {"hooks": {"Stop": _STOPPED, "SessionEnd": _STOPPED}},
        ".mcp.json": _SERVER,
    },
    "cursor": {
        ".cursor/hooks.json": {
            "version": 1,
            "hooks": {"postToolUseFailure": [{"command": "vocabgap hook cursor"}]},
        },
        ".cursor/mcp.json": _SERVER,
    },
}
