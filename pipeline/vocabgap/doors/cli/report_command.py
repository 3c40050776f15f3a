"""`vocabgap report`: the main job."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from vocabgap.doors.cli.options import (
    BaselineOption,
    CategoriesOption,
    DecisionsOption,
    EmbedderOption,
    FormerOperationsOption,
    ImagesOption,
    MatchOption,
    OperationsOption,
    PresentOption,
    Reading,
    RootsArgument,
    SatisfactionOption,
    SessionsOption,
    ShareOption,
    SinceOption,
    ThresholdOption,
    UntilOption,
    VocabularyOption,
    known_lines,
    note_embeddings,
    note_scan,
    require_decisions,
    roots_of,
    selection_of,
    settings_of,
    with_options,
)
from vocabgap.doors.cli.output import (
    Output,
    account_line,
    available_width,
    comma_separated,
    folder_line,
    output_of,
    published_line,
    table,
)
from vocabgap.doors.verbs import Panel
from vocabgap.errors import InvalidInputError
from vocabgap.extensions import extensions
from vocabgap.model.moments import iso, known_present, parse_present
from vocabgap.model.settings import DEFAULT_OUT, DEFAULT_TOP, Settings, shared_from
from vocabgap.text import carried, count, escape_unseen, excerpt, printable_name, visible

if TYPE_CHECKING:
    import polars as pl

    from vocabgap.ingest.baseline import KnownLine
    from vocabgap.model.capability import Capability
    from vocabgap.pipeline import Engine, Run
    from vocabgap.reporting.summary import Summary
    from vocabgap.reporting.writing import Published


_NUMBERS: Final = ("#", "mentions", "likely", "images", "sessions", "unsatisfied")
_DATES: Final = ("last seen",)
_SPARED: Final = ("likely", "sessions", "category")  # columns that a narrow terminal does without
_NARROW: Final = 100
_BRACKET: Final = "┐│┘"
# Columns of table `capabilities`.
_CSV_COLUMNS: Final = (
    "rank", "capability_id", "label", "mentions", "images", "sessions", "first_seen", "last_seen",
    "unsatisfied", "neutral", "satisfied", "unrated", "intent_category", "status", "rank_low", "rank_high",
    "trend", "priority", "covered_by", "mentions_low", "mentions_high", "mixed", "pinned_by",
    "unpinned_rank",
)  # fmt: skip


class TextFormat(StrEnum):
    """How the ranking is printed."""

    TABLE = "table"
    MARKDOWN = "markdown"
    CSV = "csv"


class EngineName(StrEnum):
    """Where the heavy steps of a report run."""

    LOCAL = "local"
    SPARK = "spark"


def _separated(values: list[str] | None) -> list[str]:
    """What was given with commas, one by one; blank text as it is, so that it is no name and told as such."""
    given = values or []
    return [name.strip() for value in given for name in value.split(",") if name.strip()] or given


@with_options(Reading, flags_of="rank", verb="report")
def report(
    context: typer.Context,
    roots: RootsArgument = None,
    out: Annotated[
        str | None, Panel.WRITE.option(help=f"Folder to publish the files in.  [default: {DEFAULT_OUT}]")
    ] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    image: ImagesOption = None,
    category: CategoriesOption = None,
    operation: OperationsOption = None,
    module: FormerOperationsOption = None,
    session: SessionsOption = None,
    match: MatchOption = None,
    satisfaction: SatisfactionOption = None,
    threshold: ThresholdOption = None,
    embedder: EmbedderOption = None,
    vocabulary: VocabularyOption = None,
    top: Annotated[
        int | None, Panel.WRITE.option(help=f"Capabilities to show; 0 shows all.  [default: {DEFAULT_TOP}]")
    ] = None,
    text_format: Annotated[
        TextFormat, Panel.WRITE.option("--format", help="How to print the ranking.")
    ] = TextFormat.TABLE,
    reclassify: Annotated[
        bool | None,
        Panel.GROUP.option(
            "--reclassify", help="Give records without a category one, from their words or their operations."
        ),
    ] = None,
    now: PresentOption = None,
    decisions: DecisionsOption = None,
    ask: Annotated[
        bool | None,
        Panel.READ.option(
            "--ask/--no-ask", help="Ask what words mean; by default where somebody can answer."
        ),
    ] = None,
    previous: Annotated[
        str | None,
        Panel.READ.option(
            help="Folder of the run to compare with; the one that is replaced by default, or none."
        ),
    ] = None,
    share: ShareOption = False,
    fail_on: Annotated[
        list[str] | None,
        Panel.WRITE.option(
            help="Exit with 5, though the report is published, where it has any of: regressed, rejects,"
            " new-top, mixed; with commas, or repeated.",
            callback=_separated,
        ),
    ] = None,
    baseline: BaselineOption = None,
    allow_empty: Annotated[
        bool | None,
        Panel.WRITE.option(
            "--allow-empty",
            help="Publish though no log is found, or no record fits.",
        ),
    ] = None,
    allow_shrink: Annotated[
        bool,
        Panel.WRITE.option(
            "--allow-shrink",
            help="Publish though more than half of the logs of the run before, or of their lines, are gone.",
        ),
    ] = False,
    engine: Annotated[
        EngineName, Panel.RUN.option(help="What reads the logs and searches for neighbours.")
    ] = EngineName.LOCAL,
    remote: Annotated[
        str | None,
        Panel.RUN.option(
            help="Address of a Spark Connect server, sc://HOST:PORT; by default an engine of its own."
        ),
    ] = None,
    spark_conf: Annotated[
        list[str] | None, Panel.RUN.option(help="Setting of the session, KEY=VALUE; may be repeated.")
    ] = None,
    quiet: Annotated[bool, Panel.WRITE.option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Rank what is missing, and publish the report."""
    output = output_of(context)
    output.quiet = quiet
    loaded = settings_of(context)
    known = known_lines(loaded.settings)
    roots = roots_of(context, loaded.settings)
    require_decisions(decisions)
    fewest = None
    if share:  # one image, where it is asked for, is refused; where it is the default nothing was asked for
        asked_for = context.params["min_images"]
        fewest = loaded.settings.rank.shared_from if asked_for is None else shared_from(asked_for)
    present = parse_present(now)
    selection_of(context, known_present(present))
    # What follows loads Polars and SciPy; bad arguments are told without waiting for that.
    from vocabgap.ingest.selection import ahead_in_words, unmatched
    from vocabgap.pipeline import STAGES, run

    prompts = (each.prompt.load()(output, loaded.settings, ask) for each in extensions() if each.prompt)
    prompt = next(filter(None, [*prompts]), None)
    with _engine(engine, remote, spark_conf or []) as running, output.progress(STAGES) as listener:
        if prompt is not None:
            prompt.before = partial(listener, "")
        result = run(
            roots,
            settings=loaded.settings,
            selection=partial(selection_of, context),
            now=present,
            config=loaded.path,
            previous=previous,
            share=fewest,
            engine=running,
            allow_shrink=allow_shrink,
            on_stage=listener,
            ask=prompt,
        )
    _print_run(output, result, text_format)
    note_scan(output, result.scan)
    note_embeddings(output, result.embeddings)
    notes = [*unmatched(result.scan.gaps, result.selection, **loaded.settings.folding)]
    notes += [ahead_in_words(result.ahead)] * bool(result.ahead)
    notes += [f"nothing to decide about in these logs: {each.summary}" for each in result.decisions.inactive]
    outgrown = {*result.ranked["outgrown"].explode()}
    notes += [
        f"holds no longer, for its group has outgrown it: {each.summary}"
        for each in result.decisions.active
        if each.decision_id in outgrown
    ]
    for note in notes:
        output.note(escape_unseen(note))
    _require_gates(output, loaded.settings, result.published, result.ranked, result.scan.rejects, known)


