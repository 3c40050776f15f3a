"""`log`, `hook`, `init` and `mcp`: gaps are written down, by a person or by the program of an agent."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Annotated, Any, Final

from vocabgap.doors.verbs import Answer, Event, Panel, Place, Request, argument, extended, option, verb
from vocabgap.errors import InvalidInputError, StateError, VocabgapError
from vocabgap.model.record import given_fields, need_of
from vocabgap.text import count, escape_unseen, shortened, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vocabgap.doors.cli.calls import Call
    from vocabgap.listing.similar import SimilarGap
    from vocabgap.logbook.log import LoggedGap

_DIGITS: Final = 12  # of an identifier, enough to name a record
_WIDTH: Final = 60  # characters of a label
_INSTALL_HINT: Final = "pip install 'vocabgap[mcp]'"


class LogOptions(Request, kw_only=True):
    """The request of `log`, without the fields of the record."""

    image: Annotated[str, argument("Folder of the image. Its log is created if it does not exist.")]
    corrects: Annotated[
        str | None, option("The record_id of the record that this one replaces.", panel=Panel.RECORD)
    ] = None
    suggest: Annotated[
        bool, option("Name the nearest capabilities of the last report and the nearest entries.")
    ] = False
    run: Annotated[
        Place | None, option("Folder of the report that --suggest looks at.", panel=Panel.READ)
    ] = None


_FIELDS: Final = given_fields("cli")


@verb(extended(LogOptions, _FIELDS, Panel.RECORD), settings=("--vocabulary",))
def log(call: "Call", request: LogOptions) -> Answer:
    """Write a gap down in the log of an image: one line, whole or not at all."""
    from vocabgap.logbook.log import log_gap

    near = _finder(call, request.run) if request.suggest else None
    given = {name: _given(getattr(request, name)) for name, *_ in _FIELDS}
    logged = log_gap(
        request.image,
        **given,
        corrects=request.corrects,
        on_wait=partial(call.note, "waiting for another writer of this log ..."),
    )
    similar, problem = _similar(near, logged) if near else ([], "")
    note = _category_note(call, request, given["intent_category"])
    return Answer(
        result={
            "success": True,
            "gap_id": logged.gap_id,
            "path": str(logged.path),
            "record": logged.record,
            "similar": similar,
            "note": note or None,
        },
        text=""
        if call.output.as_json
        else "\n".join(_lines(logged, similar if near and not problem else None)),
        notes=[message for message in (problem, note) if message],
        done=f"the gap was logged, as {logged.gap_id}",
    )


def _given(value: Any) -> Any:  # noqa: ANN401 - a field of the record
    """Return a field as `log_gap` takes it. An empty text was not given: a variable may be unset."""
    if value in ("", ()):
        return None
    return [*value] if isinstance(value, tuple) else value


def _lines(logged: "LoggedGap", similar: "Sequence[SimilarGap] | None") -> list[str]:
    """Return the text for a person; Jinja would take longer than the log itself."""
    category = visible(logged.record["intent_category"])
    lines = [escape_unseen(f"logged {logged.gap_id[:_DIGITS]} in {logged.path}, category {category}")]
    for gap in similar or ():
        name = (
            f"{gap.kind} {gap.name}"
            if gap.mentions is None
            else f"{gap.name}, {count(gap.mentions, 'mention')}"
        )
        label = visible(shortened(gap.label, _WIDTH))
        if gap.wording is not None and gap.wording != gap.label:
            label += f", as in '{visible(shortened(gap.wording, _WIDTH))}'"
        lines.append(f"  near: {label} ({visible(name)}, {gap.similarity:.2f})")
    if similar is not None and not similar:
        lines.append("  no known need comes near")
    return lines


def _similar(
    near: "Callable[[str], list[SimilarGap]]", logged: "LoggedGap"
) -> "tuple[list[SimilarGap], str]":
    """Return what is near, or a message; the gap is logged, so an error must not end the command."""
    try:
        return near(need_of(logged.record)), ""
    except VocabgapError as error:
        return [], f"similar gaps are not available: {error.message}"


def _category_note(call: "Call", request: LogOptions, category: str | None) -> str:
    """Return a note on a category that is not known; none if the settings cannot be read."""
    if category:
        from vocabgap.listing.records import unknown_category

        with suppress(VocabgapError):
            return unknown_category(category, call.settings, request.run or call.settings.report.out)
    return ""


def _finder(call: "Call", run: str | None) -> "Callable[[str], list[SimilarGap]]":
    """Return the function that finds what is near; without a report, in the vocabulary alone."""
    from vocabgap.listing.records import published_in
    from vocabgap.listing.similar import similar_gaps
    from vocabgap.ranking.vocabulary import load_vocabulary

    settings = call.settings
    published, why_not = published_in(run, settings.report.out)
    if why_not:  # a gap is not lost because of a report that nobody named
        call.note(why_not)
    ranked = None if published is None else published.ranked
    known = load_vocabulary(settings.vocabulary.paths)
    entries = known if settings.vocabulary.paths else None
    return partial(similar_gaps, capabilities=ranked, vocabulary=entries, settings=settings)


class Agent(StrEnum):
    """The programs whose hooks vocabgap can read."""

    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"


class Hook(Request, kw_only=True):
    """The request of `hook`. The agent is a text, because the log of hooks notes an unknown one."""

    agent: Annotated[
        str, argument("Whose hook it is: claude-code or cursor.", completion=lambda: list(Agent))
    ]
    image: Annotated[
        Path | None, argument("Folder to log in; by default the one that the agent works in.")
    ] = None


@verb(Hook)
def hook(call: "Call", request: Hook) -> Answer | None:
    """Log the calls of tools that do not exist, as a hook tells of them on standard input.

    The exit code is always 0. Errors are written to ~/.local/state/vocabgap/hook.log.
    """
    from vocabgap.logbook.hooks import MOST_INPUT, log_calls, note_failure

    try:
        if sys.stdin is None:  # it was closed; its type does not say so
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
    agent: Annotated[Agent, option("Whose settings are written.")] = Agent.CLAUDE_CODE
    dry_run: Annotated[bool, option("Show what would change, and change nothing.")] = False


@verb(Init)
def init(call: "Call", request: Init) -> Answer:
    """Let an agent's program log gaps: its hooks, the MCP server, and vocabgap.toml.

    Other entries stay, and are not shown. A second run changes nothing.
    """
    from vocabgap.logbook.agent_settings import changes, write

    changed = changes(request.folder, request.agent)
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
    """Yield what the agent needs and does not find; its program would fail without a message."""
    if which("vocabgap") is None:
        yield "vocabgap is not on the PATH, where the agent looks for it: see `vocabgap manual logging`"
    if find_spec("mcp_types") is None:
        yield f"the MCP server needs mcp, which is not installed: {_INSTALL_HINT}"


class Mcp(Request):
    """The request of `mcp`."""

    root: Annotated[
        Path | None,
        argument(
            "Folder of the image repositories; by default that which [ingest] roots names in the settings,"
            " else the current one."
        ),
    ] = None
    read_only: Annotated[bool, option("Offer no tool that writes anything.")] = False


@verb(Mcp, settings=("--out", "--vocabulary", "--decisions", "--hidden"))
def mcp(call: "Call", request: Mcp) -> None:
    """Serve agents over standard input and output."""
    settings = call.settings
    roots = settings.ingest.roots if request.root is None else (str(request.root),)
    if len(roots) > 1:
        raise InvalidInputError(
            f"[ingest] roots names {len(roots)} folders, and a server has one", hint="name it"
        )
    try:
        from vocabgap.doors.mcp.server import build, serve_stdio
    except ImportError as error:
        raise StateError(f"the MCP server needs mcp: {error}", hint=_INSTALL_HINT) from error
    from vocabgap.doors.mcp.workspace import Workspace

    workspace = Workspace.at(roots[0] if roots else Path(), settings, is_read_only=request.read_only)
    serve_stdio(build(workspace))  # from here on standard output belongs to the protocol
