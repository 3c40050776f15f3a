"""`vocabgap corpus export` and `restore`: backups with vectors."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from vocabgap.cli.corpus_options import CorpusOption, opened
from vocabgap.cli.options import ConfigOption
from vocabgap.cli.output import output_of
from vocabgap.errors import InvalidInputError
from vocabgap.text import count, escape_unseen, printable_name

_FILE_HELP = "One backup record a line; compressed if it is called .zst."


def export(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help=_FILE_HELP, show_default=False)],
    corpus_folder: CorpusOption = None,
    config: ConfigOption = None,
) -> None:
    """Write a backup: every record with its vector, ordered by id."""
    output = output_of(context)
    made = opened(output, corpus_folder, config).export(file)
    place = printable_name(str(file))
    output.event("result", file=place, **asdict(made))
    told = f"{count(made.records, 'record')} of {made.dimension:,} dimensions in {place}"
    absent = f"; {made.without_document:,} without a document" if made.without_document else ""
    output.text(escape_unseen(f"{told}; {count(made.embedded, 'vector')} made for it{absent}"))


def restore(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help=_FILE_HELP, show_default=False)],
    corpus_folder: CorpusOption = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Take out everything that is there, in the same step.")
    ] = False,
    config: ConfigOption = None,
) -> None:
    """Put a backup back, verbatim: all of its records, or none where one of them cannot be."""
    output = output_of(context)
    held = opened(output, corpus_folder, config, create=True)
    from vocabgap.corpus.outcome import RefusedError  # noqa: PLC0415 - loads Polars

    try:
        made = held.restore(file, replace=replace)
    except RefusedError as error:
        raise InvalidInputError(f"{error.code}: {error.message}") from error
    output.event("result", **asdict(made))
    told = f"{count(made.records, 'record')} restored, {made.added:,} of them new"
    removed = f"; {made.removed:,} replaced" if replace else ""
    absent = f"; {made.without_document:,} without a document" if made.without_document else ""
    output.text(f"{told}{removed}{absent}")
