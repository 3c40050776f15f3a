"""What the commands of `vocabgap glossary` share: their options, and the runtime that these mean."""

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from vocabgap.cli.output import Output
from vocabgap.errors import InvalidInputError
from vocabgap.records.moments import parse_now
from vocabgap.settings.loading import login, resolve_settings
from vocabgap.settings.model import DEFAULT_GLOSSARY
from vocabgap.text import carried, shortened, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vocabgap.glossary.conflicts import Strictness
    from vocabgap.glossary.loading import Loaded
    from vocabgap.glossary.runtime import GlossaryRuntime
    from vocabgap.glossary.senses import SenseRef
    from vocabgap.glossary.session import (
        Answer,
        ChangedInputs,
        Question,
    )


SHOWN_DIGITS: Final = 8  # of a conflict's identifier, which its beginning stands for

FolderOption = Annotated[
    str | None, typer.Option("--glossary", help=f"Folder of the glossary.  [default: {DEFAULT_GLOSSARY}]")
]
ScopeOption = Annotated[str | None, typer.Option("--scope", help="Of this scope only.", show_default=False)]
MissionOption = Annotated[
    str | None, typer.Option("--mission", help="The mission whose own senses count, too.", show_default=False)
]
StrictnessOption = Annotated[
    str | None,
    typer.Option("--strictness", help="What stops it: off, medium or max.", show_default=False),
]
AskOption = Annotated[
    bool | None,
    typer.Option(
        "--ask/--no-ask",
        help="Ask what terms mean; by default where somebody can answer.",
        show_default=False,
    ),
]
ActorOption = Annotated[
    str | None,
    typer.Option(help="Who answers; by default VOCABGAP_ACTOR, else who is logged in.", show_default=False),
]
NowOption = Annotated[
    str | None, typer.Option(help="The moment of what is logged; the clock's by default.", show_default=False)
]


def runtime_of(
    config: Path | None, folder: str | None = None, actor: str | None = None, now: str | None = None
) -> "GlossaryRuntime":
    """The runtime of the glossary that options mean, used by a person; its folder need not exist."""
    from vocabgap.glossary.events import Actor  # noqa: PLC0415
    from vocabgap.glossary.runtime import configured_runtime  # noqa: PLC0415 - loads what only this needs
    from vocabgap.glossary.session import clock  # noqa: PLC0415

    flags = {"--glossary": folder}
    name = actor or login() or "cli"
    return configured_runtime(
        resolve_settings(config, os.environ, flags).settings.glossary,
        actor=Actor(f"user:{name}", display_name=name),
        now=clock if now is None else partial(parse_now, now),
    )


def initialized(
    config: Path | None, folder: str | None, actor: str | None = None, now: str | None = None
) -> "GlossaryRuntime":
    """The same, of a glossary whose folder exists.

    Raises:
        NotFoundError: It does not.
    """
    runtime = runtime_of(config, folder, actor, now)
    runtime.require_folder()
    return runtime


def note_problems(output: Output, loaded: "Loaded") -> None:
    """Say what of a glossary's files does not count."""
    for told in loaded.problems:
        output.note(visible(told))


def note_skipped(output: Output, skipped: int) -> None:
    """Say how many lines of a glossary's logs are no events."""
    from vocabgap.glossary.event_log import skipped_lines  # noqa: PLC0415 - loads what only this needs

    for told in skipped_lines(skipped):
        output.note(told)


def require_scope(runtime: "GlossaryRuntime", scope: str | None) -> None:
    """Refuse the name of no scope.

    Raises:
        InvalidInputError: It is none.
    """
    if scope is not None and scope not in runtime.scopes.names:
        raise InvalidInputError(
            f"Invalid scope '{scope}'", hint=f"expected one of {', '.join(runtime.scopes.names)}"
        )


def require_strictness(name: str | None) -> "Strictness | None":
    """The strictness of a name; none where none is named.

    Raises:
        InvalidInputError: There is no such strictness.
    """
    from vocabgap.glossary.conflicts import Strictness, strictness_of  # noqa: PLC0415 - as above

    found = strictness_of(name)
    if name is not None and found is None:
        raise InvalidInputError(
            f"Invalid strictness '{name}'", hint=f"expected one of {', '.join(Strictness)}"
        )
    return found


# Asking people what terms mean. All that comes from data is made visible, and never read as markup.


_COLOURS: Final = {"high": "red", "medium": "yellow", "low": "blue"}
_SHOWN: Final = 200  # characters of a value


class Prompt:
    """Asks on a terminal, beside the data: what is asked goes to stderr."""

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
        told = f"{', '.join(map(_shown, scopes))} ({len(question.candidates)} matches)" if scopes else "none"
        body.append(f"Scope:   {told}")
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

    def choose(self, candidates: "Sequence[SenseRef]") -> "Answer":
        """Read an answer; what is none is asked for again, and the end of the input defers."""
        from vocabgap.glossary.session import Defer, Define, defined, parse_answer  # noqa: PLC0415 - as above

        while True:
            typed = self._read(_choices(candidates))
            if typed is None:
                return Defer()
            answer = parse_answer(typed, candidates)
            if isinstance(answer, Define):
                return defined(self._definition())
            if answer is not None:
                return answer
            self._console.print(Text(f"'{_shown(typed)}' is no answer."))

    def choose_once(self, candidates: "Sequence[SenseRef]") -> "Answer":
        """Read an answer, of which what is none is an error.

        Raises:
            InvalidInputError: It is none.
        """
        from vocabgap.glossary.session import Defer, Define, defined, parse_answer  # noqa: PLC0415 - as above

        typed = self._read(_choices(candidates))
        if typed is None:
            return Defer()
        answer = parse_answer(typed, candidates)
        if answer is None:
            raise InvalidInputError(
                f"Invalid selection: '{typed.strip()}'", hint=_choices(candidates).strip()
            )
        return defined(self._definition()) if isinstance(answer, Define) else answer

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
        line = sys.stdin.readline()
        return line or None

    def _mark(self) -> str:
        mark = "●"
        return mark if carried(mark, self._console.encoding) == mark else "!"


def _choices(candidates: "Sequence[SenseRef]") -> str:
    numbers = f"1-{len(candidates)} (candidate), " if candidates else ""
    return f"Select: {numbers}C (custom sense), D (defer)\n> "


def _outcome(question: "Question", answer: "Answer") -> str:
    from vocabgap.glossary.session import Define, Select  # noqa: PLC0415 - as above

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
