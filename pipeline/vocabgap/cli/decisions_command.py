"""`vocabgap decisions`: what was decided."""

import os

import typer

from vocabgap.cli.options import ConfigOption, DecisionsOption
from vocabgap.cli.output import output_of
from vocabgap.config import expanded, resolve_settings
from vocabgap.moments import iso
from vocabgap.text import count, escape_unseen, printable_name

decisions = typer.Typer(
    name="decisions",
    help="Look at what was decided.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


@decisions.callback()
def _root() -> None:
    """Without this a group of one command would be that command."""


@decisions.command("list")
def list_decisions(
    context: typer.Context,
    file: DecisionsOption = None,
    config: ConfigOption = None,
) -> None:
    """List the decisions in the order in which they were made, those that were undone included."""
    output = output_of(context)
    settings = resolve_settings(config, os.environ, {"--decisions": (("decisions", "file"), file)}).settings
    from vocabgap.decisions import read_decisions, standing_of  # noqa: PLC0415 - loads Polars

    path = expanded(settings.decisions.file)
    found = read_decisions(path)
    standing = {each.decision_id for each in standing_of(found)}
    for each in found:
        output.event("decision", decision=each, in_force=each.decision_id in standing)
    place = printable_name(str(path))
    output.event("result", decisions=len(found), in_force=len(standing), file=place)
    if output.as_json:
        return
    if found:
        from vocabgap.cli.tables import table  # noqa: PLC0415 - loads rich

        headings = ("decision", "time", "who", "what", "why", "in force")
        rows = [
            (
                each.decision_id,
                iso(each.time),
                each.actor,
                each.what,
                each.reason or None,
                "yes" if each.decision_id in standing else "undone",
            )
            for each in found
        ]
        output.text(table(headings, rows, dates=("decision", "time")) + "\n")
    output.text(f"{escape_unseen(place)}: {count(len(found), 'decision')}, {len(standing):,} in force.")
