"""A capability: every column of table `capabilities`, declared once.

The table, the report, the page and the answers of tools derive their columns from `Capability`.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal, Self, get_args

import msgspec

SETTLED: Final = ("dismissed", "authored")
"""The statuses that end a need."""
FIRST_COVERING: Final = 3  # entries that cover a part of a need, and wordings of each


def means(meaning: str, label: str | None = None) -> msgspec.Meta:
    """Describe a column; one with a label is a fact that the page and the Markdown show if it is not zero."""
    return msgspec.Meta(description=meaning, title=label)


class Tally(msgspec.Struct, frozen=True, gc=False):
    """A name and the mentions that hold it."""

    name: str
    mentions: int


class Wording(msgspec.Struct, frozen=True):
    """One wording of a need, with its cosine similarity to the label's wording."""

    wording: str
    mentions: int
    similarity: float
    entry: str | None = None  # the entry of the vocabulary that explains most of it
    explained: float | None = None  # the share of it that the entry explains, 0 to 1


class Covered(msgspec.Struct, frozen=True):
    """An entry that probably covers some wordings of a capability, and their mentions."""

    entry: str
    mentions: int
    wordings: tuple[str, ...]  # the most used ones


class Example(msgspec.Struct, frozen=True):
    """One record of a capability, with its origin."""

    wording: str
    timestamp: datetime | None
    image_id: str
    session_id: str | None
    snapshot_hash: str | None
    description: str | None
    intent: str | None
    workaround: str
    satisfaction: Literal[-1, 0, 1] | None
    notes: str
    tenant_id: str
    repo_slug: str
    source_path: str
    line: int
    count: int | None = None  # None in runs of earlier versions

    @property
    def said(self) -> str:
        """The words of the person, else of the agent, if they differ from the wording."""
        texts = (text for text in (self.intent, self.description) if text and text.strip())
        return next((text for text in texts if text.strip() != self.wording), "")


class Cover(msgspec.Struct, frozen=True):
    """An entry of the vocabulary that is near, with the words and operations that match."""

    entry: str
    pack: str
    score: float
    explained: float
    terms: tuple[str, ...]


class Recurring(msgspec.Struct, frozen=True):
    """Operations that recur together."""

    operations: tuple[str, ...]
    mentions: int


class Workaround(msgspec.Struct, frozen=True):
    """A workaround and its mentions."""

    workaround: str
    mentions: int


class Asker(msgspec.Struct, frozen=True):
    """A tenant and a repository, and the number of their mentions."""

    tenant_id: str
    repo_slug: str
    mentions: int


