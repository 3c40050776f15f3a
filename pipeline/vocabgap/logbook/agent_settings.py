"""Set up an agent's program to log gaps: hooks, and the server of the Model Context Protocol.

Each is an entry in a JSON file of that program; other entries stay.
"""

import json
import re
import stat
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from vocabgap.errors import InvalidInputError
from vocabgap.files.atomic import write_whole
from vocabgap.files.refusals import FileKind, content_of, refusing
from vocabgap.ingest.decoding import json_type
from vocabgap.model.record import LOG_NAME

OWN: Final = "vocabgap"
_READING: Final = ("source", "map")  # a new source replaces both, a map adds to both


class Change(NamedTuple):
    """A change of a file."""

    path: Path
    content: str
    added: str  # the new entries; the rest of the file may hold secrets, and is not shown


def changes(folder: Path, agent: str | None, reading: Mapping[str, Any] = {}) -> list[Change]:
    """Return the changes that add the entries to the files of an agent, and settings of `[ingest]`.

    Args:
        folder: The folder of the files.
        agent: The agent; None changes the settings only.
        reading: Keys of `[ingest]` with their new values.
    """
    changed = []
    for name, entries in FILES[agent].items() if agent else ():
        if not (folder / name).resolve().is_relative_to(folder.resolve()):
            raise InvalidInputError(f"'{folder / name}' is a link out of the folder")
        before = _read(folder / name)
        after: dict[str, Any] = json.loads(_written(before))  # a copy; `deepcopy` allows less depth
        try:
            _add(after, entries)
        except InvalidInputError as error:
            raise InvalidInputError(f"'{folder / name}': {error}") from error
        if after != before:
            changed.append(Change(folder / name, _written(after), _written(_beyond(after, before))))
    if (change := _settings(folder / "vocabgap.toml", reading)) is not None:
        changed.append(change)
    return changed


def _settings(file: Path, reading: Mapping[str, Any]) -> Change | None:
    """Return the change that adds keys of `[ingest]` to a settings file, or creates it."""
    reading = json.loads(json.dumps(reading))  # lists instead of tuples, as in the file
    added = _lines_of(reading)
    content = content_of(file, "settings file")
    if content is FileKind.NOTHING:
        settings = f'[ingest]\nroots = ["."]  # folders with gap logs, relative to this file\n{added}'
        has_images = any(any(file.parent.glob(f"{between}/{LOG_NAME}")) for between in ("*", "*/*"))
        if not (has_images or reading):
            unit = 'unit = "project"  # what each log belongs to; without this line, an image'
            settings += f"\n[report]\n{unit}\n"
        return Change(file, settings, settings)
    if not reading:
        return None
    by_hand = f"write under [ingest] by hand: {added.strip()}"
    if not isinstance(content, bytes):
        raise InvalidInputError(f"'{file}' is {content}, expected a regular file", hint=by_hand)
    try:
        before = content.decode()
        values = tomllib.loads(before)
        if "source" not in reading:
            ours = {key: value for key, value in values.get("ingest", {}).items() if key in _READING}
            reading = {**ours, "map": {**ours.get("map", {}), **reading["map"]}}
            added = _lines_of(reading)
        head = re.search(r"^\[ingest\][ \t]*(#.*)?\n", before, re.MULTILINE)
        begin = head.end() if head else len(before)
        added = added if head else f"\n\n[ingest]\n{added}"
        table, bracket, rest = before[begin:].partition("\n[")
        lines = table.splitlines(keepends=True)
        kept = "".join(line for line in lines if line.partition("=")[0].strip() not in _READING)
        after = f"{before[:begin]}{added}{kept}{bracket}{rest}"
        others = {key: value for key, value in values.get("ingest", {}).items() if key not in _READING}
        expected = {**values, "ingest": {**others, **reading}}
        is_sound = tomllib.loads(after) == expected
    except (OSError, ValueError, TypeError) as error:
        raise InvalidInputError(f"'{file}' cannot be changed: {error}", hint=by_hand) from error
    if not is_sound:
        raise InvalidInputError(f"'{file}' has [ingest] in another form", hint=by_hand)
    return None if values == expected else Change(file, after, added.lstrip())


def _lines_of(reading: Mapping[str, Any]) -> str:
    return "".join(f"{key} = {_toml(value)}\n" for key, value in reading.items())


def _toml(value: Any) -> str:  # noqa: ANN401 - text, a list of texts, or a table of them
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {_toml(member)}' for key, member in value.items())}}}"
    return json.dumps(value, ensure_ascii=False)  # is also TOML


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


def _beyond(after: Any, before: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(after, dict) and isinstance(before, dict):
        changed = {key: value for key, value in after.items() if value != before.get(key)}
        return {key: _beyond(value, before.get(key)) for key, value in changed.items()}
    if isinstance(after, list) and isinstance(before, list):
        return [entry for entry in after if entry not in before]
    return after


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


_STOPPED: Final = [{"hooks": [{"type": "command", "command": f"{OWN} hook claude-code"}]}]
_SERVER: Final = {"mcpServers": {OWN: {"command": OWN, "args": ["mcp", "."]}}}
# The files of each agent, with the entries that are added.
FILES: Final[dict[str, dict[str, dict[str, Any]]]] = {
    "claude-code": {
        ".claude/settings.json": {"hooks": {"Stop": _STOPPED, "SessionEnd": _STOPPED}},
        ".mcp.json": _SERVER,
    },
    "cursor": {
        ".cursor/hooks.json": {
            "version": 1,
            "hooks": {"postToolUseFailure": [{"command": f"{OWN} hook cursor"}]},
        },
        ".cursor/mcp.json": _SERVER,
    },
}
