"""The rows of a page: capabilities as plain data, with texts that are safe to show and cut if long.

A page may have thousands of rows, so they refer to names and files by position in lists of the page.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from math import log
from typing import Any, Final, get_type_hints

import msgspec

from vocabgap.model.capability import Asker, Capability, Example, Tally
from vocabgap.model.record import rating
from vocabgap.reporting.listed import MOST_IMAGES, MOST_LISTED, Choices, Listed
from vocabgap.reporting.wording import phrase
from vocabgap.text import FUNCTION_WORDS, REQUEST_WORDS, excerpt, short_hash, stem, visible, words

Pairs = tuple[int, ...]  # position, mentions, position, mentions, and so on
Counted = tuple[str, int]
WITH_ALL_EVIDENCE: Final = 500
_COMMON: Final = 4  # words
_THINNEST: Final = 5.0  # smallest visible length of a span


class Limits(msgspec.Struct, frozen=True):
    """Limits of the lists of a capability on a page; the Parquet files have everything."""

    characters: int  # of each text
    wordings: int
    evidence: int  # examples and workarounds of a capability after the first `WITH_ALL_EVIDENCE`
    images: int = MOST_IMAGES  # those with most mentions
    names: int = 100_000  # categories, operations and entries with most mentions
    rows: int = MOST_LISTED  # capabilities of the page
    runs: int = 0  # newest runs in a history


class Span(msgspec.Struct, frozen=True, array_like=True):
    """A segment of a line of length 100."""

    start: float
    length: float


class ShownExample(msgspec.Struct, frozen=True, array_like=True):
    """An example record.

    Image and file are positions in the page's lists. If a file begins with a slash, the name of the image
    precedes it.
    """

    day: str | None
    image: int
    session: str | None
    snapshot: str | None
    file: int
    line: int
    wording: str
    said: str
    workaround: str
    rating: str
    notes: str


class Row(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """A capability on a page: columns of table `capabilities`, and further columns.

    Days are ISO dates; categories, operations and images are positions in the page's lists.
    """

    id: str
    rank: int
    rank_low: int
    rank_high: int
    span: Span  # of the interval of the rank
    label: str
    status: str | None  # None if withheld
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
    # Phrases:
    interval: str
    pin: str  # the person who pinned it, and the interval without the pin; else empty
    likely: str
    marks: str  # warnings beside the rank; mostly empty
    asked: str
    rated: str
    trend_phrase: str
    category: int  # the main one
    categories: Pairs
    operations: Pairs
    image_counts: Pairs
    other_images: int  # number of further images
    days: Pairs  # stretches of days with mentions: distance from the page's first day, and length
    vocabulary_used: tuple[Counted, ...]
    variants: tuple[tuple[str, int, float], ...]  # wording, mentions, similarity to the label
    other_wordings: int  # number of further wordings
    workarounds: tuple[Counted, ...]
    covered_by: tuple[tuple[str, str, float, tuple[str, ...]], ...]  # entry, pack, explained, terms
    covered: tuple[tuple[str, int, tuple[str, ...]], ...]  # entry, mentions, covered wordings
    lineage: tuple[str, ...]
    decisions: tuple[str, ...]
    together: str  # why its wordings are one group
    facts: tuple[tuple[str, str], ...]  # label and value of further columns
    examples: tuple[ShownExample, ...]
    history: tuple[tuple[int, int, int], ...]  # rank and mentions in the last run of each day, oldest first
    pinned_in: tuple[int, ...]  # runs of the history in which it was pinned
    before: int | None  # rank in the run before
    neighbours: tuple[int, ...]  # positions of rows that may be the same need
    parts: tuple[tuple[int, tuple[int | str, ...]], ...]  # mentions; positions in `variants`, or wordings


# The columns that a row takes from a capability: columns with the same name and type.
_OWN: Final = get_type_hints(Row)
_SHARED: Final = tuple(name for name, kind in get_type_hints(Capability).items() if _OWN.get(name) == kind)
_DIGITS: Final = 4


class Names:
    """Names in the order of their first use."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def place(self, name: str) -> int:
        """Return the position of a name."""
        return self._known.setdefault(name, len(self._known))

    def shown(self, most: int) -> tuple[str, ...]:
        """Return all names, safe to show."""
        return tuple(excerpt(name, most) for name in self._known)


