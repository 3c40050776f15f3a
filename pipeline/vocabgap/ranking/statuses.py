"""Statuses as events: what people decided about a group, and when an authored need came back.

The last event of a group gives its status. A decision about some wordings holds while they have at least half
of the group's mentions. After that, the group has outgrown it and is open again.
"""

from datetime import datetime
from typing import Final

import polars as pl

from vocabgap.files.parts import Parts
from vocabgap.model.tables import (
    AUTHORED,
    CAME_BACK,
    CLAIMED,
    DISMISSED,
    EFFECTS,
    EVENTS,
    OPEN,
    OPENED,
    OUTGROWN,
    REGRESSED,
    REOPENED,
    VERDICTS,
)
from vocabgap.ranking.effect import Authoring, effects_of
from vocabgap.text import surface

KINDS: Final = {"claim": CLAIMED, "author": AUTHORED, "dismiss": DISMISSED, "reopen": REOPENED}
STATUS_OF: Final = {
    OPENED: OPEN,
    CLAIMED: CLAIMED,
    AUTHORED: AUTHORED,
    CAME_BACK: REGRESSED,
    DISMISSED: DISMISSED,
    REOPENED: OPEN,
    OUTGROWN: OPEN,
}
"""The status that each kind of event gives."""
_OF_GROUP: Final = {"cluster": pl.Int64} | {
    name: kind for name, kind in EVENTS.schema.items() if name not in {"capability_id", "label"}
}


def decisions_by_group(wordings: pl.DataFrame, verdicts: pl.DataFrame | None) -> pl.DataFrame:
    """Return a row for each group and decision about it, in order of time.

    `carried` are the mentions of the surfaces that the decision is about, and `whole` those of the group.
    `wordings` is the table of that name.
    """
    verdicts = VERDICTS.empty() if verdicts is None else verdicts
    whole = pl.col("mentions").sum().over("cluster")
    surfaces = wordings.group_by("surface", "cluster").agg(pl.col("mentions").sum()).with_columns(whole=whole)
    carried = (
        verdicts.select("decision_id", surface="about")
        .explode("surface")
        .unique()
        .join(surfaces, on="surface")
        .group_by("cluster", "decision_id")
        .agg(carried=pl.col("mentions").sum())
    )
    return (
        verdicts.join(surfaces.drop("mentions"), on="surface")
        .unique(["cluster", "decision_id"])
        .join(carried, on=["cluster", "decision_id"], how="left")
        .with_columns(pl.col("carried").fill_null(0))
        .sort("time", "decision_id", "cluster")
    )


def authored_effects(
    wordings: pl.DataFrame, verdicts: pl.DataFrame, records: Parts, now: datetime, window_weeks: int
) -> pl.DataFrame:
    """Return the effects of the authored groups, see `effects_of`; `records` are all that count."""
    settled = (
        decisions_by_group(wordings, verdicts)
        .filter(pl.col("action").is_in(["author", "dismiss", "reopen"]))
        .with_columns(anew=(pl.col("action").shift().over("cluster") != "author").fill_null(value=False))
        .filter(action="author")
    )
    authorings = settled.select("cluster", "decision_id", "time", "entry", "anew").iter_rows()
    several = [Authoring(group, name, time, (entry,), anew) for group, name, time, entry, anew in authorings]
    return effects_of(records, wordings, several, now, window_weeks)


def with_returns(effects: pl.DataFrame, earlier: pl.DataFrame) -> pl.DataFrame:
    """Return the effects with the returns of an earlier run: late records neither move nor revoke them."""
    returns = earlier.filter(kind=CAME_BACK).unique("decision_id").select("decision_id", published="moment")
    joined = effects.join(returns, on="decision_id", how="left", maintain_order="left")
    return joined.with_columns(came_back=pl.coalesce("published", "came_back")).drop("published")


def with_ends(about: pl.DataFrame, effects: pl.DataFrame) -> pl.DataFrame:
    """Add when a need came back, and which decisions on a status the groups have outgrown (`ended`)."""
    back = effects.select("cluster", "decision_id", "came_back")
    is_small = pl.col("action").is_in([*KINDS]) & (2 * pl.col("carried") < pl.col("whole"))
    return about.join(back, on=["cluster", "decision_id"], how="left", maintain_order="left").with_columns(
        ended=is_small & pl.col("came_back").is_null()
    )


