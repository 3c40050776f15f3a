"""`similar_gaps`: what is known already that comes near a need."""

from typing import Annotated, Final

import msgspec

from vocabgap.gaplog.nearest import SimilarGap
from vocabgap.ingest import Selection
from vocabgap.mcp_server.lanes import Lane
from vocabgap.mcp_server.telling import Told, fitting
from vocabgap.mcp_server.tool import Checkpoint, Limited, Tool
from vocabgap.mcp_server.workspace import Workspace

MOST_SIMILAR: Final = 20
_MOST_CHARACTERS: Final = 65_536


class SimilarArguments(Limited):
    """A need, and how much is wanted."""

    text: Annotated[
        str,
        msgspec.Meta(min_length=1, max_length=_MOST_CHARACTERS, description="The need, in a few words."),
    ]
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_SIMILAR, description="How many to list.")] = 5


class SimilarAnswer(Told, kw_only=True):
    """What comes near.

    Attributes:
        similar: The nearest first.
    """

    similar: list[SimilarGap]


def similar(workspace: Workspace, asked: SimilarArguments, checkpoint: Checkpoint) -> SimilarAnswer:
    """Compare a need with the ranking of what is logged now, and with the vocabulary."""
    workspace.rankings.of(Selection(), checkpoint)
    return SimilarAnswer(similar=fitting(similar_to(workspace, asked.text, asked.limit)))


def similar_to(workspace: Workspace, text: str, limit: int) -> list[SimilarGap]:
    """What comes near a need, by the ranking that is at hand.

    Args:
        workspace: Whose ranking, and whose vocabulary.
        text: The need.
        limit: How many there may be.

    Raises:
        VocabgapError: The published run, or the vocabulary, cannot be read.
    """
    return workspace.rankings.index().nearest(text, limit)


SIMILAR_GAPS: Final = Tool(
    name="similar_gaps",
    title="Find similar gaps",
    description=(
        "Find the known missing capabilities and the entries of the vocabulary that come nearest to a need."
        " Use it before logging a gap: the entry may exist, or the need may have a wording already."
    ),
    arguments=SimilarArguments,
    data=SimilarAnswer,
    lane=Lane.COMPUTE,
    work=similar,
)
