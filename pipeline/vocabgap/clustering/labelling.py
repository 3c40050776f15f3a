"""Which wording stands for a group: the one that says what most of the group says."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from vocabgap.text import REQUEST_WORDS, words

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


def best_wording(wordings: Iterable[tuple[str, int]]) -> str:
    """The wording to show, of several that say the same terms.

    A label is read aloud: words come before an identifier (`sky_mask`, `skyMask`), and the need by itself
    before a request for it ("wanted sky mask"). Then the most used, the shorter, the one that sorts first.

    Args:
        wordings: Each wording with its mentions; at least one.
    """

    def order(wording: tuple[str, int]) -> tuple[bool, bool, int, int, str]:
        text, mentions = wording
        requests = not REQUEST_WORDS.isdisjoint(words(text))
        return (_is_identifier(text), requests, -mentions, len(text), text)

    return min(wordings, key=order)[0]


def _is_identifier(wording: str) -> bool:
    """Whether several words were written as one."""
    return " " not in wording and len(words(wording)) > 1 and "-" not in wording