@contextmanager
def _engine(name: EngineName, remote: str | None, conf: list[str]) -> "Iterator[Engine | None]":
    """The engine that was asked for; none where all is done here."""
    if name is EngineName.LOCAL:
        if remote is not None or conf:
            raise InvalidInputError(
                "--remote and --spark-conf are for Spark", hint=f"add --engine {EngineName.SPARK}"
            )
        yield None
        return
    pairs = [pair.partition("=") for pair in conf]
    for key, is_pair, _ in pairs:
        if not (key and is_pair):
            lacks = "value" if key else "key"
            raise InvalidInputError(
                f"--spark-conf '{visible(key)}' has no {lacks}", hint="expected KEY=VALUE"
            )
    from vocabgap.engines.spark import spark_engine

    with spark_engine(remote, {key: value for key, _, value in pairs}) as engine:
        yield engine


def _require_gates(
    output: Output,
    settings: Settings,
    published: "Published",
    ranked: "pl.DataFrame",
    rejects: "pl.DataFrame",
    known: "Sequence[KnownLine]",
) -> None:
    """Fail where the report has what it was to be free of."""
    from vocabgap.reporting.conditions import failures, gate_error

    gates = settings.report.fail_on
    failed = failures(gates, published.summary, ranked, rejects, known) if gates else ()
    for failure in failed:
        output.event("gate", failure=failure)
    if failed:
        raise gate_error(failed, hint=f"the report is published in '{folder_line(published.folder)}'")


def _print_run(output: Output, result: "Run", text_format: TextFormat) -> None:
    """Print the ranking of a run as it was asked for, or as events."""
    summary = result.published.summary
    if output.as_json:
        for item in summary.capabilities:
            output.event("capability", capability=item)
        for item in summary.covered:
            output.event("covered", capability=item)
        for recurring in summary.beyond_chance:
            output.event("combination", combination=recurring)
        output.event(
            "result",
            out=printable_name(str(result.published.folder)),
            files=result.published.files,
            capabilities=summary.total,
            mentions=summary.mentions,
            account=summary.account,
            reclassified=summary.reclassified,
        )
        return
    from vocabgap.reporting.manifest import MARKDOWN_NAME

    if text_format is TextFormat.MARKDOWN:
        output.text((result.published.folder / MARKDOWN_NAME).read_text(encoding="utf-8").rstrip("\n"))
        return
    if text_format is TextFormat.CSV:
        output.text(comma_separated(_CSV_COLUMNS, [_cells(item) for item in summary.capabilities]))
        return
    print_ranking(output, result)


