"""Which wording stands for a group: the one that says what most of the group says."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

CORE_SHARE: Final = 0.5


def core_terms(members: Sequence[frozenset[str]], mentions: Sequence[int]) -> dict[str, int]:
    """The terms that at least half of a group's mentions use, each with the mentions that use it.

    Args:
        members: The content words of each surface in the group.
        mentions: How often each surface was mentioned.

    Returns:
        Term to mentions; every term of the group where none is shared by half of it.
    """
    used: Counter[str] = Counter()
    for terms, count in zip(members, mentions, strict=True):
        used.update(dict.fromkeys(terms, count))
    enough = CORE_SHARE * sum(mentions)
    return {term: count for term, count in used.items() if count >= enough} or dict(used)


def representative(
    members: Sequence[frozenset[str]], mentions: Sequence[int], surfaces: Sequence[str]
) -> int:
    """The member with the highest share of the group's terms, each term counting by its mentions.

    Ties go to the more mentioned member, then to the shorter one, then to the one that sorts first.

    Args:
        members: The content words of each surface in the group.
        mentions: How often each surface was mentioned.
        surfaces: The surfaces.

    Returns:
        The position of the member in the group.
    """
    core = core_terms(members, mentions)

    def order(position: int) -> tuple[int, int, int, str]:
        share = sum(core[term] for term in members[position] if term in core)
        return (-share, -mentions[position], len(surfaces[position]), surfaces[position])

    return min(range(len(members)), key=order)


def best_wording(wordings: Sequence[tuple[str, int]]) -> str:
    """The wording to show for one surface: the most used, then the shorter, then the one that sorts first.

    Args:
        wordings: Each wording of the surface with its mentions; at least one.
    """
    return min(wordings, key=lambda wording: (-wording[1], len(wording[0]), wording[0]))[0]
