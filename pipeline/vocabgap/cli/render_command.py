"""`vocabgap render`: the report of a published run, made again."""

from typing import Annotated

import typer

from vocabgap.cli.options import ShareOption
from vocabgap.cli.output import output_of
from vocabgap.text import printable_name


def render(
    context: typer.Context,
    run: Annotated[
        str, typer.Argument(metavar="RUN_DIR", help="Folder of the published run.", show_default=False)
    ],
    out: Annotated[
        str | None,
        typer.Option(help="Folder to publish all its files in; by default the same.", show_default=False),
    ] = None,
    share: ShareOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Make the report of a published run again, as this version writes it."""
    output = output_of(context)
    output.quiet = quiet
    # What follows loads Polars.
    from vocabgap.cli.output import published_line  # noqa: PLC0415
    from vocabgap.reporting.writing import render as render_run  # noqa: PLC0415

    made = render_run(run, out, share=share, option="RUN_DIR")
    output.event(
        "result",
        out=printable_name(str(made.folder)),
        files=made.files,
        capabilities=made.summary.total,
        mentions=made.summary.mentions,
    )
    output.text(published_line(made))
