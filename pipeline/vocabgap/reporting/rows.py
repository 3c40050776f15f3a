"""The rows of a page: capabilities as plain data, with texts that are safe to show and cut if long.

A page may have thousands of rows, so they refer to names and files by position in lists of the page.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from functools import partial
from itertools import zip_longest
from typing import Any, Final

import msgspec
from msgspec.structs import astuple

from vocabgap.model.capability import Capability, Example, Tally
from vocabgap.model.record import rating
from vocabgap.model.tables import NEW, OPEN
from vocabgap.reporting.listed import MOST_IMAGES, MOST_LISTED, Choices, Listed, beside, doubted
from vocabgap.reporting.summary import Summary
from vocabgap.reporting.wording import phrase, quote_of
from vocabgap.text import FUNCTION_WORDS, REQUEST_WORDS, excerpt, short_hash, stem, unit_names, visible, words

Row = dict[str, Any]  # a capability or an example on a page: columns and their values
WITH_ALL_EVIDENCE: Final = 500
KEY_FACTS: Final = 4  # the first labels of facts


class Limits(msgspec.Struct, frozen=True):
    """Limits of the lists of a capability on a page; the Parquet files have everything."""

    characters: int  # of each text
    wordings: int
    evidence: int  # examples and workarounds of a capability after the first `WITH_ALL_EVIDENCE`
    images: int = MOST_IMAGES  # those with most mentions
    names: int = 100_000  # categories, operations and entries with most mentions
    rows: int = MOST_LISTED  # capabilities of the page
    runs: int = 0  # newest runs in a history


class Index:
    """The lists that the rows of a page refer to, and facts that all rows share."""

    def __init__(self, summary: Summary, limits: Limits, everything: Iterable[Listed]) -> None:
        self.summary = summary
        # Names in the order of their first use, and their positions:
        self.categories: dict[str, int] = {}
        self.operations: dict[str, int] = {}
        self.images: dict[str, int] = {}
        self.files: dict[str, int] = {}
        self.labels: dict[str, int] = {}  # of facts
        for label in ("Mentions", unit_names(summary.unit)[1].capitalize(), "Satisfaction", "Trend"):
            _place(label, self.labels)
        self.rows = {each.capability.capability_id: place for place, each in enumerate(everything)}
        moments = sorted({past.moment for each in summary.everything for past in each.history})
        first = max(len(moments) - limits.runs, 0)
        runs = moments[first:] if len(moments) > 1 else ()  # one run is no history
        self.runs = {moment: place for place, moment in enumerate(runs)}
        self.first_day = min(
            (day for each in summary.everything for day, _ in each.on_days[:1]), default=None
        )
        self.near = {place.capability_id: place.near for place in summary.places}
        self.doubted = doubted(summary.doubts or ())
        self.effects = {each.capability_id: each for each in summary.outcomes}


def row_of(listed: Listed, index: Index, limits: Limits) -> Row:
    """Return a capability as a row of a page: numbers, phrases, and its evidence.

    Days are ISO dates; categories, operations, images and labels are positions in the page's lists.
    """
    item, summary = listed.capability, index.summary
    safe = partial(_safe, most=limits.characters)
    say = partial(phrase, unit=summary.unit)
    past_runs = [(index.runs[past.moment], past) for past in listed.history if past.moment in index.runs]
    daily = {past.moment.date(): (place, past.rank, past.mentions) for place, past in past_runs}
    most_evidence = None if item.rank <= WITH_ALL_EVIDENCE else limits.evidence
    variants = tuple(
        (safe(variant.wording), variant.mentions, round(variant.similarity, 2))
        for variant in item.variants[: limits.wordings]
    )
    on_images = listed.on_images[: limits.images]
    effect = index.effects.get(item.capability_id)
    return {
        "id": item.capability_id,
        "rank": item.rank,
        "label": safe(item.label),
        "quote": safe(quote_of(item)),
        "status": item.status or None,  # None if withheld
        "group": listed.group,
        "mentions": item.mentions,
        "low": item.mentions_low,
        "high": item.mentions_high,
        "images": item.images,
        "rated": item.rated,
        "share": say("failed_share", item),
        "trend": safe(item.trend),
        "weekly": item.weekly,
        "level": say("level", item, summary.ties),
        "beside": safe(beside(item, index.doubted.get(item.capability_id, ""))),
        "facts": tuple(
            each
            for label, text in facts_of(summary, item)
            if text
            for each in (_place(label, index.labels), safe(text))
        ),
        "covered": safe(item.covered),
        "covered_by": safe(
            tuple((each.entry, each.pack, each.explained, each.terms) for each in item.covered_by)
        ),
        "examples": tuple(_example(each, index, limits.characters) for each in item.examples[:most_evidence]),
        "variants": variants,
        "other_wordings": len(item.variants) - len(variants),
        "workarounds": safe(item.workarounds[:most_evidence]),
        "past": safe((*(say("lineage", relation) for relation in listed.lineage), *item.decisions)),
        "history": tuple(daily.values()),  # rank and mentions in the last run of each day, oldest first
        "notes": (  # on runs: that it was pinned, and what its status was
            *((place, "pinned") for place, past in past_runs if past.pinned),
            *((place, past.status) for place, past in past_runs if past.status not in {"", NEW, OPEN}),
        ),
        # Position, mentions, position, mentions, and so on:
        "categories": _placed(item.categories[: limits.names], index.categories),
        "operations": _placed(item.operations[: limits.names], index.operations),
        "image_counts": _placed(on_images, index.images),
        "other_images": item.images - len(on_images) if on_images else 0,
        "days": _days(listed, index.first_day),
        "vocabulary_used": safe(item.vocabulary_used[: limits.names]),
        "neighbours": _neighbours(listed, index),
        "parts": tuple(_parts(listed, variants)),
        "effect": None if effect is None else safe(say("effect", effect)),
        "draft": summary.drafts.get(item.capability_id),
        "pinned": item.ranks_by_pin,
    }


def facts_of(summary: Summary, item: Capability) -> Iterator[tuple[str, str]]:
    """Yield labels and texts about a capability; an empty text is no fact."""
    say = partial(phrase, unit=summary.unit)
    yield "Mentions", f"{item.mentions:,}, likely {say('likely', item)}"
    yield unit_names(summary.unit)[1].capitalize(), f"{item.images:,}"
    yield "Satisfaction", say("satisfaction", item) if item.rated else ""
    records = ", for all records" if summary.selection else ""
    yield "Trend", say("trend", item) + records if item.weekly else ""
    yield "Range of its rank", say("pinned", item, summary.order) or say("rank_interval", item)
    yield "One need because", say("together", item, _common_words(item))
    yield "Asked for", say("asked_by", item, summary.askers)
    yield "Known sessions", f"{item.sessions:,}" if item.sessions else ""
    yield "First and last seen", f"{_day(item.first_seen)}, {_day(item.last_seen)}" if item.last_seen else ""
    yield "Status", say("progress", item) or item.status
    yield "Priority", f"{item.priority:.2f}"
    yield from item.facts.items()


def _neighbours(listed: Listed, index: Index) -> tuple[tuple[int, int | None], ...]:
    """Return the positions of rows that may be the same need, and percentages, as on a screen of a review.

    Without a screen, they are the three nearest rows, without percentages.
    """
    if listed.choices is not None:
        near = listed.choices.near
        return tuple((index.rows[name], round(100 * likely)) for name, likely in near if name in index.rows)
    own = listed.capability.capability_id
    nearest = [name for name in index.near.get(own, ()) if name in index.rows and name != own]
    return tuple((index.rows[name], None) for name in nearest[:3])


def _parts(
    listed: Listed, shown: Sequence[tuple[str, int, float]]
) -> Iterator[tuple[int, tuple[int | str, ...], int | None]]:
    """Yield the parts that may be another need: mentions, positions in `shown` or cut wordings, percent."""
    most_cut = 2_000  # characters of the cut wordings of a part
    choices = Choices("") if listed.choices is None else listed.choices
    for part, likely in zip_longest(choices.parts, choices.likely):
        names: list[int | str] = []
        for place in part:
            whole = visible(listed.capability.variants[place].wording)
            names.append(place if place < len(shown) and shown[place][0] == whole else whole)
        if sum(len(name) for name in names if isinstance(name, str)) <= most_cut:
            mentions = sum(listed.capability.variants[place].mentions for place in part)
            yield mentions, tuple(names), None if likely is None else round(100 * likely)


def _common_words(item: Capability) -> tuple[tuple[str, int], ...]:
    """Return the words in at least half of the mentions, in their most used form, with these mentions."""
    if item.rank > WITH_ALL_EVIDENCE:
        return ()
    most = 4
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for each in item.variants:
        content = {*words(each.wording)} - FUNCTION_WORDS - REQUEST_WORDS
        for root, word in {stem(word): word for word in sorted(content)}.items():
            forms[root][word] += each.mentions
    common = [(max(used, key=lambda word: (used[word], word)), used.total()) for used in forms.values()]
    often = [each for each in common if 2 * each[1] >= item.mentions]
    return tuple(sorted(often, key=lambda each: (-each[1], each[0]))[:most])


def _safe(value: Any, most: int) -> Any:  # noqa: ANN401 - any value of a column
    """Return a value with safe texts and short numbers; structs become tuples."""
    if isinstance(value, str):
        return excerpt(value, most)
    if isinstance(value, msgspec.Struct):
        value = astuple(value)
    if isinstance(value, tuple):
        return tuple(_safe(each, most) for each in value)
    return round(value, 4) if isinstance(value, float) else value


def _example(example: Example, index: Index, most: int) -> Row:
    """Return an example record; image and file are positions in the page's lists.

    If a file begins with a slash, the name of the image precedes it.
    """
    owner = "".join(f"{getattr(example, name)}/" for name in index.summary.named_by)
    image, path = f"{owner}{example.image_id}", f"{owner}{example.source_path}"
    # The folder of most logs has the name of their image.
    is_below = path.startswith(f"{image}/") and len(image) <= most
    snapshot = example.snapshot_hash
    return {
        "day": _day(example.timestamp),
        "image": _place(image, index.images),
        "session": _safe(example.session_id, most),
        "snapshot": None if snapshot is None else excerpt(short_hash(snapshot), most),
        "file": _place(path[len(image) :] if is_below else path, index.files),
        "line": example.line,
        "wording": excerpt(example.wording, most),
        "said": excerpt(example.said, most),
        "workaround": excerpt(example.workaround, most),
        "rating": rating(example.satisfaction, example.count),
        "notes": excerpt(example.notes, most),
    }


def _place(name: str, names: dict[str, int]) -> int:
    """Return the position of a name in a list of the page."""
    return names.setdefault(name, len(names))


def _placed(tallies: Sequence[Tally], names: dict[str, int]) -> tuple[int, ...]:
    return tuple(number for tally in tallies for number in (_place(tally.name, names), tally.mentions))


def _days(listed: Listed, first_day: date | None) -> tuple[int, ...]:
    """Return stretches of days with mentions: distance from the page's first day, length, and so on."""
    if first_day is None:
        return ()
    return tuple(number for day, length in listed.on_days for number in ((day - first_day).days, length))


def _day(moment: datetime | None) -> str | None:
    return None if moment is None else moment.date().isoformat()
