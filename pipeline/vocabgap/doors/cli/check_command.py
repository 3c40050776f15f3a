"""`vocabgap check`: are the logs sound?"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from vocabgap.doors.cli.options import (
    BaselineOption,
    Reading,
    RootsArgument,
    known_lines,
    reading_arguments,
    require_whose,
    roots_of,
    settings_of,
    with_options,
)
from vocabgap.doors.cli.output import Output, account_line, output_of
from vocabgap.doors.verbs import Panel
from vocabgap.errors import ExitCode, InvalidInputError, StateError
from vocabgap.model.moments import iso, parse_moment, parse_now
from vocabgap.model.settings import Settings
from vocabgap.text import count, escape_unseen, in_words

if TYPE_CHECKING:
    import polars as pl

    from vocabgap.ingest.baseline import KnownLine
    from vocabgap.ingest.log_lines import RepairedLine
    from vocabgap.ingest.scanning import Scan

_BASELINE: Final = "baseline"
_SINCE: Final = "since"


@with_options(Reading)
def check(
    context: typer.Context,
    roots: RootsArgument = None,
    repairs: Annotated[
        bool,
        Panel.WRITE.option(
            "--repairs",
            help="List what was repaired in lines of logs, not of corpora, that were kept; reads them again.",
        ),
    ] = False,
    since: Annotated[
        str | None,
        Panel.SELECT.option(
            help="Count only bad lines that were written since: 2026-05-01, 2026-05-01T09:30:00Z, 2026-05,"
            " 7d, 2w, 24h or 30m (minutes)."
        ),
    ] = None,
    now: Annotated[
        str | None,
        Panel.SELECT.option(
            "--now", help="The moment that --since counts back from; the clock's by default."
        ),
    ] = None,
    baseline: BaselineOption = None,
    write_baseline: Annotated[
        bool,
        Panel.WRITE.option(
            "--write-baseline", help="Write all bad lines to the file of --baseline, and succeed."
        ),
    ] = False,
    mended: Annotated[bool, typer.Option("--mended", hidden=True)] = False,  # its name before
) -> None:
    """List the bad lines of the logs; exit with 2 if there are any."""
    moment = parse_now(now)
    earliest = None if since is None else parse_moment(since, moment, name="--since")
    output = output_of(context)
    repairs = repairs or mended
    settings = settings_of(context).settings
    searched = roots_of(context, settings)
    known = () if write_baseline else known_lines(settings)
    # What follows loads Polars.
    from vocabgap.ingest.accounting import images_of_several_folders
    from vocabgap.ingest.log_lines import repaired_lines
    from vocabgap.ingest.scanning import scan

    scanned = scan(searched, settings=settings.scan, **reading_arguments(context))
    require_whose(context, scanned)
    summary = scanned.summary
    if write_baseline:
        _write_baseline(scanned, settings)
    nothing = _nothing_found(scanned, searched, settings, since)
    rejects = _judged(scanned, known, earliest)
    for row in rejects.iter_rows(named=True):
        output.event("reject", **row)
    repaired = repaired_lines(searched, settings.scan) if repairs and summary.repairs else []
    for each in repaired:
        output.event("mended", mended=each)
    patterns = [glob for source in settings.sources.values() for glob in source.globs]
    counted = rejects.filter(rejects["ignored"].is_null())
    alike = images_of_several_folders(scanned.gaps)
    output.event(
        "result",
        summary=summary,
        looked_for=patterns,
        counted=counted.height,
        images_of_several_folders=alike.to_dicts(),
    )
    several = len({*scanned.files["repo_slug"], *scanned.rejects["repo_slug"]}) > 1
    for line in _findings(counted, repaired, alike if repairs else alike.clear(), several=several):
        output.text(escape_unseen(line))
    output.text(account_line(summary))
    kinds = [f"{number:,} {in_words(kind)}" for kind, number in summary.repairs.items()]
    kinds += [f"{alike.height:,} image of several folders"] * (alike.height > 0)
    if kinds:
        hint = "" if repairs else " (--repairs lists them)"
        output.text(f"kept, but repaired or worth a look: {', '.join(kinds)}{hint}")
    _tell_of_ignored(output, rejects, known, settings.check.baseline, earliest)
    if write_baseline:
        written = f"{settings.check.baseline}: {count(rejects.height, 'bad line')}, known from now on"
        output.text(escape_unseen(written))
    for line in nothing:
        output.note(line)
    _explain_pretty_printing(output, counted.iter_rows(named=True))
    if counted.height and not write_baseline:
        raise typer.Exit(ExitCode.INVALID_INPUT)


def _findings(
    rejects: "pl.DataFrame", repaired: "list[RepairedLine]", alike: "pl.DataFrame", *, several: bool
) -> Iterator[str]:
    """A line for each bad line, each repair, and each image of several folders; of several roots by name."""

    def place(repository: str, path: str, line: int | None = None) -> str:
        return (f"{repository}/" if several else "") + path + (f":{line}" if line else "")

    for row in rejects.iter_rows(named=True):
        where = place(row["repo_slug"], row["source_path"], row["line"])
        yield f"{where}: {row['reason']}: {row['detail']}"
    for each in repaired:
        where = place(each.repo_slug, each.source_path, each.line)
        yield f"{where}: {in_words(each.repair)}: {each.detail}"
    for row in alike.iter_rows(named=True):
        folders = ", ".join(place(row["repo_slug"], folder) for folder in row["folders"])
        yield f"{folders}: image of several folders: they count as one"


def _write_baseline(scanned: "Scan", settings: Settings) -> None:
    """Make what is bad now known; where no log is there at all, what was known stays."""
    from vocabgap.ingest.baseline import write_baseline

    file = settings.check.baseline
    if file is None:
        raise InvalidInputError("--write-baseline: no file is named", hint="name it with --baseline FILE")
    if not (scanned.summary.files or scanned.summary.unreadable):
        raise StateError(f"no log was found, so '{file}' stays as it is", hint="name the roots of the logs")
    write_baseline(file, scanned.rejects)


def _judged(scanned: "Scan", known: "Sequence[KnownLine]", earliest: datetime | None) -> "pl.DataFrame":
    """Table `rejects` and why a line does not count: column `ignored`, `baseline` or `since`, or null."""
    import polars as pl

    from vocabgap.ingest.baseline import is_known, is_older

    rejects = scanned.rejects
    why = [pl.when(is_known(rejects, known)).then(pl.lit(_BASELINE))]
    if earliest is not None:
        why.append(pl.when(is_older(rejects, scanned.gaps, earliest)).then(pl.lit(_SINCE)))
    return rejects.with_columns(ignored=pl.coalesce(why))


def _tell_of_ignored(
    output: Output,
    rejects: "pl.DataFrame",
    known: "Sequence[KnownLine]",
    file: str | None,
    earliest: datetime | None,
) -> None:
    """Say how many bad lines do not count, and what of a baseline is no longer there."""
    numbers = Counter(rejects["ignored"])
    if numbers[_BASELINE]:
        output.text(escape_unseen(f"not counted: {count(numbers[_BASELINE], 'bad line')} of '{file}'"))
    if numbers[_SINCE] and earliest is not None:
        output.text(f"not counted: {count(numbers[_SINCE], 'bad line')} from before {iso(earliest)}")
    gone = len(known) - numbers[_BASELINE]
    if gone:
        lines = f"{count(gone, 'bad line')} of '{file}' {'is' if gone == 1 else 'are'} no longer there"
        output.note(escape_unseen(f"{lines}; --write-baseline writes it anew"))


def _nothing_found(
    scanned: "Scan", roots: Sequence[Path], settings: Settings, since: str | None
) -> tuple[str, ...]:
    """What to do where no log is there; a job that has seen logs before, or waits for new ones, fails."""
    from vocabgap.ingest.discovery import looked_for

    if scanned.summary.files or scanned.summary.unreadable:
        return ()
    problem = f"no log was found in {', '.join(map(str, roots))}: looked for {looked_for(settings.sources)}"
    hint = (
        "name a folder above the logs, or a log itself; --hidden searches names that start with a dot,"
        " and a [source.NAME] table in vocabgap.toml makes logs of other names known"
    )
    if settings.check.baseline is not None or since is not None:
        raise StateError(problem, hint=hint)
    return escape_unseen(problem), f"  {hint}"


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