def status_events(about: pl.DataFrame) -> pl.DataFrame:
    """Return the events of groups that people decided about, in order of time; the moment may be null.

    `about` are their decisions, see `with_ends`. Outgrown decisions count only if the group has no other
    decision on its status. Then an event ends the last one.
    """
    kind = pl.col("action").replace_strict(KINDS, default=None, return_dtype=pl.String)
    decided = (
        about.with_columns(kind=kind)
        .drop_nulls("kind")
        .filter(~pl.col("ended") | pl.col("ended").all().over("cluster"))
        .rename({"time": "moment", "actor": "by"})
    )
    ends = decided.drop("moment", "by")
    back = ends.drop_nulls("came_back").with_columns(kind=pl.lit(CAME_BACK), moment="came_back")
    ended = (
        ends.filter("ended")
        .unique("cluster", keep="last", maintain_order=True)
        .with_columns(kind=pl.lit(OUTGROWN))
    )
    events = pl.concat(map(_fitted, (decided, back, ended)))
    return events.sort("cluster", "moment", "decision_id", nulls_last=True)


def _fitted(events: pl.DataFrame) -> pl.DataFrame:
    return events.match_to_schema(_OF_GROUP, missing_columns="insert", extra_columns="ignore")


def events_of(
    events: pl.DataFrame, identities: pl.DataFrame, ranked: pl.DataFrame, earlier: pl.DataFrame
) -> pl.DataFrame:
    """Return table `events` of the ranked capabilities, given the events of groups.

    The first mention opens a capability; a decision is outgrown as of the last mention. The returns of an
    earlier run stay, even if a filter hides their capabilities now. Otherwise they would be news later.
    """
    own = pl.concat([_fitted(identities.select("cluster", kind=pl.lit(OPENED))), events])
    moment = pl.when(kind=OPENED).then("first_seen").when(kind=OUTGROWN).then("last_seen").otherwise("moment")
    present = (
        own.join(identities.select("cluster", "capability_id"), on="cluster")
        .join(ranked.select("capability_id", "label", "first_seen", "last_seen"), on="capability_id")
        .with_columns(moment=moment)
        .select(EVENTS.names)
    )
    hidden = earlier.filter(kind=CAME_BACK).join(ranked, on="capability_id", how="anti")
    order = ("capability_id", "moment", pl.col("kind") != OPENED, "decision_id")  # undated events first
    return pl.concat([present, news(hidden, present)]).sort(order)


def news(events: pl.DataFrame, earlier: pl.DataFrame) -> pl.DataFrame:
    """Return the events that an earlier run does not have. Their moments and labels do not matter."""
    return events.join(earlier, on=["kind", pl.coalesce("decision_id", "capability_id")], how="anti")


def ranked_effects(
    effects: pl.DataFrame, identities: pl.DataFrame, ranked: pl.DataFrame, files: pl.DataFrame, now: datetime
) -> pl.DataFrame:
    """Return table `effects` of the ranked capabilities, given the effects of groups that still hold.

    Calls in the logs (table `files`) up to now also count as uses. A call in several logs is one.
    """
    calls = files.select(pl.col("calls").explode()).drop_nulls().unnest("calls").sort("moment", "session")
    for same in ("session", "moment"):
        calls = calls.unique(["entry", "call", same], keep="first", maintain_order=True)
    moment, entry = pl.col("moment"), pl.col("entry")
    number = [
        calls.filter(moment > decided, moment <= now, entry.is_in([*map(surface, entries)])).height
        for decided, entries in effects.select("decided", "entries").iter_rows()
    ]
    return (
        effects.with_columns(pl.col("used_since") + pl.Series(number, dtype=pl.Int64))
        .join(identities.select("cluster", "capability_id", "since"), on="cluster")
        .drop_nulls("since")
        .join(ranked.select("capability_id", "label"), on="capability_id")
        .sort("decided", "capability_id", descending=[True, False])
        .select(EFFECTS.names)
    )
