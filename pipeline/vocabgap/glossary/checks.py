"""The commands `check`, `resume` and `resolve` of `vocabgap glossary`, and prompts for people."""

import dataclasses
import os
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

from vocabgap.doors.cli.calls import Call
from vocabgap.doors.cli.output import Output
from vocabgap.doors.verbs import Answer, Event, Verbs, argument, option, verb
from vocabgap.doors.views import rendered
from vocabgap.errors import ExitCode, Hint, InvalidInputError
from vocabgap.files import STANDARD_INPUT
from vocabgap.files.signals import end_reads
from vocabgap.glossary import commands
from vocabgap.glossary.commands import MISSION, Acting, note_all, runtime_of, standing_questions
from vocabgap.glossary.conflicts import BlockedByConflictError
from vocabgap.glossary.extension import FOLDER
from vocabgap.glossary.linting import Linter, github, lint, text_of
from vocabgap.glossary.questions import Answer as Meaning
from vocabgap.glossary.questions import (
    Defer,
    Define,
    NoTerm,
    OpenQuestion,
    Question,
    Select,
    groups_of,
    parse_answer,
    require_questions,
)
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.senses import NO_TERM, SemanticConflict, SenseRef, Strictness
from vocabgap.glossary.session import AbortResumeError, ChangedInputs, ExecutionContext
from vocabgap.model.moments import iso
from vocabgap.text import excerpt

CheckFormat = StrEnum("CheckFormat", ["TEXT", "GITHUB"])


class OfStep(Acting):
    """Base of requests that check a step."""

    text: Annotated[str | None, option("The text of a step; - reads it from stdin.")] = None
    strictness: Annotated[Strictness | None, option("The strictness of the gate.")] = None
    ask: Annotated[bool | None, option("Ask for meanings, by default on a terminal.", "--ask/--no-ask")] = (
        None
    )


class CheckWords(OfStep):
    """The request of `check`."""

    paths: Annotated[tuple[Path, ...], argument("Files or folders; - reads a text.", "[PATH]...")] = ()
    text_format: Annotated[CheckFormat, option("The format of findings.", "--format")] = CheckFormat.TEXT
    output_of_step: Annotated[str | None, option("The text generated so far.", "--output")] = None
    critical: Annotated[bool, option("A critical step has more severe conflicts.", "--critical")] = False
    mission: Annotated[str | None, option("Also use the senses of this mission.")] = None
    step: Annotated[str | None, option("The name of the step.")] = None


@verb(CheckWords, settings=FOLDER)
def check(call: Call, request: CheckWords) -> Answer:
    """Check the words of files, or the text of a step.

    In files and folders, find words that the glossary says not to use; exit with 5 if there are any. In a
    text, find the terms and their meanings; exit with 4 if the gate stops the step. The check is logged with
    --step, --mission, --critical or --ask.
    """
    paths, text = request.paths, request.text
    if paths == (Path(STANDARD_INPUT),) and text is None:
        paths, text = (), STANDARD_INPUT
    if (text is None) == (not paths):
        hint = Hint("{}, or --text 'the text of a step'", (("glossary", "check", "FILE"),))
        raise InvalidInputError("expected files and folders, or a text", hint=hint)
    is_step = bool(request.critical or request.ask or request.mission or request.step)
    if paths and (is_step or request.output_of_step or request.strictness):
        message = "files cannot have options for a step"
        raise InvalidInputError(message, hint="give the text of the step with --text")
    runtime = runtime_of(call, request)
    if text is None:
        return _lint(call, runtime, paths, request.text_format)
    generated = request.output_of_step
    step = ExecutionContext(
        "check" if request.step is None else request.step,
        "check" if request.mission is None else request.mission,
        f"run-{iso(runtime.now())}",
        {"description": _read(text)},
        {"critical_step": request.critical},
        step_output={} if generated is None else {"output": _read(generated)},
    )
    prompt = prompt_of(call.output, ask=request.ask) if is_step else None
    runtime = dataclasses.replace(runtime, is_logged=is_step)
    return _answer(call, step, partial(runtime.run, step, strictness=request.strictness, ask=prompt))


def _lint(call: Call, runtime: GlossaryRuntime, paths: tuple[Path, ...], form: CheckFormat) -> Answer:
    loaded = runtime.load_whole()
    findings, checked, problems = lint(Linter(loaded), paths)
    note_all(call, loaded.problems)
    for error in problems.values():
        call.note(f"not checked: {error.message}")
    is_missed = not problems.keys().isdisjoint(paths)
    failing = sum(finding.rule.fails for finding in findings)
    return Answer(
        result={"files": checked, "unread": len(problems), "failing": failing, "findings": len(findings)},
        events=(Event("finding", {"finding": finding}) for finding in findings),
        view="glossary-findings.txt.j2" if form is CheckFormat.TEXT else "",
        shown={"listed": findings},
        text="\n".join(map(github, findings)),
        exit_code=ExitCode.GATE if failing else ExitCode.INVALID_INPUT if is_missed else ExitCode.DONE,
    )


