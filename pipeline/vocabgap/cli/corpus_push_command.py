"""`vocabgap corpus push` and `export-chunks`: what one installation contributes to a corpus, or hands on."""

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from vocabgap.cli.corpus_options import CorpusOption, OutputOption, RepoOption, TenantOption, opened
from vocabgap.cli.options import ConfigOption
from vocabgap.cli.output import Output, output_of
from vocabgap.errors import InvalidInputError
from vocabgap.records.moments import parse_now
from vocabgap.settings.loading import resolve_settings
from vocabgap.text import count, escape_unseen, printable_name

if TYPE_CHECKING:
    from vocabgap.corpus.outcome import PushResult

SHOWN_ERRORS: Final = 20


def push(
    context: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(
            help="An image repository, or the file of a payload; - reads one from standard input.",
            metavar="DIR|PAYLOAD.json",
            show_default=False,
        ),
    ],
    tenant: TenantOption,
    repo: RepoOption,
    corpus_folder: CorpusOption = None,
    delete: Annotated[
        list[str] | None,
        typer.Option(help="Withdraw what is of this path; may be repeated. For a DIR.", show_default=False),
    ] = None,
    snapshot: Annotated[
        bool, typer.Option("--snapshot", help="Withdraw what is of no log that is in DIR now.")
    ] = False,
    base: Annotated[
        str | None,
        typer.Option(help="Withdraw what git deleted since this revision of DIR.", show_default=False),
    ] = None,
    head: Annotated[
        str | None, typer.Option(help="Up to this revision.  [default: HEAD]", show_default=False)
    ] = None,
    git: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the git repository that knows the revisions; DIR by default.", show_default=False
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before everything of the repository is withdrawn.")
    ] = False,
    now: Annotated[
        str | None, typer.Option(help="The moment of the push; the clock's by default.", show_default=False)
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Bring in gap logs or a payload, and withdraw what it says is gone.

    What is pushed twice is there once. What is withdrawn is only ever of this tenant and repository.
    """
    output = output_of(context)
    moment = None if now is None else parse_now(now)
    held = opened(output, corpus_folder, config, create=True)
    from vocabgap.corpus.gap_chunks import Signals  # noqa: PLC0415 - loads Polars

    since = (base, "HEAD" if base is not None and head is None else head)
    signals = Signals(tuple(map(printable_name, delete or ())), snapshot, *since)
    prepared = held.prepare(source, tenant=tenant, repo=repo, signals=signals)
    if prepared.empties and not yes:
        yes = _confirmed(source, tenant, repo)
    asked = git if git is not None or base is None else source
    result = held.carry_out(prepared, tenant=tenant, repo=repo, git=asked, confirmed=yes, now=moment)
    _print_pushed(output, result)
    if result.exit_code:
        raise typer.Exit(result.exit_code)


def _confirmed(source: Path, tenant: str, repo: str) -> bool:
    """What a person says about withdrawing everything; without a terminal nobody can be asked.

    Raises:
        InvalidInputError: The person says no.
    """
    if str(source) == "-" or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    if typer.confirm(escape_unseen(f"Withdraw everything of {tenant}/{repo}?"), err=True):
        return True
    raise InvalidInputError("not confirmed: nothing was pushed", hint="push without the empty snapshot")


def _print_pushed(output: Output, result: "PushResult") -> None:
    output.event("result", **result.as_object())
    for warning in result.warnings:
        output.note(escape_unseen(str(warning)))
    for error in result.errors[:SHOWN_ERRORS]:
        output.note(escape_unseen(f"{error.code}: {_place(error.details)}{error.message}"))
    if len(result.errors) > SHOWN_ERRORS:
        output.note(f"and {count(len(result.errors) - SHOWN_ERRORS, 'error')} more; --json lists them all")
    output.text(
        f"{count(result.ingested, 'record')} pushed, {result.added:,} of them new;"
        f" {result.deleted:,} withdrawn; {count(len(result.errors), 'error')}"
    )


def _place(details: Mapping[str, object]) -> str:
    """Where in a payload something stands, as a JSON pointer; nothing for what names its file itself."""
    if "fileIndex" not in details or "sourcePath" in details:
        return ""
    chunk = f", chunk {details['chunkIndex']}" if "chunkIndex" in details else ""
    return f"/files/{details['fileIndex']}{chunk}: "


def export_chunks(
    context: typer.Context,
    tenant: TenantOption,
    repo: RepoOption,
    file: OutputOption,
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="An image repository; without one the repository in the shared corpus.",
            metavar="[DIR]",
            show_default=False,
        ),
    ] = None,
    corpus_folder: CorpusOption = None,
    config: ConfigOption = None,
) -> None:
    """Write the records of a repository as a payload, for another installation to push."""
    from vocabgap.corpus import payloads  # noqa: PLC0415 - loads Polars

    output = output_of(context)
    if folder is None:
        made = opened(output, corpus_folder, config).export_chunks(file, tenant=tenant, repo=repo)
    else:
        options = resolve_settings(config, os.environ).settings.scan_options
        made = payloads.export_chunks(folder, file, tenant=tenant, repo=repo, options=options)
    for told in made.left_out[:SHOWN_ERRORS]:
        output.note(escape_unseen(f"left out: {told}"))
    if len(made.left_out) > SHOWN_ERRORS:
        output.note(f"and {len(made.left_out) - SHOWN_ERRORS:,} more; --json lists them all")
    place = printable_name(str(file))
    output.event("result", file=place, **asdict(made))
    output.text(escape_unseen(f"{count(made.chunks, 'record')} in {place}; {len(made.left_out):,} left out"))