class Index:
    """The lists that the rows of a page refer to, and facts that all rows share."""

    def __init__(
        self,
        first_day: date | None = None,  # with a mention
        *,
        named_by: tuple[str, ...] = (),  # columns that precede the name of an image or a log
        askers: tuple[Asker, ...] = (),
        last_rank: int = 1,  # largest end of a rank interval
        runs: Sequence[datetime] = (),  # runs of the histories, oldest first
        ranked_by: str = "mentions",
        rows: Iterable[str] = (),  # identifiers of the capabilities
        near: Mapping[str, tuple[str, ...]] = {},  # those with the most similar wordings
        doubted: Mapping[str, str] = {},  # a phrase on those that may be one need with others
    ) -> None:
        self.categories, self.operations, self.images, self.files = Names(), Names(), Names(), Names()
        self.rows = {name: place for place, name in enumerate(rows)}
        self.runs = {moment: place for place, moment in enumerate(runs)}
        self.first_day, self.near, self.doubted = first_day, near, doubted
        self.named_by, self.askers, self.last_rank, self.ranked_by = named_by, askers, last_rank, ranked_by


def row_of(listed: Listed, index: Index, limits: Limits) -> Row:
    """Return a capability as a row of a page."""
    item, most = listed.capability, limits.characters
    past_runs = [(index.runs[past.moment], past) for past in listed.history if past.moment in index.runs]
    ranks = {place: past.rank for place, past in past_runs}
    daily = {past.moment.date(): (place, past.rank, past.mentions) for place, past in past_runs}
    most_evidence = None if item.rank <= WITH_ALL_EVIDENCE else limits.evidence
    variants = tuple(
        (excerpt(each.wording, most), each.mentions, round(each.similarity, 2))
        for each in item.variants[: limits.wordings]
    )
    on_images = listed.on_images[: limits.images]
    choices = listed.choices or Choices(item.capability_id)
    most_cut = 2_000  # characters of the cut wordings of a part
    return Row(
        **{name: _safe(getattr(item, name), most) for name in _SHARED},
        id=item.capability_id,
        span=rank_span(item.rank_low, item.rank_high, index.last_rank),
        status=item.status or None,
        group=listed.group,
        first_seen=_day(item.first_seen),
        last_seen=_day(item.last_seen),
        interval=phrase("rank_interval", item),
        likely=phrase("likely", item),
        marks=", ".join(filter(None, (phrase("marks", item), index.doubted.get(item.capability_id)))),
        pin=excerpt(phrase("pinned", item, index.ranked_by), most),
        asked=excerpt(phrase("asked_by", item, index.askers), most),
        rated=phrase("satisfaction", item),
        trend_phrase=phrase("trend", item),
        together=excerpt(phrase("together", item, _common_words(item)), most),
        category=index.categories.place(item.intent_category),
        categories=_placed(item.categories[: limits.names], index.categories),
        operations=_placed(item.operations[: limits.names], index.operations),
        image_counts=_placed(on_images, index.images),
        other_images=item.images - len(on_images) if on_images else 0,
        days=_days(listed.on_days, index.first_day),
        vocabulary_used=tuple(
            (excerpt(tally.name, most), tally.mentions) for tally in item.vocabulary_used[: limits.names]
        ),
        variants=variants,
        other_wordings=len(item.variants) - len(variants),
        workarounds=tuple(
            (excerpt(each.workaround, most), each.mentions) for each in item.workarounds[:most_evidence]
        ),
        covered_by=tuple(
            (
                excerpt(each.entry, most),
                excerpt(each.pack, most),
                round(each.explained, _DIGITS),
                tuple(excerpt(term, most) for term in each.terms),
            )
            for each in item.covered_by
        ),
        covered=tuple(
            (excerpt(each.entry, most), each.mentions, tuple(excerpt(text, most) for text in each.wordings))
            for each in item.covered
        ),
        facts=tuple((label, excerpt(text, most)) for label, text in item.facts.items()),
        lineage=tuple(excerpt(phrase("lineage", relation), most) for relation in listed.lineage),
        examples=tuple(_example(each, index, most) for each in item.examples[:most_evidence]),
        history=tuple(daily.values()),
        pinned_in=tuple(place for place, past in past_runs if past.pinned),
        neighbours=_neighbours(choices, index),
        parts=tuple(
            (sum(item.variants[place].mentions for place in part), names)
            for part in choices.parts
            for names in [tuple(_named(place, item.variants[place].wording, variants) for place in part)]
            if sum(len(name) for name in names if isinstance(name, str)) <= most_cut
        ),
        before=ranks.get(len(index.runs) - 2),
    )


