"""The data of a page for its script: capabilities as one block of JSON."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from vocabgap.model.moments import iso
from vocabgap.reporting.listed import SHOWN as FIRST
from vocabgap.reporting.listed import TITLES, Doubt, Listed
from vocabgap.reporting.rows import WITH_ALL_EVIDENCE, Index, Limits, Row, ShownExample, row_of
from vocabgap.reporting.summary import Summary
from vocabgap.reporting.wording import CONFIDENT, SHOWN_WORDINGS, phrase
from vocabgap.text import unit_names

# Limits of a page for each capability, from most to least content.
LEVELS: Final = (
    Limits(characters=240, wordings=500, evidence=5, images=100_000, runs=24),
    Limits(characters=240, wordings=500, evidence=5, images=1_000, runs=24, names=1_000),
    Limits(characters=240, wordings=200, evidence=2, images=100, runs=24, names=200),
    Limits(characters=160, wordings=50, evidence=1, images=30, runs=24, names=50),
    Limits(characters=120, wordings=20, evidence=1, images=12, runs=12, names=20),
    Limits(characters=80, wordings=10, evidence=1, images=12, runs=12, names=10),
    Limits(characters=60, wordings=5, evidence=1, images=6, runs=6, names=5),
    Limits(characters=40, wordings=3, evidence=1, images=3, runs=6, names=3),
    Limits(characters=40, wordings=3, evidence=0, images=3, runs=6, names=3),
    *(
        Limits(characters=20, wordings=1, evidence=0, images=3, runs=0, names=2, rows=rows)
        for rows in (10_000, 4_000, 1_500, 500, 100)
    ),
)
_FIRST: Final = 5  # factor for wordings, images and names of the first `WITH_ALL_EVIDENCE`
# An estimate before the block is made; the rest of a page works without a script.
MOST_BLOCK_BYTES: Final = 7_400_000
_SAMPLE: Final = 500  # capabilities for the estimate
# Characters that could end the block, as escapes of JSON.
_ESCAPES: Final = {
    b"<": rb"\u003c",
    b">": rb"\u003e",
    b"&": rb"\u0026",
    "\u2028".encode(): rb"\u2028",
    "\u2029".encode(): rb"\u2029",
}


class Drawing(msgspec.Struct, frozen=True):
    """The measures of a drawing."""

    width: int
    height: int
    filled: float = 1.0  # share of its width that a bar fills
    edge: int = 0  # distance of a line from top and bottom


SPARK: Final = Drawing(width=60, height=16, filled=0.75)  # upright bars
TRAIL: Final = Drawing(width=300, height=60, edge=4)  # ranks over runs


class MostShown(msgspec.Struct, frozen=True):
    """Limits of the visible part of long lists."""

    wordings: int  # shown at once
    images: int
    most_images: int  # shown on request
    most_wordings: int  # shown on request, without a script


SHOWN: Final = MostShown(wordings=SHOWN_WORDINGS, images=12, most_images=100, most_wordings=100)


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of a page, and the names that they refer to by position."""

    first_day: str | None  # first day with a mention; days are counted from it
    weeks: int  # of `weekly`
    confidence: int  # of the intervals, in percent
    limits: Limits
    shown: MostShown
    spark: Drawing
    trail: Drawing
    most_mentions: int  # mentions of a full bar in the list
    groups: dict[str, str]  # group to title
    categories: tuple[str, ...]
    operations: tuple[str, ...]
    images: tuple[str, ...]
    unit: tuple[str, str]  # what images are called: one, several
    files: tuple[str, ...]
    runs: tuple[str, ...]  # moments of the runs in histories, oldest first
    table: tuple[str, ...]  # columns of the ranking that say something in this run, in their order
    statuses: tuple[str, ...]
    ties: tuple[tuple[int, int], ...]  # first and last rank of those that are too close to call
    filters: tuple[str, ...]  # filters for which some capability has a value
    now: str  # the present moment of the run
    deciding: str | None  # options for `vocabgap decide`; None without decisions
    columns: tuple[str, ...]
    example_columns: tuple[str, ...]
    rows: tuple[Row, ...]


