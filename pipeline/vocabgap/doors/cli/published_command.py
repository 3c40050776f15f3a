"""`vocabgap render`, `diff` and `draft`: what a published run gives without being made again."""

import json
import sys
from enum import StrEnum
from io import StringIO
from typing import Annotated, Any

import msgspec
import typer

from vocabgap.doors.cli.options import (
    ConfigOption,
    RunOption,
    ShareOption,
    TrustOption,
    VocabularyOption,
    settings_of,
    taken_up,
    with_options,
)
from vocabgap.doors.cli.output import output_of, published_line
from vocabgap.errors import ExitCode
from vocabgap.extensions import extensions
from vocabgap.model.loading import login
from vocabgap.model.settings import DEFAULT_TOP
from vocabgap.text import carried, printable_name


class DiffFormat(StrEnum):
    """How the changes are printed."""

    TEXT = "text"
    MARKDOWN = "markdown"


class DraftFormat(StrEnum):
    """How a draft is written."""

    JSON = "json"
    YAML = "yaml"


def render(
    context: typer.Context,
    run: Annotated[str, typer.Argument(metavar="RUN_DIR", help="Folder of the published run.")],
    out: Annotated[
        str | None, typer.Option(help="Folder to publish all its files in; by default the same.")
    ] = None,
    share: ShareOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Make the report of a published run again, as this version writes it."""
    output = output_of(context)
    output.quiet = quiet
    # What follows loads Polars.
    from vocabgap.reporting.writing import render as render_run

    published = render_run(run, out, share=share, option="RUN_DIR")
    output.result(
        published_line(published),
        out=printable_name(str(published.folder)),
        files=published.files,
        capabilities=published.summary.total,
        mentions=published.summary.mentions,
    )


def diff(
    context: typer.Context,
    old: Annotated[str, typer.Argument(help="Folder of the earlier run.")],
    new: Annotated[str, typer.Argument(help="Folder of the later run.")],
    top: Annotated[int, typer.Option(min=0, help="Changes of each kind to show; 0 shows all.")] = DEFAULT_TOP,
    text_format: Annotated[
        DiffFormat, typer.Option("--format", help="How to print the changes.")
    ] = DiffFormat.TEXT,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 5 where anything changed, and with 0 where not.")
    ] = False,
) -> None:
    """Compare two published runs and say what changed."""
    output = output_of(context)
    # What follows loads Polars.
    from vocabgap.reporting.comparison import Kind, compare, compared_in_words
    from vocabgap.reporting.published_run import read_published

    comparison = compare(read_published(old, option="OLD"), read_published(new, option="NEW"))
    for change in comparison.changes:
        output.event("change", change=change)
    output.result(
        compared_in_words(comparison, top=top, markdown=text_format is DiffFormat.MARKDOWN),
        earlier=comparison.earlier,
        later=comparison.later,
        differences=comparison.differences,
        embedding=comparison.embedding,
        unchanged=comparison.unchanged,
        **{kind.value: len(comparison.of(kind)) for kind in Kind},
    )
    if exit_code and comparison.changes:
        raise typer.Exit(ExitCode.GATE)


@with_options(verb="draft")
def draft(
    context: typer.Context,
    capability: Annotated[str, typer.Argument(help="An identifier, a label or a wording of the report.")],
    run: RunOption = None,
    vocabulary: VocabularyOption = None,
    draft_format: Annotated[
        DraftFormat, typer.Option("--format", help="How to write it.")
    ] = DraftFormat.JSON,
    config: ConfigOption = None,
    trust: TrustOption = False,
) -> None:
    """Print a draft of an entry for whoever authors it."""
    output = output_of(context)
    settings = settings_of(context).settings
    # What follows loads Polars.
    from vocabgap.ranking.drafting import draft as draft_of
    from vocabgap.ranking.vocabulary import configured_vocabulary
    from vocabgap.reporting.published_run import read_gaps, read_run, telling_of_narrowing

    known = configured_vocabulary(settings.vocabulary)
    folder = settings.report.out if run is None else run
    _, ranked = read_run(folder, option="--run")
    with telling_of_narrowing(folder):
        entry_draft = draft_of(
            printable_name(capability),
            ranked,
            gaps=read_gaps(folder),
            vocabulary=known if settings.vocabulary.paths else None,
            stop_words=settings.cluster.stop_words,
            operation_aliases=settings.operation_aliases,
        )
    flags = [name for each in extensions() for name in each.options.get("draft", {})]
    if any(context.params[name.removeprefix("--")] is not None for name in flags):
        entry = entry_draft.entry
        for made in taken_up(settings, entry.name, entry.description, login(), is_draft=True):
            output.event(made.event, **made.fields)
            output.note(made.text)
    output.event("result", draft=entry_draft)
    if draft_format is DraftFormat.JSON:
        document = msgspec.json.format(msgspec.json.encode(entry_draft), indent=2).decode()
        if carried(document, sys.stdout.encoding or "utf-8") != document:
            document = json.dumps(msgspec.to_builtins(entry_draft), indent=2)  # which escapes all but ASCII
        output.text(document)
    else:
        output.text(_yaml(msgspec.to_builtins(entry_draft)))


def _yaml(value: dict[str, Any]) -> str:
    """A document of YAML; texts are quoted, so that YAML 1.1 does not take `on` for a truth."""
    from ruamel.yaml import YAML
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    def quoted(part: object) -> object:
        if isinstance(part, dict):
            return {key: quoted(each) for key, each in part.items()}
        if isinstance(part, list | tuple):
            return [quoted(each) for each in part]
        return DoubleQuotedScalarString(part) if isinstance(part, str) else part

    writer = YAML()
    writer.width = 1_000_000  # a text stays on its line
    writer.indent(mapping=2, sequence=4, offset=2)
    target = StringIO()
    writer.dump(quoted(value), target)
    return target.getvalue().rstrip("\n")
