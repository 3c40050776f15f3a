"""What a draft of an entry is made of."""

import msgspec


class DraftEntry(msgspec.Struct, frozen=True):
    """The entry itself, as a manifest has it."""

    name: str
    description: str
    tags: tuple[str, ...]
    touches: tuple[str, ...]


class Check(msgspec.Struct, frozen=True):
    """A session to test the entry against."""

    tenant_id: str
    session_id: str | None
    image_id: str | None
    snapshot_hash: str | None
    when: str | None
    log: str
    satisfaction: int | None
    to_do: str


class Count(msgspec.Struct, frozen=True):
    """Something that records say, and how many do."""

    name: str
    mentions: int


class Near(msgspec.Struct, frozen=True):
    """An entry of the vocabulary that may cover the need in part."""

    entry: str
    pack: str
    explained: float
    terms: tuple[str, ...]


class Evidence(msgspec.Struct, frozen=True):
    """What the draft was made from."""

    capability_id: str
    label: str
    mentions: int
    images: int
    sessions: int
    unsatisfied: int
    rated: int
    wordings: tuple[Count, ...]
    operations: tuple[Count, ...]


class Draft(msgspec.Struct, frozen=True):
    """A starting point for an entry.

    Attributes:
        draft: Says that it is one.
        entry: The proposed entry.
        examples: What people asked for, most frequent first.
        checklist: Sessions to test the entry against, from different images where possible.
        nearest: Entries to look at first.
        evidence: What it was made from.
        notes: What a person should know of it.
    """

    draft: str
    entry: DraftEntry
    examples: tuple[str, ...]
    checklist: tuple[Check, ...]
    nearest: tuple[Near, ...]
    evidence: Evidence
    notes: tuple[str, ...]