class Resume(OfStep, kw_only=True):
    """The request of `resume`."""

    token: Annotated[str, argument("The token of the step.")]
    yes: Annotated[bool, option("Resume even if the step has changed.", "--yes")] = False


@verb(Resume, settings=FOLDER)
def resume(call: Call, request: Resume) -> Answer:
    """Resume a stopped step with the current glossary, and with its text or a new one."""
    runtime = runtime_of(call, request)
    prompt = prompt_of(call.output, ask=request.ask)

    def confirm(changed: ChangedInputs) -> bool:
        call.output.event("changed", old=changed.old, new=changed.new, changes=changed.changes)
        call.note(f"The step has changed: inputs {changed.old}… are now {changed.new}…")
        for key, (old, new) in changed.changes.items():
            before, after = ("(nothing)" if it is None else excerpt(str(it), 200) for it in (old, new))
            call.note(f"  {excerpt(key)}: {before} -> {after}")
        if request.yes:
            return True
        if prompt is None:
            message = "the step has changed since it was stopped, and nobody confirmed it"
            raise AbortResumeError(message, hint="give --yes to resume the changed step")
        return prompt.agrees("Context changed. Proceed?")

    inputs = None if request.text is None else {"description": _read(request.text)}
    step = runtime.stopped(request.token, inputs)
    run = partial(runtime.run, step, strictness=request.strictness, ask=prompt, confirm=confirm)
    return _answer(call, step, run)


def _answer(call: Call, step: ExecutionContext, run: Callable[[], object]) -> Answer:
    try:
        answer = answer_of(step, run, call.completed)
        for term in (it.term.surface_text for it in step.resolved_conflicts):  # the answers are stored
            Prompt().show("answer", term=term, definition=step.meanings.get(term, NO_TERM))
        return answer
    finally:
        note_all(call, step.notes)


def answer_of(step: ExecutionContext, run: Callable[[], object], completed: Callable[[Hint], str]) -> Answer:
    """Run a step; return its terms, conflicts and questions, also if the gate stops it."""
    failure = None
    try:
        run()
    except BlockedByConflictError as error:
        failure = error
    is_blocked = failure is not None
    meanings = [(term, step.meanings.get(term.surface.surface_text)) for term in step.extracted_terms]
    shown = ("conflict_id", "term", "text", "candidates", "source")
    events = [Event("term", {"term": term, "means": meaning}) for term, meaning in meanings]
    events += [Event("conflict", {"conflict": conflict}) for conflict in step.conflicts]
    for question in step.questions:
        fields = {name: getattr(question, name) for name in shown}
        events.append(Event("question", fields | {"context": question.conflict.context}))
    return Answer(
        result={
            "blocked": is_blocked,
            "retry_token": step.retry_token if is_blocked else None,
            "strictness": step.effective_strictness,
            "terms": len(meanings),
            "conflicts": len(step.conflicts),
            "resumed": step.resumed_from_checkpoint,
        },
        events=events,
        view="glossary-check.txt.j2",
        shown={
            "meanings": meanings,
            "conflict_of": {conflict.term: conflict for conflict in step.conflicts},
            "identifiers": {question.term: question.command[-1] for question in step.questions},
            "groups": [
                (group, completed(Hint("{}", (words,), FOLDER)))
                for words, group in groups_of(step.questions if is_blocked else (), step.mission_id).items()
            ],
        },
        failure=failure,
    )


def _read(text: str) -> str:
    return text_of(Path(text)) if text == STANDARD_INPUT else text


class Resolve(Acting, kw_only=True):
    """The request of `resolve`."""

    conflict: Annotated[str, argument("Identifier or term of a conflict; a sign, if its words are no terms.")]
    select: Annotated[int | None, option("The number of the sense.")] = None
    define: Annotated[str | None, option("A new definition of the term.")] = None
    no_term: Annotated[bool, option("Say that it is no term.", "--no-term")] = False
    mission: Annotated[str | None, MISSION] = None


@verb(Resolve, settings=FOLDER)
def resolve(call: Call, request: Resolve) -> Answer:
    """Answer an open question; without options, ask for the answer."""
    runtime = runtime_of(call, request, exists=False)
    return answered(runtime, standing_questions(runtime, call)[0], request, ask=True)


