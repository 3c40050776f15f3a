"""`vocabgap decide`: merge, split, rename, pin, dismiss, author and reopen capabilities, and undo that."""

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from vocabgap.cli.options import ConfigOption, DecisionsOption, GlossaryOption, RunOption
from vocabgap.cli.output import PROGRAM, Output, output_of
from vocabgap.errors import expanded
from vocabgap.records.moments import parse_now
from vocabgap.settings.loading import resolve_settings
from vocabgap.text import escape_unseen, printable_name, visible

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vocabgap.decisions.deciding import Decisions
    from vocabgap.decisions.record import Decision
    from vocabgap.settings.model import Settings

decide = typer.Typer(
    name="decide",
    help="Decide about the capabilities of a published run.\n\n"
    "A capability is named by its identifier or the beginning of it, by its label, or by a wording. "
    "The logs stay as they are: a decision is a line of a file, which every later run follows.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

CapabilityArgument = Annotated[
    str, typer.Argument(help="Identifier, label or any wording.", show_default=False)
]
WhyOption = Annotated[str, typer.Option("--why", help="The reason.", show_default=False)]
ActorOption = Annotated[
    str | None,
    typer.Option(help="Who decides; by default VOCABGAP_ACTOR, else who is logged in.", show_default=False),
]
NowOption = Annotated[
    str | None, typer.Option(help="The moment of the decision; the clock's by default.", show_default=False)
]


@decide.command()
def merge(
    context: typer.Context,
    capability: CapabilityArgument,
    other: CapabilityArgument,
    run: RunOption = None,
    decisions: DecisionsOption = None,
    why: WhyOption = "",
    actor: ActorOption = None,
    now: NowOption = None,
    config: ConfigOption = None,
) -> None:
    """Say that two capabilities are one; it keeps the identifier of the first."""
    _decide(context, run, decisions, actor, now, config, lambda book: book.merge(capability, other, why))


@decide.command()
def split(
    context: typer.Context,
    capability: CapabilityArgument,
    wording: Annotated[
        list[str],
        typer.Option("--wording", help="A wording that leaves; may be repeated.", show_default=False),
    ],
    run: RunOption = None,
    decisions: DecisionsOption = None,
    why: WhyOption = "",
    actor: ActorOption = None,
    now: NowOption = None,
    config: ConfigOption = None,
) -> None:
    """Say that some wordings are another need than the rest."""
    _decide(context, run, decisions, actor, now, config, lambda book: book.split(capability, wording, why))


@decide.command()
def rename(
    context: typer.Context,
    capability: CapabilityArgument,
    label: Annotated[str, typer.Argument(help="The new label.", show_default=False)],
    run: RunOption = None,
    decisions: DecisionsOption = None,
    why: WhyOption = "",
    actor: ActorOption = None,
    now: NowOption = None,
    config: ConfigOption = None,
) -> None:
    """Give a capability a label of its own."""
    _decide(context, run, decisions, actor, now, config, lambda book: book.rename(capability, label, why))


@decide.command()
def pin(
    context: typer.Context,
    capability: CapabilityArgument,
    run: RunOption = None,
    decisions: DecisionsOption = None,
    why: WhyOption = "",
    actor: ActorOption = None,
    now: NowOption = None,
    config: ConfigOption = None,
) -> None:
    """Have a capability stand first, whatever its counts and whatever covers it."""
    _decide(context, run, decisions, actor, now, config, lambda book: book.pin(capability, why))


@decide.command()
def dismiss(
    context: typer.Context,
    capability: CapabilityArgument,
    why: WhyOption,
    run: RunOption = None,
    decisions: DecisionsOption = None,
    actor: ActorOption = None,
    now: NowOption = None,
    config: ConfigOption = None,
) -> None:
    """Say that a capability is not going to be authored.

    That holds while the wordings that it has now carry at least half of its mentions.
    """
    _decide(context, run, decisions, actor, now, config, lambda book: book.dismiss(capability, why))


@decide.command()
def author(
    context: typer.Context,
    capability: CapabilityArgument,
    entry: Annotated[str, typer.Option("--entry", help="The vocabulary entry.", show_default=False)],
    run: RunOption = None,
    decisions: DecisionsOption = None,
    why: WhyOption = "",
    actor: ActorOption = None,
    now: NowOption = None,
    glossary: GlossaryOption = None,
    config: ConfigOption = None,
) -> None:
    """Say which entry was authored for a capability; it regresses if it is mentioned again.

    Where a glossary is named, the entry is a term of it from now on.
    """
    _decide(
        context,
        run,
        decisions,
        actor,
        now,
        config,
        lambda book: book.author(capability, entry, why),
        glossary=glossary,
    )


@decide.command()
def reopen(
    context: typer.Context,
    capability: CapabilityArgument,
    run: RunOption = None,
    decisions: DecisionsOption = None,
    why: WhyOption = "",
    actor: ActorOption = None,
    now: NowOption = None,
    config: ConfigOption = None,
) -> None:
    """Say that a capability is open after all."""
    _decide(context, run, decisions, actor, now, config, lambda book: book.reopen(capability, why))


@decide.command()
def undo(
    context: typer.Context,
    decision: Annotated[
        str, typer.Argument(help="The decision's identifier, or the beginning of it.", show_default=False)
    ],
    decisions: DecisionsOption = None,
    why: WhyOption = "",
    actor: ActorOption = None,
    now: NowOption = None,
    config: ConfigOption = None,
) -> None:
    """Take a decision back: everything is as if it had never been made.

    What was decided meanwhile about a capability that a merge had united stays with the one of the two that
    had the wording it was named by, or the identifier.
    """
    _decide(
        context,
        None,
        decisions,
        actor,
        now,
        config,
        lambda book: book.undo(decision, why),
        is_of_run=False,
    )


def _decide(
    context: typer.Context,
    run: str | None,
    decisions: str | None,
    actor: str | None,
    now: str | None,
    config: "Path | None",
    deciding: "Callable[[Decisions], Decision]",
    *,
    is_of_run: bool = True,
    glossary: str | None = None,
) -> None:
    output = output_of(context)
    settings = resolve_settings(
        config,
        os.environ,
        {"--decisions": decisions, "--glossary": glossary},
    ).settings
    moment = None if now is None else parse_now(now)
    from vocabgap.decisions.deciding import Decisions  # noqa: PLC0415 - loads Polars
    from vocabgap.reporting.published_run import telling_of_narrowing  # noqa: PLC0415

    place = printable_name(str(expanded(settings.decisions.file)))

    def waiting() -> None:
        output.event("waiting", file=place)
        output.note(f"waiting for another writer of {escape_unseen(place)}")

    folder = run or settings.report.out
    book = Decisions(folder, settings.decisions.file, actor=actor, now=moment, on_wait=waiting)
    with telling_of_narrowing(folder) if is_of_run else nullcontext():
        made = deciding(book)
    output.event("decision", decision=made)
    if made.entry is not None and settings.glossary.folder is not None:
        _author_term(output, settings, made)
    output.event("result", decision_id=made.decision_id, file=place)
    output.text(f"{made.told}\n{escape_unseen(place)}: the next `vocabgap report` follows it")


def _author_term(output: Output, settings: "Settings", made: "Decision") -> None:
    """Let the entry of a decision be a term of the glossary."""
    from vocabgap.glossary.authoring import author_term  # noqa: PLC0415 - loads Polars

    label = "" if made.capability is None else made.capability.label
    sense = author_term(settings, made.entry or "", f"Authored for: {label}", actor=made.actor)
    output.event("sense", sense=sense)
    told = f"{visible(sense.surface)} [{sense.scope}] is {sense.status}: {visible(sense.definition)}"
    output.text(told)
    if sense.status.value == "draft":
        output.note(f"it means something else already; `{PROGRAM} glossary promote` settles that")
