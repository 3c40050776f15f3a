"""What an agent's program is told, so that it logs gaps: hooks, and the server of the Model Context Protocol.

Each is an entry of a JSON file of that program, and is put beside what others have put there.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from vocabgap.errors import InvalidInputError, NotFoundError
from vocabgap.files.atomic import replacing

OWN: Final = "vocabgap"
_HOOK: Final = f"{OWN} hook"
_SERVER: Final = {"command": OWN, "args": ["mcp", "."]}
_SETTINGS: Final = "vocabgap.toml"
_TOML: Final = '[ingest]\nroots = ["."]  # folders with gap logs, seen from this file\n'
_Edit = Callable[[dict[str, Any]], None]


def changes(folder: Path, agent: str, *, remove: bool = False) -> dict[Path, str | None]:
    """The files that change, each with what it will hold; null for one that goes.

    Args:
        folder: The folder that the agent works in.
        agent: One of `FILES`.
        remove: Whether what was put in is taken out.

    Raises:
        NotFoundError: There is no such folder.
        InvalidInputError: A file holds something else than an object in JSON.
    """
    if not folder.is_dir():
        raise NotFoundError(f"there is no folder '{folder}'")
    changed: dict[Path, str | None] = {}
    for name, edits in FILES[agent].items():
        path = folder / name
        before = _read(path)
        after = json.loads(json.dumps(before or {}))
        edits[remove](after)
        if after != (before or {}):
            changed[path] = f"{json.dumps(after, indent=2, ensure_ascii=False)}\n" if after else None
    settings = folder / _SETTINGS
    if not remove and not settings.exists():
        changed[settings] = _TOML
    elif remove and settings.is_file() and settings.read_text(encoding="utf-8") == _TOML:
        changed[settings] = None
    return changed


def write(changed: Mapping[Path, str | None]) -> None:
    """Make the changes, each file at once."""
    for path, content in changed.items():
        if content is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path, mode=0o644) as file:
            file.write(content.encode("utf-8"))


def _read(path: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"'{path}' cannot be read: {error}", hint="mend it, and try again") from error
    if not isinstance(value, dict):
        raise InvalidInputError(f"'{path}' holds no object", hint="mend it, and try again")
    return value


def _member(holder: dict[str, Any], key: str, kind: type) -> Any:  # noqa: ANN401 - JSON
    value = holder.setdefault(key, kind())
    if not isinstance(value, kind):
        raise InvalidInputError(f"'{key}' of the agent's settings is no {kind.__name__}", hint="mend it")
    return value


def _with_server(settings: dict[str, Any]) -> None:
    _member(settings, "mcpServers", dict).setdefault(OWN, _SERVER)


def _without_server(settings: dict[str, Any]) -> None:
    servers = _member(settings, "mcpServers", dict)
    if servers.get(OWN) == _SERVER:
        del servers[OWN]
    _drop_if_empty(settings, "mcpServers")


def _claude_code(settings: dict[str, Any]) -> None:
    entry = {"hooks": [{"type": "command", "command": f"{_HOOK} claude-code"}]}
    for event in ("Stop", "SessionEnd"):
        several = _member(_member(settings, "hooks", dict), event, list)
        if entry not in several:
            several.append(entry)


def _cursor(settings: dict[str, Any]) -> None:
    settings.setdefault("version", 1)
    several = _member(_member(settings, "hooks", dict), "postToolUseFailure", list)
    entry = {"command": f"{_HOOK} cursor"}
    if entry not in several:
        several.append(entry)


def _without_hooks(settings: dict[str, Any]) -> None:
    hooks = _member(settings, "hooks", dict)
    for event in list(hooks):
        hooks[event] = [each for each in _member(hooks, event, list) if _HOOK not in json.dumps(each)]
        _drop_if_empty(hooks, event)
    _drop_if_empty(settings, "hooks")
    if settings == {"version": 1}:
        settings.clear()


def _drop_if_empty(holder: dict[str, Any], key: str) -> None:
    if not holder[key]:
        del holder[key]


# The files of each agent, with what puts an entry in, and what takes it out.
FILES: Final[dict[str, dict[str, tuple[_Edit, _Edit]]]] = {
    "claude-code": {
        ".claude/settings.json": (_claude_code, _without_hooks),
        ".mcp.json": (_with_server, _without_server),
    },
    "cursor": {
        ".cursor/hooks.json": (_cursor, _without_hooks),
        ".cursor/mcp.json": (_with_server, _without_server),
    },
}