def answered(
    runtime: GlossaryRuntime, questions: Sequence[OpenQuestion], request: Resolve, *, ask: bool = False
) -> Answer:
    """Give the answer of a request to the question it names, or to all unknown terms of a sign."""
    answers: list[Meaning] = [] if request.select is None else [Select(request.select - 1)]
    answers += [] if request.define is None else [Define(request.define)]
    answers += [NoTerm()] if request.no_term else []
    if len(answers) > 1 or not (answers or ask):
        hint = "give one of select, define and no-term"
        raise InvalidInputError("there are several answers" if answers else "there is no answer", hint=hint)
    asked = require_questions(questions, request.conflict, request.mission, of_sign=request.no_term)
    answer = answers[0] if answers else _ask(asked[0], runtime)
    replaced = [runtime.answer(question, answer) for question in asked]
    is_settled = not isinstance(answer, Defer)
    status = "resolved" if is_settled else asked[0].status
    return Answer(
        result={"conflict_id": asked[0].conflict_id, "status": status, "replaces": replaced[0]},
        view="glossary-resolve.txt.j2",
        shown={"asked": asked, "is_settled": is_settled},
    )


def _ask(question: OpenQuestion, runtime: GlossaryRuntime) -> Meaning:
    prompt, resolved = Prompt(), f"Conflict {question.conflict_id} is already resolved"
    if not question.is_open and not prompt.agrees(f"{resolved}. Resolve it again?"):
        return Defer()
    candidates = question.candidates(runtime.load(question.mission_id or None).glossary)
    answer = prompt.choose(question, candidates)
    if answer is None:
        hint = "answer with --select N, --define TEXT or --no-term"
        raise InvalidInputError("nobody answered: nothing was changed", hint=hint)
    return answer


class Prompt:
    """A person at a terminal, who is asked on stderr."""

    def __call__(self, question: Question) -> Meaning:
        """Show a conflict, and read the answer; the end of the input defers."""
        answer = self.choose(question.conflict, question.candidates)
        return Defer() if answer is None else answer  # an answer without fields is false

    def choose(self, asked: OpenQuestion | SemanticConflict, senses: Sequence[SenseRef]) -> Meaning | None:
        """Show a conflict, and read an answer; None at the end of the input."""
        self.show("question", term=str(asked.term), conflict=asked, candidates=senses)
        numbers = f"1-{len(senses)} (candidate), " if senses else ""
        choices = f"Select: {numbers}C (custom sense), D (defer to async), N (no term)"
        while True:
            typed = self._read(f"{choices}\n> ")
            if typed is None:
                return None
            answer = parse_answer(typed, senses)
            if isinstance(answer, Define):
                answer = Define(self._read("Definition: ") or "")  # refused where it comes in, if it is empty
            if answer is not None:
                return answer
            self.say(f"Invalid selection: '{excerpt(typed)}'")

    def say(self, text: str, *, end: str = "\n") -> None:
        """Show a text."""
        print(text, file=sys.stderr, end=end, flush=True)

    def agrees(self, question: str) -> bool:
        """Ask for a yes; everything else is a no."""
        return (self._read(f"{question} [y/N] ") or "").strip().casefold() in {"y", "yes"}

    def show(self, template: str, **values: Any) -> None:  # noqa: ANN401 - as the template needs them
        """Show the text of a template."""
        shows_symbols = os.environ.get("TERM") != "dumb"
        text = rendered(f"glossary-{template}.txt.j2", values | {"shows_symbols": shows_symbols})
        self.say(text, end="\n\n")

    def _read(self, prompt: str) -> str | None:
        """Read a line; None at the end of the input."""
        self.say(prompt, end="")
        end_reads()
        try:
            return sys.stdin.readline().encode("utf-8", "replace").decode() or None
        except (KeyboardInterrupt, SystemExit):
            self.say("\nNobody answered: an open question stays open.")
            raise


def prompt_of(output: Output, *, ask: bool | None) -> Prompt | None:
    """Return a prompt if somebody can answer; `ask` decides if it is not None."""
    if ask is None:
        ask = sys.stdin.isatty() and sys.stderr.isatty() and not (output.as_json or output.quiet)
    return Prompt() if ask else None


GLOSSARY: Final = Verbs(
    "glossary",
    "Define words, and check that each has one agreed meaning.\n\n"
    "A glossary is a folder with a file for each scope, `<scope>.yaml`, and a log of people's answers.",
    (
        check,
        commands.conflicts,
        resolve,
        resume,
        commands.list_terms,
        commands.show_term,
        commands.validate,
        commands.promote,
        commands.deprecate,
    ),
)
