"""`vocabgap hook` and `init`: gaps that an agent's program tells of by itself, and how it is told to."""

import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from shutil import which
from typing import Annotated

import typer

from vocabgap.doors.cli.output import output_of
from vocabgap.errors import InvalidInputError
from vocabgap.text import count, escape_unseen


class Agent(StrEnum):
    """Programs whose hooks are known."""

    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"


def hook(
    context: typer.Context,
    # Not of type `Agent`: an unknown one is noted in the hook's log, as whatever else it could not do.
    agent: Annotated[
        str,
        typer.Argument(help="Whose hook it is: claude-code or cursor.", autocompletion=lambda: list(Agent)),
    ],
    image: Annotated[
        Path | None, typer.Argument(help="Folder to log in; by default the one that the agent works in.")
    ] = None,
    with_prompt: Annotated[
        bool, typer.Option("--with-prompt", help="Log what the person typed last as the intent, too.")
    ] = False,
) -> None:
    """Log the calls of tools that do not exist which a hook tells of on standard input.

    It always ends with 0: why it could not do its work is in ~/.local/state/vocabgap/hook.log.
    """
    from vocabgap.logbook.hooks import MOST_INPUT, log_calls, note_failure

    try:
        if sys.stdin is None:  # where it was closed; its type does not say so
            raise InvalidInputError("there is no standard input")  # noqa: TRY301 - noted as any other failure
        content = sys.stdin.buffer.read(MOST_INPUT + 1)
        logged = log_calls(agent, content, image, with_prompt=with_prompt)
    except Exception as error:
        note_failure(error)
        return
    if output_of(context).as_json:
        output_of(context).event("result", logged=[gap.gap_id for gap in logged])


def init(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="Folder that the agent works in.")] = Path(),
    agent: Annotated[Agent, typer.Option(help="Whose settings are written.")] = Agent.CLAUDE_CODE,
    remove: Annotated[bool, typer.Option("--remove", help="Take out what was put in.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")
    ] = False,
) -> None:
    """Let an agent's program log gaps: its hooks, the MCP server, and vocabgap.toml.

    What is there stays, and is not shown; a second time changes nothing.
    """
    from vocabgap.logbook.agent_settings import changes, write

    output = output_of(context)
    changed = changes(folder, agent, remove=remove)
    for path, content, added in changed:
        output.event("file", path=str(path), added=added, removed=content is None)
        how = "removed" if content is None else "its entries are taken out" if remove else ""
        shown = [f"{path}: {how}"] if how else [str(path), *added.splitlines(), ""]
        output.text("\n".join(map(escape_unseen, shown)))
    if not dry_run:
        write(changed)
    done = count(len(changed), "file") + (" would change" if dry_run else " changed")
    output.result(done, files=[str(each.path) for each in changed], changed=not dry_run)
    if changed and not remove:
        for lacking in _lacking():
            output.note(lacking)


def _lacking() -> Iterator[str]:
    """What the settings name that is not there: an agent's program starts it unseen, and says nothing."""
    from vocabgap.doors.mcp import INSTALL_HINT, is_installed

    if which("vocabgap") is None:
        yield "vocabgap is not on the PATH, where the agent looks for it: see `vocabgap manual logging`"
    if not is_installed():
        yield f"the MCP server needs mcp, which is not installed: {INSTALL_HINT}"
