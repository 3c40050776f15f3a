"""`vocabgap glossary conflicts` and `resolve`: the open questions, and their answers."""

import difflib
import sys
from collections.abc import Callable, Iterator
from datetime import UTC
from typing import TYPE_CHECKING, Annotated, Final

import typer

from vocabgap.doors.cli.options import with_options
from vocabgap.doors.cli.output import Output, output_of, table
from vocabgap.errors import InvalidInputError
from vocabgap.files.signals import end_reads
from vocabgap.glossary.extension import GlossarySettings
from vocabgap.glossary.options import (
    SHOWN_DIGITS,
    ActingOptions,
    GlossaryOptions,
    note_problems,
    note_skipped,
    require_strictness,
    runtime_of,
)
from vocabgap.model.moments import iso
from vocabgap.model.settings import Settings
from vocabgap.text import carried, excerpt, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vocabgap.glossary.event_log import GivenAnswer
    from vocabgap.glossary.open_questions import OpenQuestion
    from vocabgap.glossary.senses import SenseRef
    from vocabgap.glossary.session import Answer, ChangedInputs, Question


MissionOption = Annotated[str | None, typer.Option("--mission", help="Only questions of this mission.")]
_COLOURS: Final = {"high": "red", "medium": "yellow", "low": "blue"}
_SHOWN: Final = 200  # characters of a value
_BEFORE: Final = 40  # characters of what is as it was, before what has changed
_TOLD: Final = (
    "conflict_id",
    "term",
    "type",
    "severity",
    "mission_id",
    "status",
    "effective_strictness",
    "context",
)
_MOST_CHANGES: Final = 5  # that are shown of one value


@with_options(GlossaryOptions)
def conflicts(
    context: typer.Context,
    mission: MissionOption = None,
    unresolved: Annotated[bool, typer.Option("--unresolved", help="Only those that wait.")] = False,
    strictness: Annotated[
        str | None, typer.Option(help="Only those that came up under this strictness: off, medium or max.")
    ] = None,
) -> None:
    """List the questions that came up, and who has answered them, when, and in the place of what."""
    from vocabgap.glossary.event_log import read_events
    from vocabgap.glossary.open_questions import as_they_stand, questions_of

    output = output_of(context)
    chosen = require_strictness(strictness)
    runtime = runtime_of(context)
    read = read_events(runtime.logs)
    note_skipped(output, read.skipped)
    listed = [
        each
        for each in as_they_stand(questions_of(read.events), runtime)
        if mission in {None, each.mission_id}
        and (each.is_open or not unresolved)
        and chosen in {None, each.effective_strictness}
    ]
    given = runtime.files.answers()
    answers = [(each, [answer for answer in given if each.is_answered_by(answer)]) for each in listed]
    for each, own in answers:
        told_of = {name: getattr(each, name) for name in _TOLD}
        output.event("conflict", **told_of, timestamp=iso(each.timestamp), answers=own)
    waiting = sum(each.is_open for each in listed)
    output.event("result", conflicts=len(listed), unresolved=waiting)
    if not listed:
        output.text("No conflicts found" if read.events else "No events found: nothing was checked yet")
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
        for each, own in answers:
            if not each.is_open and not own:  # an answer to another question settles this one, too
                own = list(filter(None, [runtime.files.standing(each.term)]))  # noqa: PLW2901 - still its own
            for answer in (
                [*map(told, own)] if own or each.is_open else ["its seed file says what it means, no date"]
            ):
                output.text(f"{each.conflict_id[:SHOWN_DIGITS]} {visible(each.term)}: {answer}")
    output.text(f"\nTotal: {len(listed)} conflict(s)\nUnresolved: {waiting}")


def told(answer: "GivenAnswer") -> str:
    """What somebody has said of a term, in words: what, who, when, and in the place of what."""
    replaced = "; ".join(f"[{each.scope}] {each.definition}" for each in answer.replaced)
    said = f"{answer.timestamp:%Y-%m-%d %H:%M} {answer.actor_id}: [{answer.scope}] {answer.definition}"
    said += f" ({answer.status})" if answer.status != "active" else ""
    said += f"; in the place of {replaced}" if replaced else ""
    return visible(said + (f"; overrides {answer.overrides}" if answer.overrides else ""))


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
    overrides = answer_later(runtime, question, answer).overrides
    term = visible(question.term)
    if isinstance(answer, Defer):
        summary = f"Deferred: conflict {question.conflict_id} about '{term}' stays unresolved"
        output.result(summary, conflict_id=question.conflict_id, status=question.status)
        return
    summary = f"Conflict about '{term}' resolved successfully"
    summary += f", in the place of {visible(overrides)}" if overrides else ""
    output.result(summary, conflict_id=question.conflict_id, status="resolved", overrides=overrides)


def _ask(output: Output, question: "OpenQuestion", candidates: "tuple[SenseRef, ...]") -> "Answer | None":
    """What somebody answers; none where what is answered already is to stay so."""
    prompt = Prompt()
    if not question.is_open:
        output.text(f"Conflict {question.conflict_id} is already resolved")
        if not prompt.agrees("Resolve it again?"):
            return None
    asked = f"What does '{visible(question.term)}' mean? {visible(question.context)}".rstrip()
    prompt.say("\n".join([asked, *_numbered(candidates)]))
    return prompt.choose(candidates, once=True)


