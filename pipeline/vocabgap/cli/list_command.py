"""`vocabgap list`: what was logged, newest first."""

import os
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from vocabgap.cli.options import (
    CacheOption,
    ConfigOption,
    HiddenOption,
    RepositoriesOption,
    RootsArgument,
    RunOption,
    TenantsOption,
    VerifyHashOption,
    note_cache,
    note_unread,
)
from vocabgap.cli.output import Output, output_of
from vocabgap.errors import whole_number
from vocabgap.records.moments import iso, parse_moment, parse_now
from vocabgap.settings.loading import resolve_settings
from vocabgap.settings.model import DEFAULT_LISTED
from vocabgap.text import escape_unseen, printable_name, visible

if TYPE_CHECKING:
    from vocabgap.gaplog.review import Review


class ListFormat(StrEnum):
    """How records are listed."""

    TABLE = "table"
    CSV = "csv"


def list_records(
    context: typer.Context,
    roots: RootsArgument,
    image: Annotated[list[str] | None, typer.Option(help="Only this image; may be repeated.")] = None,
    since: Annotated[
        str | None,
        typer.Option(
            help="Earliest moment: 2026-05-01, 2026-05-01T09:30:00Z, 2026-05, 7d, 2w, 24h or 30m (minutes)."
        ),
    ] = None,
    until: Annotated[str | None, typer.Option(help="Moment to stop before, written the same way.")] = None,
    operation: Annotated[
        list[str] | None, typer.Option(help="Only this operation, matched whole; may be repeated.")
    ] = None,
    match: Annotated[
        str | None, typer.Option(help="Only with this text somewhere in it, in whatever case.")
    ] = None,
    category: Annotated[list[str] | None, typer.Option(help="Only this category; may be repeated.")] = None,
    session: Annotated[
        list[str] | None, typer.Option(help="Only this session, or last for the newest; may be repeated.")
    ] = None,
    satisfaction: Annotated[
        list[str] | None,
        typer.Option(help="Only rated so: -1, 0, 1, none, or a word such as bad; may be repeated."),
    ] = None,
    tenant: TenantsOption = None,
    repo: RepositoriesOption = None,
    limit: Annotated[int, typer.Option(help="Records to list; 0 lists all.")] = DEFAULT_LISTED,
    text_format: Annotated[
        ListFormat, typer.Option("--format", help="How to print them.")
    ] = ListFormat.TABLE,
    run: RunOption = None,
    now: Annotated[
        str | None, typer.Option(help="The moment to count as the present; the clock's by default.")
    ] = None,
    hidden: HiddenOption = None,
    cache: CacheOption = None,
    verify_hash: VerifyHashOption = False,
    config: ConfigOption = None,
) -> None:
    """List what was logged, newest first."""
    output = output_of(context)
    settings = resolve_settings(config, os.environ, {"--hidden": hidden}).settings
    moment = parse_now(now)
    earliest = None if since is None else parse_moment(since, moment, name="--since")
    most = whole_number("--limit", limit, hint="0 lists all")
    latest = None if until is None else parse_moment(until, moment, name="--until")
    from vocabgap.gaplog.review import Query, review  # noqa: PLC0415 - loads Polars

    query = Query.of(
        images=map(printable_name, image or ()),
        since=earliest,
        until=latest,
        operations=map(printable_name, operation or ()),
        match=None if match is None else printable_name(match),
        categories=map(printable_name, category or ()),
        sessions=map(printable_name, session or ()),
        satisfaction=satisfaction or (),
        tenants=map(printable_name, tenant or ()),
        repositories=map(printable_name, repo or ()),
        now=moment,
    )
    made = review(
        roots,
        query,
        limit=most or None,
        out=run,
        settings=settings,
        cache=cache,
        verify_hash=verify_hash,
    )
    _print(output, made, text_format)
    note_cache(output, made.cache)
    note_unread(output, made.scan)
    for told in made.notes:
        output.note(escape_unseen(told))


def _print(output: Output, made: "Review", text_format: ListFormat) -> None:
    from vocabgap.cli.review_output import (  # noqa: PLC0415 - with the command
        belonging_lines,
        csv_text,
        left_line,
        print_events,
        records_table,
        totals_lines,
    )

    print_events(output, made.gaps)
    place = None if made.published is None else printable_name(str(made.published.folder))
    output.event(
        "result",
        listed=made.gaps.height,
        totals=made.totals,
        belonging=made.belonging,
        session=made.session,
        run=place,
        notes=made.notes,
        cache=made.cache,
    )
    if output.as_json:
        return
    if text_format is ListFormat.CSV:
        output.text(csv_text(made.gaps))
        if made.gaps.is_empty():
            output.note(_why_empty(made))
        return
    if made.session is not None:
        output.text(f"session {visible(made.session)}\n")
    if made.gaps.is_empty():
        output.text(_why_empty(made))
        return
    output.text(records_table(made.gaps, without=() if made.session is None else ("session",)) + "\n")
    lines = totals_lines(made.totals)
    if made.published is not None and made.published.now is not None and made.published.folder is not None:
        from vocabgap.cli.output import folder_told  # noqa: PLC0415 - loads Polars

        lines += belonging_lines(
            made.belonging,
            made.gaps,
            f"the run in {folder_told(made.published.folder)}, as of {iso(made.published.now)}",
        )
    left = made.totals.records - made.gaps.height
    if left:
        lines.append(left_line(left))
    output.text("\n".join(lines))


def _why_empty(made: "Review") -> str:
    from vocabgap.cli.output import account_line  # noqa: PLC0415 - loads rich
    from vocabgap.reporting.overviews import nothing  # noqa: PLC0415 - loads Polars

    if made.scan.summary.records:
        return f"No record fits, of {made.scan.summary.records:,}."
    return f"{nothing(made.scan.summary)}.\n{account_line(made.scan.summary)}"