class Capability(msgspec.Struct, frozen=True, kw_only=True):
    """One missing capability, ranked; each described field is a column of table `capabilities`."""

    rank: Annotated[int, means("place in the ranking, counted from 1")]
    capability_id: Annotated[str, means("identifier, carried over from run to run")]
    label: Annotated[str, means("words of one of its wordings, or the name that people gave it")]
    mentions: Annotated[int, means("the sum of `count` over the records that ask for it")]
    images: Annotated[int, means("distinct images among them")]
    sessions: Annotated[int, means("distinct known sessions among them")]
    tenants: Annotated[int, means("distinct tenants among them")]
    first_seen: Annotated[datetime | None, means("earliest timestamp, selected or not; null if none")]
    last_seen: Annotated[datetime | None, means("latest readable timestamp among the mentions; null if none")]
    unsatisfied: Annotated[int, means("mentions with satisfaction -1")]
    neutral: Annotated[int, means("mentions with satisfaction 0")]
    satisfied: Annotated[int, means("mentions with satisfaction 1")]
    unrated: Annotated[int, means("mentions without satisfaction")]
    intent_category: Annotated[str, means("the most frequent category; `uncategorized` if it has no other")]
    categories: Annotated[tuple[Tally, ...], means("all categories, aliases resolved, most frequent first")]
    operations: Annotated[tuple[Tally, ...], means("operations, aliases resolved, most frequent first")]
    vocabulary_used: Annotated[tuple[Tally, ...], means("vocabulary entries used, most frequent first")]
    variants: Annotated[tuple[Wording, ...], means("every wording, most frequent first")]
    examples: Annotated[tuple[Example, ...], means("up to three records of different images, newest first")]
    cohesion: Annotated[float, means("similarity of the wordings, 0 to 1: mean cosine of their pairs")]
    rank_low: Annotated[int, means("best rank in its 90 % interval, without its pin (samples of images)")]
    rank_high: Annotated[int, means("worst rank in its 90 % interval, without its pin (samples of images)")]
    trend: Annotated[str | None, means("`rising`, `steady`, `fading` or `new`; null if unclear")]
    priority: Annotated[float, means("images (logarithm) x share unsatisfied x recency, 0 to 1")]
    covered_by: Annotated[tuple[Cover, ...], means("nearest entries, and the one that explains most")]
    status: Annotated[str, means("`new`, `open`, `claimed`, `dismissed`, `authored` or `regressed`")]
    tie_group: Annotated[int, means("capabilities with equal numbers are level; counted from 1")]
    weekly: Annotated[tuple[int, ...], means("mentions in each week, newest last, selected or not")]
    combinations: Annotated[
        tuple[Recurring, ...], means("operations that recur together, most frequent first")
    ]
    workarounds: Annotated[
        tuple[Workaround, ...], means("up to five things that were done instead, most frequent first")
    ]
    repeats: Annotated[
        int,
        means(
            "mentions that look like verbatim repeats by automation",
            "Look like copies that an automatic job wrote",
        ),
    ]
    decisions: Annotated[tuple[str, ...], means("active decisions about it, in order")]
    established: Annotated[bool, means("whether it has the images and sessions that the settings ask for")]
    pinned: Annotated[bool, means("whether people pinned it; then it is listed even if entries cover it")]
    asked_by: Annotated[tuple[Asker, ...], means("tenants and repositories, most mentions first")]
    mentions_low: Annotated[int, means("fewest mentions of the need, if the grouping is uncertain")]
    mentions_high: Annotated[int, means("most mentions of the need, if the grouping is uncertain")]
    mixed: Annotated[bool, means("whether the wordings are perhaps several needs")]
    pinned_by: Annotated[str | None, means("who pinned it last; null if nobody did")]
    seen: Annotated[
        int,
        means(
            "mentions that a trace or a hook reported, without a request in words",
            "Seen in traces or by hooks, not asked for",
        ),
    ] = 0
    largest_session: Annotated[int, means("mentions of the known session with the most mentions")] = 0
    status_since: Annotated[datetime | None, means("when the status began; null if nobody decided")] = None
    status_by: Annotated[str | None, means("who decided the status; null if nobody did")] = None
    since: Annotated[datetime | None, means("when it was authored; its counts begin there; null for all")] = (
        None
    )
    covered: tuple[Covered, ...] = ()  # by wording; the entry that covers most mentions first

    @classmethod
    def of(cls, row: Mapping[str, Any], covered_from: float) -> Self:
        """Make a capability of a row; an entry covers a wording if it explains at least `covered_from`."""
        read = msgspec.convert(row, cls)
        return msgspec.structs.replace(read, covered=_covered(read.variants, covered_from))

    @property
    def total(self) -> int:
        """All its mentions, also those before it was authored."""
        return max(self.mentions, sum(wording.mentions for wording in self.variants))

    @property
    def facts(self) -> dict[str, str]:
        """The values of the columns with a label, by label, without zeros and empty texts."""
        values = ((label, getattr(self, name)) for name, label in LABELS.items())
        return {label: _in_words(value) for label, value in values if value}

    @property
    def rated(self) -> int:
        """The number of mentions with a satisfaction."""
        return self.unsatisfied + self.neutral + self.satisfied

    @property
    def ranks_by_pin(self) -> bool:
        """Tell whether its pin decides its rank; a pin of a settled capability does not."""
        return self.pinned and self.status not in SETTLED

    @property
    def depends_on_session(self) -> bool:
        """Tell whether one session has more than half of its mentions, and at least five."""
        # In the demo and in `chemigram`, no session has more than three mentions of a need.
        return self.largest_session >= max(5, self.mentions // 2 + 1)

    @property
    def exists(self) -> bool:
        """Tell whether entries probably cover most of its mentions; all, if it may be several needs."""
        covered = sum(each.mentions for each in self.covered)
        return covered >= self.total if self.mixed else 2 * covered > self.total


LABELS: Final = {
    field.name: meta.title
    for field in msgspec.structs.fields(Capability)
    for meta in get_args(field.type)[1:]
    if isinstance(meta, msgspec.Meta) and meta.title
}


def _in_words(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def _covered(variants: Iterable[Wording], covered_from: float) -> tuple[Covered, ...]:
    """Return the wordings that each entry covers; a wording counts for the entry that explains most of it."""
    by_entry: dict[str, list[Wording]] = {}
    for wording in variants:
        if wording.entry is not None and (wording.explained or 0.0) >= covered_from:
            by_entry.setdefault(wording.entry, []).append(wording)
    entries = [
        Covered(
            entry,
            sum(wording.mentions for wording in covered),
            tuple(wording.wording for wording in covered[:FIRST_COVERING]),
        )
        for entry, covered in by_entry.items()
    ]
    return tuple(sorted(entries, key=lambda covered: (-covered.mentions, covered.entry)))
