"""The change that decisions make to groups, in words."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from vocabgap.decisions.record import Action, Decision
from vocabgap.text import count, excerpt

if TYPE_CHECKING:
    from vocabgap.clustering.grouping import Clusters
    from vocabgap.clustering.screens import Answer, Screen

_SHOWN: Final = 80  # characters of a wording
Standing = tuple[int | None, int]  # a group's rank, None if it has none, and its mentions


def moved(before: Standing, after: Standing) -> str:
    """Return how a group moved: `rank 7 -> 3, 45 -> 61 mentions`."""
    ranks, sizes = zip(before, after, strict=True)
    rank = " -> ".join(dict.fromkeys(f"{each:,}" if each else "none" for each in ranks))
    mentions = " -> ".join(dict.fromkeys(f"{each:,}" for each in sizes))
    return f"rank {rank}, {mentions} {count(after[1], 'mention').split()[1]}"


def changes_of(
    screen: "Screen",
    answer: "Answer",
    undone: Iterable[Decision],
    before: "Clusters",
    after: "Clusters",
) -> list[str]:
    """Return in words what an answer changes, one line per group or decision.

    `undone` are earlier decisions that the answer undoes; `before` and `after` are the groups.
    """
    parts = [screen.parts[place] for place in sorted({*answer.apart})]
    gone = {wording for part in parts for wording in part.wordings}
    kept = next(wording for wording in screen.wordings if wording not in gone)
    did = [f"merged {count(len({*answer.same}) + 1, 'group')}"] * bool(answer.same)
    did += [f"split off {count(len(parts), 'part')}"] * bool(parts)
    lines = [f"{' and '.join(did) or 'left as it is'}: {moved(before.standing(kept), after.standing(kept))}"]
    for part in parts:
        standing = after.standing(part.wordings[0])
        lines.append(f"  '{excerpt(part.wordings[0], _SHOWN)}': {moved(standing, standing)}")
    return lines + [f"  undid: {each.what}" for each in undone if each.action is not Action.CONFIRM]
