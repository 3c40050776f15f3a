"""What the commands of `vocabgap glossary` share: their options, and the runtime that these mean."""

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from vocabgap.cli.output import Output
from vocabgap.errors import InvalidInputError
from vocabgap.records.moments import parse_now
from vocabgap.settings.loading import login, resolve_settings
from vocabgap.settings.model import DEFAULT_GLOSSARY
from vocabgap.text import visible

if TYPE_CHECKING:
    from vocabgap.glossary.loading import Loaded
    from vocabgap.glossary.runtime import GlossaryRuntime
    from vocabgap.glossary.strictness import Strictness

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

    flags = {"--glossary": (("glossary", "folder"), folder)}
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
    from vocabgap.glossary.event_log import passed_over  # noqa: PLC0415 - loads what only this needs

    for told in passed_over(skipped):
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
    from vocabgap.glossary.strictness import Strictness, strictness_of  # noqa: PLC0415 - as above

    found = strictness_of(name)
    if name is not None and found is None:
        raise InvalidInputError(
            f"Invalid strictness '{name}'", hint=f"expected one of {', '.join(Strictness)}"
        )
    return found
