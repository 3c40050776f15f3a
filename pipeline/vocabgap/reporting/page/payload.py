"""What the script of a page works on: its capabilities, as plain data in one block of JSON."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Final

import msgspec

from vocabgap.moments import iso
from vocabgap.reporting.details import TITLES, Listed
from vocabgap.reporting.page.charts import SPARK, Spark
from vocabgap.reporting.page.commands import Command, commands
from vocabgap.reporting.page.index import Index
from vocabgap.reporting.page.rows import Limits, Row, ShownExample, row_of
from vocabgap.reporting.summary import Summary
from vocabgap.version import SCHEMA_VERSION

# What a page has of each capability, from much to little: the first that keeps the block below `MOST_BYTES`.
LEVELS: Final = (
    Limits(characters=240, wordings=500, evidence=5),
    Limits(characters=240, wordings=500, evidence=2),
    Limits(characters=160, wordings=200, evidence=1),
    Limits(characters=80, wordings=50, evidence=1),
    Limits(characters=40, wordings=10, evidence=1),
)
MOST_BYTES: Final = 6_500_000
_HEAD: Final = 100  # whose size is known, while that of the others is judged by one in so many:
_STRIDE: Final = 20
# What could end the block, or begin another, is written as JSON's own escape.
_ESCAPES: Final = {
    b"<": rb"\u003c",
    b">": rb"\u003e",
    b"&": rb"\u0026",
    "\u2028".encode(): rb"\u2028",
    "\u2029".encode(): rb"\u2029",
}


class Shown(msgspec.Struct, frozen=True):
    """How much of a long list is seen of a capability.

    Attributes:
        wordings: Those that are not folded away.
        images: Likewise.
        most_images: Those that are there at all, to be unfolded.
    """

    wordings: int
    images: int
    most_images: int


SHOWN: Final = Shown(wordings=25, images=12, most_images=100)


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a page lists.

    Attributes:
        schema_version: Of this and everything else that is published.
        ranked_by: What the ranking counts first.
        now: The moment the run counts as its present.
        first_day: The earliest day on which anything came up; days are counted from it.
        weeks: The weeks that `weekly` tells of.
        limits: How much of each capability is here.
        shown: How much of that is seen at once.
        spark: The measures of the drawings of `weekly`.
        most_mentions: What a full bar in the list stands for.
        groups: Every group of capabilities, with its title.
        categories: Names of categories, which the rows refer to by position.
        operations: Names of operations, likewise.
        images: Names of images, likewise.
        files: Names of logs, likewise.
        periods: Names of the months or years of timelines, likewise.
        statuses: Every status that occurs.
        commands: The command lines for each capability.
        columns: What the cells of a row are.
        example_columns: What the cells of an example are.
        rows: The capabilities, in order of rank.
    """

    schema_version: int
    ranked_by: str
    now: str
    first_day: str | None
    weeks: int
    limits: Limits
    shown: Shown
    spark: Spark
    most_mentions: int
    groups: dict[str, str]
    categories: tuple[str, ...]
    operations: tuple[str, ...]
    images: tuple[str, ...]
    files: tuple[str, ...]
    periods: tuple[str, ...]
    statuses: tuple[str, ...]
    commands: tuple[Command, ...]
    columns: tuple[str, ...]
    example_columns: tuple[str, ...]
    rows: tuple[Row, ...]


def payload_of(summary: Summary) -> Payload:
    """What a page lists of a summary."""
    everything = summary.everything
    limits = next((each for each in LEVELS if _estimate(summary, each) <= MOST_BYTES), LEVELS[-1])
    index = _index(summary)
    rows = tuple(row_of(each, index, limits) for each in everything)
    return Payload(
        schema_version=SCHEMA_VERSION,
        ranked_by=summary.ranked_by,
        now=iso(summary.now),
        first_day=None if index.first_day is None else index.first_day.isoformat(),
        weeks=max((len(row.weekly) for row in rows), default=0),
        limits=limits,
        shown=SHOWN,
        spark=SPARK,
        most_mentions=max((row.mentions for row in rows), default=0),
        groups=TITLES,
        categories=index.categories.shown(limits.characters),
        operations=index.operations.shown(limits.characters),
        images=index.images.shown(LEVELS[0].characters),  # to be found by all of it, however much is cut
        files=index.files.shown(limits.characters),
        periods=() if index.periods is None else index.periods.names,
        statuses=tuple(sorted({row.status for row in rows})),
        commands=commands(everything, summary.deciding),
        columns=Row.__struct_fields__,
        example_columns=ShownExample.__struct_fields__,
        rows=rows,
    )


def encode_payload(payload: Payload) -> str:
    """The payload as JSON that may stand in a `script` element."""
    encoded = msgspec.json.encode(payload)
    for character, escape in _ESCAPES.items():
        encoded = encoded.replace(character, escape)
    return encoded.decode()


def _index(summary: Summary) -> Index:
    everything = summary.everything
    return Index(
        _days(everything),
        with_repository=summary.repositories not in {None, 1},
        last_rank=max((each.capability.rank_high for each in everything), default=1),
    )


def _days(everything: Sequence[Listed]) -> tuple[date, date] | None:
    dated = [each.on_days for each in everything if each.on_days]
    if not dated:
        return None
    return min(days[0][0] for days in dated), max(days[-1][0] for days in dated)


def _estimate(summary: Summary, limits: Limits) -> float:
    """About how many bytes the block takes: the first rows are measured, of the others one in `_STRIDE`."""
    index = _index(summary)
    everything = summary.everything
    head = _size(everything[:_HEAD], index, limits)
    rest = _size(everything[_HEAD::_STRIDE], index, limits) * _STRIDE
    return head + rest + sum(_names(everything))


def _size(part: Sequence[Listed], index: Index, limits: Limits) -> int:
    return len(msgspec.json.encode([row_of(each, index, limits) for each in part]))


def _names(everything: Sequence[Listed]) -> Iterator[int]:
    """The sizes of the names of images, of which there may be very many."""
    names = {tally.name for each in everything for tally in each.on_images}
    return (len(name) + 3 for name in names)
