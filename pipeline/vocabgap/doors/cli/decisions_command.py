"""`vocabgap decide` and `decisions`: decide about capabilities, undo that, and see what was decided."""

from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from vocabgap.doors.cli.groups import Commands
from vocabgap.doors.cli.options import (
    ActorOption,
    ConfigOption,
    DecisionsOption,
    NowOption,
    RunOption,
    TrustOption,
    given_words,
    require_decisions,
    settings_of,
    taken_up,
    with_options,
)
from vocabgap.doors.cli.output import Output, output_of, table
from vocabgap.errors import NotFoundError, VocabgapError, expanded
from vocabgap.model.moments import parse_now
from vocabgap.text import count, escape_unseen, printable_name, visible

if TYPE_CHECKING:
    from vocabgap.decisions.deciding import Decisions
    from vocabgap.decisions.record import Decision
    from vocabgap.model.settings import Settings

decide = Commands(
    "decide",
    "Decide about the capabilities of a published run.\n\n"
    "A capability is named by its identifier or the beginning of it, by its label, or by a wording. "
    "The logs stay as they are: a decision is a line of a file, which every later run follows.",
)

CapabilityArgument = Annotated[str, typer.Argument(help="Identifier, label or any wording.")]
WhyOption = Annotated[str, typer.Option("--why", help="The reason.")]


class Choosing(NamedTuple):
    """Of which run a capability is, and why something is decided about it."""

    run: RunOption = None
    why: WhyOption = ""


class Recording(NamedTuple):
    """In which file a decision goes, whose it is, and when it was made."""

    decisions: DecisionsOption = None
    actor: ActorOption = None
    now: NowOption = None
    config: ConfigOption = None
    trust: TrustOption = False


@decide.command()
@with_options(Choosing, Recording)
def merge(context: typer.Context, capability: CapabilityArgument, other: CapabilityArgument) -> None:
    """Say that two capabilities are one; it keeps the identifier of the first."""
    _decide(context, lambda book, why: book.merge(capability, other, why))


@decide.command()
@with_options(Choosing, Recording)
def split(
    context: typer.Context,
    capability: CapabilityArgument,
    wording: Annotated[list[str], typer.Option(help="A wording that leaves; may be repeated.")],
) -> None:
    """Say that some wordings are another need than the rest."""
    _decide(context, lambda book, why: book.split(capability, wording, why))


@decide.command()
@with_options(Choosing, Recording)
def rename(
    context: typer.Context,
    capability: CapabilityArgument,
    label: Annotated[str, typer.Argument(help="The new label.")],
) -> None:
    """Give a capability a label of its own."""
    _decide(context, lambda book, why: book.rename(capability, label, why))


@decide.command()
@with_options(Choosing, Recording)
def pin(context: typer.Context, capability: CapabilityArgument) -> None:
    """Have a capability stand first, whatever its counts and whatever covers it."""
    _decide(context, lambda book, why: book.pin(capability, why))


@decide.command()
@with_options(Choosing, Recording)
def dismiss(context: typer.Context, capability: CapabilityArgument, why: WhyOption) -> None:
    """Say that a capability is not going to be authored, and why.

    It holds while the wordings that it has now carry at least half of its mentions.
    """
    _decide(context, lambda book, why: book.dismiss(capability, why))


@decide.command()
@with_options(Choosing, Recording, verb="decide author")
def author(
    context: typer.Context,
    capability: CapabilityArgument,
    entry: Annotated[str, typer.Option(help="The vocabulary entry.")],
) -> None:
    """Say which entry was authored for a capability; it regresses if it is mentioned again.

    Where a glossary is named, the entry is a term of it from now on.
    """
    _decide(context, lambda book, why: book.author(capability, entry, why))


@decide.command()
@with_options(Choosing, Recording)
def reopen(context: typer.Context, capability: CapabilityArgument) -> None:
    """Say that a capability is open after all."""
    _decide(context, lambda book, why: book.reopen(capability, why))


@decide.command()
@with_options(Recording)
def undo(
    context: typer.Context,
    decision: Annotated[
        str, typer.Argument(help="Its identifier in `vocabgap decisions list`, or the beginning of it.")
    ],
    why: WhyOption = "",
) -> None:
    """Take a decision back: everything is as if it had never been made.

    What was decided meanwhile about a capability that a merge had united stays with the one of the two that
    had the wording it was named by, or the identifier.
    """
    _decide(context, lambda book, why: book.undo(decision, why))


def _decide(context: typer.Context, deciding: Callable[["Decisions", str], "Decision"]) -> None:
    output, options = output_of(context), context.params
    settings = settings_of(context).settings
    moment = None if options["now"] is None else parse_now(options["now"])
    from vocabgap.decisions.deciding import Decisions
    from vocabgap.reporting.published_run import telling_of_narrowing

    place = printable_name(str(expanded(settings.decisions.file)))
    folder = options.get("run") or settings.report.out
    book = Decisions(
        folder,
        settings.decisions.file,
        actor=options["actor"],
        now=moment,
        on_wait=output.telling_of_wait(place),
    )
    with telling_of_narrowing(folder) if "run" in options else nullcontext():
        decision = deciding(book, options["why"])
    output.event("decision", decision=decision)
    if decision.entry is not None:
        _offer(context, settings, decision)
    follows = f"{escape_unseen(place)}: the next `vocabgap report` follows it"
    later = _later(book, decision)
    if later is not None:
        output.note(
            f"{later.decision_id} ({_minute(later.time)}) counts after it, for it has the later time;"
            " if a clock was wrong, undo that one, or say --now"
        )
    output.result(f"{decision.summary}\n{follows}", decision_id=decision.decision_id, file=place)


