"""The changes between two published runs."""

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.model.capability import SETTLED
from vocabgap.model.settings import RankSettings
from vocabgap.model.tables import CAME_BACK, CONTINUED, GONE, NEW, OPEN, OPENED
from vocabgap.ranking.identity import relations
from vocabgap.ranking.statuses import news
from vocabgap.reporting.manifest import Difference, differences, model_differences
from vocabgap.reporting.published_run import PublishedRun


class Kind(StrEnum):
    """A kind of change, in the order of a list. The list is closed."""

    NEW = "new"
    REGRESSED = "regressed"
    REOPENED = "reopened"
    OUTGROWN = "outgrown"
    CLAIMED = "claimed"
    AUTHORED = "authored"
    DISMISSED = "dismissed"
    PINNED = "pinned"
    UNPINNED = "unpinned"
    RISEN = "risen"
    FALLEN = "fallen"
    RESOLVED = "resolved"  # without a mention in the logs that the later run read
    MERGED = "merged"
    SPLIT = "split"


_LATER: Final = ("status", "status_since", "status_by", "pinned_by", "rank_low", "rank_high")


class Change(msgspec.Struct, frozen=True):
    """A capability that changed between a previous run and a later run, or an event of its status.

    The previous label of a merged or split capability is the label of the capability that it came from.
    """

    kind: Kind
    capability_id: str | None  # None if it is gone
    previous_id: str | None  # None if it is new
    label: str | None
    previous_label: str | None
    rank: int | None
    previous_rank: int | None
    mentions: int | None
    previous_mentions: int | None
    status: str | None  # `gone` if nobody mentions it now; None if the run does not have it
    decided: bool | None = None  # whether people merged or split it; None for other changes, or if unknown
    places: int = 0  # capabilities that it passed, of those open in both runs; negative if they passed it
    # In the later run:
    pinned_by: str | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    # Of an event:
    moment: datetime | None = None
    by: str | None = None
    entry: str | None = None


class Comparison(msgspec.Struct, frozen=True):
    """The changes between two runs; each run is named by its present moment."""

    earlier: datetime
    later: datetime
    changes: tuple[Change, ...]  # by kind; largest moves or most mentions first
    unchanged: int  # capabilities without a change; if ranks are not compared, those in both runs
    differences: tuple[Difference, ...] = ()  # in narrowing or ranking; if any, ranks are not compared
    embedding: tuple[Difference, ...] = ()  # in embedding
    ranked_by: str = RankSettings().by.value  # of the later run

    def of(self, kind: Kind) -> dict[bool | None, list[Change]]:
        """Return the changes of one kind by `decided`."""
        by_decided: dict[bool | None, list[Change]] = {}
        for change in self.changes:
            if change.kind is kind:
                by_decided.setdefault(change.decided, []).append(change)
        return by_decided


def compare(earlier: PublishedRun, later: PublishedRun) -> Comparison:
    """Compare two published runs; the events are those that the earlier run does not have.

    A capability has risen or fallen if its rank changed in that direction, and its place among those open in
    both runs, too. New, settled and pinned capabilities do not move others.

    If the runs are narrowed or ranked differently, ranks are not compared. New, gone, merged and split
    capabilities then come from the groups of both runs, because a filter hides some capabilities.
    """
    before, after, one, other = earlier.capabilities, later.capabilities, earlier.manifest, later.manifest
    apart = differences(one.narrowing, other.narrowing, between=other.now - one.now)
    is_pinned = pl.col("pinned") & ~pl.col("status").is_in(SETTLED)
    was = before.select(previous_id="capability_id", previous_status="status", was_pinned=is_pinned)
    rows = (
        _related(earlier, later, narrowed_alike=not apart)
        .join(was, on="previous_id", how="left")
        .join(after.select("capability_id", *_LATER, is_pinned=is_pinned), on="capability_id", how="left")
        .filter(pl.col("status").is_not_null() | pl.col("previous_status").is_not_null())
        .with_columns(pl.col("was_pinned", "is_pinned").fill_null(value=False))
    )
    open_in_both = rows.filter(
        pl.col("relation") == CONTINUED,
        ~pl.col("status").is_in(SETTLED),
        ~pl.col("previous_status").is_in(SETTLED),
        ~(pl.col("was_pinned") | pl.col("is_pinned")),
        pl.lit(value=not apart),
    )
    place = {name: pl.col(name).rank("ordinal").cast(pl.Int64) for name in ("previous_rank", "rank")}
    passed = open_in_both.select("capability_id", places=place["previous_rank"] - place["rank"])
    rows = rows.join(passed, on="capability_id", how="left", maintain_order="left").with_columns(
        pl.col("places").fill_null(0)
    )
    changes = [_change(row, kind) for row in rows.iter_rows(named=True) if (kind := _kind(row))]
    own = rows.sort("relation", maintain_order=True).unique("capability_id", keep="first")  # continued first
    in_both = pl.col("previous_status").is_not_null()  # a filter may have hidden others in the earlier run
    changes += _events(own.filter(in_both | pl.lit(value=not apart)), earlier, later)
    changes.sort(key=_order)
    moved = {name for each in changes for name in (each.capability_id, each.previous_id)} - {None}
    unchanged = rows.filter(~pl.col("capability_id").is_in(moved), relation=CONTINUED)
    return Comparison(
        one.now,
        other.now,
        tuple(changes),
        unchanged.height,
        apart,
        model_differences(one.model, other.model),
        other.ranked_by,
    )


