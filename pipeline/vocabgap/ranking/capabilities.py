"""The ranking stage: make ranked capabilities of records and their clusters."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, cast

import polars as pl

from vocabgap.errors import InvalidInputError, converted, require_kind, unusable
from vocabgap.files.parts import Parts
from vocabgap.model.capability import SETTLED
from vocabgap.model.moments import require_offset
from vocabgap.model.record import CATEGORY_ALIASES, OPERATION_ALIASES
from vocabgap.model.settings import RankBy, RankSettings, overridden
from vocabgap.model.tables import CAPABILITIES, CLUSTERS, IDENTITIES, RECORDS, WORDINGS, counted, phrase
from vocabgap.ranking.evidence import READ, Whole, drawn_units, evidence, main_category, variants
from vocabgap.ranking.identity import Grouping, default_identities
from vocabgap.ranking.intervals import rank_intervals
from vocabgap.ranking.priority import PINNED, factors_of, in_order, is_established, trends
from vocabgap.text import count

_DEFAULTS: Final = RankSettings()


def rank(
    records: pl.DataFrame,
    clusters: Grouping,
    settings: RankSettings = _DEFAULTS,
    *,
    now: datetime | None = None,
    identities: pl.DataFrame | None = None,
    corpus: pl.DataFrame | None = None,
    category_aliases: Mapping[str, str] = CATEGORY_ALIASES,
    operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
    **overrides: object,
) -> pl.DataFrame:
    """Rank the capabilities that some records ask for: pinned ones first, dismissed and authored ones last.

    Args:
        records: Table `records`: the records to count, all or some of those that were clustered.
        clusters: The groups of their wordings.
        settings: The count to sort by, the limits of established capabilities, and further parameters.
        now: The present for priority and trend; the latest readable timestamp of the corpus by default.
        identities: Table `identities`; by default identifiers come from the labels' surfaces.
        corpus: Table `records`: all that were clustered; `records` by default. Identifier, label, cohesion,
            `first_seen`, `trend`, `weekly` and `status` depend on the whole corpus.
        category_aliases: Lower-case spelling to category.
        operation_aliases: Lower-case name to operation.
        overrides: Single settings, by their names in `RankSettings`: `by="unsatisfied", min_images=2`.

    Returns:
        Table `capabilities`, in order of rank; every record counts in exactly one row. `covered` fills
        the empty column `covered_by`.

    Raises:
        InvalidInputError: An argument cannot be used, a record's wording was not clustered, or the corpus
            lacks a group of the records.
    """
    require_kind("settings", settings, RankSettings, "a RankSettings")
    settings = overridden(settings, **overrides)
    RECORDS.require(records)
    if corpus is not None:
        RECORDS.require(corpus)
    converted(category_aliases, dict[str, str], "category_aliases")
    converted(operation_aliases, dict[str, str], "operation_aliases")
    if not (hasattr(clusters, "wordings") and hasattr(clusters, "clusters")):
        raise unusable("clusters", "what vocabgap.cluster returned", clusters)
    WORDINGS.require(clusters.wordings)
    CLUSTERS.require(clusters.clusters)
    identified = default_identities(clusters.clusters) if identities is None else identities
    IDENTITIES.require(identified)
    lines = records.select(RECORDS.names).with_columns(counted=True, recorded=corpus is None)
    if corpus is not None:
        others = corpus.select(RECORDS.names).with_columns(counted=False, recorded=True)
        lines = pl.concat([lines, others])
    _require_clustered(lines, clusters.wordings)
    present = lines["timestamp"].filter(lines["recorded"]).max()
    if now is not None:
        present = require_offset(now, name="now").astimezone(UTC)
    return rank_parts(
        Parts.of(lines),
        clusters,
        settings,
        now=cast("datetime | None", present),
        identities=identified,
        category_aliases=category_aliases,
        operation_aliases=operation_aliases,
    )


def rank_parts(
    lines: Parts,
    clusters: Grouping,
    settings: RankSettings,
    *,
    now: datetime | None,
    identities: pl.DataFrame,
    **aliases: Mapping[str, str],
) -> pl.DataFrame:
    """Rank the capabilities of table `gaps` in parts, as `rank` does; `aliases` are those of `evidence`.

    The column `recorded` tells which lines are the corpus: those that count before a selection.
    """
    groups = clusters.wordings.select("wording", "surface", "cluster")
    groups = groups.join(identities.select("cluster", "since"), on="cluster", how="left")

    def clustered(part: pl.LazyFrame) -> pl.LazyFrame:
        spoken = part.filter(pl.col("recorded") | pl.col("counted")).with_columns(phrase().alias("wording"))
        return spoken.join(groups.lazy(), on="wording", maintain_order="left").select(READ)

    moment = pl.col("timestamp").filter("recorded").min()
    earliest = cast("datetime | None", lines.each(lambda part: part.select(moment))["timestamp"].min())
    whole = Whole(now, earliest, drawn_units(lines.then(counted)))
    tables = lines.by(["cluster"], lambda part: evidence(part, whole, settings, **aliases), clustered)
    return capabilities_of(tables, clusters, settings, whole, identities)


def capabilities_of(
    tables: dict[str, pl.DataFrame],
    clusters: Grouping,
    settings: RankSettings,
    whole: Whole,
    identities: pl.DataFrame,
) -> pl.DataFrame:
    """Return table `capabilities` in order of rank, given the tables of `evidence` of all buckets.

    The tables are taken out of the dictionary, so that they need no memory after their use.
    """
    weekly = trends(tables.pop("weeks"), whole.now, whole.earliest, settings.window_weeks)
    counts = _capabilities(tables, clusters)
    described = (
        counts.hstack(factors_of(counts, settings, whole.now, whole.earliest).select("priority"))
        .join(weekly, on="cluster", how="left")
        .join(identities.rename({"label": "given"}), on="cluster", how="left")
        .with_columns(
            pl.coalesce("given", "label").alias("label"), is_established(settings.fewest).alias("established")
        )
    )

    def placed(*, pins: bool) -> pl.DataFrame:
        """Sort by rank and add the intervals."""
        ordered = in_order(described, settings.by.value, settings.fewest, pins=pins)
        intervals = rank_intervals(tables["drawn"], ordered, settings, whole)
        return ordered.hstack(intervals).with_row_index("rank", offset=1)

    ranking = placed(pins=True)
    is_first = pl.col("standing") == PINNED
    if ranking.select(is_first.any()).item():
        # A pin is no evidence: the interval is that of the rank by counts, and the need is level with none.
        is_next = pl.col("tie_group").diff().fill_null(1) > 0
        ranking = ranking.with_columns(tie_group=(is_first | is_next).cum_sum().cast(pl.Int64))
        interval = ("rank_low", "rank_high")
        by_counts = placed(pins=False).select("cluster", *interval)
        ranking = ranking.join(by_counts, on="cluster", how="left", suffix="_unpinned").with_columns(
            pl.when(is_first).then(pl.col(f"{name}_unpinned")).otherwise(name).alias(name)
            for name in interval
        )
    return (
        ranking.with_columns(pl.lit([], dtype=CAPABILITIES.schema["covered_by"]).alias("covered_by"))
        .select(CAPABILITIES.names)
        .match_to_schema(CAPABILITIES.schema, integer_cast="upcast")
    )


def order_of(ranked: pl.DataFrame, ranked_by: RankBy | str | None = None) -> RankBy:
    """Return the count that a ranking is sorted by.

    Capabilities with decisions may be anywhere. The others must be sorted within their block: established,
    not established, or settled. Without `ranked_by`, the first count that fits is returned.
    """
    block = (pl.col("status").is_in(SETTLED), pl.col("established"))
    undecided = ranked.filter(pl.col("decisions").list.len() == 0)
    falls = undecided.select((pl.col(by.value).diff() <= 0).over(*block).all() for by in RankBy)
    wanted = list(RankBy) if ranked_by is None else [overridden(_DEFAULTS, by=ranked_by).by]
    fitting = [by for by in wanted if ranked["rank"].is_sorted() and falls[by.value].item()]
    if not fitting:
        order = " nor ".join(by.value for by in wanted)
        hint = "pass the result of vocabgap.rank, or some of its rows in the same order"
        raise InvalidInputError(f"the capabilities are not ranked by {order}", hint=hint)
    return fitting[0]


def _capabilities(tables: dict[str, pl.DataFrame], clusters: Grouping) -> pl.DataFrame:
    """Return the evidence of each cluster with its wordings and the facts of its group."""
    capabilities = (
        tables.pop("capabilities")
        .join(variants(tables.pop("wordings"), clusters.wordings), on="cluster", how="left")
        .join(clusters.clusters.rename({"mentions": "clustered"}), on="cluster", how="left")
    )
    counted_mentions = pl.col("mentions").cast(pl.Int128)  # products of large counts need more than 64 bits
    of_all = pl.col("clustered")
    # A cluster without a row in some evidence gets the default.
    filled = [column for column in CAPABILITIES.columns if column.name in capabilities.columns]
    return (
        capabilities.with_columns(pl.col(column.name).fill_null(column.filling) for column in filled)
        .with_columns(
            (pl.col("mentions_low") * counted_mentions // of_all)
            .clip(pl.min_horizontal(1, counted_mentions))
            .cast(pl.Int64),
            ((pl.col("mentions_high") * counted_mentions + of_all - 1) // of_all).cast(pl.Int64),
        )
        .with_columns(main_category())
    )


def _require_clustered(lines: pl.DataFrame, wordings: pl.DataFrame) -> None:
    """Check that each record has a group, and that the corpus has each group of the records."""
    spoken = lines.select(phrase().alias("wording"), "recorded", "counted")
    groups = spoken.join(wordings.select("wording", "cluster"), on="wording", how="left")
    if strangers := groups["cluster"].null_count():
        problem = f"the wordings of {count(strangers, 'record')} were not clustered"
        raise InvalidInputError(problem, hint="rank the records that were clustered, or some of them")
    known = groups.filter("recorded")["cluster"].unique()
    if strangers := groups.filter("counted", ~pl.col("cluster").is_in(known.implode())).height:
        problem = f"the groups of {count(strangers, 'record')} are not in the corpus"
        raise InvalidInputError(problem, hint="pass all records that were clustered as the corpus")
