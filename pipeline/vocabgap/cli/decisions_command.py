"""`vocabgap decisions`: what was decided."""

import os
from enum import StrEnum
from typing import TYPE_CHECKING

import typer

from vocabgap.cli.options import ConfigOption, DecisionsOption, RunOption
from vocabgap.cli.output import Output, output_of
from vocabgap.errors import NotFoundError, VocabgapError
from vocabgap.records.moments import iso
from vocabgap.settings.loading import resolve_settings
from vocabgap.text import count, escape_unseen, printable_name, visible

if TYPE_CHECKING:
    from vocabgap.decisions.deciding import Decisions
    from vocabgap.decisions.record import Decision

decisions = typer.Typer(
    name="decisions",
    help="Look at what was decided.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


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
) -> None:
    """List the decisions in the order in which they were made, and say which of them are in force.

    Those that were undone are listed, too, with who undid them and when. A status that the published run has
    outgrown, since other wordings have most of its group's mentions, holds no longer.
    """
    output = output_of(context)
    settings = resolve_settings(config, os.environ, {"--decisions": file}).settings
    from vocabgap.decisions.deciding import Decisions  # noqa: PLC0415 - loads Polars
    from vocabgap.decisions.replay import undoings  # noqa: PLC0415 - loads Polars

    book = Decisions(run or settings.report.out, settings.decisions.file)
    found = book.all()
    undone = undoings(found)
    outgrown = _outgrown(output, book, is_asked_for=run is not None) if found else frozenset()
    standings = [_standing(each, undone, outgrown) for each in found]
    for each, standing in zip(found, standings, strict=True):
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
        decisions=len(found),
        in_force=numbers[Standing.IN_FORCE],
        outgrown=numbers[Standing.OUTGROWN],
        undone=numbers[Standing.UNDONE],
        undos=numbers[Standing.UNDO],
        file=place,
    )
    if output.as_json:
        return
    if found:
        from vocabgap.cli.output import table  # noqa: PLC0415 - loads rich

        headings = ("decision", "time", "who", "what", "why", "in force")
        rows = [
            (
                each.decision_id,
                iso(each.time),
                each.actor,
                each.what,
                each.reason or None,
                _in_words(standing, undone.get(each.decision_id)),
            )
            for each, standing in zip(found, standings, strict=True)
        ]
        output.text(table(headings, rows, dates=("decision", "time")) + "\n")
    told = [f"{numbers[Standing.IN_FORCE]:,} in force"]
    told += [f"{numbers[kind]:,} {kind}" for kind in (Standing.OUTGROWN, Standing.UNDONE) if numbers[kind]]
    told += [count(numbers[Standing.UNDO], "undo")] if numbers[Standing.UNDO] else []
    output.text(f"{escape_unseen(place)}: {count(len(found), 'decision')}: {', '.join(told)}.")


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


def _in_words(standing: Standing, undo: "Decision | None") -> str | None:
    if undo is not None:
        return f"undone by {visible(undo.actor)} on {iso(undo.time)} ({undo.decision_id})"
    told = {Standing.IN_FORCE: "yes", Standing.OUTGROWN: "no longer: its group has outgrown it"}
    return told.get(standing)