def _neighbours(choices: Choices, index: Index) -> tuple[int, ...]:
    """Return the positions of the rows that may be the same need, most likely first."""
    own = choices.capability_id
    names = dict.fromkeys((*(name for name, _ in choices.near), *index.near.get(own, ())))
    return tuple(index.rows[name] for name in names if name in index.rows and name != own)[:3]


def _common_words(item: Capability) -> tuple[Counted, ...]:
    """Return the words in at least half of the mentions, in their most used form, with these mentions."""
    if item.rank > WITH_ALL_EVIDENCE:
        return ()
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for each in item.variants:
        content = {*words(each.wording)} - FUNCTION_WORDS - REQUEST_WORDS
        for root, word in {stem(word): word for word in sorted(content)}.items():
            forms[root][word] += each.mentions
    common = [(max(used, key=lambda word: (used[word], word)), used.total()) for used in forms.values()]
    often = [each for each in common if 2 * each[1] >= item.mentions]
    return tuple(sorted(often, key=lambda each: (-each[1], each[0]))[:_COMMON])


def _named(place: int, wording: str, shown: Sequence[tuple[str, int, float]]) -> int | str:
    """Return the position of a wording, or the wording if the page cuts it or its list."""
    whole = visible(wording)
    return place if place < len(shown) and shown[place][0] == whole else whole


def _safe(value: Any, most: int) -> Any:  # noqa: ANN401 - any value of a column
    """Return a value with safe texts and short numbers."""
    if isinstance(value, str):
        return excerpt(value, most)
    if isinstance(value, tuple):
        return tuple(_safe(each, most) for each in value)
    return round(value, _DIGITS) if isinstance(value, float) else value


def rank_span(low: int, high: int, last: int) -> Span:
    """Return the segment of a rank interval between rank 1 and the last rank, on a logarithmic scale."""
    whole = log(last) if last > 1 else 1.0
    start, end = (round(100 * log(each) / whole, 1) for each in (low, high))
    start = min(start, 100 - _THINNEST)
    return Span(start, max(round(end - start, 1), _THINNEST))


def _example(example: Example, index: Index, most: int) -> ShownExample:
    owner = "".join(f"{getattr(example, name)}/" for name in index.named_by)
    image, path = f"{owner}{example.image_id}", f"{owner}{example.source_path}"
    # The folder of most logs has the name of their image.
    is_below = path.startswith(f"{image}/") and len(image) <= most
    return ShownExample(
        day=_day(example.timestamp),
        image=index.images.place(image),
        session=None if example.session_id is None else excerpt(example.session_id, most),
        snapshot=None if example.snapshot_hash is None else excerpt(short_hash(example.snapshot_hash), most),
        file=index.files.place(path[len(image) :] if is_below else path),
        line=example.line,
        wording=excerpt(example.wording, most),
        said=excerpt(example.said, most),
        workaround=excerpt(example.workaround, most),
        rating=rating(example.satisfaction, example.count),
        notes=excerpt(example.notes, most),
    )


def _placed(tallies: Sequence[Tally], names: Names) -> Pairs:
    return tuple(number for tally in tallies for number in (names.place(tally.name), tally.mentions))


def _days(on_days: Iterable[tuple[date, int]], first_day: date | None) -> Pairs:
    if first_day is None:
        return ()
    return tuple(number for day, length in on_days for number in ((day - first_day).days, length))


def _day(moment: datetime | None) -> str | None:
    return None if moment is None else moment.date().isoformat()
