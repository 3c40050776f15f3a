"""`vocabgap report`: the main job."""

import os
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from vocabgap.cli.options import (
    CacheOption,
    ConfigOption,
    DecisionsOption,
    EmbedderOption,
    HiddenOption,
    RootsArgument,
    ShareOption,
    ThresholdOption,
    VerifyHashOption,
    VocabularyOption,
    note_cache,
    note_embeddings,
    note_unread,
)
from vocabgap.cli.output import Output, output_of
from vocabgap.config import expanded, resolve_settings
from vocabgap.errors import NotFoundError
from vocabgap.moments import iso, parse_moment, parse_now
from vocabgap.settings import (
    DEFAULT_MIN_IMAGES,
    DEFAULT_MIN_SESSIONS,
    DEFAULT_OUT,
    DEFAULT_TOP,
    RankBy,
    shared_from,
)
from vocabgap.text import count, escape_unseen, printable_name, visible

if TYPE_CHECKING:
    from vocabgap.pipeline import Run
    from vocabgap.reporting.capability import Capability


NUMBERS: Final = ("#", "mentions", "images", "sessions", "unsatisfied")
DATES: Final = ("last seen",)
SPARED: Final = ("sessions", "category")  # columns that a narrow terminal does without
NARROW: Final = 100
# Columns of table `capabilities`.
CSV_COLUMNS: Final = (
    "rank", "capability_id", "label", "mentions", "images", "sessions", "first_seen", "last_seen",
    "unsatisfied", "neutral", "satisfied", "unrated", "intent_category",
)  # fmt: skip


class TextFormat(StrEnum):
    """How the ranking is printed."""

    TABLE = "table"
    MARKDOWN = "markdown"
    CSV = "csv"


