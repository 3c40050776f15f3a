"""`hook`, `init` and `mcp`: agents log gaps."""

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Annotated

from vocabgap.doors.verbs import Answer, Event, Request, argument, option, verb
from vocabgap.errors import InvalidInputError, NotFoundError, StateError, installing

if TYPE_CHECKING:
    from vocabgap.doors.cli.calls import Call


class Agent(StrEnum):
    """The agents whose hooks vocabgap can read."""

    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"


class Hook(Request, kw_only=True):
    """The request of `hook`. The agent is text, so that an unknown agent is noted in the log of hooks."""

    agent: Annotated[str, argument("Agent that calls the hook: claude-code or cursor.")]
    image: Annotated[
        Path | None, argument("Folder of the log; by default the folder that the agent works in.")
    ] = None


@verb(Hook)
def hook(_call: "Call", request: Hook) -> Answer | None:
    """Log calls of missing tools from an agent's hook (input on stdin).

    The exit code is always 0. Errors are written to ~/.local/state/vocabgap/hook.log.
    """
    from vocabgap.logbook.hooks import MOST_INPUT, log_calls, note_failure

    try:
        if sys.stdin is None:  # closed, although its type does not allow None
            raise InvalidInputError("there is no standard input")  # noqa: TRY301 - noted like other errors
        content = sys.stdin.buffer.read(MOST_INPUT + 1)
        logged = log_calls(request.agent, content, request.image)
    except Exception as error:
        note_failure(error)
        return None
    return Answer(result={"logged": [gap.gap_id for gap in logged]})


class Init(Request):
    """The request of `init`."""

    folder: Annotated[Path, argument("Folder that the agent works in.")] = Path()
    agent: Annotated[Agent, option("Agent to set up.")] = Agent.CLAUDE_CODE
    dry_run: Annotated[bool, option("Show the changes, but write nothing.")] = False


@verb(Init)
def init(_call: "Call", request: Init) -> Answer:
    """Set up an agent: its hooks, the MCP server and vocabgap.toml.

    Other entries do not change and are not shown. A second run changes nothing.
    """
    from vocabgap.files.atomic import alone_in
    from vocabgap.logbook.hooks import changes, write

    folder = request.folder
    if not folder.is_dir():
        raise NotFoundError(f"there is no folder '{folder}'")
    with nullcontext() if request.dry_run else alone_in(folder, undone="nothing was changed"):
        changed = changes(folder, request.agent)
        if not request.dry_run:
            write(changed)
    return Answer(
        events=(Event("file", {"path": str(path), "added": added}) for path, _, added in changed),
        result={"files": [str(change.path) for change in changed], "changed": not request.dry_run},
        view="init.txt.j2",
        shown={"changes": [tuple(change) for change in changed]},
        notes=[*_lacking()] if changed else [],
    )


def _lacking() -> Iterator[str]:
    """Yield what is missing for the agent; it would fail without a message."""
    if which("vocabgap") is None:
        yield "vocabgap is not on the PATH, so the agent cannot start it: see `vocabgap manual logging`"
    if find_spec("mcp_types") is None:
        yield f"the MCP server needs the package mcp: {installing('mcp')}"


class Mcp(Request):
    """The request of `mcp`."""

    root: Annotated[
        Path | None,
        argument("Folder of the logs; by default [ingest] roots in the settings, else the current folder."),
    ] = None
    read_only: Annotated[bool, option("Offer only tools that read.")] = False


@verb(Mcp, settings=("--out", "--vocabulary", "--decisions", "--hidden", "--source", "--map"))
def mcp(call: "Call", request: Mcp) -> None:
    """Run the MCP server, so that agents can log and read gaps."""
    settings = call.settings
    roots = settings.ingest.roots if request.root is None else (str(request.root),)
    if len(roots) > 1:
        raise InvalidInputError(
            f"the setting [ingest] roots has {len(roots)} folders, but a server needs one",
            hint="name one folder: `vocabgap mcp FOLDER`",
        )
    try:
        from vocabgap.doors.mcp.server import build, serve_stdio
    except ImportError as error:
        raise StateError(f"the MCP server needs the package mcp: {error}", hint=installing("mcp")) from error
    from anyio.from_thread import check_cancelled

    from vocabgap.doors.mcp.workspace import Workspace

    # The thread of a cancelled call ends at the next checkpoint.
    workspace = Workspace(roots[0] if roots else Path(), settings, check_cancelled)
    serve_stdio(build(workspace, read_only=request.read_only))  # the protocol uses standard output now
