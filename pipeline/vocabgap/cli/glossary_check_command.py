"""`vocabgap glossary check` and `resume`: is it settled what the words of a step mean?"""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from vocabgap.cli.glossary_conflicts_command import Prompt
from vocabgap.cli.glossary_options import (
    SHOWN_DIGITS,
    ActingOptions,
    AskOption,
    MissionOption,
    StrictnessOption,
    existing_runtime,
    require_strictness,
    runtime_of,
)
from vocabgap.cli.options import with_options
from vocabgap.cli.output import PROGRAM, Output, output_of, table
from vocabgap.errors import InvalidInputError, NotFoundError, StateError
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.records.moments import iso
from vocabgap.text import count, escape_unseen, printable_name, visible

if TYPE_CHECKING:
    from vocabgap.glossary.session import ChangedInputs, ExecutionContext


_STDIN: Final = "-"
# One word with a separator of folders or the ending of a file; a sentence may end in a full stop.
_FILE_NAME: Final = re.compile(r"\S*[/\\]\S*|\S*\w\.[A-Za-z]\w{0,5}")
_SOURCE: Final = "source_file"  # in the metadata of a step: where its text was read
_MISSION, _STEP = "check", "check"

TextArgument = Annotated[
    str, typer.Argument(metavar="TEXT|FILE", help="A text, a file of one, or - for stdin.")
]


