"""`vocabgap glossary check` and `resume`: the words of files, and the words of steps."""

import dataclasses
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import msgspec

from vocabgap.doors.cli.calls import Call
from vocabgap.doors.cli.views import rendered
from vocabgap.doors.verbs import Answer, Event, Verbs, argument, option, verb
from vocabgap.errors import ExitCode, Hint, InvalidInputError, StateError
from vocabgap.glossary import commands
from vocabgap.glossary.commands import SHOWN_DIGITS, Acting, note_all, require_strictness, runtime_of
from vocabgap.glossary.conflicts import BlockedByConflictError
from vocabgap.glossary.extension import FOLDER
from vocabgap.glossary.linting import Linter, github, lint
from vocabgap.glossary.prompt import Prompt, prompt_of
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.senses import Strictness
from vocabgap.glossary.session import (
    AbortResumeError,
    ChangedInputs,
    ExecutionContext,
    load_state,
)
from vocabgap.model.moments import iso
from vocabgap.text import printable_name

_STDIN: Final = "-"
_MISSION, _STEP = "check", "check"
_STRICTNESS: Final = option("How strict the gate is: off, medium or max.")
_TEXT: Final = option("The text of a step; - reads it from stdin.")
_ASK: Final = option("Ask what terms mean; by default if somebody can answer.", "--ask/--no-ask")


class CheckFormat(StrEnum):
    """The format of the printed findings."""

    TEXT = "text"
    GITHUB = "github"


class CheckWords(Acting):
    """The request of `check`."""

    paths: Annotated[
        tuple[Path, ...],
        argument("Files or folders of Markdown and text; - is --text -.", "[PATH]..."),
    ] = ()
    text: Annotated[str | None, _TEXT] = None
    text_format: Annotated[CheckFormat, option("How findings in files are printed.", "--format")] = (
        CheckFormat.TEXT
    )
    exclude: Annotated[tuple[str, ...], option("A word of the text that is no term.")] = ()
    output_of_step: Annotated[str | None, option("The text generated so far.", "--output")] = None
    critical: Annotated[bool, option("Nothing may go wrong in this step.", "--critical")] = False
    strictness: Annotated[str | None, _STRICTNESS] = None
    ask: Annotated[bool | None, _ASK] = None
    mission: Annotated[str | None, option("The mission whose own senses count, too.")] = None
    step: Annotated[str | None, option("The name of the step.")] = None


@verb(CheckWords, settings=FOLDER)
def check(call: Call, request: CheckWords) -> Answer | None:
    """Check the words of files, or the text of a step.

    In files and folders, find words that the glossary says not to use; exit with 5 if there are any. In a
    text, find the terms and their meanings; exit with 4 if a meaning is open. The check is logged if the text
    belongs to a step: with --step, --mission, --critical or --ask.
    """
    paths, text = request.paths, request.text
    if paths == (Path(_STDIN),) and text is None:
        paths, text = (), _STDIN
    if (text is None) == (not paths):
        command = ("glossary", "check", "FILE")
        raise InvalidInputError(
            "expected files and folders, or a text",
            hint=Hint("{}, or --text 'the text of a step'", (command,)),
        )
    named = (request.output_of_step, request.strictness, request.mission, request.step)
    of_step = (
        request.critical or bool(request.ask or request.exclude) or any(each is not None for each in named)
    )
    if paths and of_step and all(path.exists() for path in paths):
        raise InvalidInputError("files were named, and options for a step", hint="give its text with --text")
    chosen = require_strictness(request.strictness)
    runtime = runtime_of(call, request)
    if text is None:
        return _lint(call, runtime, paths, request)
    is_step = request.critical or bool(request.ask) or request.mission is not None or request.step is not None
    runtime = dataclasses.replace(runtime, is_logged=is_step)
    generated = request.output_of_step
    step = ExecutionContext(
        request.step or _STEP,
        request.mission or _MISSION,
        f"run-{iso(runtime.now())}",
        {"description": _read(text)},
        {
            "critical_step": request.critical,
            "glossary_exclude_terms": list(request.exclude),
        },
        step_output={} if generated is None else {"output": _read(generated)},
    )
    prompt = prompt_of(call.output, ask=request.ask) if runtime.is_logged else None
    runtime.start(step, chosen)
    with _reporting(call, step):
        try:
            runtime.run(step, strictness=chosen, ask=prompt)
        finally:
            if not runtime.is_logged:  # nobody can answer what is not kept
                step.questions.clear()
    return None


def _lint(call: Call, runtime: GlossaryRuntime, paths: tuple[Path, ...], request: CheckWords) -> Answer:
    loaded = runtime.load()
    loaded.require_read()
    linter = Linter(loaded)
    found, checked, problems = lint(linter, paths)
    note_all(call, loaded.problems)
    for problem in problems:
        call.note(f"not checked: {problem}")
    named = [msgspec.structs.replace(each, path=printable_name(each.path)) for each in found]
    failing = sum(each.rule.fails for each in found)
    totals = {"files": checked, "unread": len(problems), "failing": failing}
    is_text = request.text_format is CheckFormat.TEXT
    return Answer(
        result={**totals, "findings": len(found)},
        events=(Event("finding", {"finding": each}) for each in named),
        view="glossary-findings.txt.j2" if is_text else "",
        shown={"found": named},
        text="\n".join(map(github, found)),
        exit_code=ExitCode.GATE if failing else ExitCode.DONE,
    )


