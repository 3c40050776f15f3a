"""What `vocabgap report` prints of a run: the ranking, and below it what became of every line."""

from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from vocabgap.cli.narrowing import undated_in_words
from vocabgap.cli.output import Output
from vocabgap.records.moments import iso
from vocabgap.text import count, printable_name, shortened, visible

if TYPE_CHECKING:
    from vocabgap.pipeline import Run
    from vocabgap.reporting.capability import Capability
    from vocabgap.reporting.summary import Summary

NUMBERS: Final = ("#", "mentions", "images", "sessions", "unsatisfied")
DATES: Final = ("last seen",)
SPARED: Final = ("sessions", "category")  # columns that a narrow terminal does without
NARROW: Final = 100
# Columns of table `capabilities`.
CSV_COLUMNS: Final = (
    "rank", "capability_id", "label", "mentions", "images", "sessions", "first_seen", "last_seen",
    "unsatisfied", "neutral", "satisfied", "unrated", "intent_category", "status", "rank_low", "rank_high",
    "trend", "priority", "covered_by",
)  # fmt: skip


class TextFormat(StrEnum):
    """How the ranking is printed."""

    TABLE = "table"
    MARKDOWN = "markdown"
    CSV = "csv"


def print_run(output: Output, made: "Run", text_format: TextFormat) -> None:
    """Print the ranking of a run as it was asked for, or as events."""
    summary = made.published.summary
    if output.as_json:
        for item in summary.capabilities:
            output.event("capability", capability=item)
        for item in summary.covered:
            output.event("covered", capability=item)
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
    entry = item.covering
    told = {"covered_by": entry.entry if entry and entry.explained else None}
    values = [told[name] if name in told else getattr(item, name) for name in CSV_COLUMNS]
    return [iso(value) if isinstance(value, datetime) else value for value in values]


def _mark(item: "Capability") -> str:
    """What is to be known of the place of a capability that is shown."""
    from vocabgap.ranking import REGRESSED  # noqa: PLC0415 - loads Polars

    marks = [*["pinned"] * item.pinned, *[REGRESSED] * (item.status == REGRESSED)]
    return f" ({', '.join(marks)})" if marks else ""


def _row(item: "Capability") -> dict[str, object]:
    return {
        "#": item.rank,
        "capability": shortened(visible(item.label)) + _mark(item),
        "mentions": item.mentions,
        "images": item.images,
        "sessions": item.sessions,
        "last seen": item.last_seen.date().isoformat() if item.last_seen else None,
        "unsatisfied": f"{item.unsatisfied}/{item.rated}" if item.rated else None,
        "category": item.intent_category,
    }


def _elsewhere(summary: "Summary") -> list[str]:
    """Why ranks are missing in the list, in a line, if any are."""
    from vocabgap.reporting.wording import too_few  # noqa: PLC0415 - loads Polars

    kinds = {
        "decided": summary.settled_total,
        "probably covered": summary.covered_total,
        too_few(summary.fewest): summary.hidden,
    }
    told = [f"{number:,} {kind}" for kind, number in kinds.items() if number]
    return [f"Left out whatever their rank: {', '.join(told)}; see report.md."] if told else []


def _closing(made: "Run") -> list[str]:
    from vocabgap.cli.published import published_line  # noqa: PLC0415 - loads Polars
    from vocabgap.cli.tables import account_line  # noqa: PLC0415 - loads rich

    summary, published = made.published.summary, made.published
    account = summary.account
    lines = []
    if not summary.capabilities:
        lines.append(f"{summary.nothing_shown}.")
    else:
        lines.append(
            f"\n{len(summary.capabilities)} of {count(summary.total, 'capability', 'capabilities')},"
            f" {count(summary.mentions, 'mention')}."
        )
        lines += _elsewhere(summary)
    if account is not None:
        filtered = f"; {count(account.filtered, 'record')} filtered out" if account.filtered else ""
        filtered += undated_in_words(made)
        rules = ", ".join(f"{number:,} {visible(rule)}" for rule, number in account.rules.items())
        marked = f"; {account.not_a_gap:,} not a gap ({rules})" if account.not_a_gap else ""
        lines.append(account_line(account) + filtered + marked)
    given = summary.reclassified
    if given is not None:
        lines.append(
            f"{given.by_operations:,} categorised by operations, {given.by_classifier:,} by classifier;"
            f" {given.left:,} without a category"
        )
    lines.append(published_line(published))
    return lines
