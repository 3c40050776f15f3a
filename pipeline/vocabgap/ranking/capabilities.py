"""The ranking stage: records and their clusters in, ranked capabilities out."""

import hashlib
from collections.abc import Mapping
from functools import partial
from typing import Final, Protocol

import polars as pl

from vocabgap.arguments import require_names, unusable
from vocabgap.config import RankBy, ranking
from vocabgap.errors import InvalidInputError
from vocabgap.ranking.evidence import counts, examples, main_category, tally, variants
from vocabgap.record import CATEGORY_ALIASES, OPERATION_ALIASES, fold_category, fold_operation
from vocabgap.schema import CAPABILITIES, CLUSTERS, RECORDS, WORDINGS, phrase

ID_PREFIX: Final = "cap-"
ID_DIGITS: Final = 12
_TALLIES: Final = ("categories", "operations", "vocabulary_used")


class Grouping(Protocol):
    """What the ranking needs to know of a clustering; `vocabgap.cluster` returns one."""

    @property
    def wordings(self) -> pl.DataFrame:
        """Table `wordings`."""

    @property
    def clusters(self) -> pl.DataFrame:
        """Table `clusters`."""


def rank(
    records: pl.DataFrame,
    found: Grouping,
    *,
    by: RankBy | str = RankBy.MENTIONS,
    category_aliases: Mapping[str, str] = CATEGORY_ALIASES,
    operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
) -> pl.DataFrame:
    """Rank the capabilities that some records ask for.

    Args:
        records: Table `records`: those that were clustered, or some of them. Groups, identifiers and
            cohesion are those of all that were clustered; everything else is counted over these records.
        found: The groups of their wordings.
        by: What to count first: mentions, images, sessions or unsatisfied. Ties go to the more mentioned,
            then to more images, more sessions, the later last mention, and the label that sorts first.
        category_aliases: Lower-case spelling to category.
        operation_aliases: Lower-case name to operation.

    Returns:
        Table `capabilities`, in order of rank; every record is a mention of exactly one row. `covered_by` is
        empty: `covered` fills it.

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
        capability_id("label_surface"),
        _own_label(),
    )
    keys = list(dict.fromkeys([first.value, "mentions", "images", "sessions", "last_seen"]))
    return (
        described.with_columns(
            main_category(), pl.lit([], dtype=CAPABILITIES.schema["covered_by"]).alias("covered_by")
        )
        .sort(
            *keys,
            "label",
            "capability_id",
            descending=[True] * len(keys) + [False, False],
            nulls_last=True,
        )
        .with_row_index("rank", offset=1)
        .select(CAPABILITIES.names)
        .match_to_schema(CAPABILITIES.schema, integer_cast="upcast")
    )


def capability_id(surface: str) -> pl.Expr:
    """The identifier of the capability whose label has the surface in the named column."""

    def name(label_surface: str) -> str:
        return f"{ID_PREFIX}{hashlib.sha256(label_surface.encode()).hexdigest()[:ID_DIGITS]}"

    return pl.col(surface).map_elements(name, return_dtype=pl.String).alias("capability_id")


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
