"""`vocabgap glossary check` and `resume`: the words of files, and those of the steps that go on from them."""

import dataclasses
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
import typer

from vocabgap.doors.cli.options import runnable, with_options
from vocabgap.doors.cli.output import PROGRAM, Output, output_of, table
from vocabgap.errors import ExitCode, InvalidInputError, NotFoundError, StateError
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.glossary.asking import Prompt, prompt_of
from vocabgap.glossary.options import (
    SHOWN_DIGITS,
    ActingOptions,
    AskOption,
    MissionOption,
    StrictnessOption,
    existing_runtime,
    note_problems,
    require_strictness,
    runtime_of,
)
from vocabgap.model.moments import iso
from vocabgap.text import count, escape_unseen, excerpt, printable_name, visible

if TYPE_CHECKING:
    from vocabgap.glossary.runtime import GlossaryRuntime
    from vocabgap.glossary.session import ChangedInputs, ExecutionContext


_STDIN: Final = "-"
_MISSION, _STEP = "check", "check"


class CheckFormat(StrEnum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


TextOption = Annotated[
    str | None, typer.Option("--text", metavar="TEXT", help="The text of a step; - reads it from stdin.")
]


@with_options(ActingOptions)
def check(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH]...", help="Files or folders of Markdown, text and Python; - is --text -."
        ),
    ] = None,
    text: TextOption = None,
    text_format: Annotated[
        CheckFormat, typer.Option("--format", help="How findings in files are printed.")
    ] = CheckFormat.TEXT,
    unknown: Annotated[
        bool, typer.Option("--unknown", help="Find what looks like a term and is in no glossary, too.")
    ] = False,
    exclude: Annotated[list[str] | None, typer.Option(help="What is no term; may be repeated.")] = None,
    output_of_step: Annotated[
        str | None, typer.Option("--output", metavar="TEXT", help="What was generated from the text so far.")
    ] = None,
    watch: Annotated[
        list[str] | None, typer.Option(help="A term to look for in the text; may be repeated.")
    ] = None,
    critical: Annotated[bool, typer.Option("--critical", help="Nothing may go wrong in this step.")] = False,
    strictness: StrictnessOption = None,
    ask: AskOption = None,
    mission: MissionOption = None,
    step: Annotated[str | None, typer.Option(help="What the step is called.")] = None,
    log: Annotated[
        bool | None,
        typer.Option("--log/--no-log", help="Log the check of a text; by default where it is a step's."),
    ] = None,
) -> None:
    """Check the words of files, or whether those of a step are settled.

    For files and folders: where they use a word that the glossary says not to use; exit with 5 if they do.
    For a text: which terms it has, and what they mean; exit with 4 where that is open. It is logged, to be
    answered and resumed, where it is a step's: with --step, --mission, --critical or --ask.
    """
    if paths == [Path(_STDIN)] and text is None:
        paths, text = None, _STDIN
    if (text is None) == (not paths):
        raise InvalidInputError(
            "expected files and folders, or a text",
            hint=f"`{PROGRAM} glossary check FILE`, or --text 'the text of a step'",
        )
    of_step = (output_of_step, watch, strictness, mission, step, critical or ask or log or None)
    if paths and any(each is not None for each in of_step) and all(path.exists() for path in paths):
        raise InvalidInputError("files were named, and options for a step", hint="give its text with --text")
    from vocabgap.glossary.session import ExecutionContext

    output = output_of(context)
    chosen = require_strictness(strictness)
    runtime = existing_runtime(context)
    if text is None:
        _lint(output, runtime, paths or [], text_format, unknown=unknown, excluded=exclude or ())
        return
    is_step = critical or bool(ask) or mission is not None or step is not None
    runtime = dataclasses.replace(runtime, is_logged=is_step if log is None else log)
    step_context = ExecutionContext(
        step or _STEP,
        mission or _MISSION,
        f"run-{iso(runtime.now())}",
        {"description": _read(text)},
        {"critical_step": critical, "glossary_watch_terms": watch, "glossary_exclude_terms": exclude},
        step_output={} if output_of_step is None else {"output": _read(output_of_step)},
    )
    prompt = prompt_of(output, ask=ask) if runtime.is_logged else None
    runtime.start(step_context, chosen)
    with _telling(output, step_context, context.params):
        try:
            runtime.run(step_context, strictness=chosen, ask=prompt)
        finally:
            if not runtime.is_logged:  # nobody can answer what is not kept
                step_context.questions.clear()