def _events(rows: pl.DataFrame, earlier: PublishedRun, later: PublishedRun) -> Iterator[Change]:
    """Yield the last event of each capability that only the later run has.

    `rows` are capabilities that both runs can show.
    """
    if earlier.events.is_empty() or later.events.is_empty():  # of an older version: compare the statuses
        was, status = (pl.col(name).replace({NEW: OPEN}) for name in ("previous_status", "status"))
        since, by = pl.col("status_since").alias("moment"), pl.col("status_by").alias("by")
        happened = rows.filter(was != status).with_columns(status.alias("kind"), since, by, entry=None)
    else:
        own = news(later.events, earlier.events).filter(pl.col("kind") != OPENED)
        own = own.unique("capability_id", keep="last", maintain_order=True)
        happened = rows.join(own.drop("label"), on="capability_id", maintain_order="left_right")
    kind = pl.col("kind").replace({CAME_BACK: Kind.REGRESSED.value, OPEN: Kind.REOPENED.value})
    for row in happened.with_columns(kind, decided=None).iter_rows(named=True):
        yield _change(row, Kind(row["kind"]))


def _related(earlier: PublishedRun, later: PublishedRun, *, narrowed_alike: bool) -> pl.DataFrame:
    """Return table `lineage` of two runs; if they are narrowed alike, only of what both runs selected."""
    if not narrowed_alike:
        return relations(earlier.groups, later.groups)
    related = relations(*(run.groups.drop_nulls("rank") for run in (earlier, later)))
    mentions = later.capabilities.select("capability_id", "mentions")
    previous = earlier.capabilities.select(previous_id="capability_id", previous_mentions="mentions")
    return (
        related.drop("mentions", "previous_mentions")
        .join(mentions, on="capability_id", how="left")
        .join(previous, on="previous_id", how="left")
    )


def _change(row: dict[str, Any], kind: Kind) -> Change:
    facts = {name: row[name] for name in Change.__struct_fields__ if name in row}
    status = GONE if row["relation"] == GONE else row["status"]
    moved = row["places"] if kind in {Kind.RISEN, Kind.FALLEN} else 0
    return msgspec.convert({**facts, "kind": kind, "status": status, "places": moved}, Change)


def _kind(row: dict[str, Any]) -> Kind | None:
    """Return the kind of change of a capability; None if it did not change."""
    relation, status, was, places = row["relation"], row["status"], row["previous_status"], row["places"]
    if relation in {Kind.NEW, Kind.MERGED, Kind.SPLIT}:
        return Kind(str(relation))
    if relation == GONE:
        return Kind.RESOLVED
    if row["is_pinned"] != row["was_pinned"] and None not in {was, status}:
        return Kind.PINNED if row["is_pinned"] else Kind.UNPINNED
    if places * ((row["previous_rank"] or 0) - (row["rank"] or 0)) > 0:
        return Kind.RISEN if places > 0 else Kind.FALLEN
    return None


def _order(change: Change) -> tuple[int, bool, int, int, str, str]:
    mentions = change.mentions if change.mentions is not None else change.previous_mentions or 0
    names = (change.label or "", change.capability_id or change.previous_id or "")
    return ([*Kind].index(change.kind), not change.decided, -abs(change.places), -mentions, *names)
