"""What the commands of `vocabgap glossary` share: their options, and the runtime that these mean."""

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from vocabgap.doors.cli.options import ActorOption, ConfigOption, NowOption, TrustOption, settings_of
from vocabgap.doors.cli.output import Output
from vocabgap.errors import InvalidInputError
from vocabgap.glossary.extension import DEFAULT_GLOSSARY, GlossarySettings
from vocabgap.model.loading import login
from vocabgap.model.moments import parse_now
from vocabgap.text import visible

if TYPE_CHECKING:
    from vocabgap.glossary.conflicts import Strictness
    from vocabgap.glossary.loading import Loaded
    from vocabgap.glossary.runtime import GlossaryRuntime


SHOWN_DIGITS: Final = 8  # of a conflict's identifier, which its beginning stands for

FolderOption = Annotated[
    str | None, typer.Option("--glossary", help=f"Folder of the glossary.  [default: {DEFAULT_GLOSSARY}]")
]
ScopeOption = Annotated[str | None, typer.Option("--scope", help="Of this scope only.")]
MissionOption = Annotated[
    str | None, typer.Option("--mission", help="The mission whose own senses count, too.")
]
StrictnessOption = Annotated[
    str | None, typer.Option("--strictness", help="How strict the gate is: off, medium or max.")
]
AskOption = Annotated[
    bool | None,
    typer.Option("--ask/--no-ask", help="Ask what terms mean; by default where somebody can answer."),
]


class GlossaryOptions(NamedTuple):
    """Which glossary, by which settings."""

    folder: FolderOption = None
    config: ConfigOption = None
    trust: TrustOption = False


class ActingOptions(NamedTuple):
    """Who answers, when, and in which glossary."""

    actor: ActorOption = None
    now: NowOption = None
    folder: FolderOption = None
    config: ConfigOption = None
    trust: TrustOption = False


def runtime_of(context: typer.Context) -> "GlossaryRuntime":
    """The runtime of the glossary that the options mean, used by a person; its folder need not exist."""
    from vocabgap.glossary.events import Actor
    from vocabgap.glossary.runtime import configured_runtime
    from vocabgap.glossary.session import clock

    actor, now = context.params.get("actor"), context.params.get("now")
    name = actor or login() or "cli"
    return configured_runtime(
        settings_of(context).settings.of(GlossarySettings),
        actor=Actor(f"user:{name}", display_name=name),
        now=clock if now is None else partial(parse_now, now),
    )


def existing_runtime(context: typer.Context) -> "GlossaryRuntime":
    """The runtime of a glossary whose folder has to exist."""
    runtime = runtime_of(context)
    runtime.require_folder()
    return runtime


def note_problems(output: Output, loaded: "Loaded") -> None:
    """Say what of a glossary's files does not count."""
    for problem in loaded.problems:
        output.note(visible(problem))


def note_skipped(output: Output, skipped: int) -> None:
    """Say how many lines of a glossary's logs are no events."""
    from vocabgap.glossary.event_log import skipped_lines

    for note in skipped_lines(skipped):
        output.note(note)


def require_choice(what: str, value: str | None, choices: Iterable[str]) -> None:
    """Refuse what is none of the choices."""
    if value not in {None, *choices}:
        raise InvalidInputError(f"Invalid {what} '{value}'", hint=f"expected one of {', '.join(choices)}")


def require_strictness(name: str | None) -> "Strictness | None":
    """The strictness of a name; none where none is named."""
    from vocabgap.glossary.conflicts import Strictness, strictness_of

    strictness = strictness_of(name)
    if strictness is None:
        require_choice("strictness", name, Strictness)
    return strictness