def _lint(
    output: Output,
    runtime: "GlossaryRuntime",
    paths: Sequence[Path],
    text_format: CheckFormat,
    *,
    unknown: bool,
    excluded: Sequence[str],
) -> None:
    from vocabgap.glossary.linting import Linter, github, lint, sarif

    loaded = runtime.load()
    loaded.require_read()
    found, checked, problems, refused = lint(Linter(loaded, unknown=unknown, excluded=excluded), paths)
    note_problems(output, loaded)
    for problem in problems:
        output.note(f"not checked: {escape_unseen(problem)}")
    named = [msgspec.structs.replace(each, path=printable_name(each.path)) for each in found]
    for finding in named:
        output.event("finding", finding=finding)
    failing = sum(each.rule.fails for each in found)
    totals = {"files": checked, "unread": len(problems), "failing": failing}
    output.event("result", **totals, findings=len(found))
    match text_format:
        case CheckFormat.JSON:
            output.text(json.dumps(msgspec.to_builtins({**totals, "findings": named}), indent=2))
        case CheckFormat.SARIF:
            output.text(json.dumps(sarif(found), indent=2))
        case CheckFormat.GITHUB if found:
            output.text("\n".join(map(github, found)))
        case CheckFormat.TEXT:
            for each in named:
                output.text(f"{escape_unseen(each.path)}:{each.line}:{each.column}: {excerpt(each.message)}")
                output.text(f"  {excerpt(each.sentence)}")
            output.text(
                f"{count(len(found), 'finding')} in {count(checked, 'file')}, {failing:,} to be changed"
            )
    if refused is not None:  # which comes last, so that it costs no finding in other files
        raise refused
    if failing:
        raise typer.Exit(ExitCode.GATE)


@with_options(ActingOptions)
def resume(
    context: typer.Context,
    token: Annotated[
        str | None, typer.Argument(help="The token of the step; that of the newest that waits by default.")
    ] = None,
    text: TextOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Go on though the inputs have changed.")] = False,
    strictness: StrictnessOption = None,
    ask: AskOption = None,
) -> None:
    """Let a step go on that was stopped, in the glossary as it is by now, with its text or another one."""
    from vocabgap.glossary.checkpoints import load_state, state_path
    from vocabgap.glossary.session import AbortResumeError

    output = output_of(context)
    chosen = require_strictness(strictness)
    runtime = runtime_of(context)
    token = token or runtime.newest()
    if token is None:
        raise NotFoundError("no step was stopped that still waits", hint="there is nothing to resume")
    prompt = prompt_of(output, ask=ask)

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

    stopped = runtime.stopped(token, None if text is None else {"description": _read(text)})
    if text is None and load_state(runtime.logs, token) is None:
        why = _why_lost(state_path(runtime.logs, token))
        raise StateError(
            f"nothing is kept of the step that was stopped with '{token}': {why}",
            hint="give the text that it works on with --text",
        )
    with _telling(output, stopped, context.params):
        runtime.run(stopped, strictness=chosen, ask=prompt, confirm=confirm)


def _why_lost(path: Path) -> str:
    """Why what was kept of a step in a file cannot be used."""
    kind = file_kind(path)
    if kind is FileKind.NOTHING:
        return "it has gone on meanwhile, or was stopped elsewhere"
    problem = "damaged" if kind is FileKind.FILE else f"{kind}, expected a regular file"
    return f"'{printable_name(str(path))}' is {problem}"


@contextmanager
def _telling(output: Output, context: "ExecutionContext", given: Mapping[str, Any]) -> Iterator[None]:
    """Say what was found out about a step, whether it goes on or not, and if not, what to do.

    What to do is a command with those of the options given that it needs.
    """
    from vocabgap.glossary.conflicts import BlockedByConflictError

    try:
        yield
    except BlockedByConflictError as error:
        _tell(output, context, given, is_blocked=True)
        hint = _how_to_go_on(context)
        raise BlockedByConflictError(
            error.conflicts, error.strictness, error.message, retry_token=error.retry_token, hint=hint
        ) from error
    finally:
        for note in context.notes:
            output.note(visible(note))
    _tell(output, context, given, is_blocked=False)


def _how_to_go_on(context: "ExecutionContext") -> str:
    if not context.questions:
        return "nothing was logged: name the step with --step, and its questions can be answered"
    first = context.questions[0].conflict_id[:SHOWN_DIGITS]
    if not context.retry_token:
        return f"answer with `{PROGRAM} glossary resolve {first}`, then try again"
    return (
        f"answer with `{PROGRAM} glossary resolve {first}`,"
        f" then `{PROGRAM} glossary resume {context.retry_token}`"
    )


def _tell(output: Output, context: "ExecutionContext", given: Mapping[str, Any], *, is_blocked: bool) -> None:
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
        strictness=context.effective_strictness,
        terms=len(context.extracted_terms),
        conflicts=len(context.conflicts),
        resumed=context.resumed_from_checkpoint,
    )
    if not output.as_json:
        _show(output, context, given, is_blocked=is_blocked)


def _show(output: Output, context: "ExecutionContext", given: Mapping[str, Any], *, is_blocked: bool) -> None:
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
        command = runnable(f"`{PROGRAM} glossary resolve {question.conflict_id[:SHOWN_DIGITS]}`", given)
        output.text(f"  {choice}--define TEXT of {command} answers without being asked\n")
    settled = len(rows) - len(open_terms)
    outcome = "stopped" if is_blocked else "nothing stops this step"
    strictness = context.effective_strictness
    output.text(f"{count(len(rows), 'term')}, {settled:,} settled; {outcome} (strictness {strictness})")


def _read(text: str) -> str:
    return sys.stdin.read() if text == _STDIN else text
