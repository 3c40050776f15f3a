"""`vocabgap glossary conflicts` and `resolve`: the open questions, and their answers."""

import sys
from datetime import UTC
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from vocabgap.cli.glossary_options import (
    SHOWN_DIGITS,
    ActingOptions,
    GlossaryOptions,
    MissionOption,
    StrictnessOption,
    note_skipped,
    require_strictness,
    runtime_of,
)
from vocabgap.cli.options import with_options
from vocabgap.cli.output import Output, output_of, table
from vocabgap.errors import InvalidInputError
from vocabgap.files.signals import end_reads
from vocabgap.records.moments import iso
from vocabgap.text import carried, shortened, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vocabgap.glossary.open_questions import OpenQuestion
    from vocabgap.glossary.senses import SenseRef
    from vocabgap.glossary.session import Answer, ChangedInputs, Question


_COLOURS: Final = {"high": "red", "medium": "yellow", "low": "blue"}
_SHOWN: Final = 200  # characters of a value


@with_options(GlossaryOptions)
def conflicts(
    context: typer.Context,
    mission: MissionOption = None,
    unresolved: Annotated[bool, typer.Option("--unresolved", help="Those that wait for an answer.")] = False,
    strictness: StrictnessOption = None,
) -> None:
    """List the questions that came up, and whether they are answered."""
    from vocabgap.glossary.event_log import read_events
    from vocabgap.glossary.open_questions import as_they_stand, questions_of

    output = output_of(context)
    chosen = require_strictness(strictness)
    runtime = runtime_of(context)
    read = read_events(runtime.logs)
    note_skipped(output, read.skipped)
    events = read.events
    listed = [
        each
        for each in as_they_stand(questions_of(events), runtime)
        if mission in {None, each.mission_id}
        and (each.is_open or not unresolved)
        and chosen in {None, each.effective_strictness}
    ]
    for each in listed:
        output.event("conflict", **_fields(each))
    waiting = sum(each.is_open for each in listed)
    output.event("result", conflicts=len(listed), unresolved=waiting)
    if not listed:
        output.text("No conflicts found" if events else "No events found: nothing was checked yet")
        output.text("Total: 0 conflict(s)")
        return
    if not output.as_json:
        headings = ("conflict", "term", "type", "severity", "status", "mission", "time")
        rows = [
            (
                each.conflict_id[:SHOWN_DIGITS],
                each.term,
                each.type,
                each.severity,
                each.status.value,
                each.mission_id or None,
                f"{each.timestamp.astimezone(UTC):%Y-%m-%d %H:%M}",
            )
            for each in listed
        ]
        output.text(table(headings, rows, dates=("conflict", "type", "severity", "status", "time")))
    output.text(f"\nTotal: {len(listed)} conflict(s)\nUnresolved: {waiting}")


@with_options(ActingOptions)
def resolve(
    context: typer.Context,
    conflict: Annotated[str, typer.Argument(help="The conflict's identifier, or the beginning of it.")],
    select: Annotated[int | None, typer.Option(help="The number of the sense that is meant.")] = None,
    define: Annotated[str | None, typer.Option(help="What the term means instead.")] = None,
    mission: MissionOption = None,
) -> None:
    """Answer a question that was put off; without options it is asked."""
    from vocabgap.glossary.event_log import read_events
    from vocabgap.glossary.open_questions import answer_later, as_they_stand, questions_of, require_question
    from vocabgap.glossary.session import Defer, Define, Select

    output = output_of(context)
    runtime = runtime_of(context)
    read = read_events(runtime.logs)
    note_skipped(output, read.skipped)
    question = require_question(as_they_stand(questions_of(read.events), runtime), conflict, mission)
    if select is not None and define is not None:
        raise InvalidInputError("--select and --define are two answers", hint="give one of them")
    answer: Answer
    if select is not None:
        answer = Select(select - 1)
    elif define is not None:
        answer = Define(define)
    else:
        candidates = question.candidates(runtime.load(question.mission_id or None).glossary)
        typed = _ask(output, question, candidates)
        if typed is None:
            output.event("result", conflict_id=question.conflict_id, status=question.status)
            return
        answer = typed
    events = answer_later(runtime, question, answer)
    output.event("result", conflict_id=question.conflict_id, status="resolved" if events else question.status)
    term = visible(question.term)
    if isinstance(answer, Defer):
        output.text(f"Deferred: conflict {question.conflict_id} about '{term}' stays unresolved")
        return
    output.text(f"Conflict about '{term}' resolved successfully")


def _ask(output: Output, question: "OpenQuestion", candidates: "tuple[SenseRef, ...]") -> "Answer | None":
    """What somebody answers; none where what is answered already is to stay so."""
    prompt = Prompt()
    if not question.is_open:
        output.text(f"Conflict {question.conflict_id} is already resolved")
        if not prompt.agrees("Resolve it again?"):
            return None
    body = Text(f"What does '{visible(question.term)}' mean? {visible(question.context)}".rstrip())
    prompt.candidates(candidates, body)
    prompt.show(body)
    return prompt.choose(candidates, once=True)


