"""The parts of a report about all records: account of lines, categories, operations and askers."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Annotated, Final

import msgspec
import numpy as np
import polars as pl
from msgspec import structs

from vocabgap.files.parts import Parts
from vocabgap.ingest.accounting import ScanSummary
from vocabgap.model.capability import SETTLED, Asker, Capability, means
from vocabgap.model.other import texts_at
from vocabgap.model.record import FILE_REASONS, UNCATEGORIZED
from vocabgap.model.sources import NOT_A_GAP, NOT_GRANTED
from vocabgap.model.tables import IMAGE_KEY, MENTIONS, OWNER, counted, stripped
from vocabgap.ranking.classifying import CategoryBy
from vocabgap.ranking.coverage import is_listed, probably_covered
from vocabgap.ranking.screening import not_granted

_STATUS: Final = ("counted", "why_not", "rule", "category_by")
SHOWN: Final = 10  # combinations
_NEEDS: Final = 3  # of a combination
SHOWN_VALUES: Final = 5  # of a breakdown
STEPS: Final = 20  # of a plan
_REST, _NONE = ("(other)", "(none)")  # values
SHOWN_CATEGORIES: Final = 50  # with most mentions


class Reject(msgspec.Struct, frozen=True):
    """A line that was not read, with the reason."""

    repo_slug: str
    source_path: str
    line: int | None
    reason: str
    detail: str


class Ungranted(msgspec.Struct, frozen=True):
    """A tool that exists, but was not granted."""

    tool: str | None  # null for the records that name no tool
    records: int
    rules: tuple[str, ...]  # that excluded them


class Account(msgspec.Struct, frozen=True):
    """The account of all lines that are not blank and not passed over.

    `lines = records + duplicates + superseded + rejects`, and `records = counted + filtered + not_a_gap +
    not_granted`. `rules` counts the records of `not_a_gap` by rule, and `ungranted_rules` those of
    `not_granted`; `ungranted` has the tools with most of these. `passed_over` counts further lines
    that are not gaps. `repeating` counts the logs that repeat another log. `unread` counts unread files by
    reason.
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
    repeating: int = 0
    not_a_gap: int = 0
    rules: dict[str, int] = {}
    not_granted: int = 0
    ungranted_rules: dict[str, int] = {}
    ungranted: tuple[Ungranted, ...] = ()


class Category(msgspec.Struct, frozen=True):
    """A category with its numbers of mentions and capabilities."""

    name: str
    mentions: int
    capabilities: int


class Categorised(msgspec.Struct, frozen=True):
    """The number of records without a category of their agent, by the source of their category."""

    by_operations: int
    by_classifier: int
    left: int


class RecurringSet(msgspec.Struct, frozen=True):
    """A set of operations that records use together, also with other operations."""

    operations: tuple[str, ...]  # sorted by name
    records: int  # records of a session with the same operations count once
    images: int
    expected: float  # records by chance
    lift: float  # records divided by `expected`
    lift_low: float  # lower end of its 90 % interval
    needs: tuple[str, ...] = ()  # labels of the capabilities with most of these mentions, of a shown set


class Operation(msgspec.Struct, frozen=True):
    """An operation, and the capabilities to author that name it."""

    name: str
    mentions: int
    needs: tuple[tuple[Capability, int], ...]  # with their mentions of it, most mentions first


class Place(msgspec.Struct, frozen=True):
    """The place of a capability on the map; x and y are from -1 to 1."""

    capability_id: str
    x: float
    y: float
    near: Annotated[tuple[str, ...], means("capabilities with the most similar wordings, nearest first")] = ()


class Breakdown(msgspec.Struct, frozen=True):
    """The mentions of capabilities by the values at a path of column `other`.

    A record with several values counts for each.
    """

    path: str
    values: tuple[str, ...]  # by mentions of all capabilities, most first; then `(other)` and `(none)`
    rows: tuple[tuple[int, str, tuple[int, ...]], ...]  # rank, label, mentions by value


