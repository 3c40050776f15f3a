"""The ranking stage: records and their clusters in, ranked capabilities out."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final, Self

import polars as pl

from vocabgap.errors import InvalidInputError, real_number, require_names, unusable, whole_number
from vocabgap.ranking.evidence import (
    askers,
    combinations,
    counts,
    examples,
    main_category,
    repeats,
    tally,
    variants,
    workarounds,
)
from vocabgap.ranking.identity import Grouping, unknown
from vocabgap.ranking.intervals import sureness
from vocabgap.ranking.priority import Weights, prioritised, trends
from vocabgap.records.moments import require_offset
from vocabgap.records.record import CATEGORY_ALIASES, OPERATION_ALIASES, fold_category, fold_operation
from vocabgap.schema import CAPABILITIES, CLUSTERS, IDENTITIES, RECORDS, SETTLED, WORDINGS, phrase
from vocabgap.settings.model import (
    DEFAULT_HALF_LIFE_DAYS,
    DEFAULT_MIN_IMAGES,
    DEFAULT_MIN_SESSIONS,
    DEFAULT_WINDOW_WEEKS,
    HALF_LIFE_DAYS,
    WEIGHT,
    WINDOW_WEEKS,
    RankBy,
    ranking,
)
from vocabgap.text import count

_LISTS: Final = ("categories", "operations", "vocabulary_used", "combinations", "workarounds")
_TIES: Final = ("mentions", "images", "sessions", "last_seen")
_DESCENDING: Final = [False, True, *(True for _ in _TIES), False, False]


def rank(
    records: pl.DataFrame,
    found: Grouping,
    *,
    by: RankBy | str = RankBy.MENTIONS,
    now: datetime | None = None,
    min_images: int = DEFAULT_MIN_IMAGES,
    min_sessions: int = DEFAULT_MIN_SESSIONS,
    half_life_days: float = DEFAULT_HALF_LIFE_DAYS,
    reach_weight: float = 1.0,
    need_weight: float = 1.0,
    recency_weight: float = 1.0,
    window_weeks: int = DEFAULT_WINDOW_WEEKS,
    identities: pl.DataFrame | None = None,
    corpus: pl.DataFrame | None = None,
    category_aliases: Mapping[str, str] = CATEGORY_ALIASES,
    operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
) -> pl.DataFrame:
    """Rank the capabilities that some records ask for.

    Args:
        records: Table `records`: those that were clustered, or some of them. They are what is counted.
        found: The groups of their wordings.
        by: What to count first: mentions, images, sessions, unsatisfied or priority. Ties go to the more
            mentioned, then to more images, more sessions, the later last mention, and the label that sorts
            first. What people have pinned stands before all others, what they dismissed or authored after
            them, pinned or not.
        now: The moment that priority and trend count as the present; the latest readable timestamp of the
            corpus by default, so that the same records give the same table on any day.
        min_images: Distinct images that a capability has to be asked for on to be established. Those that are
            not established are ranked after all that are.
        min_sessions: Distinct known sessions, in the same way.
        half_life_days: Days after which a mention counts half in the priority, 0.1 to 100,000.
        reach_weight: Exponent of the reach in the priority, 0 (left out) to 10.
        need_weight: Exponent of the need.
        recency_weight: Exponent of the recency.
        window_weeks: Weeks before now that the trend looks at, 3 to 520, if anything was logged so long ago.
        identities: Table `identities`: what earlier runs and decisions say of the groups. Without it
            identifiers come from the labels' surfaces, and all are open.
        corpus: Table `records`: all that were clustered, where `records` are some of them; `records` by
            default. What a capability is, since when, which way it goes and what became of it (identifier,
            label, cohesion, `first_seen`, `trend`, `weekly`, `status`) does not depend on what is counted.
        category_aliases: Lower-case spelling to category.
        operation_aliases: Lower-case name to operation.

    Returns:
        Table `capabilities`, in order of rank; every record is a mention of exactly one row. `covered_by` is
        empty: `covered` fills it.

    Raises:
        InvalidInputError: An argument cannot be used, a record's wording was not clustered, or nothing in
            the corpus asks for what a record asks for.
    """
    first = ranking(by)
    RECORDS.require(records)
    if corpus is not None:
        RECORDS.require(corpus)
    require_names("category_aliases", category_aliases)
    require_names("operation_aliases", operation_aliases)
    images, sessions = whole_number("min_images", min_images), whole_number("min_sessions", min_sessions)
    weights = _weights(half_life_days, reach_weight, need_weight, recency_weight)
    weeks = whole_number("window_weeks", window_weeks)
    real_number("window_weeks", weeks, least=WINDOW_WEEKS[0], most=WINDOW_WEEKS[1])
    if not (hasattr(found, "wordings") and hasattr(found, "clusters")):
        raise unusable("found", "what vocabgap.cluster returned", found)
    WORDINGS.require(found.wordings)
    CLUSTERS.require(found.clusters)
    known = unknown(found.clusters) if identities is None else identities
    IDENTITIES.require(known)
    placed = _placed(records, found.wordings)
    whole = placed if corpus is None else _placed(corpus, found.wordings)
    if corpus is not None:
        _check_part(placed, whole)
    moments = _Moments.of(whole["timestamp"], now)
    counted = prioritised(counts(placed).sort("cluster"), weights, moments.now, moments.earliest)
    described = (
        _with_evidence(counted, placed, found, category_aliases, operation_aliases)
        .join(trends(whole, moments.now, moments.earliest, weeks), on="cluster", how="left")
        .join(known.rename({"label": "given"}), on="cluster", how="left")
        .with_columns(
            pl.coalesce("given", "label").alias("label"),
            ((pl.col("images") >= images) & (pl.col("sessions") >= sessions)).alias("established"),
        )
        .with_columns(_standing().alias("standing"))
    )
    ordered = described.sort(_order(first), descending=_DESCENDING, nulls_last=True)
    sure = sureness(placed, ordered, by=first, weights=weights, now=moments.now, earliest=moments.earliest)
    return (
        ordered.hstack(sure)
        .with_columns(pl.lit([], dtype=CAPABILITIES.schema["covered_by"]).alias("covered_by"))
        .with_row_index("rank", offset=1)
        .select(CAPABILITIES.names)
        .match_to_schema(CAPABILITIES.schema, integer_cast="upcast")
    )


def _standing() -> pl.Expr:
    """Blocks that are ranked one after the other, whatever is counted.

    What people have pinned, what is established, what is not, and what people have dismissed or authored,
    also where they had pinned it before.
    """
    settled = pl.col("status").is_in(SETTLED)
    return pl.when(settled).then(3).when("pinned").then(0).when("established").then(1).otherwise(2)


@dataclass(frozen=True)
class _Moments:
    """The present, and the earliest readable timestamp; null where none is given and none can be read."""

    now: datetime | None
    earliest: datetime | None

    @classmethod
    def of(cls, timestamps: pl.Series, now: datetime | None) -> Self:
        earliest, latest = timestamps.min(), timestamps.max()
        present = latest if now is None else require_offset(now, name="now").astimezone(UTC)
        return cls(
            present if isinstance(present, datetime) else None,
            earliest if isinstance(earliest, datetime) else None,
        )


def _weights(half_life_days: float, reach: float, need: float, recency: float) -> Weights:
    exponents = {"reach": reach, "need": need, "recency": recency}
    return Weights(
        real_number("half_life_days", half_life_days, least=HALF_LIFE_DAYS[0], most=HALF_LIFE_DAYS[1]),
        **{
            name: real_number(f"{name}_weight", weight, least=WEIGHT[0], most=WEIGHT[1])
            for name, weight in exponents.items()
        },
    )


def _with_evidence(
    counted: pl.DataFrame,
    placed: pl.DataFrame,
    found: Grouping,
    category_aliases: Mapping[str, str],
    operation_aliases: Mapping[str, str],
) -> pl.DataFrame:
    """Everything that is told of each cluster beside its numbers."""
    category = partial(fold_category, aliases=category_aliases)
    operation = partial(fold_operation, aliases=operation_aliases)
    evidence = [
        tally(placed, "intent_category", "categories", category),
        tally(placed, "operations_involved", "operations", operation),
        tally(placed, "vocabulary_used", "vocabulary_used", str.strip),
        variants(placed, found.wordings),
        examples(placed),
        combinations(placed, operation),
        workarounds(placed),
        askers(placed),
        repeats(placed),
        found.clusters.drop("mentions"),
    ]
    capabilities = counted
    for part in evidence:
        capabilities = capabilities.join(part, on="cluster", how="left")
    return capabilities.with_columns(
        pl.col(_LISTS).fill_null([]),
        pl.col("repeats").fill_null(0),
    ).with_columns(main_category())


def _order(first: RankBy) -> list[pl.Expr]:
    """What the ranking goes by, one key after the other."""
    keys = [first.value, *_TIES]
    return [pl.col("standing"), *(pl.col(key) for key in keys), pl.col("label"), pl.col("capability_id")]


def _check_part(placed: pl.DataFrame, whole: pl.DataFrame) -> None:
    strangers = placed.join(whole.select("cluster").unique(), on="cluster", how="anti")
    if strangers.height:
        raise InvalidInputError(
            f"{count(strangers.height, 'record')} asked for what no record of the corpus asks for",
            hint="the corpus is all records that were clustered, of which those to be ranked are some",
        )


def _placed(records: pl.DataFrame, wordings: pl.DataFrame) -> pl.DataFrame:
    placed = records.with_columns(phrase().alias("wording")).join(
        wordings.select("wording", "surface", "cluster"), on="wording", how="left", maintain_order="left"
    )
    strangers = placed["cluster"].null_count()
    if strangers:
        raise InvalidInputError(
            f"{strangers} records have wordings that were not clustered",
            hint="rank the records that were clustered, or some of them",
        )
    return placed