def levels(summary: Summary) -> tuple[Limits, ...]:
    """Return the levels at which a page may be small enough, at least one; most content first."""
    stride = -(-len(summary.everything) // _SAMPLE)
    sample = replace(summary, everything=summary.everything[:: stride or 1])
    for place, each in enumerate(LEVELS):
        payload = payload_of(sample, replace(each, rows=each.rows // (stride or 1)))
        if len(encode_payload(payload)) * stride <= MOST_BLOCK_BYTES:
            return LEVELS[place:]
    return LEVELS[-1:]


def payload_of(summary: Summary, limits: Limits = LEVELS[0]) -> Payload:
    """Return the data of the page of a summary."""
    everything = _listed(summary, limits)
    index = _index(summary, limits, everything)
    rows = tuple(row_of(each, index, _limits(each, limits)) for each in everything)
    return Payload(
        first_day=None if index.first_day is None else index.first_day.isoformat(),
        weeks=max((len(row.weekly) for row in rows), default=0),
        confidence=CONFIDENT,
        limits=limits,
        shown=SHOWN,
        spark=SPARK,
        trail=TRAIL,
        most_mentions=max((row.mentions for row in rows), default=0),
        groups=TITLES,
        categories=index.categories.shown(limits.characters),
        operations=index.operations.shown(limits.characters),
        # People search for whole names of images, so these are cut last.
        images=index.images.shown((LEVELS[0] if limits.evidence else limits).characters),
        unit=unit_names(summary.unit),
        files=index.files.shown(limits.characters),
        runs=tuple(map(iso, index.runs)),
        table=_table(rows, index),
        ties=summary.ties,
        statuses=tuple(sorted({row.status for row in rows if row.status is not None})),
        filters=_filters(rows),
        now=iso(summary.now),
        deciding=summary.deciding,
        columns=Row.__struct_fields__,
        example_columns=ShownExample.__struct_fields__,
        rows=rows,
    )


def encode_payload(payload: Payload) -> str:
    """Return the payload as JSON that is safe in a `script` element."""
    encoded = msgspec.json.encode(payload)
    for character, escape in _ESCAPES.items():
        encoded = encoded.replace(character, escape)
    return encoded.decode()


def _listed(summary: Summary, limits: Limits) -> list[Listed]:
    """Return the capabilities of a page in order of rank, including those shown without a script."""
    groups = (summary.capabilities, summary.covered, summary.settled)
    first = {each.capability_id for group in groups for each in group[:FIRST]}
    return [
        each
        for place, each in enumerate(summary.everything)
        if place < limits.rows or each.capability.capability_id in first
    ]


def _doubted(doubts: Iterable[Doubt]) -> dict[str, str]:
    """Return a phrase on each capability that may be one need with others, and on those."""
    sizes: dict[str, dict[str, int]] = defaultdict(dict)
    for each in doubts:
        for own in (each.capability_id, each.other_id):
            sizes[own] |= {each.capability_id: each.mentions, each.other_id: each.other_mentions}
    return {own: phrase("perhaps", len(each) - 1, sum(each.values())) for own, each in sizes.items()}


def _limits(each: Listed, limits: Limits) -> Limits:
    """Return the limits of a capability; the first capabilities get more wordings and images."""
    if each.capability.rank > WITH_ALL_EVIDENCE:
        return limits
    more = {name: getattr(limits, name) * _FIRST for name in ("wordings", "images", "names")}
    return replace(limits, **more)


def _table(rows: Sequence[Row], index: Index) -> tuple[str, ...]:
    """Return the columns of the ranking, without those whose values are missing or all the same."""
    told = {
        "rank": True,
        "rank_low": True,
        "label": True,
        "before": len(index.runs) > 1,
        "status": len({row.status for row in rows}) > 1,
        "mentions": True,
        "images": any(row.images > 1 for row in rows),
        "sessions": any(row.sessions > 1 for row in rows),
        "trend": any(row.weekly for row in rows),
        "priority": True,
        "last_seen": any(row.last_seen for row in rows),
        "unsatisfied": any(row.unsatisfied + row.neutral + row.satisfied for row in rows),
        "category": len({row.category for row in rows}) > 1,
    }
    return tuple(name for name, is_told in told.items() if is_told)


def _filters(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the filters for which some row has a value."""
    has = {
        "group": bool(rows),
        "status": any(row.status is not None for row in rows),
        "category": any(row.categories for row in rows),
        "operation": any(row.operations for row in rows),
        "image": any(row.image_counts for row in rows),
        "days": any(row.days for row in rows),
    }
    return tuple(name for name, some in has.items() if some)


def _index(summary: Summary, limits: Limits, everything: Iterable[Listed]) -> Index:
    runs = sorted({past.moment for each in summary.everything for past in each.history})
    return Index(
        min((day for each in summary.everything for day, _ in each.on_days[:1]), default=None),
        named_by=summary.named_by,
        askers=summary.askers,
        ranked_by=summary.order,
        rows=(each.capability.capability_id for each in everything),
        near={place.capability_id: place.near for place in summary.places},
        doubted=_doubted(summary.doubts or ()),
        last_rank=max((each.capability.rank_high for each in summary.everything), default=1),
        runs=runs[max(len(runs) - limits.runs, 0) :] if len(runs) > 1 else (),  # one run is no history
    )