def _fields(question: "OpenQuestion") -> dict[str, object]:
    return {
        "conflict_id": question.conflict_id,
        "term": question.term,
        "type": question.type,
        "severity": question.severity,
        "mission_id": question.mission_id,
        "timestamp": iso(question.timestamp),
        "status": question.status,
        "effective_strictness": question.effective_strictness,
    }


class Prompt:
    """Asks on a terminal, beside the data: what is asked goes to stderr.

    All that comes from data is made visible, and never read as markup.
    """

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False, emoji=False, markup=False)

    def __call__(self, question: "Question") -> "Answer":
        """Show a conflict and what its term may mean, and read what somebody answers."""
        conflict = question.conflict
        colour = _COLOURS.get(conflict.severity.value, "red")
        scopes = sorted({each.scope for each in question.candidates})
        body = Text()
        body.append(f"Term:    {_shown(question.term)}\n")
        body.append(f"Context: {_shown(conflict.context) or '-'}\n")
        matches = (
            f"{', '.join(map(_shown, scopes))} ({len(question.candidates)} matches)" if scopes else "none"
        )
        body.append(f"Scope:   {matches}")
        self.candidates(question.candidates, body)
        title = Text(f"{self._mark()} {conflict.severity.value.capitalize()}-severity conflict: ", colour)
        title.append(_shown(question.term))
        self._console.print(Panel(body, title=title, title_align="left", border_style=colour))
        answer = self.choose(question.candidates)
        self._console.print(Text(_outcome(question, answer)))
        return answer

    def candidates(self, candidates: "Sequence[SenseRef]", body: Text) -> None:
        """Add the numbered senses to a text."""
        for number, sense in enumerate(candidates, start=1):
            scope, meaning = _shown(sense.scope), _shown(sense.definition)
            body.append(f"\n{number}. [{scope}] {meaning} (confidence: {sense.confidence:.1f})")

    def choose(self, candidates: "Sequence[SenseRef]", *, once: bool = False) -> "Answer":
        """Read an answer, until there is one or once; the end of the input defers."""
        from vocabgap.glossary.session import Defer, Define, defined, parse_answer

        while True:
            typed = self._read(_choices(candidates))
            if typed is None:
                return Defer()
            answer = parse_answer(typed, candidates)
            if isinstance(answer, Define):
                return defined(self._definition())
            if answer is not None:
                return answer
            if once:
                message = f"Invalid selection: '{typed.strip()}'"
                raise InvalidInputError(message, hint=_choices(candidates).strip())
            self._console.print(Text(f"'{_shown(typed)}' is no answer."))

    def show(self, body: Text) -> None:
        """Show a text."""
        self._console.print(body)

    def confirm(self, changed: "ChangedInputs") -> bool:
        """Show what has changed since a step was stopped, and ask whether it goes on; no is the default."""
        self.show_changes(changed)
        return self.agrees("Context changed. Proceed?")

    def show_changes(self, changed: "ChangedInputs") -> None:
        """Show what has changed since a step was stopped."""
        self._console.print(Text(f"The inputs have changed: {changed.old}… is now {changed.new}…"))
        for key, (old, new) in changed.changes.items():
            self._console.print(Text(f"  {_shown(key)}: {_value(old)} -> {_value(new)}"))

    def agrees(self, question: str) -> bool:
        """Ask for a yes; everything else is a no."""
        typed = self._read(f"{question} [y/N] ")
        return typed is not None and typed.strip().casefold() in {"y", "yes"}

    def _definition(self) -> str:
        """A definition that somebody types; what no log can hold is asked for again."""
        while True:
            typed = self._read("Definition: ") or ""
            try:
                typed.encode()
            except UnicodeEncodeError:
                self._console.print(Text("That holds characters that are not UTF-8."))
            else:
                return typed

    def _read(self, prompt: str) -> str | None:
        """What somebody types; none at the end of the input."""
        self._console.print(Text(prompt), end="")
        end_reads()
        line = sys.stdin.readline()
        return line or None

    def _mark(self) -> str:
        mark = "●"
        return mark if carried(mark, self._console.encoding) == mark else "!"


def _choices(candidates: "Sequence[SenseRef]") -> str:
    numbers = f"1-{len(candidates)} (candidate), " if candidates else ""
    return f"Select: {numbers}C (custom sense), D (defer)\n> "


def _outcome(question: "Question", answer: "Answer") -> str:
    from vocabgap.glossary.session import Define, Select

    match answer:
        case Select(place):
            return f"Resolved: {_shown(question.term)} = {_shown(question.candidates[place].definition)}\n"
        case Define(definition):
            return f"Resolved: {_shown(question.term)} = {_shown(definition)}\n"
    return f"Deferred: conflict {question.conflict_id}\n"


def _shown(value: str) -> str:
    return shortened(visible(value))


def _value(value: object) -> str:
    return "(nothing)" if value is None else shortened(visible(str(value)), _SHOWN)