def _later(book: "Decisions", decision: "Decision") -> "Decision | None":
    """The last decision about the same capability, where it is of a later moment."""
    about = [
        each
        for each in book.in_force()
        if each.capability and decision.capability
        if each.capability.capability_id == decision.capability.capability_id
    ]
    return about[-1] if about and about[-1].place > decision.place else None


def _offer(context: typer.Context, settings: "Settings", decision: "Decision") -> None:
    """Offer the entry of a decision to the slices, such as the glossary, where it becomes a term."""
    from vocabgap.ranking.vocabulary import configured_vocabulary

    output = output_of(context)
    entry = decision.entry or ""
    known = configured_vocabulary(settings.vocabulary).entries
    described = next((each.description for each in known if each.name == entry), "")
    label = "" if decision.capability is None else decision.capability.label
    for made in taken_up(settings, entry, described or f"Authored for: {label}", decision.actor):
        output.event(made.event, **made.fields)
        output.text(made.text)
        if made.hint is not None:
            output.note(made.hint.rendered(given_words(made.hint, context.params)))


decisions = Commands("decisions", "Look at what was decided.")


class Standing(StrEnum):
    """What has become of a decision."""

    IN_FORCE = "in force"
    OUTGROWN = "outgrown"
    UNDONE = "undone"
    UNDO = "undo"


@decisions.callback()
def _root() -> None:
    """Without this a group of one command would be that command."""


@decisions.command("list")
def list_decisions(
    context: typer.Context,
    file: DecisionsOption = None,
    run: RunOption = None,
    config: ConfigOption = None,
    trust: TrustOption = False,
) -> None:
    """List the decisions in the order in which they were made, and say which of them are in force.

    Those that were undone are listed, too, with who undid them and when. A status that the published run has
    outgrown, since other wordings have most of its group's mentions, holds no longer.
    """
    output = output_of(context)
    require_decisions(file)
    settings = settings_of(context).settings
    from vocabgap.decisions.deciding import Decisions
    from vocabgap.decisions.replay import undoings

    book = Decisions(run or settings.report.out, settings.decisions.file)
    listed = book.all()
    undone = undoings(listed)
    outgrown = _outgrown(output, book, is_asked_for=run is not None) if listed else frozenset()
    standings = [_standing(each, undone, outgrown) for each in listed]
    for each, standing in zip(listed, standings, strict=True):
        undo = undone.get(each.decision_id)
        output.event(
            "decision",
            decision=each,
            in_force=standing is Standing.IN_FORCE,
            standing=standing,
            undone_by=undo and undo.decision_id,
        )
    place = printable_name(str(book.file))
    numbers = {kind: standings.count(kind) for kind in Standing}
    output.event(
        "result",
        decisions=len(listed),
        in_force=numbers[Standing.IN_FORCE],
        outgrown=numbers[Standing.OUTGROWN],
        undone=numbers[Standing.UNDONE],
        undos=numbers[Standing.UNDO],
        file=place,
    )
    if output.as_json:
        return
    if listed:
        headings = ("decision", "time", "who", "what", "why", "in force")
        rows = [
            (
                each.decision_id,
                _minute(each.time),
                each.actor,
                each.what,
                each.reason or None,
                _in_words(standing, undone.get(each.decision_id)),
            )
            for each, standing in zip(listed, standings, strict=True)
        ]
        output.text(table(headings, rows, dates=("decision", "time")) + "\n")
    parts = [f"{numbers[Standing.IN_FORCE]:,} in force"]
    parts += [f"{numbers[kind]:,} {kind}" for kind in (Standing.OUTGROWN, Standing.UNDONE) if numbers[kind]]
    parts += [count(numbers[Standing.UNDO], "undo")] if numbers[Standing.UNDO] else []
    output.text(f"{escape_unseen(place)}: {count(len(listed), 'decision')}: {', '.join(parts)}.")


def _outgrown(output: Output, book: "Decisions", *, is_asked_for: bool) -> frozenset[str]:
    """What the run has outgrown; decisions are listed without a run, too, unless one was named."""
    try:
        return book.outgrown()
    except VocabgapError as error:
        if is_asked_for:
            raise
        if not isinstance(error, NotFoundError):
            output.note(f"which of these are outgrown is not known: {visible(error.message)}")
        return frozenset()


def _standing(decision: "Decision", undone: "dict[str, Decision]", outgrown: frozenset[str]) -> Standing:
    if decision.decision_id in undone:
        return Standing.UNDONE
    if decision.undoes is not None:
        return Standing.UNDO
    return Standing.OUTGROWN if decision.decision_id in outgrown else Standing.IN_FORCE


def _minute(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}"


def _in_words(standing: Standing, undo: "Decision | None") -> str | None:
    if undo is not None:
        return f"undone by {visible(undo.actor)} on {_minute(undo.time)} ({undo.decision_id})"
    in_force = {Standing.IN_FORCE: "yes", Standing.OUTGROWN: "no longer: its group has outgrown it"}
    return in_force.get(standing)