class Step(msgspec.Struct, frozen=True):
    """A need to author, and the sessions without a gap after it and all steps before."""

    rank: int
    label: str
    freed: int


class Plan(msgspec.Struct, frozen=True):
    """The known sessions with an open need, and those that the first steps of two orders free."""

    sessions: int
    unknown: int  # counted records of open needs that name no session
    by_rank: tuple[Step, ...]
    by_sessions: tuple[Step, ...]  # each step frees most next


class Withheld(msgspec.Struct, frozen=True):
    """The numbers of things that a shareable report omits."""

    fewest: int  # fewest images of a shown capability or word
    capabilities: int  # on fewer images
    mentions: int  # of these capabilities
    decided: int  # on enough images, but authored or dismissed
    unlisted: int  # on enough images, but too many for the page


def overview_of(gaps: Parts, now: datetime | None = None) -> pl.DataFrame:
    """Count the lines of table `gaps` that have the same owner and status, with their images and moments.

    Each part has rows of its own. Columns: `OWNER`, `_STATUS`, `lines`, `image_id` (distinct), `overlong`
    (lines with too many operations), `first` and `newest` timestamp, without those after `now`.
    """
    from vocabgap.ranking.combinations import names_too_many  # noqa: PLC0415 - loads SciPy

    timestamp = pl.col("timestamp")
    facts = (
        pl.len().alias("lines"),
        pl.col("image_id").unique(),
        names_too_many().sum().alias("overlong"),
        timestamp.min().alias("first"),
        (timestamp if now is None else timestamp.filter(timestamp <= now)).max().alias("newest"),
    )
    return gaps.each(lambda part: part.group_by(*OWNER, *_STATUS).agg(facts))


def breakdown_of(gaps: Parts | None, path: str | None, shown: Iterable[Capability]) -> Breakdown | None:
    """Count the mentions of capabilities by the values at a path of column `other`; None without a value."""
    if gaps is None or path is None:
        return None
    key, named = ("capability_id", "value"), texts_at(path).alias("value")
    valued = gaps.each(
        lambda part: (
            counted(part)
            .select("capability_id", "count", named)
            .explode("value", empty_as_null=True)
            .group_by(key)
            .agg(MENTIONS)
        )
    )
    by_value = valued.drop_nulls("value").group_by("value").agg(pl.col("mentions").sum())
    first = by_value.sort(-pl.col("mentions"), "value")["value"].head(SHOWN_VALUES).to_list()
    numbers = Counter[tuple[str, str]]()
    for capability, value, mentions in valued.iter_rows():
        numbers[capability, value if value in first else _NONE if value is None else _REST] += mentions
    values = (*first, *(name for name in (_REST, _NONE) if any(name == value for _, value in numbers)))
    rows = ((each, [numbers[each.capability_id, value] for value in values]) for each in shown)
    breakdown = Breakdown(path, values, tuple((each.rank, each.label, tuple(row)) for each, row in rows))
    return breakdown if first else None


def places_in(overview: pl.DataFrame, named: tuple[str, ...]) -> pl.DataFrame:
    """Return the images of an overview by name, with their number `place`; `named` precedes their id."""
    images = overview.select(IMAGE_KEY).explode("image_id").unique()
    name = pl.concat_str(*named, "image_id", separator="/").alias("name")
    return images.with_columns(name).sort("name").with_row_index("place")