@with_options(ActingOptions)
def check(
    context: typer.Context,
    text: TextArgument,
    output_of_step: Annotated[
        str | None, typer.Option("--output", metavar="TEXT|FILE", help="What was generated from it so far.")
    ] = None,
    watch: Annotated[list[str] | None, typer.Option(help="A term to look for; may be repeated.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="What is no term; may be repeated.")] = None,
    critical: Annotated[bool, typer.Option("--critical", help="Nothing may go wrong here.")] = False,
    strictness: StrictnessOption = None,
    ask: AskOption = None,
    mission: MissionOption = None,
    step: Annotated[str, typer.Option(help="The step.")] = _STEP,
) -> None:
    """Find the terms of a text and say what they mean; exit with 4 where that is open."""
    from vocabgap.glossary.session import ExecutionContext

    output = output_of(context)
    chosen = require_strictness(strictness)
    runtime = existing_runtime(context)
    metadata: dict[str, Any] = {"critical_step": critical}
    if watch:
        metadata["glossary_watch_terms"] = watch
    if exclude:
        metadata["glossary_exclude_terms"] = exclude
    content, source = _read(text)
    if source:
        metadata[_SOURCE] = source
    outputs = {} if output_of_step is None else {"output": _read(output_of_step)[0]}
    step_context = ExecutionContext(
        step,
        mission or _MISSION,
        f"run-{iso(runtime.now())}",
        {"description": content},
        metadata,
        step_output=outputs,
    )
    prompt = _prompt(output, ask=ask)
    runtime.start(step_context, chosen)
    with _telling(output, step_context):
        runtime.run(step_context, strictness=chosen, ask=prompt)


@with_options(ActingOptions)
def resume(
    context: typer.Context,
    token: Annotated[
        str | None, typer.Argument(help="The token of the step; that of the newest that waits by default.")
    ] = None,
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="TEXT|FILE", help="What the step is given now; by default what it was given then."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Go on though the inputs have changed.")] = False,
    strictness: StrictnessOption = None,
    ask: AskOption = None,
) -> None:
    """Let a step go on that was stopped, in the glossary as it is by now."""
    from vocabgap.glossary.checkpoints import load_state, state_path, waiting_folder
    from vocabgap.glossary.session import AbortResumeError

    output = output_of(context)
    chosen = require_strictness(strictness)
    runtime = runtime_of(context)
    if token is None:
        token = runtime.newest()
        if token is None:
            raise NotFoundError("no step was stopped that still waits", hint="there is nothing to resume")
    state = load_state(runtime.logs, token)
    source = None if state is None else state.metadata.get(_SOURCE)
    inputs = _given(text, source)
    prompt = _prompt(output, ask=ask)

    def confirm(changed: "ChangedInputs") -> bool:
        output.event("changed", old=changed.old, new=changed.new, changes=changed.changes)
        if prompt is not None and not yes:
            return prompt.confirm(changed)
        if not output.as_json:
            Prompt().show_changes(changed)
        if not yes:
            raise AbortResumeError(
                "what the step is given has changed since it was stopped, and nobody was asked about it",
                hint="say --yes to go on with it as it is now",
            )
        return True

    stopped = runtime.stopped(token, inputs)
    if state is None and inputs is None:
        why = _why_lost(state_path(runtime.logs, token))
        raise StateError(
            f"nothing is kept of the step that was stopped with '{token}': {why}",
            hint="give the text that it works on behind the token",
        )
    with _telling(output, stopped):
        runtime.run(stopped, strictness=chosen, ask=prompt, confirm=confirm)
    if waiting_folder(runtime.logs, token).is_dir():
        output.note(f"a report waits under this token: `{PROGRAM} report --resume {token}` publishes it")


def _given(text: str | None, source: object) -> dict[str, str] | None:
    """What a step is given now: the text behind its token, or its file; none where it is as it was."""
    if text is not None:
        return {"description": _read(text)[0]}
    return {"description": _read_again(Path(source))} if isinstance(source, str) else None


def _why_lost(path: Path) -> str:
    """Why what was kept of a step in a file cannot be used."""
    kind = file_kind(path)
    if kind is FileKind.NOTHING:
        return "it has gone on meanwhile, or was stopped elsewhere"
    problem = "damaged" if kind is FileKind.FILE else f"{kind}, expected a regular file"
    return f"'{printable_name(str(path))}' is {problem}"


@contextmanager
def _telling(output: Output, context: "ExecutionContext") -> Iterator[None]:
    """Say what was found out about a step, whether it goes on or not, and if not, what to do."""
    from vocabgap.glossary.conflicts import BlockedByConflictError

    try:
        yield
    except BlockedByConflictError as error:
        _tell(output, context, is_blocked=True)
        raise BlockedByConflictError(
            error.conflicts,
            error.strictness,
            error.message,
            retry_token=error.retry_token,
            hint=how_to_go_on(context, f"{PROGRAM} glossary resume"),
        ) from error
    finally:
        for note in context.notes:
            output.note(visible(note))
    _tell(output, context, is_blocked=False)


def how_to_go_on(context: "ExecutionContext", resuming: str) -> str:
    """What to do about a step that was stopped; `resuming` is the command that lets it go on."""
    if not context.retry_token:
        return f"answer the questions with `{PROGRAM} glossary resolve`, then try again"
    first = context.questions[0].conflict_id[:SHOWN_DIGITS] if context.questions else "CONFLICT"
    return f"answer with `{PROGRAM} glossary resolve {first}`, then `{resuming} {context.retry_token}`"


def _tell(output: Output, context: "ExecutionContext", *, is_blocked: bool) -> None:
    strictness = context.effective_strictness
    for term in context.extracted_terms:
        meaning = context.meanings.get(term.surface.surface_text)
        output.event("term", term=term, means=meaning)
    for conflict in context.conflicts:
        output.event("conflict", conflict=conflict)
    for question in context.questions:
        output.event("question", conflict_id=question.conflict_id, term=question.term)
    output.event(
        "checked" if is_blocked else "result",
        blocked=is_blocked,
        retry_token=context.retry_token if is_blocked else None,
        strictness=strictness,
        terms=len(context.extracted_terms),
        conflicts=len(context.conflicts),
        resumed=context.resumed_from_checkpoint,
    )
    if not output.as_json:
        _show(output, context, is_blocked=is_blocked)


def _show(output: Output, context: "ExecutionContext", *, is_blocked: bool) -> None:
    if context.effective_strictness is None or context.effective_strictness.value == "off":
        output.text("Nothing was checked: strictness off")
        return
    open_terms = {each.term: each for each in context.conflicts}
    identifiers = {each.term: each.conflict_id for each in context.questions}
    rows = []
    for term in context.extracted_terms:
        conflict = open_terms.get(term.surface)
        rows.append(
            (
                term.surface,
                term.source,
                f"{term.confidence:.1f}",
                conflict and f"{conflict.conflict_type} ({conflict.severity})",
                identifiers.get(term.surface.surface_text, "")[:SHOWN_DIGITS] or None,
                context.meanings.get(term.surface.surface_text),
            )
        )
    if rows:
        headings = ("term", "found as", "confidence", "open", "conflict", "means")
        output.text(
            table(headings, rows, numbers=("confidence",), dates=("found as", "open", "conflict")) + "\n"
        )
    for question in context.questions if is_blocked else ():
        output.text(visible(f"{question.conflict_id[:SHOWN_DIGITS]}: {question.text}"))
        for number, sense in enumerate(question.candidates, 1):
            output.text("  " + visible(f"{number}. {sense.definition} [{sense.scope}]"))
        choice = "--select N or " if question.candidates else ""
        output.text(f"  {choice}--define TEXT of `{PROGRAM} glossary resolve` answers without being asked\n")
    settled = len(rows) - len(open_terms)
    outcome = "stopped" if is_blocked else "nothing stops this step"
    strictness = context.effective_strictness
    output.text(f"{count(len(rows), 'term')}, {settled:,} settled; {outcome} (strictness {strictness})")


def _prompt(output: Output, *, ask: bool | None) -> "Prompt | None":
    """What asks, where somebody is there to answer."""
    if ask is None:
        ask = sys.stdin.isatty() and sys.stderr.isatty() and not output.as_json
    return Prompt() if ask else None


def _read(text: str) -> tuple[str, str]:
    """A text that was given as it is or as a file, and the file."""
    if text == _STDIN:
        return sys.stdin.read(), ""
    path = Path(text)
    try:
        if path.is_file():
            return _content(path), str(path.resolve())
    except (OSError, ValueError) as error:
        if len(text.split()) > 1 or "\0" in text:
            return text, ""  # no path, but a text that is too long for one
        raise StateError(f"'{escape_unseen(text)}' cannot be read: {error}") from error
    # A text in place of a file that is not there would let pass what the file would not.
    if _FILE_NAME.fullmatch(text):
        raise NotFoundError(
            f"there is no file '{escape_unseen(text)}'",
            hint="check the name; a text that looks like one is given on stdin, with -",
        )
    return text, ""


def _read_again(path: Path) -> str:
    """The text of a file that was read when the step was stopped."""
    if not path.is_file():
        raise NotFoundError(
            f"the text of the step, '{escape_unseen(str(path))}', is gone",
            hint="put the file back, or name the text or its file behind the token",
        )
    return _content(path)


def _content(path: Path) -> str:
    name = escape_unseen(str(path))
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{name}: byte {error.start}: expected UTF-8 text", hint="save it in UTF-8"
        ) from error
    except OSError as error:
        raise StateError(f"'{name}' cannot be read: {error}") from error
