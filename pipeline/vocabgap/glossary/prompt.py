"""The prompt: asks on a terminal, beside the data, and reads what somebody answers."""

import sys
from collections.abc import Iterator, Sequence
from typing import Final

from vocabgap.doors.cli.output import Output
from vocabgap.errors import InvalidInputError
from vocabgap.files.signals import end_reads
from vocabgap.glossary.questions import Answer, Defer, Define, Question, Select, defined, parse_answer
from vocabgap.glossary.senses import SenseRef
from vocabgap.glossary.session import ChangedInputs
from vocabgap.text import carried, excerpt

_COLOURS: Final = {"high": "red", "medium": "yellow", "low": "blue"}
_SHOWN: Final = 200  # characters of a value


class Prompt:
    """A person at a terminal: questions go to stderr, and text from data is never read as markup."""

    def __call__(self, question: Question) -> Answer:
        """Show a conflict and the candidates of its term, and read the answer."""
        from rich.console import Console  # noqa: PLC0415 - takes time to load
        from rich.panel import Panel  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        severity = question.conflict.severity.value
        colour = _COLOURS.get(severity, "red")
        scopes = ", ".join(sorted({excerpt(each.scope) for each in question.candidates}))
        lines = [
            f"Term:    {excerpt(question.term)}",
            f"Context: {excerpt(question.conflict.context, _SHOWN) or '-'}",
            f"Scope:   {f'{scopes} ({len(question.candidates)} matches)' if scopes else 'none'}",
            *numbered(question.candidates),
        ]
        console = Console(stderr=True, highlight=False, emoji=False, markup=False)
        mark = "●" if carried("●", console.encoding) == "●" else "!"
        title = Text(f"{mark} {severity.capitalize()}-severity conflict: {excerpt(question.term)}", colour)
        console.print(Panel(Text("\n".join(lines)), title=title, title_align="left", border_style=colour))
        answer = self.choose(question.candidates)
        self.say(_outcome(question, answer))
        return answer

    def choose(self, candidates: Sequence[SenseRef], *, once: bool = False) -> Answer:
        """Read an answer; the end of the input defers. With `once`, the first input has to be an answer."""
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
                return defined(self._read("Definition: ") or "")
            if answer is not None:
                return answer
            if once:
                message = f"Invalid selection: '{typed.strip()}'"
                raise InvalidInputError(message, hint=_choices(candidates).strip())
            self.say(f"'{excerpt(typed)}' is not an answer.")

    def say(self, text: str, *, end: str = "\n") -> None:
        """Show a text."""
        print(text, file=sys.stderr, end=end, flush=True)

    def confirm(self, changed: ChangedInputs) -> bool:
        """Show what has changed since a step was stopped, and ask whether it goes on."""
        self.show_changes(changed)
        return self.agrees("Context changed. Proceed?")

    def show_changes(self, changed: ChangedInputs) -> None:
        """Show what has changed since a step was stopped."""
        self.say(f"The inputs have changed: {changed.old}… is now {changed.new}…")
        for key, (old, new) in changed.changes.items():
            self.say(f"  {excerpt(key)}: {_value(old)} -> {_value(new)}")

    def agrees(self, question: str) -> bool:
        """Ask for a yes; everything else is a no."""
        typed = self._read(f"{question} [y/N] ")
        return typed is not None and typed.strip().casefold() in {"y", "yes"}

    def _read(self, prompt: str) -> str | None:
        """Read a line; None at the end of the input."""
        self.say(prompt, end="")
        end_reads()
        return sys.stdin.readline().encode("utf-8", "replace").decode() or None


def prompt_of(output: Output, *, ask: bool | None) -> Prompt | None:
    """Return a prompt if somebody can answer; `ask` decides if it is not None."""
    if ask is None:
        ask = sys.stdin.isatty() and sys.stderr.isatty() and not (output.as_json or output.quiet)
    return Prompt() if ask else None


def numbered(candidates: Sequence[SenseRef]) -> Iterator[str]:
    """Yield a line for each candidate, counted from 1."""
    for number, sense in enumerate(candidates, start=1):
        meaning = f"[{excerpt(sense.scope)}] {excerpt(sense.definition)}"
        yield f"{number}. {meaning} (confidence: {sense.confidence:.1f})"


def _choices(candidates: Sequence[SenseRef]) -> str:
    numbers = f"1-{len(candidates)} (candidate), " if candidates else ""
    return f"Select: {numbers}C (custom sense), D (defer)\n> "


def _outcome(question: Question, answer: Answer) -> str:
    if isinstance(answer, Defer):
        return f"Deferred: conflict {question.conflict_id}"
    meaning = (
        question.candidates[answer.place].definition if isinstance(answer, Select) else answer.definition
    )
    return f"Resolved: {excerpt(question.term)} = {excerpt(meaning)}\n"


def _value(value: object) -> str:
    return "(nothing)" if value is None else excerpt(str(value), _SHOWN)
