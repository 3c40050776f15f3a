"""`show_capability`: the evidence for one missing capability."""

from typing import Annotated, Final

import msgspec
import polars as pl

from vocabgap.ingest import Selection
from vocabgap.mcp_server.gap_rows import GapRow
from vocabgap.mcp_server.lanes import Lane
from vocabgap.mcp_server.report_tool import Near, Ranked
from vocabgap.mcp_server.telling import Told, fitting
from vocabgap.mcp_server.tool import Checkpoint, Limited, Tool
from vocabgap.mcp_server.workspace import Workspace
from vocabgap.pipeline import Analysis
from vocabgap.ranking import find_capability
from vocabgap.reporting.capability import Capability, Recurring, Tally, Wording
from vocabgap.reporting.writing import with_capabilities

MOST_RECORDS: Final = 50
_MOST_NAMES: Final = 20
_MOST_CHARACTERS: Final = 2_000


class ShowArguments(Limited):
    """Which capability is meant, and how much of it is wanted."""

    capability: Annotated[
        str,
        msgspec.Meta(
            min_length=1,
            max_length=_MOST_CHARACTERS,
            description="Its identifier, or the beginning of it; its label; or any of its wordings.",
        ),
    ]
    records: Annotated[
        int, msgspec.Meta(ge=0, le=MOST_RECORDS, description="How many of its records to list, newest first.")
    ] = 10


class Shown(Told, kw_only=True):
    """A capability with its evidence.

    Attributes:
        capability: Its place in the ranking.
        rank_low: Best end of the 90 % interval of the rank.
        rank_high: Worst end of it.
        categories: All its categories, most frequent first.
        vocabulary_used: Entries that were used instead, most frequent first.
        wordings: How it was put, most frequent first.
        combinations: Sets of operations that recur together.
        nearest: Entries of the vocabulary that come near, the nearest first.
        decisions: What people decided about it.
        records: Its records, newest first.
        left_out: How many more records there are.
    """

    capability: Ranked
    rank_low: int
    rank_high: int
    categories: list[Tally]
    vocabulary_used: list[Tally]
    wordings: list[Wording]
    combinations: list[Recurring]
    nearest: list[Near]
    decisions: list[str]
    records: list[GapRow]
    left_out: int


def show(workspace: Workspace, asked: ShowArguments, checkpoint: Checkpoint) -> Shown:
    """Find a capability, and list what it rests on."""
    analysis = workspace.rankings.of(Selection(), checkpoint)
    row = find_capability(analysis.ranked, asked.capability).row(0, named=True)
    found = msgspec.convert(row, Capability)
    records = records_of(analysis, found.capability_id).sort("timestamp", descending=True, nulls_last=True)
    shown = fitting(GapRow.all_of(records.head(asked.records)))
    return Shown(
        capability=Ranked.of(found),
        rank_low=found.rank_low,
        rank_high=found.rank_high,
        categories=list(found.categories[:_MOST_NAMES]),
        vocabulary_used=list(found.vocabulary_used[:_MOST_NAMES]),
        wordings=list(found.variants[:_MOST_NAMES]),
        combinations=list(found.combinations[:_MOST_NAMES]),
        nearest=[Near(each.entry, each.pack, each.explained) for each in found.covered_by],
        decisions=list(found.decisions[:_MOST_NAMES]),
        records=shown,
        left_out=records.height - len(shown),
    )


def records_of(analysis: Analysis, capability_id: str) -> pl.DataFrame:
    """The records that count of a capability, of table `gaps`."""
    return with_capabilities(analysis.scan.gaps, analysis.ranked).filter(
        "counted", capability_id=capability_id
    )


SHOW_CAPABILITY: Final = Tool(
    name="show_capability",
    title="Show a missing capability",
    description=(
        "Show one missing capability of the ranking with its evidence: how it was worded, which operations"
        " and workarounds stood in for it, which entries of the vocabulary come near, and its records."
    ),
    arguments=ShowArguments,
    data=Shown,
    lane=Lane.COMPUTE,
    work=show,
)
