"""One capability as plain data for a page: every text is already safe to show, and cut where it is long."""

from collections.abc import Iterable
from datetime import date, datetime
from typing import Final

import msgspec

from vocabgap.reporting.capability import Example, Tally
from vocabgap.reporting.details import Listed
from vocabgap.reporting.in_words import factors, interval, rating, satisfaction, short_hash, trend
from vocabgap.text import shortened, visible

SHOWN_CHARACTERS: Final = 240
_MONTHS: Final = 24  # more of them are shown as years

Pair = tuple[int, int]
Counted = tuple[str, int]


class ShownExample(msgspec.Struct, frozen=True, array_like=True):
    """One record to look at."""

    day: str | None
    image: int
    session: str | None
    snapshot: str | None
    place: str
    wording: str
    said: str
    workaround: str
    rating: str
    notes: str


class Row(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """A capability as a page shows it.

    Where a column of table `capabilities` has the name it has the meaning; days are ISO dates. Categories,
    operations and images are positions in the lists of names that the page has once.

    Attributes:
        group: `open`, `covered`, `settled` or `hidden`.
        interval: The 90 % interval of the rank, in words.
        rated: How the workarounds were rated, in words.
        trend_said: The trend, in words.
        factors: The priority, in words.
        categories: Category and mentions, most first; operations, image_counts likewise.
        days: Days after the page's first day, and the mentions on each.
        timeline: The months, or the years where they are many, from the first mention to the last, and the
            mentions in each.
        variants: Wording, mentions, similarity to the label.
        combinations: Operations that recur together, and the mentions.
        covered_by: Entry, pack, the share that it explains, the words that say so.
    """

    id: str
    rank: int
    rank_low: int
    rank_high: int
    tie_group: int
    label: str
    status: str
    group: str
    mentions: int
    images: int
    sessions: int
    tenants: int
    first_seen: str | None
    last_seen: str | None
    unsatisfied: int
    neutral: int
    satisfied: int
    unrated: int
    trend: str | None
    weekly: tuple[int, ...]
    priority: float
    reach: float
    need: float
    recency: float
    interval: str
    rated: str
    trend_said: str
    factors: str
    category: int
    categories: tuple[Pair, ...]
    operations: tuple[Pair, ...]
    image_counts: tuple[Pair, ...]
    days: tuple[Pair, ...]
    timeline: tuple[Counted, ...]
    vocabulary_used: tuple[Counted, ...]
    variants: tuple[tuple[str, int, float], ...]
    combinations: tuple[tuple[tuple[int, ...], int], ...]
    workarounds: tuple[Counted, ...]
    covered_by: tuple[tuple[str, str, float, tuple[str, ...]], ...]
    lineage: tuple[str, ...]
    decisions: tuple[str, ...]
    cohesion: float
    repeats: int
    examples: tuple[ShownExample, ...]


class Names:
    """Names in the order in which they are first asked for, each once."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def place(self, name: str) -> int:
        """The position of a name."""
        return self._known.setdefault(name, len(self._known))

    @property
    def shown(self) -> tuple[str, ...]:
        """All of them, safe to show."""
        return tuple(shown(name) for name in self._known)


class Index:
    """What the rows of one page refer to by position."""

    def __init__(self, first_day: date | None, *, with_repository: bool) -> None:
        self.categories, self.operations, self.images = Names(), Names(), Names()
        self.first_day = first_day
        self.with_repository = with_repository


def shown(text: str) -> str:
    """A text from a log as a page shows it."""
    return shortened(visible(text), SHOWN_CHARACTERS)


def row_of(listed: Listed, index: Index) -> Row:
    """A capability as a page shows it."""
    item = listed.capability
    return Row(
        id=item.capability_id,
        rank=item.rank,
        rank_low=item.rank_low,
        rank_high=item.rank_high,
        tie_group=item.tie_group,
        label=shown(item.label),
        status=item.status,
        group=listed.group,
        mentions=item.mentions,
        images=item.images,
        sessions=item.sessions,
        tenants=item.tenants,
        first_seen=_day(item.first_seen),
        last_seen=_day(item.last_seen),
        unsatisfied=item.unsatisfied,
        neutral=item.neutral,
        satisfied=item.satisfied,
        unrated=item.unrated,
        trend=item.trend,
        weekly=item.weekly,
        priority=round(item.priority, 4),
        reach=round(item.reach, 4),
        need=round(item.need, 4),
        recency=round(item.recency, 4),
        interval=interval(item),
        rated=satisfaction(item),
        trend_said=trend(item),
        factors=factors(item),
        category=index.categories.place(item.intent_category),
        categories=_placed(item.categories, index.categories),
        operations=_placed(item.operations, index.operations),
        image_counts=_placed(listed.on_images, index.images),
        days=_days(listed, index.first_day),
        timeline=timeline(listed.on_days),
        vocabulary_used=tuple((shown(tally.name), tally.mentions) for tally in item.vocabulary_used),
        variants=tuple(
            (shown(each.wording), each.mentions, round(each.similarity, 2)) for each in item.variants
        ),
        combinations=tuple(
            (tuple(index.operations.place(name) for name in each.operations), each.mentions)
            for each in item.combinations
        ),
        workarounds=tuple((shown(each.workaround), each.mentions) for each in item.workarounds),
        covered_by=tuple(
            (shown(each.entry), shown(each.pack), round(each.explained, 4), tuple(map(shown, each.terms)))
            for each in item.covered_by
        ),
        lineage=tuple(map(shown, listed.lineage)),
        decisions=tuple(map(shown, item.decisions)),
        cohesion=round(item.cohesion, 2),
        repeats=item.repeats,
        examples=tuple(_example(each, index) for each in item.examples),
    )


def timeline(on_days: Iterable[tuple[date, int]]) -> tuple[Counted, ...]:
    """The mentions of each month from the first to the last; of each year where the months are many.

    Args:
        on_days: Days with their mentions, the earliest first.
    """
    months: dict[int, int] = {}
    for day, mentions in on_days:
        month = day.year * 12 + day.month - 1
        months[month] = months.get(month, 0) + mentions
    if not months:
        return ()
    first, last = min(months), max(months)
    if last - first < _MONTHS:
        whole = range(first, last + 1)
        return tuple((f"{each // 12:04}-{each % 12 + 1:02}", months.get(each, 0)) for each in whole)
    years: dict[int, int] = dict.fromkeys(range(first // 12, last // 12 + 1), 0)
    for month, mentions in months.items():
        years[month // 12] += mentions
    return tuple((f"{year:04}", mentions) for year, mentions in years.items())


def _example(example: Example, index: Index) -> ShownExample:
    repository = f"{example.repo_slug}/" if index.with_repository else ""
    image = f"{repository}{example.image_id}"
    return ShownExample(
        day=_day(example.timestamp),
        image=index.images.place(image),
        session=None if example.session_id is None else shown(example.session_id),
        snapshot=None if example.snapshot_hash is None else shown(short_hash(example.snapshot_hash)),
        place=shown(f"{repository}{example.source_path}:{example.line}"),
        wording=shown(example.wording),
        said=shown(example.said),
        workaround=shown(example.workaround),
        rating=rating(example.satisfaction),
        notes=shown(example.notes),
    )


def _placed(tallies: Iterable[Tally], names: Names) -> tuple[Pair, ...]:
    return tuple((names.place(tally.name), tally.mentions) for tally in tallies)


def _days(listed: Listed, first_day: date | None) -> tuple[Pair, ...]:
    if first_day is None:
        return ()
    return tuple(((day - first_day).days, mentions) for day, mentions in listed.on_days)


def _day(moment: datetime | None) -> str | None:
    return None if moment is None else moment.date().isoformat()
