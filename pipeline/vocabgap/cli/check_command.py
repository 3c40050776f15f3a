"""`vocabgap check`: are the logs sound?"""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vocabgap.cli.options import (
    Reading,
    RootsArgument,
    note_cache,
    reading_arguments,
    settings_of,
    with_options,
)
from vocabgap.cli.output import Output, account_line, output_of
from vocabgap.errors import ExitCode
from vocabgap.settings.model import Settings
from vocabgap.text import count, escape_unseen, in_words

if TYPE_CHECKING:
    from vocabgap.ingest.log_lines import RepairedLine


@with_options(Reading)
def check(
    context: typer.Context,
    roots: RootsArgument,
    repairs: Annotated[
        bool,
        typer.Option(
            "--repairs",
            help="List what was repaired in lines of logs, not of corpora, that were kept; reads them again.",
        ),
    ] = False,
    mended: Annotated[bool, typer.Option("--mended", hidden=True)] = False,  # its name before
) -> None:
    """List the bad lines of the logs; exit with 2 if there are any."""
    from vocabgap.ingest.scanning import scan

    output = output_of(context)
    repairs = repairs or mended
    settings = settings_of(context).settings
    scanned = scan(roots, settings=settings.scan, **reading_arguments(context))
    summary = scanned.summary
    for row in scanned.rejects.iter_rows(named=True):
        output.event("reject", **row)
    repaired = _repaired(roots, settings) if repairs and summary.repairs else []
    for each in repaired:
        output.event("mended", mended=each)
    patterns = [glob for source in settings.sources.values() for glob in source.globs]
    output.event("result", summary=summary, cache=scanned.cache, looked_for=patterns)
    note_cache(output, scanned.cache)
    several = len({*scanned.files["repo_slug"], *scanned.rejects["repo_slug"]}) > 1
    for row in scanned.rejects.iter_rows(named=True):
        path = f"{row['repo_slug']}/{row['source_path']}" if several else row["source_path"]
        where = f"{path}:{row['line']}" if row["line"] else path
        output.text(escape_unseen(f"{where}: {row['reason']}: {row['detail']}"))
    for each in repaired:
        path = f"{each.repo_slug}/{each.source_path}" if several else each.source_path
        output.text(escape_unseen(f"{path}:{each.line}: {in_words(each.repair)}: {each.detail}"))
    output.text(account_line(summary))
    if summary.repairs:
        kinds = ", ".join(f"{number:,} {in_words(kind)}" for kind, number in summary.repairs.items())
        where = "" if repairs else " (--repairs lists them)"
        output.text(f"kept, but repaired or worth a look: {kinds}{where}")
    if not (summary.files or summary.unreadable):
        _explain_nothing(output, roots, patterns)
    _explain_pretty_printing(output, scanned.rejects.iter_rows(named=True))
    if scanned.rejects.height:
        raise typer.Exit(ExitCode.INVALID_INPUT)


def _repaired(roots: list[Path], settings: Settings) -> "list[RepairedLine]":
    from vocabgap.ingest.log_lines import repaired_lines

    return repaired_lines(roots, settings.scan)


def _explain_nothing(output: Output, roots: list[Path], patterns: list[str]) -> None:
    from vocabgap.ingest.reading import COMPRESSIONS

    searched = ", ".join(map(str, roots))
    names = ", ".join(patterns) or "nothing, since every source is off"
    packed = " or ".join(f".{compression}" for compression in COMPRESSIONS)
    output.note(escape_unseen(f"no log was found in {searched}: looked for {names}, each with {packed}, too"))
    output.note(
        "  name a folder above the logs, or a log itself; --hidden searches names that start with a dot,"
        " and a [source.NAME] table in vocabgap.toml makes logs of other names known"
    )


def _explain_pretty_printing(output: Output, rejects: Iterator[dict[str, Any]]) -> None:
    """Say once what many bad lines have in common, where each is a piece of an object."""
    spread = {
        f"{row['repo_slug']}/{row['source_path']}"
        for row, following in pairwise(rejects)
        if (row["raw"] or "").strip() == "{"
        and (row["repo_slug"], row["source_path"]) == (following["repo_slug"], following["source_path"])
        and row["line"] + 1 == following["line"]
    }
    if spread:
        others = f" and {count(len(spread) - 1, 'other log')}" if len(spread) > 1 else ""
        output.note(escape_unseen(f"this looks like pretty-printed JSON: {min(spread)}{others}"))
        output.note("  one object a line is expected, as `jq -c .` writes it")
