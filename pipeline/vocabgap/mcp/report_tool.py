"""`report_gaps`: what to author next."""

from datetime import UTC, datetime
from typing import Annotated, Final, Self

import msgspec

from vocabgap.ingest.selection import Selection
from vocabgap.mcp.tool import Checkpoint, Lane, Limited, Told, Tool, fitting
from vocabgap.mcp.workspace import Workspace
from vocabgap.records.moments import parse_moment
from vocabgap.reporting.capability import Capability, Tally, Wording, Workaround
from vocabgap.reporting.overviews import Category
from vocabgap.reporting.summary import Summary, summarise
from vocabgap.settings.model import DEFAULT_TOP

MOST_CAPABILITIES: Final = 50
MOMENT: Final = "2026-05-01, 2026-05-01T09:30:00Z, 2026-05, or a span before now: 7d, 2w, 24h, 30m"
_MOST_NAMES: Final = 5  # operations, wordings and workarounds of one capability
_SAME: Final = (
    "rank", "capability_id", "label", "mentions", "images", "sessions", "unsatisfied", "rated", "first_seen",
    "last_seen", "trend", "priority", "status", "intent_category",
)  # fmt: skip
_Moment = Annotated[str, msgspec.Meta(max_length=64)]


class ReportArguments(Limited):
    """What a ranking is narrowed to."""

    since: Annotated[_Moment | None, msgspec.Meta(description=f"Earliest moment, inclusive: {MOMENT}.")] = (
        None
    )
    until: Annotated[_Moment | None, msgspec.Meta(description="Latest moment, exclusive, as `since`.")] = None
    category: Annotated[
        Annotated[str, msgspec.Meta(max_length=200)] | None,
        msgspec.Meta(
            description="Only gaps of this category: tone, wb, color, detail, local, composition, …"
        ),
    ] = None
    limit: Annotated[
        int, msgspec.Meta(ge=1, le=MOST_CAPABILITIES, description="How many capabilities to list.")
    ] = DEFAULT_TOP


class Near(msgspec.Struct):
    """An entry of the vocabulary that comes near, and the share of the need that it explains, 0 to 1."""

    entry: str
    pack: str
    explained: float


class Ranked(msgspec.Struct):
    """A missing capability in its place; the fields mean what they mean in `capabilities.parquet`."""

    rank: int
    capability_id: str
    label: str
    mentions: int
    images: int
    sessions: int
    unsatisfied: int
    rated: int
    first_seen: datetime | None
    last_seen: datetime | None
    trend: str | None
    priority: float
    status: str
    intent_category: str
    operations: list[Tally]
    wordings: list[Wording]
    workarounds: list[Workaround]
    covered_by: Near | None

    @classmethod
    def of(cls, found: Capability) -> Self:
        """The capability as the answer of a tool lists it: of what is many, what is most frequent."""
        entry = found.covering
        return cls(
            **{name: getattr(found, name) for name in _SAME},
            operations=list(found.operations[:_MOST_NAMES]),
            wordings=list(found.variants[:_MOST_NAMES]),
            workarounds=list(found.workarounds[:_MOST_NAMES]),
            covered_by=Near(entry.entry, entry.pack, entry.explained) if entry else None,
        )


class Report(Told, kw_only=True):
    """A ranking.

    Attributes:
        capabilities: Those that are to be authored, in order of rank.
        left_out: How many more of these there are.
        total: Capabilities in all.
        mentions: Records that ask for any of them.
        covered: Those of them that an entry of the vocabulary probably covers.
        decided: Those that people have dismissed or authored.
        too_few: Those on too few images or in too few sessions to be listed.
        categories: Records by category, most frequent first.
        rejects: Lines of the logs that could not be read.
    """

    capabilities: list[Ranked]
    left_out: int
    total: int
    mentions: int
    covered: int
    decided: int
    too_few: int
    categories: list[Category]
    rejects: int


def report(workspace: Workspace, asked: ReportArguments, checkpoint: Checkpoint) -> Report:
    """Rank what is logged, as the report does."""
    summary = _summary(workspace, asked, checkpoint)
    shown = fitting([Ranked.of(each) for each in summary.capabilities])
    return Report(
        capabilities=shown,
        left_out=summary.open_total - len(shown),
        total=summary.total,
        mentions=summary.mentions,
        covered=summary.covered_total,
        decided=summary.settled_total,
        too_few=summary.hidden,
        categories=list(summary.categories[:MOST_CAPABILITIES]),
        rejects=0 if summary.account is None else summary.account.rejects,
    )


def _summary(workspace: Workspace, asked: ReportArguments, checkpoint: Checkpoint) -> Summary:
    """What a report of what is asked for would say."""
    settings = workspace.settings
    now = datetime.now(UTC)
    selection = Selection(
        since=None if asked.since is None else parse_moment(asked.since, now, name="since"),
        until=None if asked.until is None else parse_moment(asked.until, now, name="until"),
        categories=() if asked.category is None else (asked.category,),
    )
    narrowed = (asked.since, asked.until, asked.category)
    found = workspace.rankings.of(selection, checkpoint, asked=narrowed)
    return summarise(
        found.ranked,
        now=now,
        top=asked.limit,
        ranked_by=settings.rank.by,
        gaps=found.scan.gaps,
        rejects=found.scan.rejects,
        scanned=found.scan.summary,
        operation_aliases=settings.operation_aliases,
        covered_from=settings.vocabulary.threshold,
        has_vocabulary=bool(settings.vocabulary.paths),
        fewest=settings.rank.fewest,
    )


REPORT_GAPS: Final = Tool(
    name="report_gaps",
    title="Report vocabulary gaps",
    description=(
        "Rank the missing capabilities of all images: what agents most often reached for and did not find,"
        " the same need counted once however it was worded. Use it to decide what to author next."
    ),
    arguments=ReportArguments,
    data=Report,
    lane=Lane.COMPUTE,
    work=report,
)
