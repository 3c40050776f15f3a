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

KINDS: Final = {"claim": CLAIMED, "author": AUTHORED, "dismiss": DISMISSED, "reopen": REOPENED}
_DETAILS: Final = ("moment", "by", "entry", "decision_id")
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


def decided_about(wordings: pl.DataFrame, verdicts: pl.DataFrame | None) -> pl.DataFrame:
    """Return a row for each group and decision about it, in order of time.

    `carried` are the mentions of the surfaces that the decision is about, and `whole` those of the group.
    `wordings` is the table of that name.
    """
    verdicts = VERDICTS.empty() if verdicts is None else verdicts
    surfaces = wordings.group_by("surface", "cluster").agg(pl.col("mentions").sum())
    carried = (
        verdicts.select("decision_id", surface="about")
        .explode("surface")
        .unique()
        .join(surfaces, on="surface")
        .group_by("cluster", "decision_id")
        .agg(pl.col("mentions").sum().alias("carried"))
    )
    return (
        verdicts.join(surfaces.select("surface", "cluster"), on="surface")
        .unique(["cluster", "decision_id"])
        .join(surfaces.group_by("cluster").agg(pl.col("mentions").sum().alias("whole")), on="cluster")
        .join(carried, on=["cluster", "decision_id"], how="left")
        .with_columns(pl.col("carried").fill_null(0))
        .sort("time", "decision_id", "cluster")
    )


def followed_up(
    wordings: pl.DataFrame, verdicts: pl.DataFrame, records: Parts, now: datetime, window_weeks: int
) -> pl.DataFrame:
    """Return the effects of the authored groups, see `effects_of`; `records` are all that count."""
    settled = (
        decided_about(wordings, verdicts)
        .filter(pl.col("action").is_in(["author", "dismiss", "reopen"]))
        .with_columns(anew=(pl.col("action").shift().over("cluster") != "author").fill_null(value=False))
        .filter(action="author")
    )
    authorings = settled.select("cluster", "decision_id", "time", "entry", "anew").iter_rows()
    several = [Authoring(group, name, time, (entry,), anew) for group, name, time, entry, anew in authorings]
    return effects_of(records, wordings, several, now, window_weeks)


def as_told(effects: pl.DataFrame, earlier: pl.DataFrame) -> pl.DataFrame:
    """Return the effects with the returns of an earlier run: late records neither move nor revoke them."""
    told = earlier.filter(kind=CAME_BACK).unique("decision_id").select("decision_id", told="moment")
    joined = effects.join(told, on="decision_id", how="left", maintain_order="left")
    return joined.with_columns(came_back=pl.coalesce("told", "came_back")).drop("told")


def outgrown(effects: pl.DataFrame) -> pl.Expr:
    """Tell which decisions on a status no longer hold; an authored need that came back is not outgrown."""
    came_back = pl.col("decision_id").is_in(effects.drop_nulls("came_back")["decision_id"].implode())
    return pl.col("action").is_in([*KINDS]) & ~came_back & (2 * pl.col("carried") < pl.col("whole"))


def status_events(about: pl.DataFrame, effects: pl.DataFrame) -> pl.DataFrame:
    """Return the events of groups that people decided about, in order of time; the moment may be null.

    A decision that a group has outgrown counts only if no other decision gives a status; then an event ends
    it.
    """
    kind = pl.col("action").replace_strict(KINDS, default=None, return_dtype=pl.String)
    decided = (
        about.with_columns(outgrown(effects).alias("ended"), kind.alias("kind"))
        .filter(pl.col("kind").is_not_null())
        .filter(~pl.col("ended") | pl.col("ended").all().over("cluster"))
        .rename({"time": "moment", "actor": "by"})
    )
    back = effects.drop_nulls("came_back").select("cluster", "decision_id", "came_back")
    returned = decided.join(back, on=["cluster", "decision_id"]).with_columns(
        pl.lit(CAME_BACK).alias("kind"), pl.col("came_back").alias("moment"), pl.lit(None).alias("by")
    )
    ended = (
        decided.filter("ended")
        .group_by("cluster")
        .last()
        .with_columns(pl.lit(OUTGROWN).alias("kind"), pl.lit(None).alias("moment"), pl.lit(None).alias("by"))
    )
    parts = [part.match_to_schema(_OF_GROUP, extra_columns="ignore") for part in (decided, returned, ended)]
    return pl.concat(parts).sort("cluster", "moment", "decision_id", nulls_last=True)


def events_of(
    events: pl.DataFrame, identities: pl.DataFrame, ranked: pl.DataFrame, earlier: pl.DataFrame
) -> pl.DataFrame:
    """Return table `events` of the ranked capabilities, given the events of groups.

    A capability is opened with its first mention, and outgrown with its last. The returns of an earlier run
    stay, even if a filter hides their capabilities now: else they would be news later.
    """
    opened = identities.select(
        "cluster", pl.lit(OPENED).alias("kind"), *(pl.lit(None).alias(name) for name in _DETAILS)
    )
    own = pl.concat([opened.match_to_schema(_OF_GROUP), events])
    moment = pl.when(kind=OPENED).then("first_seen").when(kind=OUTGROWN).then("last_seen").otherwise("moment")
    present = (
        own.join(identities.select("cluster", "capability_id"), on="cluster")
        .join(ranked.select("capability_id", "label", "first_seen", "last_seen"), on="capability_id")
        .with_columns(moment.alias("moment"))
        .select(EVENTS.names)
    )
    hidden = earlier.filter(kind=CAME_BACK).join(ranked, on="capability_id", how="anti")
    return pl.concat([present, news(hidden, present)]).sort(
        "capability_id", pl.col("kind") != OPENED, "moment", "decision_id", nulls_last=True
    )


def news(events: pl.DataFrame, earlier: pl.DataFrame) -> pl.DataFrame:
    """Return the events that an earlier run does not have. Their moments and labels do not matter."""
    return events.join(earlier, on=["kind", pl.coalesce("decision_id", "capability_id")], how="anti")


def named(effects: pl.DataFrame, identities: pl.DataFrame, ranked: pl.DataFrame) -> pl.DataFrame:
    """Return table `effects` of the ranked capabilities, given the effects of groups that still hold."""
    return (
        effects.join(identities.select("cluster", "capability_id", "since"), on="cluster")
        .filter(pl.col("since").is_not_null())
        .join(ranked.select("capability_id", "label"), on="capability_id")
        .sort("decided", "capability_id", descending=[True, False])
        .select(EFFECTS.names)
    )
