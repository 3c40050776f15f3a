"""What a person is told of a report that was narrowed."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from vocabgap.cli.output import Output
from vocabgap.text import escape_unseen

if TYPE_CHECKING:
    from vocabgap.pipeline import Run


def note_narrowing(output: Output, made: "Run", *, minutes: Iterable[str] = ()) -> None:
    """Tell a person what no record has of what the report was narrowed to.

    Args:
        output: Where it is told.
        made: The run.
        minutes: What was written as a span of minutes, and may have been meant as months.
    """
    from vocabgap.ingest import selection  # noqa: PLC0415 - loads Polars

    asked = made.published.manifest.parameters
    if asked is None:
        return
    for told in selection(
        made.scan.gaps,
        asked.selection,
        category_aliases=asked.settings.category_aliases,
        operation_aliases=asked.settings.operation_aliases,
    ):
        output.note(escape_unseen(told))
    if not made.published.summary.mentions:
        for text in minutes:
            output.note(
                f"  {text.strip()} are minutes; a month is written 2026-05, and three of them are 13w"
            )


def undated_in_words(made: "Run") -> str:
    """How many of the records that were left out for their date have none, in brackets; empty for none."""
    from vocabgap.ingest import undated  # noqa: PLC0415 - loads Polars

    asked = made.published.manifest.parameters
    number = 0 if asked is None else undated(made.scan.gaps, asked.selection)
    return f" ({number:,} of them without a readable timestamp)" if number else ""
