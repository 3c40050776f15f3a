"""One capability as a report shows it."""

from datetime import datetime
from typing import Final, Protocol

import msgspec
import polars as pl

from vocabgap.schema import IMAGE_KEY


class Tally(msgspec.Struct, frozen=True):
    """A name and the records that hold it."""

    name: str
    mentions: int


class Wording(msgspec.Struct, frozen=True):
    """One way a need was put, with its cosine similarity to the label."""

    wording: str
    mentions: int
    similarity: float


class Example(msgspec.Struct, frozen=True):
    """One record to look at, with everything that leads back to it."""

    wording: str
    timestamp: datetime | None
    image_id: str
    session_id: str | None
    snapshot_hash: str | None
    description: str | None
    intent: str | None
    workaround: str
    satisfaction: int | None
    notes: str
    tenant_id: str
    repo_slug: str
    source_path: str
    line: int

    @property
    def said(self) -> str:
        """What else was said than the wording: the person's words, else the agent's; empty if nothing was."""
        texts = (text for text in (self.intent, self.description) if text and text.strip())
        return next((text for text in texts if text.strip() != self.wording), "")


class Cover(msgspec.Struct, frozen=True):
    """An entry of the vocabulary that comes near, with the words and operations that say so."""

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
    """What was done instead, and how often."""

    workaround: str
    mentions: int


class Asker(msgspec.Struct, frozen=True):
    """Whose records ask, and how many do."""

    tenant_id: str
    repo_slug: str
    mentions: int


class Capability(msgspec.Struct, frozen=True):
    """One row of table `capabilities`; the columns mean what they mean there."""

    rank: int
    capability_id: str
    label: str
    mentions: int
    images: int
    sessions: int
    tenants: int
    first_seen: datetime | None
    last_seen: datetime | None
    unsatisfied: int
    neutral: int
    satisfied: int
    unrated: int
    intent_category: str
    categories: tuple[Tally, ...]
    operations: tuple[Tally, ...]
    vocabulary_used: tuple[Tally, ...]
    variants: tuple[Wording, ...]
    examples: tuple[Example, ...]
    cohesion: float
    rank_low: int
    rank_high: int
    trend: str | None
    priority: float
    covered_by: tuple[Cover, ...]
    status: str
    tie_group: int
    reach: float
    need: float
    recency: float
    weekly: tuple[int, ...]
    combinations: tuple[Recurring, ...]
    workarounds: tuple[Workaround, ...]
    repeats: int
    decisions: tuple[str, ...]
    established: bool
    pinned: bool
    outgrown: tuple[str, ...]
    next_ahead: float | None
    asked_by: tuple[Asker, ...]

    @property
    def rated(self) -> int:
        """Records that say how satisfied the person was."""
        return self.unsatisfied + self.neutral + self.satisfied

    @property
    def nearest(self) -> Cover | None:
        """The entry that comes nearest, by words and operations; null where none has anything of the need."""
        return next(iter(self.covered_by), None)

    @property
    def covering(self) -> Cover | None:
        """The entry that explains most of the need, and so covers it if any does; null where none does."""
        return max(self.covered_by, key=lambda entry: entry.explained, default=None)


# How images and logs are named: by as much as tells those of one run from each other.


_WHOSE: Final = IMAGE_KEY[:-1]


class Owned(Protocol):
    """What is of a tenant's repository."""

    @property
    def tenant_id(self) -> str:
        """Whose it is."""
        ...

    @property
    def repo_slug(self) -> str:
        """Where it is."""
        ...


def named_by(
    gaps: pl.DataFrame | None, rejects: pl.DataFrame | None, askers: tuple[Asker, ...]
) -> tuple[str, ...]:
    """Which of `tenant_id` and `repo_slug` stand before the name of an image or a log: those that vary.

    Args:
        gaps: Table `gaps`.
        rejects: Table `rejects`, whose lines are named, too.
        askers: Whose records count, for a ranking that comes without its records.
    """
    owners = pl.DataFrame([{name: getattr(each, name) for name in _WHOSE} for each in askers])
    tables = [owners] if gaps is None else [gaps] if rejects is None else [gaps, rejects]

    def varies(name: str) -> bool:
        found = [table[name] for table in tables if name in table.columns]
        return bool(found) and pl.concat(found).n_unique() > 1

    return tuple(filter(varies, _WHOSE))


def prefix(owned: Owned, named: tuple[str, ...]) -> str:
    """What stands before the name of an image or a log, the last slash included.

    Args:
        owned: The record that it is of.
        named: What `named_by` said.
    """
    return "".join(f"{getattr(owned, name)}/" for name in named)