def account_of(
    gaps: Parts | None,
    overview: pl.DataFrame | None,
    rejects: pl.DataFrame | None,
    scanned: ScanSummary | None,
) -> Account | None:
    """Return the account of a run from tables `gaps` and `rejects` and the scan; None without a scan."""
    if gaps is None or overview is None or scanned is None:
        return None
    shown = 20  # rejects and tools
    lines = pl.col("lines").sum()
    counted = int(overview.filter("counted").select(lines).item())
    by_rule = overview.filter(pl.col("rule").is_not_null()).group_by("why_not", "rule").agg(lines)
    ordered = by_rule.sort("lines", "rule", descending=[True, False])
    rules, ungranted_rules = (
        dict(ordered.filter(why_not=why_not).select("rule", "lines").iter_rows())
        for why_not in (NOT_A_GAP, NOT_GRANTED)
    )
    not_ranked = sum(rules.values()) + sum(ungranted_rules.values())
    bad = pl.DataFrame() if rejects is None else rejects.head(shown)
    fields = Reject.__struct_fields__
    ungranted = not_granted(gaps).head(shown).rows() if ungranted_rules else []
    of_scan = [name for name in Account.__struct_fields__ if hasattr(scanned, name) and name != "reasons"]
    return Account(
        **{name: getattr(scanned, name) for name in of_scan},
        counted=counted,
        filtered=scanned.records - counted - not_ranked,
        reasons={reason: n for reason, n in scanned.reasons.items() if reason not in FILE_REASONS},
        unread={reason: n for reason, n in scanned.reasons.items() if reason in FILE_REASONS},
        examples=tuple(Reject(**{name: row[name] for name in fields}) for row in bad.iter_rows(named=True)),
        not_a_gap=sum(rules.values()),
        rules=rules,
        not_granted=sum(ungranted_rules.values()),
        ungranted_rules=ungranted_rules,
        ungranted=tuple(Ungranted(tool, records, tuple(names)) for tool, records, names in ungranted),
    )


def per_session(gaps: Parts) -> tuple[tuple[str, float], ...]:
    """Return the mentions per known session in each quarter that has sessions, such as `2026-Q3`."""
    quarter = pl.format("{}-Q{}", pl.col("timestamp").dt.year(), pl.col("timestamp").dt.quarter())
    session = pl.struct("tenant_id", "session_id")
    keys = (quarter.alias("quarter"), session.alias("session"))
    sessions = gaps.each(
        lambda part: counted(part).filter(stripped(pl.col("session_id")) != "").group_by(keys).agg(MENTIONS)
    ).drop_nulls("quarter")
    by_quarter = sessions.group_by("quarter").agg(pl.col("mentions").sum() / pl.col("session").n_unique())
    return tuple(by_quarter.sort("quarter").iter_rows())


def plan_of(ranked: pl.DataFrame, gaps: Parts, covered_from: float) -> Plan:
    """Count the sessions that authoring frees; a session has a gap while it has a record of an open need.

    Steps are listed needs without an entry. By sessions, each step frees most next; a sum may still be less.
    """
    open_ = ranked.filter(~pl.col("status").is_in(SETTLED))
    keys = ("tenant_id", "session", "capability_id")
    session = stripped(pl.col("session_id")).replace("", None).alias("session")
    rows = gaps.each(lambda part: counted(part).with_columns(session).group_by(keys).agg(pl.len()))
    rows = rows.join(open_.select("capability_id", "rank"), on="capability_id")
    held = rows.drop_nulls("session").group_by(keys[:2]).agg(pl.col("rank").unique()).sort(keys[:2])
    listed = open_.filter(is_listed(), ~probably_covered(covered_from)).sort("rank").select("rank", "label")
    orders = (tuple(_steps(held, dict(listed.iter_rows()), by_sessions=each)) for each in (False, True))
    return Plan(held.height, int(rows.filter(pl.col("session").is_null())["len"].sum()), *orders)


def _steps(held: pl.DataFrame, labels: dict[int, str], *, by_sessions: bool) -> Iterator[Step]:
    """Yield the steps of an order; `held` has one row per session, with the ranks of its needs."""
    pairs = held.with_row_index("number").explode("rank").select("number", "rank").to_numpy().T
    for _ in range(min(STEPS, len(labels))):
        best = min(labels)
        if by_sessions:  # most sessions now, then the greatest part of sessions with other needs
            alone = 1.0 / np.bincount(pairs[0])[pairs[0]]
            frees, part = (np.bincount(pairs[1], each, max(labels) + 1) for each in (alone == 1, alone))
            best = max(labels, key=lambda rank: (frees[rank], part[rank].round(9)))
        pairs = pairs[:, pairs[1] != best]
        yield Step(best, labels.pop(best), held.height - np.unique(pairs[0]).size)


