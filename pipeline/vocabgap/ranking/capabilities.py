"""The ranking stage: records and their clusters in, ranked capabilities out."""

from collections.abc import Mapping
from functools import partial
from typing import Final

import polars as pl

from vocabgap.arguments import require_names, unusable
from vocabgap.config import RankBy, ranking
from vocabgap.errors import InvalidInputError
from vocabgap.ranking.evidence import counts, examples, main_category, tally, variants
from vocabgap.ranking.identity import SETTLED, Grouping, unknown
from vocabgap.record import CATEGORY_ALIASES, OPERATION_ALIASES, fold_category, fold_operation
from vocabgap.schema import CAPABILITIES, CLUSTERS, IDENTITIES, RECORDS, WORDINGS, phrase

_TALLIES: Final = ("categories", "operations", "vocabulary_used")


def rank(
    records: pl.DataFrame,
    found: Grouping,
    *,
    by: RankBy | str = RankBy.MENTIONS,
    identities: pl.DataFrame | None = None,
    category_aliases: Mapping[str, str] = CATEGORY_ALIASES,
    operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
) -> pl.DataFrame:
    """Rank the capabilities that some records ask for.

    Args:
        records: Table `records`: those that were clustered, or some of them. Groups, identifiers and
            cohesion are those of all that were clustered; everything else is counted over these records.
        found: The groups of their wordings.
        by: What to count first: mentions, images, sessions or unsatisfied. Ties go to the more mentioned,
            then to more images, more sessions, the later last mention, and the label that sorts first. What
            people have pinned stands before all others, what they dismissed or authored after them.
        identities: Table `identities`: what earlier runs and decisions say of the groups. Without it
            identifiers come from the labels' surfaces, and all are open.
        category_aliases: Lower-case spelling to category.
        operation_aliases: Lower-case name to operation.

    Returns:
        Table `capabilities`, in order of rank; every record is a mention of exactly one row.

    Raises:
        InvalidInputError: An argument cannot be used, or a record's wording was not clustered.
    """
    first = ranking(by)
    RECORDS.require(records)
    require_names("category_aliases", category_aliases)
    require_names("operation_aliases", operation_aliases)
    if not (hasattr(found, "wordings") and hasattr(found, "clusters")):
        raise unusable("found", "what vocabgap.cluster returned", found)
    WORDINGS.require(found.wordings)
    CLUSTERS.require(found.clusters)
    known = unknown(found.clusters) if identities is None else identities
    IDENTITIES.require(known)
    placed = _placed(records, found.wordings)
    category = partial(fold_category, aliases=category_aliases)
    operation = partial(fold_operation, aliases=operation_aliases)
    evidence = [
        counts(placed),
        tally(placed, "intent_category", "categories", category),
        tally(placed, "operations_involved", "operations", operation),
        tally(placed, "vocabulary_used", "vocabulary_used", str.strip),
        variants(placed, found.wordings),
        examples(placed),
    ]
    capabilities = evidence[0]
    for part in evidence[1:]:
        capabilities = capabilities.join(part, on="cluster", how="left")
    described = capabilities.join(found.clusters.drop("mentions"), on="cluster", how="left").with_columns(
        pl.col(_TALLIES).fill_null([]),
        _own_label(),
    )
    described = described.join(known.rename({"label": "given"}), on="cluster", how="left").with_columns(
        pl.coalesce("given", "label").alias("label")
    )
    keys = list(dict.fromkeys([first.value, "mentions", "images", "sessions", "last_seen"]))
    return (
        described.with_columns(main_category())
        .sort(
            _standing(),
            *keys,
            "label",
            "capability_id",
            descending=[False] + [True] * len(keys) + [False, False],
            nulls_last=True,
        )
        .with_row_index("rank", offset=1)
        .select(CAPABILITIES.names)
        .match_to_schema(CAPABILITIES.schema, integer_cast="upcast")
    )


def _standing() -> pl.Expr:
    """What people want first, then what is open, then what is dismissed or authored."""
    settled = pl.col("status").is_in(SETTLED)
    return pl.when("pinned").then(0).when(settled).then(2).otherwise(1)


def _own_label() -> pl.Expr:
    """The group's label where the records use it, else the nearest of their own wordings."""
    variants = pl.col("variants")
    wordings = variants.list.eval(pl.element().struct.field("wording"))
    nearest = variants.list.eval(
        pl.element()
        .struct.field("wording")
        .sort_by(
            pl.element().struct.field("similarity"),
            pl.element().struct.field("mentions"),
            pl.element().struct.field("wording").str.len_chars(),
            descending=[True, True, False],
            maintain_order=True,
        )
    ).list.first()
    return pl.when(wordings.list.contains(pl.col("label"))).then("label").otherwise(nearest).alias("label")


def _placed(records: pl.DataFrame, wordings: pl.DataFrame) -> pl.DataFrame:
    placed = records.with_columns(phrase().alias("wording")).join(
        wordings.select("wording", "cluster"), on="wording", how="left", maintain_order="left"
    )
    strangers = placed.filter(pl.col("cluster").is_null())
    if strangers.height:
        raise InvalidInputError(
            f"{strangers.height} records have wordings that were not clustered",
            hint="rank the records that were clustered, or some of them",
        )
    return placed