def print_ranking(output: Output, result: "Run") -> None:
    """Print the ranking of a run as a table, and what became of every line."""
    summary = result.published.summary
    if summary.capabilities:
        rows = [_row(item, summary) for item in summary.capabilities]
        spared = _SPARED if available_width() < _NARROW else ()
        headings = [heading for heading in rows[0] if heading not in spared]
        cells = [[row[heading] for heading in headings] for row in rows]
        output.text(table(headings, cells, numbers=_NUMBERS, dates=_DATES))
    output.text("\n".join(_closing(result)))


def _cells(item: "Capability") -> list[object]:
    covered = "; ".join(each.entry for each in item.covered)
    values = [covered if name == "covered_by" else getattr(item, name) for name in _CSV_COLUMNS]
    return [iso(value) if isinstance(value, datetime) else value for value in values]


def _mark(item: "Capability", ranked_by: str) -> str:
    """What is to be known of the place of a capability that is shown."""
    from vocabgap.model.tables import REGRESSED
    from vocabgap.reporting.wording import SEVERAL, phrase

    by_hand = phrase("pinned", item, ranked_by)
    marks = [*[SEVERAL] * item.mixed, *[by_hand] * bool(by_hand), *[REGRESSED] * (item.status == REGRESSED)]
    return f" ({', '.join(marks)})" if marks else ""


def _bracket(rank: int, ties: Iterable[tuple[int, int]]) -> str:
    """Its part of the bracket around ranks that are too close to call."""
    top, middle, bottom = _BRACKET if carried(_BRACKET, sys.stdout.encoding or "utf-8") == _BRACKET else "|||"
    for first, last in ties:
        if first <= rank <= last:
            return top if rank == first else bottom if rank == last else middle
    return " "


def _row(item: "Capability", summary: "Summary") -> dict[str, object]:
    from vocabgap.reporting.wording import phrase

    return {
        "#": f"{item.rank} {_bracket(item.rank, summary.ties)}" if summary.ties else item.rank,
        "capability": excerpt(item.label) + _mark(item, summary.ranked_by),
        "mentions": item.mentions,
        "likely": phrase("likely", item),
        "images": item.images,
        "sessions": item.sessions,
        "last seen": item.last_seen.date().isoformat() if item.last_seen else None,
        "unsatisfied": f"{item.unsatisfied}/{item.rated}" if item.rated else None,
        "category": item.intent_category,
    }


def _elsewhere(summary: "Summary") -> list[str]:
    """Why ranks are missing in the list, in a line, if any are."""
    from vocabgap.reporting.wording import phrase

    kinds = {
        "decided": summary.settled_total,
        "probably covered": summary.covered_total,
        phrase("too_few", summary.fewest): summary.hidden,
    }
    numbers = [f"{number:,} {kind}" for kind, number in kinds.items() if number]
    return [f"Left out whatever their rank: {', '.join(numbers)}; see report.md."] if numbers else []


def _closing(result: "Run") -> list[str]:
    from vocabgap.ingest.selection import undated
    from vocabgap.reporting.wording import phrase

    summary, published = result.published.summary, result.published
    account = summary.account
    lines = []
    if not summary.capabilities:
        lines.append(f"{phrase('nothing_shown', summary)}.")
    else:
        lines.append(
            f"\n{len(summary.capabilities)} of {count(summary.total, 'capability', 'capabilities')},"
            f" {count(summary.mentions, 'mention')}."
        )
        if summary.ties:
            lines.append(f"{phrase('too_close', summary.ties)}.")
        lines += _elsewhere(summary)
    if account is not None:
        filtered = f"; {count(account.filtered, 'record')} filtered out" if account.filtered else ""
        without = undated(result.scan.gaps, result.selection)
        filtered += f" ({without:,} of them without a readable timestamp)" if without else ""
        rules = ", ".join(f"{number:,} {visible(rule)}" for rule, number in account.rules.items())
        marked = f"; {account.not_a_gap:,} not a gap ({rules})" if account.not_a_gap else ""
        lines.append(account_line(account) + filtered + marked)
    given = summary.reclassified
    if given is not None:
        lines.append(
            f"{given.by_operations:,} categorised by operations, {given.by_classifier:,} by classifier;"
            f" {given.left:,} without a category"
        )
    if summary.stale_days is not None:
        lines.append(
            f"The newest record is {count(summary.stale_days, 'day')} old: no trend is told."
            " `--now last` tells them as of that record."
        )
    installing = published.manifest.installing
    hint = f" (no model installed; {installing})" if installing else ""
    lines.append(f"Grouped by {phrase('grouped_by', summary)}{hint}.")
    lines.append(published_line(published))
    return lines