def askers_of(ranked: pl.DataFrame) -> tuple[Asker, ...]:
    """Return the owners of the ranked records, most mentions first."""
    rows = _summed(ranked, "asked_by", OWNER).sort("mentions", *OWNER, descending=[True, False, False])
    return tuple(Asker(**row) for row in rows.drop("capabilities").iter_rows(named=True))


def categories_of(ranked: pl.DataFrame) -> tuple[Category, ...]:
    """Return the categories of table `capabilities`, most frequent first; `uncategorized` comes last."""
    rows = _summed(ranked, "categories", ("name",)).sort(
        pl.col("name") == UNCATEGORIZED, "mentions", "name", descending=[False, True, False]
    )
    return tuple(Category(**row) for row in rows.iter_rows(named=True))


def _summed(ranked: pl.DataFrame, column: str, keys: Sequence[str]) -> pl.DataFrame:
    """Return the mentions and the number of capabilities of each item in a column of lists."""
    items = ranked.select(pl.col(column).explode()).drop_nulls().unnest(column)
    return items.group_by(keys).agg(pl.col("mentions").sum(), pl.len().alias("capabilities"))


def reclassified_of(counted: pl.DataFrame) -> Categorised:
    """Count the records that had no category, from the counted rows of an overview."""
    by = dict(counted.group_by("category_by").agg(pl.col("lines").sum()).iter_rows())
    return Categorised(*(by.get(each, 0) for each in (CategoryBy.OPERATIONS, CategoryBy.CLASSIFIER, None)))


def recurring_sets_of(
    combinations: pl.DataFrame | None, ranked: pl.DataFrame
) -> tuple[RecurringSet, ...] | None:
    """Return the sets of table `combinations`, most records beyond chance first; None without the table."""
    if combinations is None:
        return None
    listed = ranked.select("rank", "label", "combinations").explode("combinations").drop_nulls()
    listed = listed.unnest("combinations")
    rows = combinations.select(RecurringSet.__struct_fields__[:-1]).iter_rows(named=True)
    sets = [msgspec.convert(row, RecurringSet) for row in rows]
    shown = beyond_chance(sets)
    return tuple(
        structs.replace(each, needs=_needs(listed, each.operations)) if each in shown else each
        for each in sets
    )


def beyond_chance(sets: Iterable[RecurringSet]) -> tuple[RecurringSet, ...]:
    """Return the first sets of operations that records use together clearly more often than by chance."""
    return tuple(islice((each for each in sets if each.lift_low > 1), SHOWN))


def operations_of(capabilities: Iterable[Capability]) -> tuple[Operation, ...]:
    """Return the operations of some capabilities, most mentions first, then in order of their names."""
    naming: dict[str, list[tuple[Capability, int]]] = defaultdict(list)
    for item in capabilities:
        for tally in item.operations:
            naming[tally.name].append((item, tally.mentions))
    operations = (
        Operation(
            name,
            sum(mentions for _, mentions in needs),
            tuple(sorted(needs, key=lambda each: (-each[1], each[0].rank))),
        )
        for name, needs in naming.items()
    )
    return tuple(sorted(operations, key=lambda each: (-each.mentions, each.name)))


def _needs(listed: pl.DataFrame, operations: Sequence[str]) -> tuple[str, ...]:
    """Return the labels of the capabilities with most mentions of some operations together."""
    has_all = pl.all_horizontal(pl.col("operations").list.contains(name) for name in operations)
    mentions = listed.filter(has_all).group_by("rank", "label").agg(pl.col("mentions").sum())
    return tuple(mentions.sort("mentions", "rank", descending=[True, False]).head(_NEEDS)["label"])
