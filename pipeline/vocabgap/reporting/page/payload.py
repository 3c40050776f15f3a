"""What the script of a page works on: all capabilities, as plain data in one block of JSON."""

from datetime import date
from typing import Final

import msgspec

from vocabgap.moments import iso
from vocabgap.reporting.page.commands import Command, commands
from vocabgap.reporting.page.rows import Index, Row, row_of
from vocabgap.reporting.summary import Summary
from vocabgap.version import SCHEMA_VERSION

# What could end the block, or begin another, is written as JSON's own escape.
_ESCAPES: Final = {
    b"<": rb"\u003c",
    b">": rb"\u003e",
    b"&": rb"\u0026",
    "\u2028".encode(): rb"\u2028",
    "\u2029".encode(): rb"\u2029",
}


class Payload(msgspec.Struct, frozen=True):
    """Everything that a page lists.

    Attributes:
        schema_version: Of this and everything else that is published.
        ranked_by: What the ranking counts first.
        now: The moment the run counts as its present.
        first_day: The earliest day on which anything came up; days are counted from it.
        weeks: The weeks that `weekly` tells of.
        operations: Names of operations, which the rows refer to by position.
        categories: Names of categories, likewise.
        images: Names of images, likewise.
        statuses: Every status that occurs.
        commands: The command lines for each capability.
        columns: What the cells of a row are.
        rows: The capabilities, in order of rank.
    """

    schema_version: int
    ranked_by: str
    now: str
    first_day: str | None
    weeks: int
    operations: tuple[str, ...]
    categories: tuple[str, ...]
    images: tuple[str, ...]
    statuses: tuple[str, ...]
    commands: tuple[Command, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def payload_of(summary: Summary) -> Payload:
    """What a page lists of a summary."""
    everything = summary.everything
    first = min((each.on_days[0][0] for each in everything if each.on_days), default=None)
    index = Index(first, with_repository=summary.repositories not in {None, 1})
    rows = tuple(row_of(each, index) for each in everything)
    return Payload(
        schema_version=SCHEMA_VERSION,
        ranked_by=summary.ranked_by,
        now=iso(summary.now),
        first_day=first.isoformat() if isinstance(first, date) else None,
        weeks=max((len(row.weekly) for row in rows), default=0),
        operations=index.operations.shown,
        categories=index.categories.shown,
        images=index.images.shown,
        statuses=tuple(sorted({row.status for row in rows})),
        commands=commands(everything, summary.deciding),
        columns=Row.__struct_fields__,
        rows=rows,
    )


def encode_payload(payload: Payload) -> str:
    """The payload as JSON that may stand in a `script` element."""
    encoded = msgspec.json.encode(payload)
    for character, escape in _ESCAPES.items():
        encoded = encoded.replace(character, escape)
    return encoded.decode()