class Prompt:
    """Asks on a terminal, beside the data: what is asked goes to stderr.

    All that comes from data is made visible, and never read as markup.

    Attributes:
        before: Called before a question is shown.
    """

    before: Callable[[], object] = bool  # which does nothing

    def __call__(self, question: "Question") -> "Answer":
        """Show a conflict and what its term may mean, and read what somebody answers."""
        from rich.console import Console
        from rich.panel import Panel
        from rich.text import Text

        self.before()
        severity = question.conflict.severity.value
        colour = _COLOURS.get(severity, "red")
        scopes = ", ".join(sorted({excerpt(each.scope) for each in question.candidates}))
        lines = [
            f"Term:    {excerpt(question.term)}",
            f"Context: {excerpt(question.conflict.context, _SHOWN) or '-'}",
            f"Scope:   {f'{scopes} ({len(question.candidates)} matches)' if scopes else 'none'}",
            *([f"Before:  {excerpt(question.earlier.summary)}"] if question.earlier else []),
            *_numbered(question.candidates),
        ]
        console = Console(stderr=True, highlight=False, emoji=False, markup=False)
        mark = "●" if carried("●", console.encoding) == "●" else "!"
        title = Text(f"{mark} {severity.capitalize()}-severity conflict: {excerpt(question.term)}", colour)
        console.print(Panel(Text("\n".join(lines)), title=title, title_align="left", border_style=colour))
        answer = self.choose(question.candidates)
        self.say(_outcome(question, answer))
        return answer

    def choose(self, candidates: "Sequence[SenseRef]", *, once: bool = False) -> "Answer":
        """Read an answer, until there is one; the end of the input defers. Read `once`, it is to be one."""
        from vocabgap.glossary.session import Defer, Define, defined, parse_answer

        while True:
            typed = self._read(_choices(candidates))
            if typed is None and once:
                raise InvalidInputError(
                    "nobody answered: nothing was changed", hint="answer with --select N or --define TEXT"
                )
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
            self.say(f"'{excerpt(typed)}' is no answer.")

    def say(self, text: str, *, end: str = "\n") -> None:
        """Show a text."""
        print(text, file=sys.stderr, end=end, flush=True)

    def confirm(self, changed: "ChangedInputs") -> bool:
        """Show what has changed since a step was stopped, and ask whether it goes on; no is the default."""
        self.show_changes(changed)
        return self.agrees("Context changed. Proceed?")

    def show_changes(self, changed: "ChangedInputs") -> None:
        """Show what has changed since a step was stopped."""
        self.say(f"The inputs have changed: {changed.old}… is now {changed.new}…")
        for key, (old, new) in changed.changes.items():
            parts = list(_changed_parts(old, new))
            for before, after in parts[:_MOST_CHANGES]:
                self.say(f"  {excerpt(key)}: {_value(before)} -> {_value(after)}")
            if len(parts) > _MOST_CHANGES:
                self.say(f"  {excerpt(key)}: {len(parts) - _MOST_CHANGES} more")

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
                self.say("That holds characters that are not UTF-8.")
            else:
                return typed

    def _read(self, prompt: str) -> str | None:
        """What somebody types; none at the end of the input."""
        self.say(prompt, end="")
        end_reads()
        return sys.stdin.readline() or None


def prompt_of(output: Output, *, ask: bool | None) -> Prompt | None:
    """What asks, where somebody is there to answer."""
    if ask is None:
        ask = sys.stdin.isatty() and sys.stderr.isatty() and not (output.as_json or output.quiet)
    return Prompt() if ask else None


def prompt_of_report(output: Output, settings: Settings, ask: bool | None) -> Prompt | None:
    """Note what is wrong in the files of the glossary; return what asks, if a glossary is named."""
    ours = settings.of(GlossarySettings)
    if ours.folder is None:
        return None
    from vocabgap.glossary.runtime import configured_runtime

    note_problems(output, configured_runtime(ours).load())
    return prompt_of(output, ask=ask)


def _numbered(candidates: "Sequence[SenseRef]") -> Iterator[str]:
    for number, sense in enumerate(candidates, start=1):
        meaning = f"[{excerpt(sense.scope)}] {excerpt(sense.definition)}"
        yield f"{number}. {meaning} (confidence: {sense.confidence:.1f})"


def _choices(candidates: "Sequence[SenseRef]") -> str:
    numbers = f"1-{len(candidates)} (candidate), " if candidates else ""
    return f"Select: {numbers}C (custom sense), D (defer)\n> "


def _outcome(question: "Question", answer: "Answer") -> str:
    from vocabgap.glossary.normal_form import definition_key
    from vocabgap.glossary.session import Defer, Select

    if isinstance(answer, Defer):
        return f"Deferred: conflict {question.conflict_id}"
    meaning = (
        question.candidates[answer.place].definition if isinstance(answer, Select) else answer.definition
    )
    earlier = question.earlier
    overrides = earlier is not None and definition_key(earlier.definition) != definition_key(meaning)
    place = f", in the place of {excerpt(earlier.summary)}" if earlier is not None and overrides else ""
    return f"Resolved: {excerpt(question.term)} = {excerpt(meaning)}{place}\n"


def _changed_parts(old: object, new: object) -> Iterator[tuple[object, object]]:
    """What of a value has changed: of a text its sentences, from shortly before the first difference on."""
    if not isinstance(old, str) or not isinstance(new, str):
        yield old, new
        return
    from vocabgap.glossary.prose import sentences

    before, after = sentences(old), sentences(new)
    for kind, first, last, start, end in difflib.SequenceMatcher(None, before, after).get_opcodes():
        if kind != "equal":
            left, right = " ".join(before[first:last]), " ".join(after[start:end])
            same = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), 0)
            skipped = max(0, same - _BEFORE)
            yield tuple(f"{'…' * bool(skipped)}{each[skipped:]}" or None for each in (left, right))  # type: ignore[misc]


def _value(value: object) -> str:
    return "(nothing)" if value is None else excerpt(str(value), _SHOWN)
