"""What a report says, as plain data. Every face of the report is rendered from it and from nothing else."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec
import polars as pl

from vocabgap.categories import CategoryBy
from vocabgap.ingest import ScanSummary
from vocabgap.ranking import RELATIONS, SETTLED, probably_covered
from vocabgap.record import FILE_REASONS, LOG_NAME, UNCATEGORIZED
from vocabgap.reporting.capability import Capability
from vocabgap.reporting.combinations import Combination, recurring
from vocabgap.reporting.details import COVERED, OPEN, Listed, listed
from vocabgap.reporting.details import SETTLED as SETTLED_GROUP
from vocabgap.reporting.withheld import Withheld
from vocabgap.schema import CAPABILITIES
from vocabgap.settings import DEFAULT_COVERED, DEFAULT_MIN_IMAGES, DEFAULT_MIN_SESSIONS
from vocabgap.text import count

SHOWN_REJECTS: Final = 20


class Category(msgspec.Struct, frozen=True):
    """A category, and the records and the capabilities in it."""

    name: str
    mentions: int
    capabilities: int


class Reject(msgspec.Struct, frozen=True):
    """One line that was not read, and why."""

    repo_slug: str
    source_path: str
    line: int | None
    reason: str
    detail: str


class Account(msgspec.Struct, frozen=True):
    """Where every line that is not blank went.

    `lines = records + duplicates + superseded + rejects`, and `records = counted + filtered + not_a_gap`;
    `rules` says of the last which rule marked how many. Beside them stand `passed_over`, lines of other logs
    that are no gaps, and `unread`, why files were not read.
    """

    files: int
    unreadable: int
    lines: int
    records: int
    counted: int
    filtered: int
    duplicates: int
    superseded: int
    rejects: int
    passed_over: int
    repairs: dict[str, int]
    reasons: dict[str, int]
    unread: dict[str, int]
    examples: tuple[Reject, ...]
    not_a_gap: int = 0
    rules: dict[str, int] = {}


def nothing(account: Account | ScanSummary | None) -> str:
    """Why there is nothing to rank, in a sentence without its full stop."""
    if account is None:
        return "No record was ranked"
    if isinstance(account, Account) and account.not_a_gap:
        filtered = f"{account.filtered:,} filtered out, " if account.filtered else ""
        whole = count(account.records, "record")
        return f"Nothing is left of {whole}: {filtered}{account.not_a_gap:,} no gap of the vocabulary"
    if isinstance(account, Account) and account.filtered:
        return f"Nothing is left of {count(account.filtered, 'record')}: the filters fit none"
    if not account.files:
        return f"No log was found: nothing below is called {LOG_NAME}, or as another source has it"
    return "Nothing is missing here, as far as these logs tell: no record counts"


class Categorised(msgspec.Struct, frozen=True):
    """What became of the records whose agent gave them no category."""

    by_operations: int
    by_classifier: int
    left: int


class Summary(msgspec.Struct, frozen=True):
    """Everything a report says.

    Attributes:
        now: The moment the run counts as its present.
        capabilities: The ones that are shown, in order of rank.
        total: Capabilities in all.
        open_total: Those of them that are to be authored: established, not settled, and not probably covered.
        mentions: Records that the capabilities hold.
        images: Distinct images among them; null where the records are not at hand.
        repositories: Repositories that lines were read from; null where the records are not at hand.
        single: Capabilities that were mentioned once.
        first_seen: Earliest readable timestamp.
        last_seen: Latest readable timestamp.
        ranked_by: What the ranking counts first.
        categories: Records by category, most frequent first.
        combinations: Operations that recur together; empty where the records are not at hand.
        account: Where every line went; null where no scan is at hand.
        selection: What the report was narrowed to, in words; empty for everything.
        command: The command that makes this report again; empty where it is not known.
        covered: The ones that an entry of the vocabulary probably covers, as many as are shown otherwise.
        covered_total: All of these.
        settled: The ones that people have dismissed or authored, likewise.
        settled_total: All of these.
        hidden: Capabilities that are on too few images or in too few sessions to be established.
        fewest: Images and sessions that one must be on to be established.
        has_vocabulary: Whether the needs were compared with what can be asked for already.
        changes: What became of the capabilities since the run before, by kind; null where there was none.
        reclassified: What became of records without a category; null where it was not asked for.
        covered_from: The share of a need that an entry explains where it probably covers it.
        ties: First and last rank of those that are tied with one another, where one of them is shown.
        everything: The capabilities that are listed, in order of rank, with what only a list of them needs:
            all, or the first of very many.
        deciding: The options that `vocabgap decide` needs to follow the settings of this run.
        withheld: What is not said, in a report that may leave the machine; null in one that says everything.
    """

    now: datetime
    capabilities: tuple[Capability, ...]
    total: int
    open_total: int
    mentions: int
    images: int | None
    repositories: int | None
    single: int
    first_seen: datetime | None
    last_seen: datetime | None
    ranked_by: str
    categories: tuple[Category, ...]
    combinations: tuple[Combination, ...]
    account: Account | None
    selection: tuple[str, ...]
    command: str
    reclassified: Categorised | None = None
    covered: tuple[Capability, ...] = ()
    covered_total: int = 0
    settled: tuple[Capability, ...] = ()
    settled_total: int = 0
    hidden: int = 0
    fewest: tuple[int, int] = (DEFAULT_MIN_IMAGES, DEFAULT_MIN_SESSIONS)
    has_vocabulary: bool = False
    changes: dict[str, int] | None = None
    covered_from: float = DEFAULT_COVERED
    ties: tuple[tuple[int, int], ...] = ()
    everything: tuple[Listed, ...] = ()
    deciding: str = ""
    withheld: Withheld | None = None

    @property
    def nothing_shown(self) -> str:
        """Why no capability is shown, in a sentence without its full stop."""
        if not self.total:
            return nothing(self.account)
        shown = self.covered_total + self.settled_total
        kinds = {
            "probably covered": self.covered_total,
            "decided": self.settled_total,
            "left out": self.hidden if self.withheld is None else self.total - shown,
        }
        told = ", ".join(f"{number:,} {kind}" for kind, number in kinds.items() if number)
        why = "Nothing is left to author" if self.withheld is None else "Nothing to author is shown here"
        return f"{why}: of {count(self.total, 'capability', 'capabilities')}, {told}"


def summarise(
    ranked: pl.DataFrame,
    *,
    now: datetime,
    top: int,
    ranked_by: str,
    gaps: pl.DataFrame | None = None,
    rejects: pl.DataFrame | None = None,
    scanned: ScanSummary | None = None,
    account: Account | None = None,
    operation_aliases: dict[str, str] | None = None,
    selection: Sequence[str] = (),
    command: str = "",
    reclassified: bool = False,
    covered_from: float = DEFAULT_COVERED,
    has_vocabulary: bool = False,
    fewest: tuple[int, int] = (DEFAULT_MIN_IMAGES, DEFAULT_MIN_SESSIONS),
    relations: pl.DataFrame | None = None,
    deciding: str = "",
) -> Summary:
    """Make the summary of a run.

    Args:
        ranked: Table `capabilities`.
        now: The moment the run counts as its present.
        top: How many capabilities are shown; 0 shows all.
        ranked_by: What the ranking counted first.
        gaps: Table `gaps`, for what only the records tell.
        rejects: Table `rejects`.
        scanned: The account of the scan.
        account: Where every line went, where that is known without counting again.
        operation_aliases: Lower-case name to operation; the built-in ones by default.
        selection: What the report was narrowed to, in words.
        command: The command that makes this report again.
        reclassified: Whether records without a category were given one.
        covered_from: The share of a need that an entry explains where it probably covers it.
        has_vocabulary: Whether the needs were compared with what can be asked for already.
        fewest: Images and sessions that a capability must be on to be established.
        relations: Table `lineage`, where there was a run before.
        deciding: The options that `vocabgap decide` needs to follow the settings of this run.
    """
    CAPABILITIES.require(ranked)
    settled = pl.col("status").is_in(SETTLED)
    # What people have decided about is shown by what they decided, whatever covers it and wherever it is.
    spoken_of = pl.col("decisions").list.len() > 0
    covered = probably_covered(covered_from) & ~spoken_of
    decided = ranked.filter(settled)
    rest = ranked.filter(~settled, pl.col("established") | spoken_of)
    near, open_ = rest.filter(covered), rest.filter(~covered)
    counted = None if gaps is None else gaps.filter("counted")
    shown = _shown(open_, top)
    return Summary(
        now=now,
        capabilities=shown,
        total=ranked.height,
        open_total=open_.height,
        mentions=int(ranked["mentions"].sum()),
        images=None if counted is None else counted.n_unique(["tenant_id", "repo_slug", "image_id"]),
        repositories=None if gaps is None else _repositories(gaps, rejects),
        single=int((ranked["mentions"] == 1).sum()),
        first_seen=_moment(ranked["first_seen"].min()),
        last_seen=_moment(ranked["last_seen"].max()),
        ranked_by=ranked_by,
        categories=_categories(ranked),
        combinations=() if counted is None else recurring(counted, operation_aliases),
        account=_account(gaps, rejects, scanned) if account is None else account,
        selection=tuple(selection),
        command=command,
        reclassified=_reclassified(counted) if reclassified and counted is not None else None,
        covered=_shown(near, top),
        covered_total=near.height,
        settled=_shown(decided, top),
        settled_total=decided.height,
        hidden=ranked.height - open_.height - near.height - decided.height,
        fewest=fewest,
        has_vocabulary=has_vocabulary,
        changes=None if relations is None or relations.is_empty() else _changes(relations),
        covered_from=covered_from,
        ties=_ties(open_, shown),
        everything=listed(
            ranked,
            {OPEN: open_, COVERED: near, SETTLED_GROUP: decided},
            counted=counted,
            relations=relations,
        ),
        deciding=deciding,
    )


def _shown(ranked: pl.DataFrame, top: int) -> tuple[Capability, ...]:
    rows = (ranked.head(top) if top else ranked).iter_rows(named=True)
    return tuple(msgspec.convert(row, Capability) for row in rows)


def _ties(open_: pl.DataFrame, shown: tuple[Capability, ...]) -> tuple[tuple[int, int], ...]:
    groups = open_.group_by("tie_group").agg(
        pl.col("rank").min().alias("first"), pl.col("rank").max().alias("last")
    )
    tied = groups.filter(
        pl.col("first") < pl.col("last"), pl.col("tie_group").is_in([item.tie_group for item in shown])
    )
    return tuple(tied.sort("first").select("first", "last").iter_rows())


def _changes(relations: pl.DataFrame) -> dict[str, int]:
    """How many capabilities were continued, are new, and so on; one counts once for each kind."""
    of_now = pl.coalesce("capability_id", "previous_id").n_unique()
    counted = dict(relations.group_by("relation").agg(of_now.alias("number")).iter_rows())
    return {relation: counted.get(relation, 0) for relation in RELATIONS}


def _repositories(gaps: pl.DataFrame, rejects: pl.DataFrame | None) -> int:
    slugs = [gaps["repo_slug"]] if rejects is None else [gaps["repo_slug"], rejects["repo_slug"]]
    return pl.concat(slugs).n_unique()


def _moment(value: object) -> datetime | None:
    return value if isinstance(value, datetime) else None


def _categories(ranked: pl.DataFrame) -> tuple[Category, ...]:
    rows = (
        ranked.select(pl.col("categories").explode())
        .drop_nulls()
        .unnest("categories")
        .group_by("name")
        .agg(pl.col("mentions").sum(), pl.len().alias("capabilities"))
        .sort(
            pl.col("name") == UNCATEGORIZED,
            pl.col("mentions"),
            pl.col("name"),
            descending=[False, True, False],
        )
    )
    return tuple(Category(**row) for row in rows.iter_rows(named=True))


def _reclassified(counted: pl.DataFrame) -> Categorised:
    by = Counter(counted["category_by"].to_list())
    return Categorised(by[CategoryBy.OPERATIONS.value], by[CategoryBy.CLASSIFIER.value], by[None])


def _account(
    gaps: pl.DataFrame | None, rejects: pl.DataFrame | None, scanned: ScanSummary | None
) -> Account | None:
    if gaps is None or scanned is None:
        return None
    counted = int(gaps["counted"].sum())
    marked = gaps["rule"].drop_nulls().value_counts().sort("count", "rule", descending=[True, False])
    not_a_gap = int(marked["count"].sum())
    bad = pl.DataFrame() if rejects is None else rejects.head(SHOWN_REJECTS)
    fields = Reject.__struct_fields__
    return Account(
        files=scanned.files,
        unreadable=scanned.unreadable,
        lines=scanned.lines,
        records=scanned.records,
        counted=counted,
        filtered=scanned.records - counted - not_a_gap,
        duplicates=scanned.duplicates,
        superseded=scanned.superseded,
        rejects=scanned.rejects,
        repairs=scanned.repairs,
        passed_over=scanned.passed_over,
        reasons={reason: n for reason, n in scanned.reasons.items() if reason not in FILE_REASONS},
        unread={reason: n for reason, n in scanned.reasons.items() if reason in FILE_REASONS},
        examples=tuple(Reject(**{name: row[name] for name in fields}) for row in bad.iter_rows(named=True)),
        not_a_gap=not_a_gap,
        rules=dict(marked.iter_rows()),
    )