def report(
    context: typer.Context,
    roots: RootsArgument,
    out: Annotated[
        str | None, typer.Option(help=f"Folder to publish the files in.  [default: {DEFAULT_OUT}]")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(help="Earliest moment: 2026-05-01, 2026-05-01T09:30:00Z, 7d, 2w, 24h or 30m."),
    ] = None,
    until: Annotated[str | None, typer.Option(help="Moment to stop before, written the same way.")] = None,
    image: Annotated[list[str] | None, typer.Option(help="Only this image; may be repeated.")] = None,
    category: Annotated[list[str] | None, typer.Option(help="Only this category; may be repeated.")] = None,
    module: Annotated[list[str] | None, typer.Option(help="Only this operation; may be repeated.")] = None,
    session: Annotated[list[str] | None, typer.Option(help="Only this session; may be repeated.")] = None,
    threshold: ThresholdOption = None,
    embedder: EmbedderOption = None,
    vocabulary: VocabularyOption = None,
    top: Annotated[
        int | None, typer.Option(help=f"Capabilities to show; 0 shows all.  [default: {DEFAULT_TOP}]")
    ] = None,
    rank_by: Annotated[
        RankBy | None, typer.Option(help=f"What to count first.  [default: {RankBy.MENTIONS.value}]")
    ] = None,
    min_images: Annotated[
        int | None,
        typer.Option(
            help=f"Leave out of the report what is on fewer images.  [default: {DEFAULT_MIN_IMAGES}]"
        ),
    ] = None,
    min_sessions: Annotated[
        int | None,
        typer.Option(
            help=f"Leave out of the report what is in fewer sessions.  [default: {DEFAULT_MIN_SESSIONS}]"
        ),
    ] = None,
    text_format: Annotated[
        TextFormat, typer.Option("--format", help="How to print the ranking.")
    ] = TextFormat.TABLE,
    reclassify: Annotated[
        bool | None,
        typer.Option(
            "--reclassify",
            help="Give records without a category one, from their operations or their words.",
            show_default=False,
        ),
    ] = None,
    now: Annotated[
        str | None, typer.Option(help="The moment to count as the present; the clock's by default.")
    ] = None,
    decisions: DecisionsOption = None,
    previous: Annotated[
        str | None,
        typer.Option(help="Folder of the run to compare with; the one that is replaced by default, or none."),
    ] = None,
    share: ShareOption = False,
    hidden: HiddenOption = None,
    cache: CacheOption = None,
    verify_hash: VerifyHashOption = False,
    config: ConfigOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Rank what is missing, and publish the report."""
    output = output_of(context)
    output.quiet = quiet
    loaded = resolve_settings(
        config,
        os.environ,
        {
            "--out": (("report", "out"), out),
            "--threshold": (("cluster", "threshold"), threshold),
            "--embedder": (("cluster", "embedder"), embedder),
            "--vocabulary": (("vocabulary", "paths"), vocabulary or None),
            "--top": (("report", "top"), top),
            "--rank-by": (("rank", "by"), rank_by),
            "--min-images": (("rank", "min_images"), min_images),
            "--min-sessions": (("rank", "min_sessions"), min_sessions),
            "--decisions": (("decisions", "file"), decisions),
            "--hidden": (("ingest", "hidden"), hidden),
            "--reclassify": (("categories", "reclassify"), reclassify),
        },
    )
    if decisions is not None and not os.path.lexists(expanded(decisions)):
        raise NotFoundError(f"decisions file '{decisions}' does not exist", hint="check --decisions")
    fewest = None
    if share:  # one image, where it is asked for, is refused; where it is the default nothing was asked for
        fewest = loaded.settings.rank.shared_from if min_images is None else shared_from(min_images)
    moment = parse_now(now)
    earliest = None if since is None else parse_moment(since, moment, name="--since")
    latest = None if until is None else parse_moment(until, moment, name="--until")
    # What follows loads Polars and SciPy; bad arguments are told without waiting for that.
    from vocabgap.ingest import Selection  # noqa: PLC0415
    from vocabgap.pipeline import STAGES, run  # noqa: PLC0415

    selection = Selection(
        since=earliest,
        until=latest,
        images=tuple(map(printable_name, image or ())),
        categories=tuple(map(printable_name, category or ())),
        modules=tuple(map(printable_name, module or ())),
        sessions=tuple(map(printable_name, session or ())),
    )
    with output.progress(STAGES) as listener:
        made = run(
            roots,
            settings=loaded.settings,
            selection=selection,
            now=moment,
            config=loaded.path,
            cache=cache,
            verify_hash=verify_hash,
            previous=previous,
            share=fewest,
            on_stage=listener,
        )
    _print(output, made, text_format)
    note_cache(output, made.scan.cache)
    note_embeddings(output, made.embeddings)
    for row in made.scan.rejects.iter_rows(named=True):
        if row["line"] is None:
            output.note(escape_unseen(f"not read: {row['source_path']}: {row['detail']}"))
    note_unread(output, made.scan)
    for decision in made.ruling.dormant:
        output.note(escape_unseen(f"nothing to decide about in these logs: {decision.told}"))


def _print(output: Output, made: "Run", text_format: TextFormat) -> None:
    summary = made.published.summary
    if output.as_json:
        for item in summary.capabilities:
            output.event("capability", capability=item)
        output.event(
            "result",
            out=printable_name(str(made.published.folder)),
            files=made.published.files,
            capabilities=summary.total,
            mentions=summary.mentions,
            account=summary.account,
            reclassified=summary.reclassified,
            cache=made.scan.cache,
        )
        return
    from vocabgap.cli.tables import available_width, comma_separated, table  # noqa: PLC0415 - loads rich
    from vocabgap.reporting.manifest import MARKDOWN_NAME  # noqa: PLC0415 - loads Polars

    if text_format is TextFormat.MARKDOWN:
        output.text((made.published.folder / MARKDOWN_NAME).read_text(encoding="utf-8").rstrip("\n"))
        return
    if text_format is TextFormat.CSV:
        output.text(comma_separated(CSV_COLUMNS, [_cells(item) for item in summary.capabilities]))
        return
    if summary.capabilities:
        rows = [_row(item) for item in summary.capabilities]
        spared = SPARED if available_width() < NARROW else ()
        headings = [heading for heading in rows[0] if heading not in spared]
        cells = [[row[heading] for heading in headings] for row in rows]
        output.text(table(headings, cells, numbers=NUMBERS, dates=DATES))
    output.text("\n".join(_closing(made)))


def _cells(item: "Capability") -> list[object]:
    values = [getattr(item, name) for name in CSV_COLUMNS]
    return [iso(value) if isinstance(value, datetime) else value for value in values]


def _row(item: "Capability") -> dict[str, object]:
    return {
        "#": item.rank,
        "capability": item.label,
        "mentions": item.mentions,
        "images": item.images,
        "sessions": item.sessions,
        "last seen": item.last_seen.date().isoformat() if item.last_seen else None,
        "unsatisfied": f"{item.unsatisfied}/{item.rated}" if item.rated else None,
        "category": item.intent_category,
    }


def _closing(made: "Run") -> list[str]:
    from vocabgap.cli.published import published_line  # noqa: PLC0415 - loads Polars
    from vocabgap.cli.tables import account_line  # noqa: PLC0415 - loads rich

    summary = made.published.summary
    account = summary.account
    lines = []
    if not summary.capabilities:
        lines.append(f"{summary.nothing_shown}.")
    else:
        lines.append(
            f"\n{len(summary.capabilities)} of {count(summary.total, 'capability', 'capabilities')},"
            f" {count(summary.mentions, 'mention')}."
        )
    if account is not None:
        filtered = f"; {count(account.filtered, 'record')} filtered out" if account.filtered else ""
        rules = ", ".join(f"{number:,} {visible(rule)}" for rule, number in account.rules.items())
        marked = f"; {account.not_a_gap:,} not a gap ({rules})" if account.not_a_gap else ""
        lines.append(account_line(account) + filtered + marked)
    given = summary.reclassified
    if given is not None:
        lines.append(
            f"{given.by_operations:,} categorised by operations, {given.by_classifier:,} by classifier;"
            f" {given.left:,} without a category"
        )
    lines.append(published_line(made.published))
    return lines
