"""`vocabgap draft`: a starting point for whoever authors a capability."""

import json
import os
import sys
from enum import StrEnum
from io import StringIO
from typing import Annotated, Any

import msgspec
import typer

from vocabgap.cli.options import ConfigOption, GlossaryOption, VocabularyOption
from vocabgap.cli.output import output_of
from vocabgap.settings.loading import login, resolve_settings
from vocabgap.settings.model import DEFAULT_OUT
from vocabgap.text import carried, printable_name, visible


class DraftFormat(StrEnum):
    """How a draft is written."""

    JSON = "json"
    YAML = "yaml"


def draft(
    context: typer.Context,
    capability: Annotated[
        str, typer.Argument(help="An identifier, a label or a wording of the report.", show_default=False)
    ],
    run: Annotated[
        str | None,
        typer.Option(help=f"Folder of the published report.  [default: {DEFAULT_OUT}]", show_default=False),
    ] = None,
    vocabulary: VocabularyOption = None,
    draft_format: Annotated[
        DraftFormat, typer.Option("--format", help="How to write it.")
    ] = DraftFormat.JSON,
    glossary: GlossaryOption = None,
    config: ConfigOption = None,
) -> None:
    """Print a draft of an entry for whoever authors it."""
    output = output_of(context)
    settings = resolve_settings(
        config,
        os.environ,
        {
            "--vocabulary": vocabulary or None,
            "--glossary": glossary,
        },
    ).settings
    # What follows loads Polars.
    from vocabgap.ranking.drafting import draft as draft_of  # noqa: PLC0415
    from vocabgap.ranking.vocabulary import load_vocabulary  # noqa: PLC0415
    from vocabgap.reporting.published_run import read_gaps, read_run, telling_of_narrowing  # noqa: PLC0415

    listed = settings.vocabulary
    known = load_vocabulary(listed.paths, fields=listed.fields, entries=listed.entries)
    folder = settings.report.out if run is None else run
    _, ranked = read_run(folder, option="--run")
    with telling_of_narrowing(folder):
        made = draft_of(
            printable_name(capability),
            ranked,
            gaps=read_gaps(folder),
            vocabulary=known if listed.paths else None,
            stop_words=settings.cluster.stop_words,
            operation_aliases=settings.operation_aliases,
        )
    if glossary is not None:
        from vocabgap.glossary.authoring import draft_term  # noqa: PLC0415 - loads what only this needs
        from vocabgap.glossary.senses import SenseStatus  # noqa: PLC0415 - as above

        sense = draft_term(settings, made.entry.name, made.entry.description, actor=login())
        output.event("sense", sense=sense)
        what = "a draft of the glossary" if sense.status == SenseStatus.DRAFT else "in the glossary already"
        output.note(f"{what}: {visible(sense.surface)}: {visible(sense.definition)}")
    output.event("result", draft=made)
    if draft_format is DraftFormat.JSON:
        document = msgspec.json.format(msgspec.json.encode(made), indent=2).decode()
        if carried(document, sys.stdout.encoding or "utf-8") != document:
            document = json.dumps(msgspec.to_builtins(made), indent=2)  # which escapes all but ASCII
        output.text(document)
    else:
        output.text(_yaml(msgspec.to_builtins(made)))


def _yaml(value: dict[str, Any]) -> str:
    """A document of YAML; texts are quoted, so that YAML 1.1 does not take `on` for a truth."""
    from ruamel.yaml import YAML  # noqa: PLC0415 - with what it writes
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString  # noqa: PLC0415

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
