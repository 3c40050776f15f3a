"""The content of a report as plain data. Every format is rendered only from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec
import polars as pl

from vocabgap.files.parts import Parts
from vocabgap.ingest.accounting import FILTERED, ScanSummary
from vocabgap.model.capability import SETTLED, Asker, Capability
from vocabgap.model.effect import VERDICTS, Effect
from vocabgap.model.settings import RankBy
from vocabgap.model.sources import IMAGE
from vocabgap.model.tables import CLAIMED, PUBLISHED, RELATIONS, TOTAL
from vocabgap.ranking.coverage import is_listed, probably_covered
from vocabgap.ranking.priority import recent_weeks
from vocabgap.reporting.history import RunKey, comparable, points_of
from vocabgap.reporting.languages import in_other_languages
from vocabgap.reporting.listed import (
    DECIDED,
    TO_AUTHOR,
    Doubt,
    Listed,
    beside,
    doubted,
    doubts_of,
    listed,
    named_by,
)
from vocabgap.reporting.manifest import Difference, GroupedBy, Manifest, Rendering
from vocabgap.reporting.overviews import (
    Account,
    Breakdown,
    Categorised,
    Category,
    Place,
    Plan,
    RecurringSet,
    Withheld,
    account_of,
    askers_of,
    beyond_chance,
    breakdown_of,
    categories_of,
    overview_of,
    per_session,
    places_in,
    plan_of,
    reclassified_of,
    recurring_sets_of,
)
from vocabgap.text import count, indented_json, unit_names


@dataclass(frozen=True)
class Tables:
    """The tables of a run by name; None for tables that the run does not have."""

    capabilities: pl.DataFrame
    gaps: Parts | None = None
    rejects: pl.DataFrame | None = None
    lineage: pl.DataFrame | None = None
    groups: pl.DataFrame | None = None
    combinations: pl.DataFrame | None = None
    history: pl.DataFrame | None = None
    events: pl.DataFrame | None = None
    effects: pl.DataFrame | None = None

    @property
    def files(self) -> dict[str, pl.DataFrame | Parts]:
        """Return the tables by file name."""
        return {PUBLISHED[name].file: frame for name, frame in vars(self).items() if frame is not None}


class Answer(NamedTuple):
    """What to author first: `before`, the label and `after` are a sentence, `note` what speaks against it."""

    before: str
    label: str
    after: str
    note: str


class Summary(msgspec.Struct, frozen=True):
    """The content of a report.

    The lists have `top` capabilities; `*_total` counts all. None means that a run lacks the facts,
    for example without its records, its scan or a run before.
    """

    now: datetime  # the present moment of the run
    capabilities: tuple[Capability, ...]  # the list: the first open capabilities, in order of rank
    total: int
    open_total: int  # all open: established or pinned, and not settled
    mentions: int
    images: int | None
    named_by: tuple[str, ...]  # tenant_id and repo_slug if they vary; precede names of images and logs
    single: int  # capabilities mentioned once
    first_seen: datetime | None  # of the selected records; without records, of all records
    last_seen: datetime | None
    ranked_by: str
    categories: tuple[Category, ...]
    account: Account | None
    selection: tuple[tuple[str, str | None], ...]  # filter and value; None if withheld
    command: str  # makes this report again; empty if unknown
    reclassified: Categorised | None = None  # None unless requested
    covered_total: int = 0  # open capabilities that an entry of the vocabulary probably covers
    settled: tuple[Capability, ...] = ()  # dismissed or authored by people
    settled_total: int = 0
    hidden: int = 0  # on too few images or in too few sessions to be established
    fewest: Mapping[str, int] = {}  # column to the least value of an established capability
    has_vocabulary: bool = False
    changes: dict[str, int] | None = None  # since the run before, by kind
    ties: tuple[tuple[int, int], ...] = ()  # first and last rank of each tie with a shown capability
    before: datetime | None = None  # the present moment of the run before
    differences: tuple[Difference, ...] = ()  # to that run in narrowing, grouping or ranking
    askers: tuple[Asker, ...] = ()  # most mentions first
    everything: tuple[Listed, ...] = ()  # all capabilities, or the first of very many, in order of rank
    deciding: str | None = ""  # options for `vocabgap decide`; None in a report without commands
    withheld: Withheld | None = None  # only in a shareable report
    drafts: Mapping[str, str] = {}  # JSON of the first capabilities; none in a shareable report
    doubts: tuple[Doubt, ...] | None = None  # None if unknown, or in a report without commands
    places: tuple[Place, ...] = ()  # of the first capabilities on a map; none in a shareable report
    recurring_sets: tuple[RecurringSet, ...] | None = None  # all; most records beyond chance first
    overlong: int = 0  # records with too many operations for these sets
    stale_days: int | None = None  # age of the newest record, if too old for trends
    unit: str = IMAGE  # what `images` counts
    grouping: GroupedBy | None = None  # basis of the groups; None if unknown or withheld
    breakdown: Breakdown | None = None  # None without `--by`, and in a shareable report
    effects: tuple[Effect, ...] = ()  # of the authored needs, newest first; none in a shareable report
    per_session: tuple[tuple[str, float], ...] = ()  # mentions per known session in each quarter
    plan: Plan | None = None  # None without the records, and in a shareable report
    in_other_languages: int = 0  # wordings in another language than most; none if that is not clear
    unfollowed: tuple[str, ...] = ()  # decisions that others contradict; none in a shareable report

    @property
    def records(self) -> int:
        """The number of counted records; without an account, a record is one mention."""
        return self.mentions if self.account is None else self.account.counted

    @property
    def outcomes(self) -> tuple[Effect, ...]:
        """Return the newest effect of each authored need."""
        return tuple({each.capability_id: each for each in reversed(self.effects)}.values())[::-1]

    @property
    def verdicts(self) -> dict[str, int]:
        """Return the numbers of authored needs with each verdict."""
        found = [each.verdict for each in self.outcomes]
        return {verdict: found.count(verdict) for verdict in VERDICTS if verdict in found}

    @property
    def answer(self) -> Answer | None:
        """Return what to author first, and what stands beside it; None if nothing is listed."""
        from vocabgap.reporting.wording import phrase  # noqa: PLC0415 - loads SciPy and Jinja

        first = next(iter(self.capabilities), None)
        if first is None:
            return None
        before, after, note = (
            phrase(f"answer_{part}", first, self, unit=self.unit) for part in ("before", "after", "note")
        )
        return Answer(f"{before} ", first.label, after, note)

    @property
    def cautions(self) -> tuple[str, ...]:
        """Name the phrases on its limits."""
        limits = {
            "stale": self.stale_days is not None,
            "differences": self.differences,
            "narrowed": self.selection,
            "unfollowed": self.unfollowed,
        }
        return tuple(name for name, holds in limits.items() if holds)

    def beside(self, item: Capability) -> tuple[str, ...]:
        """Return what stands beside a capability in the list, as phrases."""
        return beside(item, doubted(self.doubts or ()).get(item.capability_id, ""))

    @property
    def missing(self) -> Capability | None:
        """Return the first capability that nobody has claimed and that probably has no entry."""
        listed = (each.capability for each in self.everything if each.group == TO_AUTHOR)
        return next((item for item in listed if not item.exists and item.status != CLAIMED), None)

    @property
    def beyond_chance(self) -> tuple[RecurringSet, ...]:
        """Return the sets of operations that a report shows."""
        return beyond_chance(self.recurring_sets or ())

    @property
    def order(self) -> str:
        """Return the count that the ranking is sorted by, as people call it."""
        return unit_names(self.unit)[1] if self.ranked_by == RankBy.IMAGES else self.ranked_by

    @property
    def headline(self) -> str:
        """Return the numbers of capabilities and mentions."""
        return f"{count(self.total, 'capability', 'capabilities')}, {count(self.mentions, 'mention')}"

    def __repr__(self) -> str:
        """Return the numbers in one line; the fields would fill pages."""
        return f"Summary({self.headline}, {len(self.capabilities):,} shown)"


def summarise(tables: Tables, manifest: Manifest, scanned: ScanSummary | None = None) -> Summary:
    """Return the content of the report of a run.

    Without table `gaps`, facts about single records are missing. `scanned` is the account of the scan if the
    manifest does not have it yet.
    """
    ranked, settings = tables.capabilities, manifest.settings
    overview = None if tables.gaps is None else overview_of(tables.gaps, manifest.now)
    counted = None if overview is None else overview.filter("counted")
    stale = _days_stale(ranked, overview, manifest.now)
    if stale is not None:  # empty bars would look like fading
        ranked = ranked.with_columns(
            pl.lit(None, pl.String).alias("trend"), pl.lit([], ranked.schema["weekly"]).alias("weekly")
        )
    rendering = manifest.rendering or Rendering(settings.report.top, settings.rank.by.value, "")
    covered_from = settings.vocabulary.threshold
    decided, open_ = ranked.filter(pl.col("status").is_in(SETTLED)), ranked.filter(is_listed())
    shown = _shown(open_, rendering.top, covered_from)
    askers = askers_of(ranked)
    named = named_by(overview, tables.rejects, askers)
    places = None if counted is None else places_in(counted, named)
    relations, rows = tables.lineage, tables.history
    wordings = ranked["variants"].explode().struct.field("wording").drop_nulls()
    known = [] if tables.effects is None else tables.effects.to_dicts()
    effects = tuple(msgspec.convert(each, Effect) for each in known)
    return Summary(
        now=manifest.now,
        capabilities=shown,
        total=ranked.height,
        open_total=open_.height,
        mentions=int(ranked.select(TOTAL.sum()).item()),
        images=None if places is None else places.height,
        named_by=named,
        single=int(ranked.select((TOTAL == 1).sum()).item()),
        in_other_languages=in_other_languages(wordings),
        first_seen=_moment((ranked["first_seen"] if counted is None else counted["first"]).min()),
        last_seen=_moment(ranked["last_seen"].max()),
        ranked_by=rendering.ranked_by,
        categories=categories_of(ranked),
        recurring_sets=recurring_sets_of(tables.combinations, ranked),
        overlong=0 if counted is None else int(counted["overlong"].sum()),
        account=manifest.account or account_of(tables.gaps, overview, tables.rejects, scanned),
        selection=tuple(manifest.selection.in_words().items()),
        command=manifest.command * manifest.can_be_repeated,
        reclassified=reclassified_of(counted)
        if counted is not None and settings.categories.reclassify
        else None,
        covered_total=open_.filter(probably_covered(covered_from)).height,
        settled=_shown(decided, rendering.top, covered_from),
        settled_total=decided.height,
        hidden=ranked.height - open_.height - decided.height,
        fewest=settings.rank.fewest,
        has_vocabulary=bool(manifest.vocabulary),
        changes=None if relations is None or relations.is_empty() else _changes(relations),
        ties=ties_of(ranked, shown),
        before=None if manifest.compared is None else manifest.compared.now,
        differences=manifest.differences,
        askers=askers,
        everything=listed(
            ranked,
            {TO_AUTHOR: open_, DECIDED: decided},
            gaps=tables.gaps,
            places=places,
            relations=relations,
            covered_from=covered_from,
            history={} if rows is None else points_of(rows, comparable(rows, RunKey.of(manifest)), most=24),
            choices={each.capability_id: each for each in manifest.choices},
        ),
        deciding=rendering.deciding,
        drafts={each.capability_id: indented_json(each.draft) for each in manifest.shortlist},
        doubts=doubts_of(manifest.choices, ranked) if manifest.choices and shown else None,
        places=manifest.places,
        stale_days=stale,
        unit=manifest.unit,
        grouping=manifest.grouping,
        effects=effects,
        per_session=per_session(tables.gaps) if effects and tables.gaps is not None else (),
        plan=None if tables.gaps is None else plan_of(ranked, tables.gaps, covered_from),
        breakdown=breakdown_of(tables.gaps, settings.report.by, shown),
        unfollowed=() if manifest.decisions is None else tuple(manifest.decisions.unfollowed.values()),
    )


def _days_stale(ranked: pl.DataFrame, overview: pl.DataFrame | None, now: datetime) -> int | None:
    """Return the age of the newest record in days if no record is recent enough for a trend, else None.

    Records count even if they are not selected. Without table `gaps`, those of the ranking count.
    """
    moments = ranked["last_seen"]
    if overview is not None:
        moments = overview.filter(pl.col("counted") | (pl.col("why_not") == FILTERED))["newest"]
    newest = _moment(moments.filter(moments <= now).max())
    weeks = ranked["weekly"].list.len().max()
    if newest is None or not isinstance(weeks, int) or now - newest < timedelta(weeks=recent_weeks(weeks)):
        return None
    return (now - newest).days


def _shown(ranked: pl.DataFrame, top: int, covered_from: float) -> tuple[Capability, ...]:
    rows = (ranked.head(top) if top else ranked).iter_rows(named=True)
    return tuple(Capability.of(row, covered_from) for row in rows)


def ties_of(ranked: pl.DataFrame, shown: tuple[Capability, ...]) -> tuple[tuple[int, int], ...]:
    """Return first and last rank of each tie with a shown capability."""
    groups = ranked.group_by("tie_group").agg(
        pl.col("rank").min().alias("first"), pl.col("rank").max().alias("last")
    )
    tied = groups.filter(
        pl.col("first") < pl.col("last"), pl.col("tie_group").is_in([item.tie_group for item in shown])
    )
    return tuple(tied.sort("first").select("first", "last").iter_rows())


def _changes(relations: pl.DataFrame) -> dict[str, int]:
    """Count the capabilities of each relation; a capability counts once per relation.

    Merges and splits that people decided count separately.
    """
    of_now = pl.coalesce("capability_id", "previous_id").n_unique()
    decided = pl.when("decided").then(pl.format("{} by decision", "relation"))
    kinds = relations.group_by(pl.coalesce(decided, "relation").alias("kind"))
    counted = dict(kinds.agg(of_now.alias("number")).iter_rows())
    return dict.fromkeys(RELATIONS, 0) | dict(sorted(counted.items()))


def _moment(value: object) -> datetime | None:
    return value if isinstance(value, datetime) else None
