"""`vocabgap check`: are the logs sound?"""

import os
from pathlib import Path
from typing import Annotated

import typer

from vocabgap.cli.options import (
    CacheOption,
    ConfigOption,
    HiddenOption,
    VerifyHashOption,
    note_cache,
)
from vocabgap.cli.output import ROOTS_HELP, output_of
from vocabgap.config import resolve_settings
from vocabgap.errors import ExitCode
from vocabgap.text import escape_unseen, in_words


def check(
    context: typer.Context,
    roots: Annotated[list[Path], typer.Argument(help=ROOTS_HELP, readable=False)],
    hidden: HiddenOption = None,
    cache: CacheOption = None,
    verify_hash: VerifyHashOption = False,
    config: ConfigOption = None,
) -> None:
    """List the bad lines of the logs; exit with 2 if there are any."""
    from vocabgap.cli.tables import account_line  # noqa: PLC0415 - loads rich
    from vocabgap.ingest import scan  # noqa: PLC0415 - loads Polars

    output = output_of(context)
    settings = resolve_settings(config, os.environ, {"--hidden": (("ingest", "hidden"), hidden)}).settings
    scanned = scan(roots, **settings.scan_options, cache=cache, verify_hash=verify_hash)
    summary = scanned.summary
    for row in scanned.rejects.iter_rows(named=True):
        output.event("reject", **row)
    output.event("result", summary=summary, cache=scanned.cache)
    note_cache(output, scanned.cache)
    several = len({*scanned.files["repo_slug"], *scanned.rejects["repo_slug"]}) > 1
    for row in scanned.rejects.iter_rows(named=True):
        path = f"{row['repo_slug']}/{row['source_path']}" if several else row["source_path"]
        where = f"{path}:{row['line']}" if row["line"] else path
        output.text(escape_unseen(f"{where}: {row['reason']}: {row['detail']}"))
    output.text(account_line(summary))
    if summary.repairs:
        mended = ", ".join(f"{count:,} {in_words(kind)}" for kind, count in summary.repairs.items())
        output.text(f"kept, but mended or worth a look: {mended}")
    if scanned.rejects.height:
        raise typer.Exit(ExitCode.INVALID_INPUT)
