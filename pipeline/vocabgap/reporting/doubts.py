"""Where the groups are in doubt: which are probably one need, which two, and how to say so."""

import shlex
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
import polars as pl

from vocabgap.model.tables import SETTLED
from vocabgap.reporting.capability import is_ours
from vocabgap.text import escape_unseen, surface

if TYPE_CHECKING:  # whoever only reads a run clusters nothing
    from vocabgap.clustering.questions import Question

MOST_DOUBTS: Final = 5  # of each kind
MOST_NEAREST: Final = 3  # where no two groups are probably one need
_LIKELY: Final = 0.25  # that two groups are one need; few that are apart are likelier
# ... and this is the least to be told, where none is as likely as that. What is told of these can be relied
# on: of the three likeliest of each of those eleven sets 17 of 66 were one need, where 13 were to be.
_POSSIBLE: Final = 0.1
_UNLIKELY: Final = 0.5  # that one group is one need
_NAMED: Final = 3  # wordings in a command: the others go where they are more similar
_LONGEST: Final = 80  # characters of a wording in a command


class Doubt(msgspec.Struct, frozen=True):
    """Two groups that are probably one need, or one that is probably two."""

    capability_id: str
    other_id: Annotated[
        str | None, msgspec.Meta(description="of the other group; null where it is one that is two")
    ]
    left: Annotated[str, msgspec.Meta(description="most used wording of the one side")]
    right: Annotated[str, msgspec.Meta(description="most used wording of the other")]
    left_mentions: int
    right_mentions: int
    leaving: Annotated[tuple[str, ...], msgspec.Meta(description="wordings that leave if they are two")] = ()
    likely: Annotated[
        float | None, msgspec.Meta(description="how likely two groups are one need, 0 to 1")
    ] = None

    @property
    def one_in(self) -> int | None:
        """Return n, from 4 to 10, if about one in n such pairs is one need; None if it is probable."""
        if self.likely is None or self.likely >= _LIKELY:
            return None
        return min(max(round(1 / self.likely), 4), 10)

    def command(self, options: str) -> str:
        """The command line that says so: a merge, or a split that names wordings, quoted for the shell."""
        words = ["vocabgap", "decide", "merge" if self.other_id else "split", self.capability_id]
        words += [self.other_id] if self.other_id else []
        words += [word for wording in self.leaving for word in ("--wording", wording)]
        return " ".join([shlex.join(words), *[options] * bool(options)])


def doubts_of(asked: Iterable["Question"], groups: pl.DataFrame, ranked: pl.DataFrame) -> tuple[Doubt, ...]:
    """What a review would ask about the largest groups, where the answer would probably change them.

    Where no two groups are probably one need, those few are told that come nearest.

    Args:
        asked: The questions, those first whose answers would change most. No more are taken than are needed.
        groups: Table `groups`: which capability has which surface.
        ranked: Table `capabilities`; what is not in it, dismissed or authored is in no doubt.
    """
    # Whoever only reads a run loads none of what it takes to decide.
    from vocabgap.decisions.reviewing import capabilities_of  # noqa: PLC0415

    is_open = ranked.filter(~pl.col("status").is_in(SETTLED))
    capabilities = capabilities_of(groups.join(is_open, on="capability_id", how="semi"))
    one_need: list[Doubt] = []
    two_needs: dict[str, Doubt] = {}
    nearest: list[Doubt] = []
    for each in asked:
        is_near = not each.are_one and each.likely >= _POSSIBLE
        if not (is_near or is_doubtful(each)):
            continue
        doubt = _doubt(each, capabilities)
        if doubt is None:
            continue
        if doubt.one_in:
            nearest.append(doubt)
        elif doubt.other_id is not None:
            one_need.append(doubt)
        else:
            # Of a group the doubt that weighs most: once it is answered the others are different.
            two_needs.setdefault(doubt.capability_id, doubt)
        if min(len(one_need), len(two_needs)) >= MOST_DOUBTS:
            break
    if not one_need:
        one_need = sorted(nearest, key=lambda doubt: -(doubt.likely or 0.0))[:MOST_NEAREST]
    return (*one_need[:MOST_DOUBTS], *[*two_needs.values()][:MOST_DOUBTS])


def is_doubtful(question: "Question") -> bool:
    """Whether the answer would probably change the groups, or may well."""
    return question.likely < _UNLIKELY if question.are_one else question.likely >= _LIKELY


def _doubt(question: "Question", capabilities: Mapping[str, str]) -> Doubt | None:
    """A question as a doubt; none where no command of the report could answer it."""
    one, other = (capabilities.get(surface(side[0]), "") for side in (question.left, question.right))
    leaving = tuple(islice(filter(_can_be_typed, question.right), _NAMED)) if question.are_one else ()
    if not (is_ours(one) and is_ours(other)) or (one == other) != question.are_one:
        return None
    if question.are_one and not leaving:
        return None
    return Doubt(
        one,
        None if question.are_one else other,
        question.left[0],
        question.right[0],
        question.left_mentions,
        question.right_mentions,
        leaving,
        None if question.are_one else question.likely,
    )


def _can_be_typed(wording: str) -> bool:
    """Whether a wording may stand in a command: a log says it, and a shell is to take it as it is read."""
    is_plain = escape_unseen(wording) == wording == wording.strip()
    return is_plain and 0 < len(wording) <= _LONGEST and not wording.startswith("-")
