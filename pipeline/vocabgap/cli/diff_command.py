"""`vocabgap diff`: what changed between two published runs."""

from enum import StrEnum
from typing import Annotated

import typer

from vocabgap.cli.output import output_of
from vocabgap.settings.model import DEFAULT_TOP


class DiffFormat(StrEnum):
    """How the changes are printed."""

    TEXT = "text"
    MARKDOWN = "markdown"


def diff(
    context: typer.Context,
    old: Annotated[str, typer.Argument(help="Folder of the earlier run.", show_default=False)],
    new: Annotated[str, typer.Argument(help="Folder of the later run.", show_default=False)],
    top: Annotated[int, typer.Option(min=0, help="Changes of each kind to show; 0 shows all.")] = DEFAULT_TOP,
    text_format: Annotated[
        DiffFormat, typer.Option("--format", help="How to print the changes.")
    ] = DiffFormat.TEXT,
) -> None:
    """Compare two published runs and say what changed."""
    output = output_of(context)
    # What follows loads Polars.
    from vocabgap.reporting.comparison import Kind, compare, compared_in_words  # noqa: PLC0415
    from vocabgap.reporting.published_run import read_published  # noqa: PLC0415

    found = compare(read_published(old, option="OLD"), read_published(new, option="NEW"))
    for change in found.changes:
        output.event("change", change=change)
    output.event(
        "result",
        earlier=found.earlier,
        later=found.later,
        differences=found.differences,
        unchanged=found.unchanged,
        **{kind.value: len(found.of(kind)) for kind in Kind},
    )
    output.text(compared_in_words(found, top=top, markdown=text_format is DiffFormat.MARKDOWN))