class Resume(Acting, kw_only=True):
    """The request of `resume`."""

    token: Annotated[str, argument("The token of the step.")]
    text: Annotated[str | None, _TEXT] = None
    yes: Annotated[bool, option("Go on though the inputs have changed.", "--yes")] = False
    strictness: Annotated[str | None, _STRICTNESS] = None
    ask: Annotated[bool | None, _ASK] = None


@verb(Resume, settings=FOLDER)
def resume(call: Call, request: Resume) -> None:
    """Continue a step that was stopped, in the glossary as it is by now, with its text or another one."""
    chosen = require_strictness(request.strictness)
    runtime = runtime_of(call, request, exists=False)
    token = request.token
    prompt = prompt_of(call.output, ask=request.ask)

    def confirm(changed: ChangedInputs) -> bool:
        call.output.event("changed", old=changed.old, new=changed.new, changes=changed.changes)
        if prompt is not None and not request.yes:
            return prompt.confirm(changed)
        if not call.output.as_json:
            Prompt().show_changes(changed)
        if not request.yes:
            raise AbortResumeError(
                "what the step is given has changed since it was stopped, and nobody was asked about it",
                hint="say --yes to go on with it as it is now",
            )
        return True

    stopped = runtime.stopped(token, None if request.text is None else {"description": _read(request.text)})
    if request.text is None and load_state(runtime.logs, token) is None:
        raise StateError(
            f"nothing is kept of the step '{token}': it has gone on meanwhile, or its file is damaged",
            hint="give the text that it works on with --text",
        )
    with _reporting(call, stopped):
        runtime.run(stopped, strictness=chosen, ask=prompt, confirm=confirm)


@contextmanager
def _reporting(call: Call, step: ExecutionContext) -> Iterator[None]:
    """Print what was found out about a step, whether it goes on or not."""
    try:
        yield
    except BlockedByConflictError as error:
        _report(call, step, is_blocked=True)
        raise BlockedByConflictError(
            error.conflicts,
            error.strictness,
            error.message,
            retry_token=error.retry_token,
            hint=_how_to_go_on(step),
        ) from error
    finally:
        note_all(call, step.notes)
    _report(call, step, is_blocked=False)


def _how_to_go_on(step: ExecutionContext) -> str | Hint:
    if not step.questions:
        return "nothing was logged: name the step with --step, and its questions can be answered"
    resolve = _resolve(step.questions[0].conflict_id)
    if not step.retry_token:
        return Hint("answer with {}, then try again", (resolve,), FOLDER)
    return Hint("answer with {}, then {}", (resolve, ("glossary", "resume", step.retry_token)), FOLDER)


def _resolve(conflict_id: str) -> tuple[str, ...]:
    return "glossary", "resolve", conflict_id[:SHOWN_DIGITS]


def _report(call: Call, step: ExecutionContext, *, is_blocked: bool) -> None:
    output, result = (
        call.output,
        {
            "blocked": is_blocked,
            "retry_token": step.retry_token if is_blocked else None,
            "strictness": step.effective_strictness,
            "terms": len(step.extracted_terms),
            "conflicts": len(step.conflicts),
            "resumed": step.resumed_from_checkpoint,
        },
    )
    for term in step.extracted_terms:
        output.event("term", term=term, means=step.meanings.get(term.surface.surface_text))
    for conflict in step.conflicts:
        output.event("conflict", conflict=conflict)
    for question in step.questions:
        output.event("question", conflict_id=question.conflict_id, term=question.term)
    output.event("checked" if is_blocked else "result", **result)
    if output.as_json:
        return
    open_terms = {each.term: each for each in step.conflicts}
    identifiers = {each.term: each.conflict_id for each in step.questions}
    rows = [
        (
            term.surface,
            term.source,
            f"{term.confidence:.1f}",
            conflict and f"{conflict.conflict_type} ({conflict.severity})",
            identifiers.get(term.surface.surface_text, "")[:SHOWN_DIGITS] or None,
            step.meanings.get(term.surface.surface_text),
        )
        for term in step.extracted_terms
        for conflict in [open_terms.get(term.surface)]
    ]
    values = {
        "is_checked": step.effective_strictness not in {None, Strictness.OFF},
        "rows": rows,
        "settled": len(rows) - len(open_terms),
        "questions": [
            (each, call.completed(Hint("{}", (_resolve(each.conflict_id),), FOLDER)))
            for each in (step.questions if is_blocked else ())
        ],
    }
    output.text(rendered("glossary-check.txt.j2", result | values))


def _read(text: str) -> str:
    return sys.stdin.read() if text == _STDIN else text


GLOSSARY: Final = Verbs(
    "glossary",
    "Say what words mean, and check that it is settled.\n\n"
    "A glossary is a folder with a file for each scope, `<scope>.yaml`, and the log of what people answered.",
    (
        check,
        commands.conflicts,
        commands.resolve,
        resume,
        commands.list_terms,
        commands.show_term,
        commands.validate,
        commands.import_terms,
        commands.promote,
        commands.deprecate,
    ),
)
