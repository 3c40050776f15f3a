"""What a report that may leave the machine does not say, in numbers."""

import msgspec


class Withheld(msgspec.Struct, frozen=True):
    """What a report that may leave the machine does not say.

    Attributes:
        fewest: Images that a capability, or words about it, must be on to be shown.
        capabilities: Those that are on fewer.
        mentions: Records that these hold.
        decided: Those that are on enough, and that people have authored or dismissed.
        unlisted: Those that are on enough, and beyond those that a page lists.
        labels: Of the capabilities that are shown, those that are not called what they are called elsewhere.
        wordings: Their wordings that are on fewer images.
        categories: Categories of single ones of them that are, likewise.
        operations: Operations, likewise.
        entries: Entries of the vocabulary that were used, likewise.
    """

    fewest: int
    capabilities: int
    mentions: int
    decided: int
    unlisted: int
    labels: int
    wordings: int
    categories: int
    operations: int
    entries: int
