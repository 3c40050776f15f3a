"""What a run was narrowed to, and in what two runs differ there.

What a filter hides in one of two runs is neither new nor gone, and ranks among others are other ranks.
"""

from datetime import datetime, timedelta
from typing import Annotated, Final, Self

import msgspec

from vocabgap.ingest import Selection
from vocabgap.records.moments import iso
from vocabgap.settings.model import RankBy, RankSettings

ALL: Final = "all"
_UNKNOWN: Final = "not known"


class Narrowing(msgspec.Struct, frozen=True):
    """What the ranks of a run are about, and what they go by."""

    selection: Annotated[Selection, msgspec.Meta(description="the records that the report is about")]
    min_images: Annotated[
        int, msgspec.Meta(description="images that an established capability is on at least")
    ]
    min_sessions: Annotated[int, msgspec.Meta(description="the same for sessions")]
    rank_by: Annotated[RankBy, msgspec.Meta(description="what the ranking counts first")]

    @classmethod
    def of(cls, selection: Selection, rank: RankSettings) -> Self:
        """The narrowing of a run with this selection and these settings."""
        return cls(selection, rank.min_images, rank.min_sessions, rank.by)


class Difference(msgspec.Struct, frozen=True):
    """A filter, or a rule of the ranking, that two runs do not share, with its value in each."""

    filter: str
    earlier: str
    later: str


def filters(selection: Selection) -> dict[str, str]:
    """What is selected, by the name of the filter; nothing for a filter that is not set."""
    moments = {"since": selection.since, "until": selection.until}
    named = {
        "image": selection.images,
        "category": selection.categories,
        "operation": selection.modules,
        "session": selection.sessions,
        "tenant": selection.tenants,
        "repository": selection.repositories,
    }
    return {name: iso(moment) for name, moment in moments.items() if moment is not None} | {
        name: " or ".join(values) for name, values in named.items() if values
    }


def narrowed(selection: Selection) -> tuple[str, ...]:
    """What a report was narrowed to, in words; nothing for everything."""
    return tuple(f"{name} {value}" for name, value in filters(selection).items())


def differences(
    earlier: Narrowing | None, later: Narrowing | None, *, between: timedelta
) -> tuple[Difference, ...]:
    """In what two runs are narrowed, or ranked, differently.

    Windows of the same length, such as the last 30 days of each run, are no difference.

    Args:
        earlier: The narrowing of the earlier run; null where it is not known.
        later: That of the later one.
        between: The time between the moments that they count as their present.
    """
    if earlier is None or later is None:
        known = [_UNKNOWN if each is None else "known" for each in (earlier, later)]
        return () if earlier is later else (Difference("narrowing", *known),)
    before, after = _told(earlier), _told(later)
    for name in ("since", "until"):
        if _moved_along(getattr(earlier.selection, name), getattr(later.selection, name), between):
            del before[name], after[name]
    return tuple(
        Difference(name, before.get(name, ALL), after.get(name, ALL))
        for name in dict.fromkeys((*before, *after))
        if before.get(name) != after.get(name)
    )


def _told(narrowing: Narrowing) -> dict[str, str]:
    chosen = narrowing.selection
    # In whatever order, and however often, a value was given.
    ordered = Selection(
        chosen.since,
        chosen.until,
        *(
            tuple(sorted(set(values)))
            for values in (
                chosen.images,
                chosen.categories,
                chosen.modules,
                chosen.sessions,
                chosen.tenants,
                chosen.repositories,
            )
        ),
    )
    return filters(ordered) | {
        "min-images": str(narrowing.min_images),
        "min-sessions": str(narrowing.min_sessions),
        "rank-by": narrowing.rank_by.value,
    }


def _moved_along(earlier: datetime | None, later: datetime | None, between: timedelta) -> bool:
    return earlier is not None and later is not None and later - earlier == between
