"""The rows of a page: a capability as plain data, every text already safe to show, and cut where it is long.

There may be thousands on a page, so what is true of many is said once: names, files and periods stand in
lists of the page, and the rows refer to them by position.
"""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from itertools import accumulate
from math import log
from typing import Final, Self

import msgspec

from vocabgap.model.capability import Asker, Capability, Example, Tally, Workaround
from vocabgap.reporting.listed import MOST_LISTED, Listed
from vocabgap.reporting.wording import SEVERAL, phrase, rating, short_hash
from vocabgap.text import excerpt

Pairs = tuple[int, ...]  # position, mentions, position, mentions, and so on
Counted = tuple[str, int]
WITH_ALL_EVIDENCE: Final = 500
_THINNEST: Final = 5.0  # of a span, to be seen
_MOST_MONTHS: Final = 24  # more of them are shown as years
_TAIL: Final = 0.05  # of the mentions, at either end: what is no part of the bulk


class Limits(msgspec.Struct, frozen=True):
    """How much of a capability a page has; the Parquet has all of it."""

    characters: int  # of each text
    wordings: int  # and sets of operations
    evidence: int  # examples, and workarounds, of one that is not among the first `WITH_ALL_EVIDENCE`
    images: int = 100  # with most mentions
    names: int = 100_000  # categories, operations and entries, likewise
    rows: int = MOST_LISTED  # capabilities of the page
    runs: int = 0  # that its history is told of, the newest


class Span(msgspec.Struct, frozen=True, array_like=True):
    """A segment of a line of length 100."""

    start: float
    length: float


class ShownExample(msgspec.Struct, frozen=True, array_like=True):
    """One record to look at.

    Image and file are positions in the page's lists; a file there that begins with a slash goes on from the
    name of the image. Wording and workaround are positions in the capability's lists, or texts that these do
    not have.
    """

    day: str | None
    image: int
    session: str | None
    snapshot: str | None
    file: int
    line: int
    wording: int | str
    said: str
    workaround: int | str
    rating: str
    notes: str


class Row(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """A capability as a page shows it.

    What is called as a column of table `capabilities` means what it means there; days are ISO dates, and
    categories, operations and images positions in the page's lists.
    """

    id: str
    rank: int
    rank_low: int
    rank_high: int
    span: Span  # where the interval of the rank lies
    label: str
    status: str | None  # null where it is withheld
    group: str
    mentions: int
    images: int
    sessions: int
    first_seen: str | None
    last_seen: str | None
    unsatisfied: int
    neutral: int
    satisfied: int
    trend: str | None
    weekly: tuple[int, ...]
    priority: float
    # In words:
    interval: str
    pinned: str  # by whom, and where it would stand without; empty where it is not
    overtaken: str  # how surely it could be; empty where nothing tells
    likely: str
    several: str  # empty where it is one need
    asked: str
    rated: str
    trend_said: str
    factors: str
    category: int  # the main one
    categories: Pairs
    operations: Pairs
    image_counts: Pairs
    other_images: int  # that are not among these
    days: Pairs  # of its mentions: how many after the page's first day, and how many one after the other
    timeline: tuple[int, ...]  # position of its first period, then mentions of every period to its last one
    vocabulary_used: tuple[Counted, ...]
    variants: tuple[tuple[str, int, float], ...]  # with the similarity to the label
    other_wordings: int  # that are not among these
    combinations: tuple[tuple[tuple[int, ...], int], ...]
    workarounds: tuple[Counted, ...]
    covered_by: tuple[tuple[str, str, float, tuple[str, ...]], ...]  # entry, pack, explained, terms
    covered: tuple[tuple[str, int, tuple[str, ...]], ...]  # entry, mentions, wordings that it probably covers
    lineage: tuple[str, ...]
    decisions: tuple[str, ...]
    outgrown: tuple[str, ...]
    cohesion: float
    repeats: int
    seen: int
    examples: tuple[ShownExample, ...]
    history: tuple[tuple[int, int, int], ...]  # run, rank and mentions, the oldest run first
    pinned_in: tuple[int, ...]  # runs of these in which it was pinned: the rank there is that of its counts
    before: int | None  # its rank in the run before; null where it was not there, or there is none


_AS_THEY_ARE: Final = (
    *("rank", "rank_low", "rank_high", "mentions", "images", "sessions", "unsatisfied", "neutral"),
    *("satisfied", "trend", "weekly", "repeats", "seen"),
)


class Names:
    """Names in the order in which they are first asked for, each once."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def place(self, name: str) -> int:
        """The position of a name."""
        return self._known.setdefault(name, len(self._known))

    def shown(self, most: int) -> tuple[str, ...]:
        """All of them, safe to show."""
        return tuple(excerpt(name, most) for name in self._known)


class Periods(msgspec.Struct, frozen=True):
    """The months that most mentions are in; the years where the months are many.

    What little is earlier or later than they are is told as one period before, or after, all of them: a clock
    that was wrong once does not make years of everybody's months.
    """

    first: int  # its number
    names: tuple[str, ...]
    months: int  # of each: 1, or 12

    @classmethod
    def of(cls, on_days: Sequence[tuple[date, int]]) -> Self:
        """The periods of a report, of one day at least on which something came up; the earliest first."""
        days = [day for day, _ in on_days]
        bulk = _bulk(on_days)
        months = 12 if _period(bulk[1], 1) - _period(bulk[0], 1) >= _MOST_MONTHS else 1
        earliest, latest, begin, end = (_period(day, months) for day in (days[0], days[-1], *bulk))
        # Beyond the bulk there is as much as there is room for, the newest first.
        last = min(latest, max(begin + _MOST_MONTHS - 1, end))
        first = max(earliest, last - _MOST_MONTHS + 1)
        names = [
            f"{each:04}" if months > 1 else f"{each // 12:04}-{each % 12 + 1:02}"
            for each in range(first, last + 1)
        ]
        before = [f"before {names[0]}"] if earliest < first else []
        after = [f"after {names[-1]}"] if latest > last else []
        return cls(first - len(before), (*before, *names, *after), months)

    def counted(self, on_days: Iterable[tuple[date, int]]) -> tuple[int, ...]:
        """Position of the first period with a mention, then the mentions of each up to the last one."""
        counts: dict[int, int] = {}
        for day, mentions in on_days:
            place = min(max(_period(day, self.months) - self.first, 0), len(self.names) - 1)
            counts[place] = counts.get(place, 0) + mentions
        if not counts:
            return ()
        first, last = min(counts), max(counts)
        return (first, *(counts.get(place, 0) for place in range(first, last + 1)))


class Index:
    """What the rows of one page refer to by position, and what all of them are measured by."""

    def __init__(
        self,
        on_days: Sequence[tuple[date, int]] = (),  # with the mentions on each, the earliest first
        *,
        named_by: tuple[str, ...] = (),  # what stands before the name of an image or a log
        askers: tuple[Asker, ...] = (),
        last_rank: int = 1,  # that any interval reaches
        runs: Sequence[datetime] = (),  # that histories tell of, the oldest first
        ranked_by: str = "mentions",
    ) -> None:
        self.categories, self.operations, self.images, self.files = Names(), Names(), Names(), Names()
        self.runs = {moment: place for place, moment in enumerate(runs)}
        self.first_day = on_days[0][0] if on_days else None
        self.periods = Periods.of(on_days) if on_days else None
        self.named_by, self.askers, self.last_rank, self.ranked_by = named_by, askers, last_rank, ranked_by


def row_of(listed: Listed, index: Index, limits: Limits) -> Row:
    """A capability as a page shows it."""
    item, most = listed.capability, limits.characters
    told = [(index.runs[past.moment], past) for past in listed.history if past.moment in index.runs]
    history = tuple((place, past.rank, past.mentions) for place, past in told)
    workarounds = item.workarounds[: _evidence(item, limits)]
    variants = tuple(
        (excerpt(each.wording, most), each.mentions, round(each.similarity, 2))
        for each in item.variants[: limits.wordings]
    )
    return Row(
        **{name: getattr(item, name) for name in _AS_THEY_ARE},
        id=item.capability_id,
        span=rank_span(item.rank_low, item.rank_high, index.last_rank),
        label=excerpt(item.label, most),
        status=item.status or None,
        group=listed.group,
        first_seen=_day(item.first_seen),
        last_seen=_day(item.last_seen),
        priority=round(item.priority, 4),
        interval=phrase("rank_interval", item),
        likely=phrase("likely", item),
        several=SEVERAL if item.mixed else "",
        pinned=excerpt(phrase("pinned", item, index.ranked_by), most),
        overtaken=phrase("overtaken", item),
        asked=excerpt(phrase("asked_by", item, index.askers), most),
        rated=phrase("satisfaction", item),
        trend_said=phrase("trend", item),
        factors=phrase("factors", item),
        category=index.categories.place(item.intent_category),
        categories=_placed(item.categories[: limits.names], index.categories),
        operations=_placed(item.operations[: limits.names], index.operations),
        image_counts=_placed(listed.on_images[: limits.images], index.images),
        other_images=max(len(listed.on_images) - limits.images, 0),
        days=_days(listed.on_days, index.first_day),
        timeline=() if index.periods is None else index.periods.counted(listed.on_days),
        vocabulary_used=tuple(
            (excerpt(tally.name, most), tally.mentions) for tally in item.vocabulary_used[: limits.names]
        ),
        variants=variants,
        other_wordings=len(item.variants) - len(variants),
        combinations=tuple(
            (tuple(map(index.operations.place, each.operations[: limits.names])), each.mentions)
            for each in item.combinations[: limits.wordings]
        ),
        workarounds=tuple((excerpt(each.workaround, most), each.mentions) for each in workarounds),
        covered_by=tuple(
            (
                excerpt(each.entry, most),
                excerpt(each.pack, most),
                round(each.explained, 4),
                tuple(excerpt(term, most) for term in each.terms),
            )
            for each in item.covered_by
        ),
        covered=tuple(
            (excerpt(each.entry, most), each.mentions, tuple(excerpt(said, most) for said in each.wordings))
            for each in item.covered
        ),
        lineage=tuple(excerpt(phrase("lineage", relation), most) for relation in listed.lineage),
        decisions=tuple(excerpt(sentence, most) for sentence in item.decisions),
        outgrown=tuple(excerpt(name, most) for name in item.outgrown),
        cohesion=round(item.cohesion, 2),
        examples=_examples(item, index, limits, workarounds),
        history=history,
        pinned_in=tuple(place for place, past in told if past.pinned),
        before=next((rank for place, rank, _ in history if place == len(index.runs) - 2), None),
    )


def days_together(each_on_days: Iterable[Sequence[tuple[date, int]]]) -> list[tuple[date, int]]:
    """The days of several, the earliest first, with the mentions of all of them."""
    counts: dict[date, int] = {}
    for on_days in each_on_days:
        for day, mentions in on_days:
            counts[day] = counts.get(day, 0) + mentions
    return sorted(counts.items())


def rank_span(low: int, high: int, last: int) -> Span:
    """Where the interval of a rank lies between the first and the last rank, on a logarithmic scale."""
    whole = log(last) if last > 1 else 1.0
    start, end = (round(100 * log(each) / whole, 1) for each in (low, high))
    start = min(start, 100 - _THINNEST)
    return Span(start, max(round(end - start, 1), _THINNEST))


def _evidence(item: Capability, limits: Limits) -> int | None:
    """How many examples and workarounds are shown; null for all."""
    return None if item.rank <= WITH_ALL_EVIDENCE else limits.evidence


def _examples(
    item: Capability, index: Index, limits: Limits, workarounds: Sequence[Workaround]
) -> tuple[ShownExample, ...]:
    wordings = {each.wording: place for place, each in enumerate(item.variants[: limits.wordings])}
    instead = {each.workaround: place for place, each in enumerate(workarounds)}
    return tuple(
        _example(each, index, limits.characters, wordings, instead)
        for each in item.examples[: _evidence(item, limits)]
    )


def _example(
    example: Example, index: Index, most: int, wordings: dict[str, int], instead: dict[str, int]
) -> ShownExample:
    owner = "".join(f"{getattr(example, name)}/" for name in index.named_by)
    image, path = f"{owner}{example.image_id}", f"{owner}{example.source_path}"
    # Most logs lie in a folder that is called as their image.
    is_below = path.startswith(f"{image}/") and len(image) <= most
    return ShownExample(
        day=_day(example.timestamp),
        image=index.images.place(image),
        session=None if example.session_id is None else excerpt(example.session_id, most),
        snapshot=None if example.snapshot_hash is None else excerpt(short_hash(example.snapshot_hash), most),
        file=index.files.place(path[len(image) :] if is_below else path),
        line=example.line,
        wording=wordings.get(example.wording, excerpt(example.wording, most)),
        said=excerpt(example.said, most),
        workaround=instead.get(example.workaround.strip(), excerpt(example.workaround, most)),
        rating=rating(example.satisfaction),
        notes=excerpt(example.notes, most),
    )


def _placed(tallies: Sequence[Tally], names: Names) -> Pairs:
    return tuple(number for tally in tallies for number in (names.place(tally.name), tally.mentions))


def _days(on_days: Iterable[tuple[date, int]], first_day: date | None) -> Pairs:
    """Day and length of each stretch of days with mentions: on large pages most days have some."""
    if first_day is None:
        return ()
    found: list[int] = []
    for number in ((day - first_day).days for day, _ in on_days):
        if found and number == found[-2] + found[-1]:
            found[-1] += 1
        else:
            found += [number, 1]
    return tuple(found)


def _day(moment: datetime | None) -> str | None:
    return None if moment is None else moment.date().isoformat()


def _period(day: date, months: int) -> int:
    return (day.year * 12 + day.month - 1) // months


def _bulk(on_days: Sequence[tuple[date, int]]) -> tuple[date, date]:
    """The days between which all mentions are but a small part at either end."""
    whole = sum(mentions for _, mentions in on_days)
    return _beyond(on_days, whole * _TAIL), _beyond(on_days[::-1], whole * _TAIL)


def _beyond(on_days: Sequence[tuple[date, int]], mentions: float) -> date:
    """The first day on which there are more mentions, with those of the days before, than so many."""
    sums = accumulate(number for _, number in on_days)
    return next(day for (day, _), passed in zip(on_days, sums, strict=True) if passed > mentions)
